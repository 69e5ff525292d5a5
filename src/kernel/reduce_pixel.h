// SPDX-License-Identifier: Apache-2.0
/*
 * A reduced image is the mean of boxes of n x n pixels, in what C, OpenCL C and CUDA C have in common. Boxes at the
 * right and the bottom have what is left.
 */
#ifndef MR_KERNEL_REDUCE_PIXEL_H
#define MR_KERNEL_REDUCE_PIXEL_H

#include "kernel/language.h"

/* Of a side of the source: how long the box is that begins at `first`. */
MR_INLINE uint32_t mr__box_side(uint32_t side, uint32_t first, uint32_t n)
{
    return side - first < n ? side - first : n;
}

/*
 * Pillow divides 8-bit sums by a fixed-point reciprocal that is cut off, not rounded: exact for the powers of two of
 * whole boxes, but for the odd counts at the right and bottom edge now and then one less. Of 64 samples at most: what
 * is shifted is below 2^32.
 */
MR_INLINE uint32_t mr__box_mean_8(uint32_t sum, uint32_t count)
{
    return (sum + count / 2) * ((1u << 24) / count) >> 24;
}

/* 16 bits are divided exactly. */
MR_INLINE uint32_t mr__box_mean_16(uint32_t sum, uint32_t count)
{
    return (sum + count / 2) / count;
}

#endif
