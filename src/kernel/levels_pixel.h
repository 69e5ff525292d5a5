// SPDX-License-Identifier: Apache-2.0
/*
 * What Pillow makes of a grey level once it knows the image: the formulas of contrast, equalize and autocontrast. In
 * the subset that C, OpenCL C and CUDA C share, and in whole numbers, so that a device without doubles has them too.
 */
#ifndef MR_KERNEL_LEVELS_PIXEL_H
#define MR_KERNEL_LEVELS_PIXEL_H

#include "kernel/language.h"

/*
 * The mean of n samples, rounded; of two that are as near the larger one. In doubles, as Pillow has it, it is the same:
 * what is not a half is farther from one than they err. n is below 2^32.
 */
MR_INLINE uint8_t mr__mean_level(uint64_t sum, uint64_t n)
{
    return (uint8_t)((2 * sum + n) / (2 * n));
}

/* Equalize, where so many samples, and half a step, are below a level. `step` is not 0. */
MR_INLINE uint8_t mr__equalized(uint32_t below, uint32_t step)
{
    uint32_t value = below / step;
    return (uint8_t)(value < 255 ? value : 255);
}

/* The double next to a whole number below 2^61; of two the even one. */
MR_INLINE uint64_t mr__in_53_bits(uint64_t x)
{
    uint32_t shift = 0;
    while (x >> shift >> 53 != 0)
        shift++;
    if (shift == 0)
        return x;
    uint64_t middle = (uint64_t)1 << (shift - 1), rest = x & (2 * middle - 1), whole = x >> shift;
    whole += rest > middle || (rest == middle && (whole & 1) != 0);
    return whole << shift;
}

/*
 * Whether v * scale - low * scale, with scale = 255.0 / range, is less in doubles than the whole number q that it is.
 * Scale is m 2^(e - 52), from 2^e on and below 2^(e + 1), m a whole number of 53 bits; so the rest are whole numbers of
 * 2^(e - 52), each rounded to 53 bits.
 */
MR_INLINE bool mr__falls_short(uint32_t v, uint32_t low, uint32_t range, uint32_t q)
{
    uint32_t e = 0;
    while (range << (e + 1) <= 255)
        e++;
    uint64_t over = (uint64_t)255 << (52 - e), m = over / range, rest = over % range;
    m += 2 * rest > range || (2 * rest == range && (m & 1) != 0);
    uint64_t value = mr__in_53_bits(mr__in_53_bits(v * m) - mr__in_53_bits(low * m));
    return value < (uint64_t)q << (52 - e);
}

/*
 * Autocontrast: from low to high, low < high, is stretched to 0 to 255, and cut off. Pillow does it in doubles; what
 * they err shows where the quotient is a whole number, and is cut off to the one below (unit.levels has them all).
 */
MR_INLINE uint8_t mr__stretched(uint32_t v, uint32_t low, uint32_t high)
{
    if (v <= low)
        return 0;
    if (v > high)
        return 255;
    uint32_t range = high - low, product = 255 * (v - low), q = product / range;
    return (uint8_t)(q * range == product && mr__falls_short(v, low, range, q) ? q - 1 : q);
}

#endif
