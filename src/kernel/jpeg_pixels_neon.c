// SPDX-License-Identifier: Apache-2.0
/*
 * The row kernels with NEON, 16 pixels at a time. Even and odd pixels are kept apart until they are bytes; the
 * constants of colour are those of jpeg_pixels_avx2.c: VQRDMULH rounds as PMULHRSW does.
 */
#if defined(__aarch64__)

#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { STEP = 16 };

INLINE int16x8_t load_wide(const uint8_t *from)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from)));
}

static void sum_u8_neon(const uint8_t *near, const uint8_t *far, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        vst1q_s16(to + i, vmlaq_n_s16(load_wide(far + i), load_wide(near + i), 3));
}

static void quadruple_u8_neon(const uint8_t *from, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        vst1q_s16(to + i, vshlq_n_s16(load_wide(from + i), 2));
}

static void between_u8_neon(const uint8_t *near, const uint8_t *far, unsigned bias, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        int16x8_t x = vmlaq_n_s16(load_wide(far + i), load_wide(near + i), 3);
        vst1_u8(to + i, vqshrun_n_s16(vaddq_s16(x, vdupq_n_s16((int16_t)bias)), 2));
    }
}

typedef struct halves {
    int16x8_t even, odd;
} halves;

/* 8 sums to 16 pixels, less what `left` and `right` are less than the bias. */
INLINE halves widen(const int16_t *sums, int16_t left, int16_t right)
{
    int16x8_t x = vmulq_n_s16(vld1q_s16(sums), 3);
    int16x8_t even = vaddq_s16(vaddq_s16(x, vdupq_n_s16(left)), vld1q_s16(sums - 1));
    int16x8_t odd = vaddq_s16(vaddq_s16(x, vdupq_n_s16(right)), vld1q_s16(sums + 1));
    return (halves){vshrq_n_s16(even, 4), vshrq_n_s16(odd, 4)};
}

/* Bytes in the order of pixels, within 0 to 255. */
INLINE uint8x16_t join(halves x)
{
    uint8x8x2_t z = vzip_u8(vqmovun_s16(x.even), vqmovun_s16(x.odd));
    return vcombine_u8(z.val[0], z.val[1]);
}

static void widen_i16_neon(const int16_t *sums, mr__jpeg_bias bias, size_t odd, uint8_t *to, size_t n)
{
    if (odd) {
        *to++ = mr__jpeg_right_of(sums++, bias);
        n--;
    }
    for (size_t i = 0; i < n; i += STEP)
        vst1q_u8(to + i, join(widen(sums + i / 2, bias.left, bias.right)));
}

static void repeat_u8_neon(const uint8_t *from, size_t times, size_t skip, uint8_t *to, size_t n)
{
    for (; skip % times != 0 && n != 0; n--) {
        *to++ = *from;
        from += ++skip == times;
    }
    if (times == 2)
        for (size_t i = 0; i < n; i += STEP) {
            uint8x8_t x = vld1_u8(from + i / 2);
            vst2_u8(to + i, (uint8x8x2_t){{x, x}});
        }
    else if (times == 4)
        for (size_t i = 0; i < n; i += 2 * STEP) {
            uint8x8_t x = vld1_u8(from + i / 4);
            vst4_u8(to + i, (uint8x8x4_t){{x, x, x, x}});
        }
    else
        for (size_t i = 0; i < n; i++)
            to[i] = from[i / times];
}

/* 16 pixels, or the row's last ones, which are fewer. */
INLINE void store_pixels(uint8_t *to, size_t n, uint8x16_t r, uint8x16_t g, uint8x16_t b)
{
    uint8x16x3_t x = {{r, g, b}};
    if (n >= STEP) {
        vst3q_u8(to, x);
        return;
    }
    uint8_t room[3 * STEP];
    vst3q_u8(room, x);
    memcpy(to, room, 3 * n);
}

INLINE int16x8_t green(int16x8_t y, int16x8_t cb, int16x8_t cr)
{
    int32x4_t lo = vmlal_n_s16(vmull_n_s16(vget_low_s16(cb), -11277), vget_low_s16(cr), -23401);
    int32x4_t hi = vmlal_n_s16(vmull_n_s16(vget_high_s16(cb), -11277), vget_high_s16(cr), -23401);
    return vaddq_s16(y, vcombine_s16(vqrshrn_n_s32(lo, 15), vqrshrn_n_s32(hi, 15)));
}

INLINE int16x8_t red_or_blue(int16x8_t y, int16x8_t chroma, int16_t factor)
{
    return vaddq_s16(y, vqrdmulhq_n_s16(vaddq_s16(chroma, chroma), factor));
}

/* cb and cr are around 0. */
INLINE void store_colors(uint8_t *to, size_t n, halves y, halves cb, halves cr)
{
    halves r = {red_or_blue(y.even, cr.even, 22971), red_or_blue(y.odd, cr.odd, 22971)};
    halves g = {green(y.even, cb.even, cr.even), green(y.odd, cb.odd, cr.odd)};
    halves b = {red_or_blue(y.even, cb.even, 29033), red_or_blue(y.odd, cb.odd, 29033)};
    store_pixels(to, n, join(r), join(g), join(b));
}

/* 16 bytes, less `middle`. */
INLINE halves split(const uint8_t *from, uint8_t middle)
{
    uint8x8x2_t x = vld2_u8(from);
    return (halves){vreinterpretq_s16_u16(vsubl_u8(x.val[0], vdup_n_u8(middle))),
                    vreinterpretq_s16_u16(vsubl_u8(x.val[1], vdup_n_u8(middle)))};
}

static void ycc_u8_neon(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += STEP)
        store_colors(to + 3 * i, n - i, split(y + i, 0), split(cb + i, 128), split(cr + i, 128));
}

static void ycc_widen_u8_neon(const uint8_t *y, const int16_t *cb, const int16_t *cr, mr__jpeg_bias bias, size_t odd,
                              uint8_t *to, size_t n)
{
    // The 128 that chroma is above zero is 2048 sixteenths.
    int16_t left = (int16_t)(bias.left - 2048), right = (int16_t)(bias.right - 2048);
    if (odd) {
        mr__jpeg_ycc_pixel(*y++, mr__jpeg_right_of(cb++, bias), mr__jpeg_right_of(cr++, bias), to);
        to += 3;
        n--;
    }
    for (size_t i = 0; i < n; i += STEP)
        store_colors(to + 3 * i, n - i, split(y + i, 0), widen(cb + i / 2, left, right),
                     widen(cr + i / 2, left, right));
}

static void interleave_u8_neon(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += STEP)
        store_pixels(to + 3 * i, n - i, vld1q_u8(r + i), vld1q_u8(g + i), vld1q_u8(b + i));
}

static void thrice_u8_neon(const uint8_t *from, uint8_t *to, size_t n)
{
    interleave_u8_neon(from, from, from, to, n);
}

void mr__jpeg_pixels_init_neon(mr__jpeg_pixels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    mr__jpeg_pixels_init_idct_neon(table);
    mr__jpeg_pixels_init_strip_neon(table);
    table->sum = sum_u8_neon;
    table->quadruple = quadruple_u8_neon;
    table->between = between_u8_neon;
    table->widen = widen_i16_neon;
    table->repeat = repeat_u8_neon;
    table->ycc = ycc_u8_neon;
    table->ycc_widen = ycc_widen_u8_neon;
    table->interleave = interleave_u8_neon;
    table->thrice = thrice_u8_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
