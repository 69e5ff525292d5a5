// SPDX-License-Identifier: Apache-2.0
/*
 * Resampling with NEON, which multiplies 32-bit numbers: weights are taken as they are. Across, a vector is the
 * channels of one pixel (of gray: four taps), and 16 bytes of the row have the four taps of a step.
 */
#if defined(__aarch64__)

#include "step/resample.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { STEP = 4, WINDOW = 16 };

INLINE int32x4_t half(void)
{
    return vdupq_n_s32(1 << (MR__RESAMPLE_BITS - 1));
}

/* Whole numbers of 0 to 255. */
INLINE uint16x4_t settle(int32x4_t sum)
{
    return vqmovun_s32(vshrq_n_s32(sum, MR__RESAMPLE_BITS));
}

/* Four bytes, of which those behind the pixel are written over by the next one. */
INLINE void store_pixel(int32x4_t sum, uint8_t *to)
{
    uint16x4_t words = settle(sum);
    uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(to, &bytes, sizeof bytes);
}

/* Masks that bring a tap's channels to 32-bit lanes. */
typedef struct masks {
    uint8x16_t tap[STEP];
} masks;

static masks masks_of(size_t channels)
{
    masks m;
    for (size_t tap = 0; tap < STEP; tap++) {
        uint8_t mask[16];
        memset(mask, 0xff, sizeof mask); /* zero */
        for (size_t lane = 0; lane < (channels == 1 ? STEP : channels); lane++)
            mask[4 * lane] = (uint8_t)(channels == 1 ? lane : tap * channels + lane);
        m.tap[tap] = vld1q_u8(mask);
    }
    return m;
}

INLINE int32x4_t pick(uint8x16_t window, uint8x16_t mask)
{
    return vreinterpretq_s32_u8(vqtbl1q_u8(window, mask));
}

INLINE int32x4_t sum_taps(const uint8_t *at, const int32_t *weights, size_t steps, size_t channels, const masks *m)
{
    int32x4_t sum = half();
    for (size_t i = 0; i < steps; i++, at += STEP * channels, weights += STEP) {
        uint8x16_t window = vld1q_u8(at);
        int32x4_t w = vld1q_s32(weights);
        sum = vmlaq_laneq_s32(sum, pick(window, m->tap[0]), w, 0);
        sum = vmlaq_laneq_s32(sum, pick(window, m->tap[1]), w, 1);
        sum = vmlaq_laneq_s32(sum, pick(window, m->tap[2]), w, 2);
        sum = vmlaq_laneq_s32(sum, pick(window, m->tap[3]), w, 3);
    }
    return sum;
}

INLINE int32x4_t sum_gray(const uint8_t *at, const int32_t *weights, size_t steps, const masks *m)
{
    int32x4_t sum = vdupq_n_s32(0);
    for (size_t i = 0; i < steps; i++, at += STEP, weights += STEP)
        sum = vmlaq_s32(sum, pick(vld1q_u8(at), m->tap[0]), vld1q_s32(weights));
    return vaddq_s32(vdupq_n_s32(vaddvq_s32(sum)), half());
}

/* One tap at a time, for what reads near the end of the row: the others read more than they use. */
INLINE int32x4_t sum_near_end(const uint8_t *at, const int32_t *weights, size_t count, size_t channels, const masks *m)
{
    int32x4_t sum = half();
    for (size_t i = 0; i < count; i++, at += channels) {
        uint8_t tap[WINDOW] = {0};
        memcpy(tap, at, channels);
        sum = vmlaq_n_s32(sum, pick(vld1q_u8(tap), m->tap[0]), weights[i]);
    }
    return sum;
}

INLINE void across(const mr__resample_axis *axis, size_t channels, const uint8_t *from, uint8_t *to)
{
    const masks m = masks_of(channels);
    size_t nbytes = axis->in * channels;
    for (uint32_t x = 0; x < axis->out; x++, to += channels) {
        size_t steps = (axis->count[x] + STEP - 1) / STEP, begin = axis->first[x] * channels;
        const int32_t *weights = axis->weights + x * axis->pitch;
        if (begin + (steps - 1) * STEP * channels + WINDOW > nbytes || steps == 0)
            store_pixel(sum_near_end(from + begin, weights, axis->count[x], channels, &m), to);
        else if (channels == 1)
            store_pixel(sum_gray(from + begin, weights, steps, &m), to);
        else
            store_pixel(sum_taps(from + begin, weights, steps, channels, &m), to);
    }
}

static void across_u8_neon(const mr__resample_axis *axis, uint32_t channels, const uint8_t *const from[2],
                           uint8_t *const to[2], uint8_t *scratch)
{
    (void)scratch;
    for (size_t row = 0; row < (from[0] == from[1] ? 1 : 2); row++) {
        if (channels == 1)
            across(axis, 1, from[row], to[row]);
        else if (channels == 2)
            across(axis, 2, from[row], to[row]);
        else if (channels == 3)
            across(axis, 3, from[row], to[row]);
        else
            across(axis, 4, from[row], to[row]);
    }
}

INLINE int32x4_t lower(uint16x8_t words)
{
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
}

INLINE int32x4_t upper(uint16x8_t words)
{
    return vreinterpretq_s32_u32(vmovl_high_u16(words));
}

/* 16 samples of an output row. */
INLINE uint8x16_t down_16(const uint8_t *const *rows, const int32_t *weights, size_t count, size_t at)
{
    int32x4_t s0 = half(), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i < count; i++) {
        uint8x16_t row = vld1q_u8(rows[i] + at);
        uint16x8_t first = vmovl_u8(vget_low_u8(row)), second = vmovl_high_u8(row);
        s0 = vmlaq_n_s32(s0, lower(first), weights[i]);
        s1 = vmlaq_n_s32(s1, upper(first), weights[i]);
        s2 = vmlaq_n_s32(s2, lower(second), weights[i]);
        s3 = vmlaq_n_s32(s3, upper(second), weights[i]);
    }
    return vcombine_u8(vqmovn_u16(vcombine_u16(settle(s0), settle(s1))),
                       vqmovn_u16(vcombine_u16(settle(s2), settle(s3))));
}

/* The last 16 may be made twice. */
static void down_u8_neon(const mr__resample_axis *axis, uint32_t y, const uint8_t *const *rows, uint8_t *to, size_t n)
{
    if (n < 16) {
        mr__resample_down_u8_c(axis, y, rows, to, n);
        return;
    }
    for (size_t at = 0; at < n; at += 16) {
        at = n - at < 16 ? n - 16 : at;
        vst1q_u8(to + at, down_16(rows, axis->weights + y * axis->pitch, axis->count[y], at));
    }
}

void mr__resample_init_neon(mr__resample *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    table->across = across_u8_neon;
    table->down = down_u8_neon;
    mr__resample_init_alpha_neon(table);
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
