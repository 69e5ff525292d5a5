// SPDX-License-Identifier: Apache-2.0
/* Numbers of 16 bits: f16 (IEEE's binary16) and bf16 (the upper half of a float). */
#ifndef MR_KERNEL_HALF_H
#define MR_KERNEL_HALF_H

#include <stdint.h>

/* The nearest one, of two the even one. */
uint16_t mr__f16_from_f32(float value);
uint16_t mr__bf16_from_f32(float value);

/* The same number. */
float mr__f32_from_f16(uint16_t half);
float mr__f32_from_bf16(uint16_t half);

#endif
