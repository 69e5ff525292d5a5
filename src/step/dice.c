// SPDX-License-Identifier: Apache-2.0
/*
 * Methods that try again do so ATTEMPTS times at most. That none of them succeeds has a chance below 2^-140, and then
 * there still is a number.
 */
#include "step/dice.h"

#include "step/real.h"

#include <math.h>

enum { ATTEMPTS = 64 };

/* Keeps these streams apart from others with the same key: their counters have other words here. */
#define DICE_STREAM 0x64696365u

void mr__dice_init(mr__dice *dice, const uint32_t key[2])
{
    dice->rng = (mr__rng){.key = {key[0], key[1]}, .counter = {0, DICE_STREAM, DICE_STREAM, DICE_STREAM}};
}

double mr__dice_unit(mr__dice *dice)
{
    uint64_t high = mr__rng_u32(&dice->rng) >> 5, low = mr__rng_u32(&dice->rng) >> 6;
    uint64_t odd = (high << 26 | low) * 2 + 1; /* 54 bits: only the largest few are rounded, and not up to 1 */
    double unit = (double)odd * 0x1p-54;
    return unit < 1.0 ? unit : 1.0 - 0x1p-53;
}

uint32_t mr__dice_below(mr__dice *dice, uint32_t n)
{
    return mr__rng_below(&dice->rng, n);
}

double mr__dice_normal(mr__dice *dice)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        double x = 2.0 * mr__dice_unit(dice) - 1.0, y = 2.0 * mr__dice_unit(dice) - 1.0;
        double square = x * x + y * y;
        if (square < 1.0 && square > 0.0)
            return x * sqrt(-2.0 * mr__real_log(square) / square);
    }
    return 0.0;
}

/* d v, with v the cube of 1 + c times a normal number, for alpha of at least 1. */
static double log_gamma_of_1(mr__dice *dice, double alpha)
{
    double d = alpha - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (int i = 0; i < ATTEMPTS; i++) {
        double x = mr__dice_normal(dice), root = 1.0 + c * x;
        double log_unit = mr__real_log(mr__dice_unit(dice));
        if (root <= 0.0)
            continue;
        double log_v = 3.0 * mr__real_log(root), v = root * root * root;
        if (log_unit < 0.5 * x * x + d - d * v + d * log_v)
            return mr__real_log(d) + log_v;
    }
    return mr__real_log(d);
}

/* Below 1 it is a number for alpha + 1 times U^(1 / alpha). */
double mr__dice_log_gamma(mr__dice *dice, double alpha)
{
    if (alpha >= 1.0)
        return log_gamma_of_1(dice, alpha);
    double above = log_gamma_of_1(dice, alpha + 1.0);
    return above + mr__real_log(mr__dice_unit(dice)) / alpha;
}

/* e^x for x of 0 or less; nothing is left of what is smaller than any number. */
static double exp_below(double x)
{
    return x > -700.0 ? mr__real_exp(x) : 0.0;
}

void mr__dice_dirichlet(mr__dice *dice, double alpha, size_t count, double *out)
{
    double most = 0.0, sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        out[i] = mr__dice_log_gamma(dice, alpha);
        most = i == 0 || out[i] > most ? out[i] : most;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = exp_below(out[i] - most);
        sum += out[i];
    }
    for (size_t i = 0; i < count; i++)
        out[i] /= sum;
}

double mr__dice_beta(mr__dice *dice, double alpha)
{
    double both[2];
    mr__dice_dirichlet(dice, alpha, 2, both);
    return both[0];
}
