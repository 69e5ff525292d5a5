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

/* The whole number next to x, from 0 to 2^53; the even one where there are two, as Python rounds. */
uint64_t mr__real_round(double x);

/* A number of [low, high]: draw 2^-32 of the way. */
double mr__real_between(double low, double high, uint32_t draw);

/* floor(x n / 2^64) where `draws` are the high and the low word of x: what mr__rng_below gives for them. */
uint32_t mr__real_below(const uint32_t draws[2], uint32_t n);

#endif
