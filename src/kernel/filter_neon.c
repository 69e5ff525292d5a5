// SPDX-License-Identifier: Apache-2.0
/* Filters with NEON, as those with AVX2; products and sums apart, so that each is rounded. */
#if defined(__aarch64__)

#include "kernel/filter.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 8 }; /* samples that go together; the last ones of a row may be made twice */

INLINE uint16x8_t load_u8(const uint8_t *at)
{
    return vmovl_u8(vld1_u8(at));
}

INLINE uint16x8_t add_three(const uint8_t *at, size_t step)
{
    return vaddq_u16(vaddl_u8(vld1_u8(at - step), vld1_u8(at)), load_u8(at + step));
}

/* (sum + 6) / 13: the upper half of a product, to a sum of 6553. */
INLINE uint16x8_t smooth(uint16x8_t sum, uint16x8_t value)
{
    sum = vaddq_u16(vaddq_u16(sum, vshlq_n_u16(value, 2)), vdupq_n_u16(6));
    uint32x4_t low = vmull_n_u16(vget_low_u16(sum), 5042), high = vmull_n_u16(vget_high_u16(sum), 5042);
    return vcombine_u16(vshrn_n_u32(low, 16), vshrn_n_u32(high, 16));
}

/* Conversion and narrowing saturate. */
INLINE int16x4_t sharpen_four(uint16x4_t smoothed, int16x4_t change, float factor)
{
    float32x4_t more = vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(change)), factor);
    return vqmovn_s32(vcvtq_s32_f32(vaddq_f32(vcvtq_f32_u32(vmovl_u16(smoothed)), more)));
}

INLINE void sharpen_group(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, float factor,
                          uint8_t *to)
{
    uint16x8_t value = load_u8(row);
    uint16x8_t sum = vaddq_u16(vaddq_u16(add_three(above, step), add_three(below, step)), add_three(row, step));
    uint16x8_t smoothed = smooth(sum, value);
    int16x8_t change = vreinterpretq_s16_u16(vsubq_u16(value, smoothed));
    int16x4_t low = sharpen_four(vget_low_u16(smoothed), vget_low_s16(change), factor);
    int16x4_t high = sharpen_four(vget_high_u16(smoothed), vget_high_s16(change), factor);
    vst1_u8(to, vqmovun_s16(vcombine_s16(low, high)));
}

static void sharpen_row_neon(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, size_t n,
                             float factor, uint8_t *to)
{
    if (n < GROUP) {
        mr__sharpen_row_c(above, row, below, step, n, factor, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sharpen_group(above + i, row + i, below + i, step, factor, to + i);
    }
}

typedef struct sums {
    float32x4_t low, high;
} sums;

INLINE sums weigh(sums s, float weight)
{
    return (sums){vmulq_n_f32(s.low, weight), vmulq_n_f32(s.high, weight)};
}

INLINE sums add(sums a, sums b)
{
    return (sums){vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)};
}

INLINE sums from_words(uint16x8_t words)
{
    return (sums){vcvtq_f32_u32(vmovl_u16(vget_low_u16(words))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(words)))};
}

INLINE sums load_f32(const float *at)
{
    return (sums){vld1q_f32(at), vld1q_f32(at + 4)};
}

INLINE void store_f32(sums s, float *to)
{
    vst1q_f32(to, s.low);
    vst1q_f32(to + 4, s.high);
}

static void blur_down_u8_neon(const uint8_t *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    if (n < GROUP) {
        mr__blur_down_u8_c(rows, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = weigh(from_words(load_u8(rows[radius] + i)), weight[0]);
        for (size_t j = 1; j <= radius; j++) {
            uint16x8_t both = vaddl_u8(vld1_u8(rows[radius - j] + i), vld1_u8(rows[radius + j] + i));
            sum = add(sum, weigh(from_words(both), weight[j]));
        }
        store_f32(sum, to + i);
    }
}

static void blur_down_f32_neon(const float *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    if (n < GROUP) {
        mr__blur_down_f32_c(rows, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = weigh(load_f32(rows[radius] + i), weight[0]);
        for (size_t j = 1; j <= radius; j++)
            sum = add(sum, weigh(add(load_f32(rows[radius - j] + i), load_f32(rows[radius + j] + i)), weight[j]));
        store_f32(sum, to + i);
    }
}

INLINE sums sum_across(const float *row, size_t step, const float *weight, size_t radius)
{
    sums sum = weigh(load_f32(row), weight[0]);
    for (size_t j = 1; j <= radius; j++)
        sum = add(sum, weigh(add(load_f32(row - j * step), load_f32(row + j * step)), weight[j]));
    return sum;
}

static void blur_across_u8_neon(const float *row, size_t step, const float *weight, size_t radius, size_t n,
                                uint8_t *to)
{
    if (n < GROUP) {
        mr__blur_across_u8_c(row, step, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = sum_across(row + i, step, weight, radius);
        uint16x4_t low = vqmovun_s32(vcvtnq_s32_f32(sum.low)), high = vqmovun_s32(vcvtnq_s32_f32(sum.high));
        vst1_u8(to + i, vqmovn_u16(vcombine_u16(low, high)));
    }
}

static void blur_across_f32_neon(const float *row, size_t step, const float *weight, size_t radius, size_t n, float *to)
{
    if (n < GROUP) {
        mr__blur_across_f32_c(row, step, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        store_f32(sum_across(row + i, step, weight, radius), to + i);
    }
}

void mr__filters_init_neon(mr__filters *filters, mr__cpu_flags cpu)
{
    if (cpu & MR__CPU_NEON)
        *filters = (mr__filters){sharpen_row_neon, blur_down_u8_neon, blur_down_f32_neon, blur_across_u8_neon,
                                 blur_across_f32_neon};
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
