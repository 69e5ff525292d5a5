// SPDX-License-Identifier: Apache-2.0
#include "step/real.h"

#include <stddef.h>

/* ln 2 in two parts; the first has so few bits that a small multiple of it is exact. */
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW  0x1.a39ef35793c76p-33

/*
 * x = m 2^k with m from 1/sqrt 2 to sqrt 2, and ln m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1). |s| is
 * at most 0.172, so that the term left out is below 2^-60.
 */
double mr__real_log(double x)
{
    int k = 0;
    for (; x >= 1.4142135623730951; k++)
        x *= 0.5;
    for (; x < 0.70710678118654757; k--)
        x *= 2.0;
    double s = (x - 1.0) / (x + 1.0), z = s * s, sum = 0.0;
    for (int i = 23; i >= 3; i -= 2)
        sum = (sum + 1.0 / i) * z;
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * sum + k * LN2_LOW));
}

/* x = k ln 2 + r with |r| at most 0.347, and e^r = 1 + r (1 + r/2 (1 + r/3 (1 + ...))). */
double mr__real_exp(double x)
{
    int k = (int)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
    double r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = 1.0;
    for (int i = 16; i >= 1; i--)
        sum = 1.0 + sum * (r / i);
    for (; k > 0; k--)
        sum *= 2.0;
    for (; k < 0; k++)
        sum *= 0.5;
    return sum;
}

uint64_t mr__real_round(double x)
{
    uint64_t whole = (uint64_t)x;
    double rest = x - (double)whole;
    return whole + (rest > 0.5 || (rest == 0.5 && whole % 2 == 1));
}

double mr__real_between(double low, double high, uint32_t draw)
{
    return low + (high - low) * ((double)draw * 0x1p-32);
}

uint32_t mr__real_below(const uint32_t draws[2], uint32_t n)
{
    return (uint32_t)(((uint64_t)draws[0] * n + ((uint64_t)draws[1] * n >> 32)) >> 32);
}
