// SPDX-License-Identifier: Apache-2.0
/* Color times alpha, and back, with NEON: 8 pixels at a time, channel by channel. */
#if defined(__aarch64__)

#include "step/resample.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

/* (p + 128 + (p + 128 >> 8)) >> 8, of products of two bytes. */
INLINE uint8x8_t multiply(uint8x8_t color, uint8x8_t alpha)
{
    uint16x8_t product = vmull_u8(color, alpha);
    return vraddhn_u16(product, vrshrq_n_u16(product, 8));
}

static void premultiply_u8_neon(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        if (channels == 2) {
            uint8x8x2_t p = vld2_u8(from + 2 * i);
            p.val[0] = multiply(p.val[0], p.val[1]);
            vst2_u8(to + 2 * i, p);
        } else {
            uint8x8x4_t p = vld4_u8(from + 4 * i);
            p.val[0] = multiply(p.val[0], p.val[3]);
            p.val[1] = multiply(p.val[1], p.val[3]);
            p.val[2] = multiply(p.val[2], p.val[3]);
            vst4_u8(to + 4 * i, p);
        }
    }
    mr__resample_premultiply_u8_c(from + i * channels, channels, to + i * channels, n - i);
}

INLINE float32x4_t to_float(uint16x4_t words)
{
    return vcvtq_f32_u32(vmovl_u16(words));
}

INLINE uint16x4_t quotient(uint16x4_t color, uint16x4_t alpha)
{
    float32x4_t product = vmulq_n_f32(to_float(color), 255.0f);
    return vqmovn_u32(vcvtq_u32_f32(vdivq_f32(product, to_float(alpha))));
}

/*
 * Quotients of whole numbers below 2^16, rounded to float, are never rounded up to a whole number, so that cutting off
 * what is behind the point is exact. Where alpha is 0, color is divided by 255, and stays.
 */
INLINE uint8x8_t divide(uint8x8_t color, uint8x8_t alpha)
{
    uint8x8_t by = vorr_u8(alpha, vceqz_u8(alpha));
    uint16x8_t colors = vmovl_u8(color), alphas = vmovl_u8(by);
    return vqmovn_u16(vcombine_u16(quotient(vget_low_u16(colors), vget_low_u16(alphas)),
                                   quotient(vget_high_u16(colors), vget_high_u16(alphas))));
}

static void unpremultiply_u8_neon(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        if (channels == 2) {
            uint8x8x2_t p = vld2_u8(from + 2 * i);
            p.val[0] = divide(p.val[0], p.val[1]);
            vst2_u8(to + 2 * i, p);
        } else {
            uint8x8x4_t p = vld4_u8(from + 4 * i);
            p.val[0] = divide(p.val[0], p.val[3]);
            p.val[1] = divide(p.val[1], p.val[3]);
            p.val[2] = divide(p.val[2], p.val[3]);
            vst4_u8(to + 4 * i, p);
        }
    }
    mr__resample_unpremultiply_u8_c(from + i * channels, channels, to + i * channels, n - i);
}

void mr__resample_init_alpha_neon(mr__resample *table)
{
    table->premultiply = premultiply_u8_neon;
    table->unpremultiply = unpremultiply_u8_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
