// SPDX-License-Identifier: Apache-2.0
/*
 * A weighted sum of images, in floats: each product rounded, then added, one image after the other; what is behind the
 * point is left out at the end. The weights are not negative and their sum is about 1.
 */
#ifndef MR_KERNEL_AUGMIX_H
#define MR_KERNEL_AUGMIX_H

#include "cpu/cpu.h"
#include "kernel/augmix_pixel.h"

#include <stddef.h>
#include <stdint.h>

/* Of n samples; nothing else is read or written. */
typedef struct mr__augmix_kernels {
    void (*begin)(float *sum, const uint8_t *from, size_t n, float weight);                  /* sum = weight from */
    void (*add)(float *sum, const uint8_t *from, size_t n, float weight);                    /* sum + weight from */
    void (*end)(uint8_t *to, const float *sum, const uint8_t *from, size_t n, float weight); /* that, to `to` */
} mr__augmix_kernels;

void mr__augmix_kernels_init(mr__augmix_kernels *kernels, mr__cpu_flags cpu);
void mr__augmix_kernels_init_avx2(mr__augmix_kernels *kernels, mr__cpu_flags cpu);
void mr__augmix_kernels_init_neon(mr__augmix_kernels *kernels, mr__cpu_flags cpu);

#endif
