// SPDX-License-Identifier: Apache-2.0
#include "step/real.h"

#include <math.h>
#include <stdbool.h>
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

float mr__real_unit_f32(uint32_t draw)
{
    return (float)(draw >> 8) * 0x1p-24f;
}

uint32_t mr__real_below(const uint32_t draws[2], uint32_t n)
{
    return (uint32_t)(((uint64_t)draws[0] * n + ((uint64_t)draws[1] * n >> 32)) >> 32);
}

/* A number as the unevaluated sum of two, the second below half a unit of the first's last place. */
typedef struct pair {
    double high, low;
} pair;

/* Exact. */
static pair sum_of(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

/* The upper 26 bits of a number below 2^990. */
static double upper_half(double a)
{
    double spread = a * 134217729.0;
    return spread - (spread - a);
}

/* Exact. */
static pair product_of(double a, double b)
{
    double product = a * b, a1 = upper_half(a), b1 = upper_half(b), a2 = a - a1, b2 = b - b1;
    return (pair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static pair add_pairs(pair a, pair b)
{
    pair sum = sum_of(a.high, b.high);
    return sum_of(sum.high, sum.low + (a.low + b.low));
}

static pair multiply_pairs(pair a, pair b)
{
    pair product = product_of(a.high, b.high);
    return sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/* pi / 2 in three parts. */
static const double half_pi[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

/* x = k pi / 2 + r with |r| at most pi / 4. Returns k modulo 4. */
static unsigned reduce(double x, pair *r)
{
    double turns = floor(x * 0.63661977236758134 + 0.5);
    pair first = product_of(turns, half_pi[0]), second = product_of(turns, half_pi[1]);
    pair rest = sum_of(x - first.high, -first.low);
    rest = add_pairs(rest, (pair){-second.high, -second.low});
    *r = add_pairs(rest, (pair){-turns * half_pi[2], 0.0});
    return (unsigned)(int64_t)turns & 3;
}

/* a + z (b + ...), where `rest` is what the dots stand for. */
static pair two_terms(pair z, pair a, pair b, double rest)
{
    return add_pairs(a, multiply_pairs(z, add_pairs(b, (pair){rest, 0.0})));
}

/*
 * r - r^3 (1/6 - z (1/120 - z/5040 (1 - z/72 (...)))) with z = r^2. What is left out of the pairs is below 2^-14 of the
 * sum, and so is its error below 2^-14 of a unit in the last place.
 */
static pair sine_near_0(pair r)
{
    static const pair a = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
    static const pair b = {-0x1.1111111111111p-7, -0x1.1111111111111p-63};
    pair square = multiply_pairs(r, r);
    double z = square.high, sum = 0.0;
    for (int i = 20; i >= 8; i -= 2)
        sum = (1.0 - sum) * (z / (i * (i + 1)));
    pair cube = multiply_pairs(multiply_pairs(square, r), two_terms(square, a, b, z / 5040.0 * (1.0 - sum)));
    return add_pairs(r, (pair){-cube.high, -cube.low});
}

/* 1 - z (1/2 - z (1/24 - z/720 (1 - z/56 (...)))), likewise. */
static pair cosine_near_0(pair r)
{
    static const pair a = {0.5, 0.0}, b = {-0x1.5555555555555p-5, -0x1.5555555555555p-59};
    pair square = multiply_pairs(r, r);
    double z = square.high, sum = 0.0;
    for (int i = 19; i >= 7; i -= 2)
        sum = (1.0 - sum) * (z / (i * (i + 1)));
    pair rest = multiply_pairs(square, two_terms(square, a, b, z / 720.0 * (1.0 - sum)));
    return add_pairs((pair){1.0, 0.0}, (pair){-rest.high, -rest.low});
}

static pair turn(double x, unsigned quarters)
{
    pair r;
    quarters += reduce(x, &r);
    pair value = quarters % 2 == 0 ? sine_near_0(r) : cosine_near_0(r);
    if (quarters / 2 % 2 == 1)
        value = (pair){-value.high, -value.low};
    return value;
}

double mr__real_sin(double x)
{
    return x == 0.0 ? x : turn(x, 0).high;
}

double mr__real_cos(double x)
{
    return turn(x, 1).high;
}

double mr__real_tan(double x)
{
    if (x == 0.0)
        return x;
    pair sine = turn(x, 0), cosine = turn(x, 1);
    double quotient = sine.high / cosine.high;
    pair product = product_of(quotient, cosine.high);
    double rest = ((sine.high - product.high) - product.low) + (sine.low - quotient * cosine.low);
    return quotient + rest / cosine.high;
}

double mr__real_radians(double degrees)
{
    return degrees * (3.141592653589793 / 180.0);
}

/* x 10^15 as an exact pair; the whole number and 10^15 are exact, and their division is rounded once. */
double mr__real_round_15(double x)
{
    pair scaled = product_of(fabs(x), 1e15);
    double whole = floor(scaled.high), rest = (scaled.high - whole) + scaled.low;
    bool odd = whole * 0.5 != floor(whole * 0.5);
    if (rest > 0.5 || (rest == 0.5 && odd))
        whole += 1.0;
    else if (rest < -0.5 || (rest == -0.5 && odd))
        whole -= 1.0;
    return x < 0.0 ? -(whole / 1e15) : whole / 1e15;
}

/*
 * Halved four times, by atan x = 2 atan(x / (1 + sqrt(1 + x^2))), the angle is at most pi/32 and x at most 0.099, so
 * that of x - x^3/3 + x^5/5 - ... the term left out is below 2^-80.
 */
static double near_atan(double x)
{
    for (int i = 0; i < 4; i++)
        x = x / (1.0 + sqrt(1.0 + x * x));
    double z = x * x, sum = 0.0;
    for (int i = 23; i >= 3; i -= 2)
        sum = (1.0 / i - sum) * z;
    return 16.0 * (x - x * sum);
}

/* The angle y is near it; what is missing has the tangent (x cos y - sin y) / (cos y + x sin y), and is as good as it.
 */
double mr__real_atan(double x)
{
    if (x == 0.0)
        return x;
    double y = near_atan(x);
    pair sine = turn(y, 0), cosine = turn(y, 1), product = product_of(x, cosine.high);
    double rest = (product.high - sine.high) + (product.low + (x * cosine.low - sine.low));
    return y + rest / (cosine.high + x * sine.high);
}
