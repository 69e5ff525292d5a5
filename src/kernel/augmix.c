// SPDX-License-Identifier: Apache-2.0
#include "kernel/augmix.h"

static void begin_f32_c(float *sum, const uint8_t *from, size_t n, float weight)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = mr__augmix_part(from[i], weight);
}

static void add_f32_c(float *sum, const uint8_t *from, size_t n, float weight)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += mr__augmix_part(from[i], weight);
}

static void end_f32_c(uint8_t *to, const float *sum, const uint8_t *from, size_t n, float weight)
{
    for (size_t i = 0; i < n; i++)
        to[i] = mr__augmix_whole(sum[i] + mr__augmix_part(from[i], weight));
}

void mr__augmix_kernels_init(mr__augmix_kernels *kernels, mr__cpu_flags cpu)
{
    *kernels = (mr__augmix_kernels){begin_f32_c, add_f32_c, end_f32_c};
#if defined(__x86_64__)
    mr__augmix_kernels_init_avx2(kernels, cpu);
#elif defined(__aarch64__)
    mr__augmix_kernels_init_neon(kernels, cpu);
#endif
    (void)cpu;
}
