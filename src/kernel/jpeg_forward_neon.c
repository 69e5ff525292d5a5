// SPDX-License-Identifier: Apache-2.0
/* The same with NEON: a vector is one sample, then one frequency, of the 8 blocks of a group; colors 16 at a time. */
#if defined(__aarch64__)

#include "kernel/jpeg_forward.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 16, GROUP = 8 };

typedef struct eight {
    int16x8_t v[8];
} eight;

typedef struct wide {
    int32x4_t lo, hi;
} wide;

/* a x + b y; the same and what is there already, rounded. */
INLINE wide product(int16x8_t x, int16_t a, int16x8_t y, int16_t b)
{
    return (wide){vmlal_n_s16(vmull_n_s16(vget_low_s16(x), a), vget_low_s16(y), b),
                  vmlal_n_s16(vmull_n_s16(vget_high_s16(x), a), vget_high_s16(y), b)};
}

INLINE int16x8_t more(wide z, int16x8_t x, int16_t a, int16x8_t y, int16_t b, bool first)
{
    int32x4_t lo = vmlal_n_s16(vmlal_n_s16(z.lo, vget_low_s16(x), a), vget_low_s16(y), b);
    int32x4_t hi = vmlal_n_s16(vmlal_n_s16(z.hi, vget_high_s16(x), a), vget_high_s16(y), b);
    return first ? vcombine_s16(vrshrn_n_s32(lo, 11), vrshrn_n_s32(hi, 11))
                 : vcombine_s16(vrshrn_n_s32(lo, 15), vrshrn_n_s32(hi, 15));
}

INLINE eight line8(eight in, bool first)
{
    eight out;
    int16x8_t s07 = vaddq_s16(in.v[0], in.v[7]), d07 = vsubq_s16(in.v[0], in.v[7]);
    int16x8_t s16 = vaddq_s16(in.v[1], in.v[6]), d16 = vsubq_s16(in.v[1], in.v[6]);
    int16x8_t s25 = vaddq_s16(in.v[2], in.v[5]), d25 = vsubq_s16(in.v[2], in.v[5]);
    int16x8_t s34 = vaddq_s16(in.v[3], in.v[4]), d34 = vsubq_s16(in.v[3], in.v[4]);
    int16x8_t outer = vaddq_s16(s07, s34), inner = vaddq_s16(s16, s25), x = vsubq_s16(s07, s34);
    int16x8_t y = vsubq_s16(s16, s25), all = vaddq_s16(outer, inner), apart = vsubq_s16(outer, inner);
    const wide none = {vdupq_n_s32(0), vdupq_n_s32(0)};
    wide z3 = product(vaddq_s16(d34, d16), -6436, vaddq_s16(d25, d07), 9633);
    wide z4 = product(vaddq_s16(d34, d16), 9633, vaddq_s16(d25, d07), 6437);
    out.v[0] = first ? vsubq_s16(vshlq_n_s16(all, 2), vdupq_n_s16(4096)) : vrshrq_n_s16(all, 2);
    out.v[4] = first ? vshlq_n_s16(apart, 2) : vrshrq_n_s16(apart, 2);
    out.v[2] = more(none, x, 10703, y, 4433, first);
    out.v[6] = more(none, x, 4433, y, -10704, first);
    out.v[7] = more(z3, d34, -4927, d07, -7373, first);
    out.v[1] = more(z4, d34, -7373, d07, 4926, first);
    out.v[5] = more(z4, d25, -4176, d16, -20995, first);
    out.v[3] = more(z3, d25, -20995, d16, 4177, first);
    return out;
}

