// SPDX-License-Identifier: Apache-2.0
/* Numbers of 16 bits from floats, in what C, OpenCL C and CUDA C have in common. */
#ifndef MR_KERNEL_HALF_PIXEL_H
#define MR_KERNEL_HALF_PIXEL_H

#include "kernel/language.h"

MR_INLINE uint32_t mr__float_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } both;
    both.value = value;
    return both.bits;
}

MR_INLINE uint16_t mr__bf16_of_bits(uint32_t bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* not a number, and stays so */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* `bits` divided by 2^shift, the nearest whole number, of two the even one. */
MR_INLINE uint32_t mr__shift_even(uint32_t bits, uint32_t shift)
{
    uint32_t middle = 1u << (shift - 1), rest = bits & ((1u << shift) - 1u), whole = bits >> shift;
    return whole + (rest > middle || (rest == middle && (whole & 1u) != 0));
}

/* What is rounded up beyond its mantissa, or beyond the largest number, ends up in the next exponent, where it belongs.
 */
MR_INLINE uint16_t mr__f16_of_bits(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu, exponent = rest >> 23;
    if (rest > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));
    if (exponent >= 143) /* 2^16 and more, and infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (exponent >= 113) /* 2^-14 and more: 112 is the difference of the two biases */
        return (uint16_t)(sign | mr__shift_even(rest - (112u << 23), 13));
    if (exponent < 102) /* less than half of the least one */
        return (uint16_t)sign;
    return (uint16_t)(sign | mr__shift_even((rest & 0x7fffffu) | 0x800000u, 126 - exponent));
}

#endif
