// SPDX-License-Identifier: Apache-2.0
/* Eight samples at a time, and the same operations on each: multiplied, then added. */
#if defined(__aarch64__)

#include "kernel/augmix.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

INLINE float32x4x2_t part(const uint8_t *from, float32x4_t weight)
{
    uint16x8_t samples = vmovl_u8(vld1_u8(from));
    return (float32x4x2_t){{vmulq_f32(weight, vcvtq_f32_u32(vmovl_u16(vget_low_u16(samples)))),
                            vmulq_f32(weight, vcvtq_f32_u32(vmovl_u16(vget_high_u16(samples))))}};
}

INLINE float32x4x2_t sum_of(const float *sum, const uint8_t *from, float32x4_t weight)
{
    float32x4x2_t more = part(from, weight);
    return (float32x4x2_t){{vaddq_f32(vld1q_f32(sum), more.val[0]), vaddq_f32(vld1q_f32(sum + 4), more.val[1])}};
}

INLINE void store(float *to, float32x4x2_t value)
{
    vst1q_f32(to, value.val[0]);
    vst1q_f32(to + 4, value.val[1]);
}

static void begin_f32_neon(float *sum, const uint8_t *from, size_t n, float weight)
{
    float32x4_t w = vdupq_n_f32(weight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        store(sum + i, part(from + i, w));
    for (; i < n; i++)
        sum[i] = mr__augmix_part(from[i], weight);
}

static void add_f32_neon(float *sum, const uint8_t *from, size_t n, float weight)
{
    float32x4_t w = vdupq_n_f32(weight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        store(sum + i, sum_of(sum + i, from + i, w));
    for (; i < n; i++)
        sum[i] += mr__augmix_part(from[i], weight);
}

static void end_f32_neon(uint8_t *to, const float *sum, const uint8_t *from, size_t n, float weight)
{
    float32x4_t w = vdupq_n_f32(weight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        float32x4x2_t value = sum_of(sum + i, from + i, w);
        uint16x8_t whole = vcombine_u16(vmovn_u32(vcvtq_u32_f32(value.val[0])), vmovn_u32(vcvtq_u32_f32(value.val[1])));
        vst1_u8(to + i, vmovn_u16(whole));
    }
    for (; i < n; i++)
        to[i] = mr__augmix_whole(sum[i] + mr__augmix_part(from[i], weight));
}

void mr__augmix_kernels_init_neon(mr__augmix_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) != 0)
        *kernels = (mr__augmix_kernels){begin_f32_neon, add_f32_neon, end_f32_neon};
}

#else
typedef int mr__no_augmix_neon_here; /* ISO C wants a declaration in every file */
#endif