/* Eight bytes of two blocks to those of their even and of their odd places, and so on for two and for four bytes. */
INLINE void cross(uint8x8_t *a, uint8x8_t *b, int nbytes)
{
    uint8x8_t x = *a, y = *b;
    if (nbytes == 1) {
        *a = vtrn1_u8(x, y);
        *b = vtrn2_u8(x, y);
    } else if (nbytes == 2) {
        *a = vreinterpret_u8_u16(vtrn1_u16(vreinterpret_u16_u8(x), vreinterpret_u16_u8(y)));
        *b = vreinterpret_u8_u16(vtrn2_u16(vreinterpret_u16_u8(x), vreinterpret_u16_u8(y)));
    } else {
        *a = vreinterpret_u8_u32(vtrn1_u32(vreinterpret_u32_u8(x), vreinterpret_u32_u8(y)));
        *b = vreinterpret_u8_u32(vtrn2_u32(vreinterpret_u32_u8(x), vreinterpret_u32_u8(y)));
    }
}

/* A line of 8 blocks: their samples 0 to 7. */
INLINE eight load_line(const uint8_t *from)
{
    uint8x8_t b[8];
    eight out;
    for (int i = 0; i < 8; i++)
        b[i] = vld1_u8(from + 8 * i);
    for (int i = 0; i < 8; i += 2)
        cross(&b[i], &b[i + 1], 1);
    for (int i = 0; i < 8; i += i % 4 == 0 ? 1 : 3)
        cross(&b[i], &b[i + 2], 2);
    for (int i = 0; i < 4; i++)
        cross(&b[i], &b[i + 4], 4);
    for (int i = 0; i < 8; i++)
        out.v[i] = vreinterpretq_s16_u16(vmovl_u8(b[i]));
    return out;
}

/* The band's bit, where a lane is not zero. */
INLINE uint64_t quantise(int16x8_t x, const mr__jpeg_quant *quant, size_t b, int16_t *to)
{
    const uint16_t by = quant->by[b], reciprocal = quant->reciprocal[b];
    const int32x4_t shift = vdupq_n_s32(-15 - (int)quant->shift[b]);
    uint16x8_t size = vaddq_u16(vreinterpretq_u16_s16(vabsq_s16(x)), vdupq_n_u16((uint16_t)(4 * by)));
    size = vshrq_n_u16(size, 3);
    uint32x4_t lo = vshlq_u32(vmull_n_u16(vget_low_u16(size), reciprocal), shift);
    uint32x4_t hi = vshlq_u32(vmull_n_u16(vget_high_u16(size), reciprocal), shift);
    uint16x8_t times = vcombine_u16(vmovn_u32(lo), vmovn_u32(hi));
    int16x8_t value = vreinterpretq_s16_u16(vmulq_n_u16(times, by));
    vst1q_s16(to + LANES * b, vbslq_s16(vcltzq_s16(x), vnegq_s16(value), value));
    return (uint64_t)(vmaxvq_u16(times) != 0) << b;
}

static uint64_t group_neon(const uint8_t *from, ptrdiff_t stride, const mr__jpeg_quant *quant, int16_t *coef)
{
    eight rows[8];
    uint64_t bands = 0;
    for (size_t v = 0; v < 8; v++, from += stride)
        rows[v] = line8(load_line(from), true);
    for (size_t u = 0; u < 8; u++) {
        eight x;
        for (size_t v = 0; v < 8; v++)
            x.v[v] = rows[v].v[u];
        x = line8(x, false);
        for (size_t v = 0; v < 8; v++)
            bands |= quantise(x.v[v], quant, 8 * v + u, coef);
    }
    return bands;
}

static uint64_t fdct_neon(const uint8_t *from, ptrdiff_t stride, ptrdiff_t step, const mr__jpeg_quant *quant,
                          int16_t *coef)
{
    uint64_t bands = group_neon(from, stride, quant, coef);
    return bands | group_neon(from + step, stride, quant, coef + GROUP);
}

/* Of 8 pixels. Cb and Cr in numbers without a sign: what is taken away is less than what is there. */
typedef struct color {
    uint16x8_t cb, cr;
} color;

