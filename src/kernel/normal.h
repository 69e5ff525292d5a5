// SPDX-License-Identifier: Apache-2.0
/* The normal distribution by tables and a few additions and multiplications: the same numbers on every machine. */
#ifndef MR_KERNEL_NORMAL_H
#define MR_KERNEL_NORMAL_H

#include <stdint.h>

/* The chance that a normal number is below x, to within 2^-40. */
double mr__normal_below(double x);

enum { MR__NORMAL_POINTS = 16 * 8 + 1, MR__NORMAL_PARTS = 31 * 8 };

/* normal_table.c. Of x = i / 16: the chance of less, and the density. */
extern const double mr__normal_grid[MR__NORMAL_POINTS][2];

/*
 * Of v = 2^octave (1 + (part + t) / 8), by 8 octave + part: the number above 0 that is passed with the chance v / 2^32,
 * as a cubic in t, the coefficients of t^0, of t^1, ...
 */
extern const float mr__normal_cubics[4][MR__NORMAL_PARTS];

/* Where v, not 0 and below 2^31, has its highest bit. */
static inline uint32_t mr__normal_octave(uint32_t v)
{
    uint32_t octave = 0;
    for (uint32_t half = 16; half != 0; half /= 2)
        if (v >> (octave + half) != 0)
            octave += half;
    return octave;
}

/*
 * A normal number from 32 random bits, to within 2^-20: the first is the sign, and the others are v, which is odd, so
 * that it is passed with the chance v / 2^32. By cubics in v, 8 for every octave of it, so that the tails are as right
 * as the middle; the farthest is 6.23.
 */
static inline float mr__normal_of(uint32_t word)
{
    uint32_t v = (word & 0x7fffffffu) | 1u, octave = mr__normal_octave(v), shifted = v << (31 - octave);
    uint32_t part = 8 * octave + (shifted >> 28 & 7u);
    float t = (float)(int32_t)(shifted >> 4 & 0xffffffu) * 0x1p-24F;
    float x = mr__normal_cubics[3][part] * t + mr__normal_cubics[2][part];
    x = x * t + mr__normal_cubics[1][part];
    x = x * t + mr__normal_cubics[0][part];
    return word >> 31 != 0 ? x : -x;
}

#endif
