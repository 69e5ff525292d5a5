// SPDX-License-Identifier: Apache-2.0
/* Hue with NEON: as with AVX2 (color_avx2.c), four pixels at a time, and what comes of sixteen is put together. */
#if defined(__aarch64__)

#include "kernel/color.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 16, NBYTES = 3 * GROUP };

INLINE uint32x4_t parts_of(float32x4_t share)
{
    return vcvtq_u32_f32(vmulq_n_f32(share, 255.0f));
}

INLINE float32x4_t select(uint32x4_t is_r, float32x4_t r, uint32x4_t is_g, float32x4_t g, float32x4_t b)
{
    return vbslq_f32(is_r, r, vbslq_f32(is_g, g, b));
}

INLINE float32x4_t masked(uint32x4_t mask, float value)
{
    return vreinterpretq_f32_u32(vandq_u32(mask, vreinterpretq_u32_f32(vdupq_n_f32(value))));
}

/* Of a gray h is nothing that makes sense, and s = 0. */
INLINE uint32x4_t hue_of(float32x4_t r, float32x4_t g, float32x4_t b, float32x4_t most, float32x4_t *range)
{
    uint32x4_t is_r = vceqq_f32(r, most), is_g = vceqq_f32(g, most);
    float32x4_t before = select(is_r, g, is_g, b, r), after = select(is_r, b, is_g, r, g);
    float32x4_t base = select(is_r, vdupq_n_f32(-1.0f), is_g, vdupq_n_f32(1.0f), vdupq_n_f32(3.0f));
    uint32x4_t falls = vcgtq_f32(before, after);
    *range = vsubq_f32(most, vminq_f32(before, after));
    float32x4_t far = vdivq_f32(vsubq_f32(most, vmaxq_f32(before, after)), *range);
    far = vbslq_f32(falls, vnegq_f32(far), far);
    float32x4_t h = vaddq_f32(vaddq_f32(base, masked(falls, 2.0f)), far);
    return parts_of(vaddq_f32(vdivq_f32(h, vdupq_n_f32(6.0f)), masked(vcltzq_f32(h), 1.0f)));
}

/* Four pixels: their sixths, and how much less than v the least channel has, and the one between. */
typedef struct turned {
    uint32x4_t sixth, least, between;
} turned;

INLINE turned turn_4(float32x4_t r, float32x4_t g, float32x4_t b, uint32_t turn)
{
    float32x4_t most = vmaxq_f32(vmaxq_f32(r, g), b), range;
    uint32x4_t h = hue_of(r, g, b, most, &range);
    h = vandq_u32(vaddq_u32(h, vdupq_n_u32(turn)), vdupq_n_u32(255));
    uint32x4_t s = parts_of(vdivq_f32(range, vmaxq_f32(most, vdupq_n_f32(1.0f))));
    uint32x4_t full = vmulq_u32(s, vcvtq_u32_f32(most));
    uint32x4_t sixth = vshrq_n_u32(vmulq_n_u32(h, 1543), 16); /* 2 h / 85: 1543 is 2^17 / 85 and a bit */
    uint32x4_t place = vmlsq_n_u32(vaddq_u32(h, h), sixth, 85);
    uint32x4_t down = vbslq_u32(vtstq_u32(sixth, vdupq_n_u32(1)), place, vsubq_u32(vdupq_n_u32(85), place));
    float32x4_t less = vmulq_f32(vcvtq_f32_u32(full), vcvtq_f32_u32(down));
    uint32x4_t least = vshrq_n_u32(vmulq_n_u32(vaddq_u32(full, vdupq_n_u32(128)), 257), 16);
    return (turned){sixth, least, vcvtnq_u32_f32(vmulq_n_f32(less, 1.0f / 21675.0f))};
}

INLINE float32x4_t floats_of(uint8x16_t v, size_t quarter)
{
    uint16x8_t half = quarter < 2 ? vmovl_u8(vget_low_u8(v)) : vmovl_high_u8(v);
    return vcvtq_f32_u32(quarter % 2 == 0 ? vmovl_u16(vget_low_u16(half)) : vmovl_high_u16(half));
}

INLINE uint8x16_t bytes_of(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d)
{
    return vcombine_u8(vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b))),
                       vmovn_u16(vcombine_u16(vmovn_u32(c), vmovn_u32(d))));
}

/* By sixth: 0, that a channel is v; 1, least; 2, between. */
INLINE uint8x16_t channel(const uint8_t kinds[16], uint8x16_t sixth, uint8x16_t v, uint8x16_t least, uint8x16_t between)
{
    uint8x16_t kind = vqtbl1q_u8(vld1q_u8(kinds), sixth);
    uint8x16_t less = vbslq_u8(vceqq_u8(kind, vdupq_n_u8(1)), least, between);
    return vsubq_u8(v, vbicq_u8(less, vceqzq_u8(kind)));
}

INLINE void turn_16(const uint8_t *at, uint32_t turn, uint8_t *out)
{
    static const uint8_t red[16] = {0, 2, 1, 1, 2, 0, 0}, green[16] = {2, 0, 0, 2, 1, 1, 2};
    static const uint8_t blue[16] = {1, 1, 2, 0, 0, 2, 1};
    uint8x16x3_t v = vld3q_u8(at);
    turned t[4];
    for (size_t i = 0; i < 4; i++)
        t[i] = turn_4(floats_of(v.val[0], i), floats_of(v.val[1], i), floats_of(v.val[2], i), turn);
    uint8x16_t most = vmaxq_u8(vmaxq_u8(v.val[0], v.val[1]), v.val[2]);
    uint8x16_t sixth = bytes_of(t[0].sixth, t[1].sixth, t[2].sixth, t[3].sixth);
    uint8x16_t least = bytes_of(t[0].least, t[1].least, t[2].least, t[3].least);
    uint8x16_t between = bytes_of(t[0].between, t[1].between, t[2].between, t[3].between);
    v.val[0] = channel(red, sixth, most, least, between);
    v.val[1] = channel(green, sixth, most, least, between);
    v.val[2] = channel(blue, sixth, most, least, between);
    vst3q_u8(out, v);
}

static void hue_neon(const uint8_t *from, size_t n, uint32_t turn, uint8_t *to)
{
    for (; n >= GROUP; n -= GROUP, from += NBYTES, to += NBYTES)
        turn_16(from, turn, to);
    uint8_t some[NBYTES] = {0};
    memcpy(some, from, 3 * n);
    turn_16(some, turn, some);
    memcpy(to, some, 3 * n);
}

void mr__color_hue_kernels_init_neon(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) != 0)
        kernels->hue = hue_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