INLINE uint8x8_t y_of(uint16x8_t r, uint16x8_t g, uint16x8_t b)
{
    uint32x4_t lo = vmlal_n_u16(vmull_n_u16(vget_low_u16(r), 19595), vget_low_u16(g), 38470);
    uint32x4_t hi = vmlal_n_u16(vmull_n_u16(vget_high_u16(r), 19595), vget_high_u16(g), 38470);
    lo = vmlal_n_u16(lo, vget_low_u16(b), 7471);
    hi = vmlal_n_u16(hi, vget_high_u16(b), 7471);
    return vmovn_u16(vcombine_u16(vrshrn_n_u32(lo, 16), vrshrn_n_u32(hi, 16)));
}

INLINE uint16x8_t chroma_of(uint16x8_t half, uint16x8_t x, uint16_t a, uint16x8_t y, uint16_t b)
{
    const uint32x4_t middle = vdupq_n_u32((128u << 16) + 32767);
    uint32x4_t lo = vmlal_n_u16(middle, vget_low_u16(half), 32768),
               hi = vmlal_n_u16(middle, vget_high_u16(half), 32768);
    lo = vmlsl_n_u16(vmlsl_n_u16(lo, vget_low_u16(x), a), vget_low_u16(y), b);
    hi = vmlsl_n_u16(vmlsl_n_u16(hi, vget_high_u16(x), a), vget_high_u16(y), b);
    return vcombine_u16(vshrn_n_u32(lo, 16), vshrn_n_u32(hi, 16));
}

INLINE color make_color(uint8x8_t r8, uint8x8_t g8, uint8x8_t b8, uint8_t *y)
{
    uint16x8_t r = vmovl_u8(r8), g = vmovl_u8(g8), b = vmovl_u8(b8);
    vst1_u8(y, y_of(r, g, b));
    return (color){chroma_of(b, r, 11059, g, 21709), chroma_of(r, g, 27439, b, 5329)};
}

/* Pairs of the sums of two rows. */
INLINE uint8x8_t mean(uint16x8_t a, uint16x8_t b, uint16x8_t c, uint16x8_t d)
{
    const uint16x8_t bias = vreinterpretq_u16_u32(vdupq_n_u32(1 | 2 << 16));
    uint16x8_t sums = vpaddq_u16(vaddq_u16(a, c), vaddq_u16(b, d));
    return vmovn_u16(vshrq_n_u16(vaddq_u16(sums, bias), 2));
}

static void halve_neon(const uint8_t *upper, const uint8_t *lower, size_t pairs, uint8_t *y_upper, uint8_t *y_lower,
                       uint8_t *cb, uint8_t *cr)
{
    size_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        uint8x16x3_t p = vld3q_u8(upper + 6 * i), q = vld3q_u8(lower + 6 * i);
        color a = make_color(vget_low_u8(p.val[0]), vget_low_u8(p.val[1]), vget_low_u8(p.val[2]), y_upper + 2 * i);
        color b =
            make_color(vget_high_u8(p.val[0]), vget_high_u8(p.val[1]), vget_high_u8(p.val[2]), y_upper + 2 * i + 8);
        color c = make_color(vget_low_u8(q.val[0]), vget_low_u8(q.val[1]), vget_low_u8(q.val[2]), y_lower + 2 * i);
        color d =
            make_color(vget_high_u8(q.val[0]), vget_high_u8(q.val[1]), vget_high_u8(q.val[2]), y_lower + 2 * i + 8);
        vst1_u8(cb + i, mean(a.cb, b.cb, c.cb, d.cb));
        vst1_u8(cr + i, mean(a.cr, b.cr, c.cr, d.cr));
    }
    // Eight pairs are an even number, so that rounding begins anew as it should.
    mr__jpeg_halve_c(upper + 6 * i, lower + 6 * i, pairs - i, y_upper + 2 * i, y_lower + 2 * i, cb + i, cr + i);
}

void mr__jpeg_forward_init_neon(mr__jpeg_forward *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    table->fdct = fdct_neon;
    table->halve = halve_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
