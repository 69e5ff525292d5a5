// SPDX-License-Identifier: Apache-2.0
/*
 * A normal number from 32 random bits, to within 2^-20: the first is the sign, and the others are v, which is odd, so
 * that it is passed with the chance v / 2^32. By cubics in v (normal_table.c), 8 for every octave of it, so that the
 * tails are as right as the middle; the farthest is 6.23. In what C, OpenCL C and CUDA C have in common; whoever asks
 * has the table.
 */
#ifndef MR_KERNEL_NORMAL_PIXEL_H
#define MR_KERNEL_NORMAL_PIXEL_H

#include "kernel/bits_pixel.h"

enum { MR__NORMAL_PARTS = 31 * 8 };

/* Which cubic, and where in its part. */
typedef struct mr__normal_spot {
    uint32_t part;
    float t;
} mr__normal_spot;

MR_INLINE mr__normal_spot mr__normal_spot_of(uint32_t word)
{
    uint32_t v = (word & 0x7fffffffu) | 1u, octave = mr__highest_bit(v), shifted = v << (31 - octave);
    mr__normal_spot spot = {8 * octave + (shifted >> 28 & 7u), (float)(int32_t)(shifted >> 4 & 0xffffffu) * 0x1p-24f};
    return spot;
}

/* c0 + c1 t + c2 t^2 + c3 t^3, with the word's sign. */
MR_INLINE float mr__normal_by(uint32_t word, float t, float c0, float c1, float c2, float c3)
{
    float x = c3 * t + c2;
    x = x * t + c1;
    x = x * t + c0;
    return word >> 31 != 0 ? x : -x;
}

#endif
