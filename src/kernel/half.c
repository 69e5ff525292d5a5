// SPDX-License-Identifier: Apache-2.0
#include "kernel/half.h"

#include "kernel/half_pixel.h"

#include <string.h>

uint16_t mr__bf16_from_f32(float value)
{
    return mr__bf16_of_bits(mr__float_bits(value));
}

uint16_t mr__f16_from_f32(float value)
{
    return mr__f16_of_bits(mr__float_bits(value));
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
