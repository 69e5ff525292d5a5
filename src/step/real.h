// SPDX-License-Identifier: Apache-2.0
/*
 * What the C library does not give alike on every processor and in every version: by additions and multiplications in a
 * fixed order alone, right to some 2^-50.
 */
#ifndef MR_STEP_REAL_H
#define MR_STEP_REAL_H

#include <stdint.h>

/* The natural logarithm of a number from 2^-1000 to 2^1000. */
double mr__real_log(double x);

/* e to the power x, for x from -700 to 700. */
double mr__real_exp(double x);

/* The angle in radians, from -pi/2 to pi/2, whose tangent is x, of at most 2^100 either way. */
double mr__real_atan(double x);

/*
 * Of radians from -1000 to 1000, to some 2^-64 before the last rounding: what a good library of mathematics gives, but
 * for a unit in the last place now and then.
 */
double mr__real_sin(double x);
double mr__real_cos(double x);
double mr__real_tan(double x);

/* As Python's math.radians. */
double mr__real_radians(double degrees);

/* To 15 digits after the point, for x from -4 to 4: Python's round(x, 15). */
double mr__real_round_15(double x);

/* The whole number next to x, from 0 to 2^53; the even one where there are two, as Python rounds. */
uint64_t mr__real_round(double x);

/* A number of [low, high]: draw 2^-32 of the way. */
double mr__real_between(double low, double high, uint32_t draw);

/* A multiple of 2^-24 in [0, 1), as torch draws floats: the upper 24 bits. */
float mr__real_unit_f32(uint32_t draw);

/* floor(x n / 2^64) where `draws` are the high and the low word of x: what mr__rng_below gives for them. */
uint32_t mr__real_below(const uint32_t draws[2], uint32_t n);

#endif
