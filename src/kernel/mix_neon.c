// SPDX-License-Identifier: Apache-2.0
/* Mixing with NEON. Products are rounded before they are added: no fused ones. */
#if defined(__aarch64__)

#include "kernel/mix.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

/* Weights of 65536 do not fit 16 bits; there is nothing to mix then. */
INLINE uint16x4_t mix_four_u8(uint16x4_t own, uint16x4_t other, uint16_t w, uint16_t rest)
{
    uint32x4_t sum = vmlal_n_u16(vmull_n_u16(own, w), other, rest);
    return vshrn_n_u32(vaddq_u32(sum, vdupq_n_u32(32768)), 16);
}

INLINE uint8x8_t mix_eight_u8(uint8x8_t own, uint8x8_t other, uint16_t w, uint16_t rest)
{
    uint16x8_t a = vmovl_u8(own), b = vmovl_u8(other);
    return vmovn_u16(vcombine_u16(mix_four_u8(vget_low_u16(a), vget_low_u16(b), w, rest),
                                  mix_four_u8(vget_high_u16(a), vget_high_u16(b), w, rest)));
}

static void mix_u8_neon(void *to, const void *from, size_t count, const mr__mix_weights *weights)
{
    uint8_t *own = to;
    const uint8_t *other = from;
    uint32_t w = weights->own_u8;
    size_t i = 0;
    for (; w != 0 && w != 65536 && count - i >= 8; i += 8)
        vst1_u8(own + i, mix_eight_u8(vld1_u8(own + i), vld1_u8(other + i), (uint16_t)w, (uint16_t)(65536 - w)));
    mr__mix_u8_c(own + i, other + i, count - i, weights);
}

INLINE float32x4_t mix_four(float32x4_t own, float32x4_t other, const mr__mix_weights *w)
{
    float32x4_t a = vmulq_n_f32(other, w->other), b = vmulq_n_f32(own, w->own);
    return vaddq_f32(a, b);
}

static void mix_f32_neon(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    float *own = to;
    const float *other = from;
    size_t i = 0;
    for (; count - i >= 4; i += 4)
        vst1q_f32(own + i, mix_four(vld1q_f32(own + i), vld1q_f32(other + i), w));
    mr__mix_f32_c(own + i, other + i, count - i, w);
}

INLINE float32x4_t load_f16(const uint16_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at)));
}

static void mix_f16_neon(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    size_t i = 0;
    for (; count - i >= 4; i += 4)
        vst1_u16(own + i, vreinterpret_u16_f16(vcvt_f16_f32(mix_four(load_f16(own + i), load_f16(other + i), w))));
    mr__mix_f16_c(own + i, other + i, count - i, w);
}

INLINE float32x4_t load_bf16(const uint16_t *at)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(at), 16));
}

static void mix_bf16_neon(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    size_t i = 0;
    for (; count - i >= 4; i += 4) {
        uint32x4_t bits = vreinterpretq_u32_f32(mix_four(load_bf16(own + i), load_bf16(other + i), w));
        uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
        vst1_u16(own + i, vshrn_n_u32(vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff))), 16));
    }
    mr__mix_bf16_c(own + i, other + i, count - i, w);
}

void mr__mix_kernels_init_neon(mr__mix_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    kernels->u8 = mix_u8_neon;
    kernels->f32 = mix_f32_neon;
    kernels->f16 = mix_f16_neon;
    kernels->bf16 = mix_bf16_neon;
}

#endif
