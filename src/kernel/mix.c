// SPDX-License-Identifier: Apache-2.0
#include "kernel/mix.h"

#include "kernel/half.h"

mr__mix_weights mr__mix_weights_of(double own)
{
    return (mr__mix_weights){(float)own, (float)(1.0 - own), (uint32_t)(own * 65536.0 + 0.5)};
}

void mr__mix_u8_c(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint8_t *own = to;
    const uint8_t *other = from;
    for (size_t i = 0; i < count; i++)
        own[i] = mr__mix_one_u8(own[i], other[i], w->own_u8);
}

void mr__mix_f32_c(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    float *own = to;
    const float *other = from;
    for (size_t i = 0; i < count; i++)
        own[i] = mr__mix_one_f32(own[i], other[i], w->own, w->other);
}

void mr__mix_f16_c(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    for (size_t i = 0; i < count; i++)
        own[i] =
            mr__f16_from_f32(mr__mix_one_f32(mr__f32_from_f16(own[i]), mr__f32_from_f16(other[i]), w->own, w->other));
}

void mr__mix_bf16_c(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    for (size_t i = 0; i < count; i++)
        own[i] = mr__bf16_from_f32(
            mr__mix_one_f32(mr__f32_from_bf16(own[i]), mr__f32_from_bf16(other[i]), w->own, w->other));
}

void mr__mix_kernels_init(mr__mix_kernels *kernels, mr__cpu_flags cpu)
{
    *kernels = (mr__mix_kernels){mr__mix_u8_c, mr__mix_f32_c, mr__mix_f16_c, mr__mix_bf16_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__mix_kernels_init_avx2(kernels, cpu);
#elif defined(__aarch64__)
    mr__mix_kernels_init_neon(kernels, cpu);
#endif
}
