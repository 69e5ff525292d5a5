// SPDX-License-Identifier: Apache-2.0
/* Colors with NEON. Sixteen pixels at a time, sorted by channels as they are loaded; what is left: by the portable one.
 */
#if defined(__aarch64__)

#include "kernel/color.h"

#include "kernel/color_pixel.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 16, NBYTES = 3 * GROUP };

/* `work` for every sixteen pixels of `channels`; it knows them as `at`, and where they go as `out`. */
#define EACH_16(channels, work)                                                                                        \
    do {                                                                                                               \
        for (; n >= GROUP; n -= GROUP, from += GROUP * (channels), to += GROUP * (channels)) {                         \
            const uint8_t *at = from;                                                                                  \
            uint8_t *out = to;                                                                                         \
            work;                                                                                                      \
        }                                                                                                              \
        if (n != 0) {                                                                                                  \
            uint8_t some[GROUP * (channels)] = {0};                                                                    \
            memcpy(some, from, n *(channels));                                                                         \
            const uint8_t *at = some;                                                                                  \
            uint8_t *out = some;                                                                                       \
            work;                                                                                                      \
            memcpy(to, some, n *(channels));                                                                           \
        }                                                                                                              \
    } while (0)

static void bits_neon(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const uint8x16_t keep = vdupq_n_u8(tables->keep), turn = vdupq_n_u8(tables->turn);
    EACH_16(1, vst1q_u8(out, veorq_u8(vandq_u8(vld1q_u8(at), keep), turn)));
}

INLINE uint8x16_t turn_above(uint8x16_t v, uint8x16_t first)
{
    return veorq_u8(v, vcgeq_u8(v, first));
}

static void above_neon(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const uint8x16_t first = vdupq_n_u8(tables->first);
    EACH_16(1, vst1q_u8(out, turn_above(vld1q_u8(at), first)));
}

typedef struct quarters {
    uint8x16x4_t of[4];
} quarters;

INLINE quarters quarters_of(const uint8_t table[256])
{
    return (quarters){
        {vld1q_u8_x4(table), vld1q_u8_x4(table + 64), vld1q_u8_x4(table + 128), vld1q_u8_x4(table + 192)}};
}

/* What is beyond a quarter leaves what was found before. */
INLINE uint8x16_t look_up(const quarters *q, uint8x16_t v)
{
    const uint8x16_t step = vdupq_n_u8(64);
    uint8x16_t found = vqtbl4q_u8(q->of[0], v);
    for (size_t i = 1; i < 4; i++) {
        v = vsubq_u8(v, step);
        found = vqtbx4q_u8(found, q->of[i], v);
    }
    return found;
}

static void one_neon(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const quarters q = quarters_of(tables->table[0]);
    EACH_16(1, vst1q_u8(out, look_up(&q, vld1q_u8(at))));
}

INLINE void look_up_3(const quarters q[3], const uint8_t *at, uint8_t *out)
{
    uint8x16x3_t v = vld3q_u8(at);
    for (size_t c = 0; c < 3; c++)
        v.val[c] = look_up(&q[c], v.val[c]);
    vst3q_u8(out, v);
}

static void three_neon(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const quarters q[3] = {quarters_of(tables->table[0]), quarters_of(tables->table[1]), quarters_of(tables->table[2])};
    EACH_16(3, look_up_3(q, at, out));
}

INLINE uint16x4_t gray_4(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    uint32x4_t sum = vmull_n_u16(r, 19595);
    sum = vmlal_n_u16(sum, g, 38470);
    return vrshrn_n_u32(vmlal_n_u16(sum, b, 7471), 16);
}

INLINE uint8x8_t gray_8(uint8x8_t r8, uint8x8_t g8, uint8x8_t b8)
{
    uint16x8_t r = vmovl_u8(r8), g = vmovl_u8(g8), b = vmovl_u8(b8);
    uint16x4_t low = gray_4(vget_low_u16(r), vget_low_u16(g), vget_low_u16(b));
    return vmovn_u16(vcombine_u16(low, gray_4(vget_high_u16(r), vget_high_u16(g), vget_high_u16(b))));
}

INLINE uint8x16_t gray_16(uint8x16x3_t v)
{
    uint8x8_t low = gray_8(vget_low_u8(v.val[0]), vget_low_u8(v.val[1]), vget_low_u8(v.val[2]));
    return vcombine_u8(low, gray_8(vget_high_u8(v.val[0]), vget_high_u8(v.val[1]), vget_high_u8(v.val[2])));
}

INLINE void grayscale_16(const uint8_t *at, uint8_t *out)
{
    uint8x16_t gray = gray_16(vld3q_u8(at));
    vst3q_u8(out, (uint8x16x3_t){{gray, gray, gray}});
}

static void grayscale_neon(const uint8_t *from, size_t n, uint8_t *to)
{
    EACH_16(3, grayscale_16(at, out));
}

static uint64_t sum_gray_neon(const uint8_t *from, size_t n)
{
    uint64_t sum = 0;
    for (; n >= GROUP; n -= GROUP, from += NBYTES)
        sum += vaddlvq_u8(gray_16(vld3q_u8(from)));
    for (; n != 0; n--, from += 3)
        sum += mr__gray(from[0], from[1], from[2]);
    return sum;
}

