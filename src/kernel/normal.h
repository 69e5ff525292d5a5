// SPDX-License-Identifier: Apache-2.0
/* The normal distribution by tables and a few additions and multiplications: the same numbers on every machine. */
#ifndef MR_KERNEL_NORMAL_H
#define MR_KERNEL_NORMAL_H

#include "kernel/normal_pixel.h"

#include <stdint.h>

/* The chance that a normal number is below x, to within 2^-40. */
double mr__normal_below(double x);

enum { MR__NORMAL_POINTS = 16 * 8 + 1 };

/* normal_table.c. Of x = i / 16: the chance of less, and the density. */
extern const double mr__normal_grid[MR__NORMAL_POINTS][2];

/*
 * Of v = 2^octave (1 + (part + t) / 8), by 8 octave + part: the number above 0 that is passed with the chance v / 2^32,
 * as a cubic in t, the coefficients of t^0, of t^1, ...
 */
extern const float mr__normal_cubics[4][MR__NORMAL_PARTS];

static inline float mr__normal_of(uint32_t word)
{
    mr__normal_spot spot = mr__normal_spot_of(word);
    return mr__normal_by(word, spot.t, mr__normal_cubics[0][spot.part], mr__normal_cubics[1][spot.part],
                         mr__normal_cubics[2][spot.part], mr__normal_cubics[3][spot.part]);
}

#endif
