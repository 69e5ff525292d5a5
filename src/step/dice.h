// SPDX-License-Identifier: Apache-2.0
/*
 * Random numbers of which nobody can say beforehand how many it takes: a stream of their own, which two draws of a step
 * are the key of. The same draws give the same numbers on every machine (real.h).
 *
 * Threads: one at a time. A value: a copy goes on by itself.
 */
#ifndef MR_STEP_DICE_H
#define MR_STEP_DICE_H

#include "base/rng.h"

#include <stddef.h>

typedef struct mr__dice {
    mr__rng rng;
} mr__dice;

void mr__dice_init(mr__dice *dice, const uint32_t key[2]);

/* Between 0 and 1, and neither of them: (n + 1/2) 2^-53. */
double mr__dice_unit(mr__dice *dice);

/* A whole number in [0, n), n at least 1. */
uint32_t mr__dice_below(mr__dice *dice, uint32_t n);

/* Mean 0, deviation 1: Marsaglia's polar method. */
double mr__dice_normal(mr__dice *dice);

/* What these take as alpha. */
#define MR__DICE_ALPHA_MIN 0x1p-10
#define MR__DICE_ALPHA_MAX 0x1p20

/* The logarithm of a Gamma(alpha, 1) number: Marsaglia and Tsang's method. Small alphas have some that only it can say.
 */
double mr__dice_log_gamma(mr__dice *dice, double alpha);

/* Beta(alpha, alpha): from 0 to 1. */
double mr__dice_beta(mr__dice *dice, double alpha);

/* Dirichlet(alpha, ..., alpha): `count` numbers, at least 1, whose sum is 1. */
void mr__dice_dirichlet(mr__dice *dice, double alpha, size_t count, double *out);

#endif
