// SPDX-License-Identifier: Apache-2.0
/* From some channels to others, pixel by pixel, in what C, OpenCL C and CUDA C have in common. */
#ifndef MR_KERNEL_CHANNELS_PIXEL_H
#define MR_KERNEL_CHANNELS_PIXEL_H

#include "kernel/color_pixel.h"

/*
 * The samples of a pixel: of 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA) become `to`. `opaque` is the alpha of what
 * has none. Of 8 or 16 bits: the sum in mr__gray is below 2^32 for both.
 */
MR_INLINE void mr__channels_change(uint32_t v[4], uint32_t from, uint32_t to, uint32_t opaque)
{
    uint32_t alpha = from == 2 ? v[1] : from == 4 ? v[3] : opaque;
    if (from <= 2)
        v[1] = v[2] = v[0];
    v[3] = alpha;
    if (to <= 2) {
        if (from >= 3)
            v[0] = mr__gray(v[0], v[1], v[2]);
        v[1] = alpha;
    }
}

#endif
