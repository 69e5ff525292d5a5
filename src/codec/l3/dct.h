// SPDX-License-Identifier: Apache-2.0
/* DCT mode: what it keeps between images. */
#ifndef MR_CODEC_L3_DCT_H
#define MR_CODEC_L3_DCT_H

#include "codec/codec.h"

typedef struct mr__l3_dct_state {
    mr__buffer work;
} mr__l3_dct_state;

/* The state comes cleared. fini is called after a failed init, too. */
int mr__l3_dct_state_init(mr__call *call, mr__l3_dct_state *state);
void mr__l3_dct_state_fini(mr__l3_dct_state *state, const mr_hooks *hooks);

#endif
