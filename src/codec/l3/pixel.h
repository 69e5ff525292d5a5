// SPDX-License-Identifier: Apache-2.0
/* Pixel mode: what it keeps between images. */
#ifndef MR_CODEC_L3_PIXEL_H
#define MR_CODEC_L3_PIXEL_H

#include "codec/codec.h"

typedef struct mr__l3_pixel_state {
    mr__buffer work;
} mr__l3_pixel_state;

/* The state comes cleared. fini is called after a failed init, too. */
int mr__l3_pixel_state_init(mr__call *call, mr__l3_pixel_state *state);
void mr__l3_pixel_state_fini(mr__l3_pixel_state *state, const mr_hooks *hooks);

#endif