/* Narrowing clips. */
INLINE int16x4_t blend_4(uint16x4_t from, uint16x4_t other, float alpha)
{
    float32x4_t a = vcvtq_f32_u32(vmovl_u16(from)), b = vcvtq_f32_u32(vmovl_u16(other));
    float32x4_t sum = vaddq_f32(a, vmulq_n_f32(vsubq_f32(b, a), alpha));
    return vqmovn_s32(vcvtq_s32_f32(sum));
}

INLINE uint8x8_t blend_8(uint8x8_t from, uint8x8_t other, float alpha)
{
    uint16x8_t a = vmovl_u8(from), b = vmovl_u8(other);
    int16x4_t low = blend_4(vget_low_u16(a), vget_low_u16(b), alpha);
    return vqmovun_s16(vcombine_s16(low, blend_4(vget_high_u16(a), vget_high_u16(b), alpha)));
}

INLINE uint8x16_t blend_16(uint8x16_t from, uint8x16_t other, float alpha)
{
    return vcombine_u8(blend_8(vget_low_u8(from), vget_low_u8(other), alpha),
                       blend_8(vget_high_u8(from), vget_high_u8(other), alpha));
}

INLINE void saturate_16(const uint8_t *at, float factor, uint8_t *out)
{
    uint8x16x3_t v = vld3q_u8(at);
    uint8x16_t gray = gray_16(v);
    for (size_t c = 0; c < 3; c++)
        v.val[c] = blend_16(gray, v.val[c], factor);
    vst3q_u8(out, v);
}

static void saturation_neon(const uint8_t *from, size_t n, float factor, uint8_t *to)
{
    EACH_16(3, saturate_16(at, factor, out));
}

static void blend_neon(const uint8_t *from, const uint8_t *other, size_t n, float alpha, uint8_t *to)
{
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP)
        vst1q_u8(to + i, blend_16(vld1q_u8(from + i), vld1q_u8(other + i), alpha));
    for (; i < n; i++)
        to[i] = mr__blend(from[i], other[i], alpha);
}

static uint64_t sum_neon(const uint8_t *from, size_t n)
{
    uint64_t sum = 0;
    for (; n >= GROUP; n -= GROUP, from += GROUP)
        sum += vaddlvq_u8(vld1q_u8(from));
    for (; n != 0; n--)
        sum += *from++;
    return sum;
}

INLINE void permute_16(const uint8_t *at, const uint32_t order[3], uint8_t *out)
{
    uint8x16x3_t v = vld3q_u8(at);
    const uint8x16_t all[4] = {v.val[0], v.val[1], v.val[2], vdupq_n_u8(0)};
    vst3q_u8(out, (uint8x16x3_t){{all[order[0]], all[order[1]], all[order[2]]}});
}

static void permute_neon(const uint8_t *from, size_t n, uint32_t order, uint8_t *to)
{
    const uint32_t orders[3] = {order & 3u, order >> 2 & 3u, order >> 4 & 3u};
    EACH_16(3, permute_16(at, orders, out));
}

INLINE void widen(uint8_t range[2], uint8_t least, uint8_t most)
{
    range[0] = least < range[0] ? least : range[0];
    range[1] = most > range[1] ? most : range[1];
}

static void range_1_neon(const uint8_t *from, size_t n, uint8_t range[1][2])
{
    uint8x16_t least = vdupq_n_u8(range[0][0]), most = vdupq_n_u8(range[0][1]);
    for (; n >= GROUP; n -= GROUP, from += GROUP) {
        least = vminq_u8(least, vld1q_u8(from));
        most = vmaxq_u8(most, vld1q_u8(from));
    }
    widen(range[0], vminvq_u8(least), vmaxvq_u8(most));
    for (; n != 0; n--, from++)
        widen(range[0], *from, *from);
}

static void range_3_neon(const uint8_t *from, size_t n, uint8_t range[3][2])
{
    uint8x16_t least[3], most[3];
    for (size_t c = 0; c < 3; c++) {
        least[c] = vdupq_n_u8(range[c][0]);
        most[c] = vdupq_n_u8(range[c][1]);
    }
    for (; n >= GROUP; n -= GROUP, from += NBYTES) {
        uint8x16x3_t v = vld3q_u8(from);
        for (size_t c = 0; c < 3; c++) {
            least[c] = vminq_u8(least[c], v.val[c]);
            most[c] = vmaxq_u8(most[c], v.val[c]);
        }
    }
    for (size_t c = 0; c < 3; c++)
        widen(range[c], vminvq_u8(least[c]), vmaxvq_u8(most[c]));
    for (size_t i = 0; i < 3 * n; i++)
        widen(range[i % 3], from[i], from[i]);
}

void mr__color_kernels_init_neon(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    kernels->bits = bits_neon;
    kernels->above = above_neon;
    kernels->one = one_neon;
    kernels->three = three_neon;
    kernels->grayscale = grayscale_neon;
    kernels->saturation = saturation_neon;
    kernels->blend = blend_neon;
    kernels->permute = permute_neon;
    kernels->sum = sum_neon;
    kernels->sum_gray = sum_gray_neon;
    kernels->range_1 = range_1_neon;
    kernels->range_3 = range_3_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
