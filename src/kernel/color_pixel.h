// SPDX-License-Identifier: Apache-2.0
/*
 * What becomes of a color: the formulas of Pillow 13 on 8-bit samples, to the bit. In the subset that C, OpenCL C and
 * CUDA C share; floats are never contracted.
 *
 * Pillow goes from RGB to HSV and back in floats and doubles by turns. What it computes are quotients of small whole
 * numbers, so that rounding shows in one kind of place alone: where a quotient is a whole number and is truncated. The
 * shorter forms here, in floats and whole numbers, give what it gives for all 2^24 colors, each way (unit.color); a
 * division has to be rounded as IEEE 754 says.
 */
#ifndef MR_KERNEL_COLOR_PIXEL_H
#define MR_KERNEL_COLOR_PIXEL_H

#include "kernel/language.h"

/* Pillow's L. */
MR_INLINE uint32_t mr__gray(uint32_t r, uint32_t g, uint32_t b)
{
    return (19595u * r + 38470u * g + 7471u * b + 0x8000u) >> 16;
}

/*
 * Pillow's blend: `from` at 0, `to` at 1. Between them the sum stays between the two; beyond it is clipped. Alpha is
 * from -1e6 to 1e6, so that the sum is a number of 32 bits. Truncated and then clipped, it is what it would be the
 * other way round, without a branch that nobody can guess.
 */
MR_INLINE uint8_t mr__blend(uint32_t from, uint32_t to, float alpha)
{
    float more = alpha * (float)((int32_t)to - (int32_t)from);
    int32_t value = (int32_t)((float)(int32_t)from + more);
    value = value > 0 ? value : 0;
    return (uint8_t)(value < 255 ? value : 255);
}

typedef struct mr__hsv {
    uint32_t h, s, v;
} mr__hsv;

/*
 * h goes from -1 to 5, a sixth of the circle for each pair of channels. Of the two that are not the largest, one is the
 * least and so at a distance of 1: what is left of Pillow's sum of two distances is a whole number and one of them.
 */
MR_INLINE mr__hsv mr__hsv_of(uint32_t r, uint32_t g, uint32_t b)
{
    uint32_t most = r > g ? r : g, least = r < g ? r : g;
    most = b > most ? b : most;
    least = b < least ? b : least;
    mr__hsv to = {0, 0, most};
    if (most == least)
        return to;
    float range = (float)(most - least), h;
    float far_r = (float)(most - r) / range, far_g = (float)(most - g) / range, far_b = (float)(most - b) / range;
    if (r == most)
        h = far_b - far_g;
    else if (g == most)
        h = b == least ? 1.0f + far_r : 3.0f - far_b;
    else
        h = r == least ? 3.0f + far_g : 5.0f - far_r;
    float turn = h / 6.0f;
    to.h = (uint32_t)((h < 0.0f ? turn + 1.0f : turn) * 255.0f);
    to.s = (uint32_t)(range / (float)most * 255.0f);
    return to;
}

/* x / 255 to the nearest whole number, x up to 255 * 255. There is never one as near. */
MR_INLINE uint32_t mr__by_255(uint32_t x)
{
    return (x + 128 + ((x + 128) >> 8)) >> 8;
}

/*
 * The colors of a sixth of the circle have one channel v, one v (1 - s), and one that goes from one of them to the
 * other. h has 85 places for two sixths of its 255: place 2 h mod 85 of sixth 2 h / 85. Pillow rounds v (1 - s f),
 * which with s and f as quotients is v minus a multiple of 1 / (255 * 85), an odd number: never a half, and farther
 * from halves than its floats err.
 */
MR_INLINE void mr__hsv_to_rgb(mr__hsv from, uint8_t rgb[3])
{
    uint32_t sixth = from.h * 2 / 85, place = from.h * 2 % 85, full = from.v * from.s;
    uint32_t down = sixth % 2 != 0 ? place : 85 - place;
    uint32_t most = from.v, least = most - mr__by_255(full), between = most - (2 * full * down + 21675) / 43350;
    rgb[0] = (uint8_t)(sixth == 1 || sixth == 4 ? between : sixth == 2 || sixth == 3 ? least : most);
    rgb[1] = (uint8_t)(sixth == 0 || sixth == 3 || sixth == 6 ? between : sixth == 1 || sixth == 2 ? most : least);
    rgb[2] = (uint8_t)(sixth == 2 || sixth == 5 ? between : sixth == 3 || sixth == 4 ? most : least);
}

#endif
