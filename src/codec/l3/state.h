// SPDX-License-Identifier: Apache-2.0
/* What a decoder or an encoder keeps between L3 images. */
#ifndef MR_CODEC_L3_STATE_H
#define MR_CODEC_L3_STATE_H

#include "codec/l3/dct.h"
#include "codec/l3/l3.h"
#include "codec/l3/pixel.h"
#include "codec/l3/pixel_encode.h"

typedef struct mr__l3_state {
    mr__l3_head head;   /* of the call that runs, once info has read it */
    mr__buffer offsets; /* of its tiles */
    mr__l3_pixel_state pixel;
    mr__l3_dct_state dct;
    mr__l3_encode_state encode;
} mr__l3_state;

static inline mr__l3_state *mr__l3_state_of(const mr__call *call)
{
    return call->state;
}

#endif
