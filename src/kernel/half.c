// SPDX-License-Identifier: Apache-2.0
#include "kernel/half.h"

#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint16_t mr__bf16_from_f32(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* not a number, and stays so */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* `bits` divided by 2^shift, the nearest whole number, of two the even one. */
static uint32_t shift_even(uint32_t bits, uint32_t shift)
{
    uint32_t half = 1u << (shift - 1), rest = bits & ((1u << shift) - 1u), whole = bits >> shift;
    return whole + (rest > half || (rest == half && (whole & 1u)));
}

/* What is rounded up beyond its mantissa, or beyond the largest number, ends up in the next exponent, where it belongs.
 */
uint16_t mr__f16_from_f32(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    uint32_t exponent = rest >> 23;
    if (rest > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));
    if (exponent >= 143) /* 2^16 and more, and infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (exponent >= 113) /* 2^-14 and more: 112 is the difference of the two biases */
        return (uint16_t)(sign | shift_even(rest - (112u << 23), 13));
    if (exponent < 102) /* less than half of the least one */
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_even((rest & 0x7fffffu) | 0x800000u, 126 - exponent));
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float mr__f32_from_bf16(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

float mr__f32_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) /* infinity; not a number, and quiet as the processor makes it */
        return float_of(sign | 0x7f800000u | rest << 13 | (rest > 0x7c00u ? 0x400000u : 0));
    if (rest >= 0x0400u)
        return float_of(sign | ((rest << 13) + (112u << 23))); /* 112 is the difference of the two biases */
    float small = (float)rest * 0x1p-24f;                      /* exact: ten bits */
    return sign != 0 ? -small : small;
}
