// SPDX-License-Identifier: Apache-2.0
/*
 * MixUp's arithmetic: of two samples of a batch the mean with weights.
 *
 *     f32          own * w, other * (1 - w), both rounded, then their sum, rounded: as torch does it
 *     f16, bf16    the same of the numbers as floats; the sum is rounded once more, to 16 bits
 *     u8           (own * w + other * (65536 - w) + 32768) / 65536, w rounded to a whole 65536th
 *
 * (torch refuses u8; of f16 and bf16 it rounds all three results to 16 bits, ours are nearer to the truth.)
 */
#ifndef MR_KERNEL_MIX_H
#define MR_KERNEL_MIX_H

#include "cpu/cpu.h"

typedef struct mr__mix_weights {
    float own, other;
    uint32_t own_u8; /* of 65536 */
} mr__mix_weights;

/* `own` is from 0 to 1. */
mr__mix_weights mr__mix_weights_of(double own);

/*
 * `to`, `count` numbers, becomes the mix of itself and `from`, another block of as many. All numbers are finite. Any
 * alignment that a number has.
 */
typedef void mr__mix_kernel(void *to, const void *from, size_t count, const mr__mix_weights *weights);

typedef struct mr__mix_kernels {
    mr__mix_kernel *u8, *f32, *f16, *bf16;
} mr__mix_kernels;

void mr__mix_kernels_init(mr__mix_kernels *kernels, mr__cpu_flags cpu);
void mr__mix_kernels_init_avx2(mr__mix_kernels *kernels, mr__cpu_flags cpu);
void mr__mix_kernels_init_neon(mr__mix_kernels *kernels, mr__cpu_flags cpu);

/* The portable ones: others leave ends of rows to them. */
mr__mix_kernel mr__mix_u8_c, mr__mix_f32_c, mr__mix_f16_c, mr__mix_bf16_c;

/* One number. */
static inline uint8_t mr__mix_one_u8(uint8_t own, uint8_t other, uint32_t w)
{
    return (uint8_t)((own * w + other * (65536u - w) + 32768u) >> 16);
}

static inline float mr__mix_one_f32(float own, float other, float w, float rest)
{
    float a = other * rest, b = own * w;
    return a + b;
}

#endif
