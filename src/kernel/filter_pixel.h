// SPDX-License-Identifier: Apache-2.0
/*
 * Filters, sample by sample, in what C, OpenCL C and CUDA C have in common. Without contraction, as everywhere here: a
 * product is rounded before it is added.
 */
#ifndef MR_KERNEL_FILTER_PIXEL_H
#define MR_KERNEL_FILTER_PIXEL_H

#include "kernel/language.h"

/*
 * Pillow's SMOOTH: a sample and its eight neighbours, itself five times, divided by 13 and rounded (13 is odd: no two
 * are as near). `sum` has all nine, once each.
 */
MR_INLINE int32_t mr__smooth(int32_t sum, int32_t value)
{
    return (sum + 4 * value + 6) / 13;
}

/*
 * Pillow's blend of what is smooth with what is, as its Sharpness enhances: cut off, and where the factor is not within
 * 0 to 1, clipped. (Within, it cannot leave 0 to 255.)
 */
MR_INLINE uint8_t mr__sharpened(int32_t smooth, int32_t value, float factor)
{
    float change = factor * (float)(value - smooth);
    float sum = (float)smooth + change;
    return sum <= 0.0f ? 0 : sum >= 255.0f ? 255 : (uint8_t)(int32_t)sum;
}

/* The whole number next to a value from 0 to 255 and a little beyond; of two the even one. */
MR_INLINE uint8_t mr__rounded_u8(float value)
{
    float whole = (value + 12582912.0f) - 12582912.0f; /* 1.5 2^23: floats there are whole numbers */
    return whole <= 0.0f ? 0 : whole >= 255.0f ? 255 : (uint8_t)(int32_t)whole;
}

/*
 * Where a place outside of 0 to side - 1 is mirrored to; the outermost one is not repeated. It is off by less than a
 * side: a turn of there and back further on it is the same place.
 */
MR_INLINE int32_t mr__mirrored(int32_t at, int32_t side)
{
    int32_t turn = 2 * (side - 1);
    at += at < 0 ? turn : 0;
    return at < side ? at : turn - at;
}

#endif
