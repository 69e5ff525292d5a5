// SPDX-License-Identifier: Apache-2.0
/*
 * The transforms with NEON, a group of 8 blocks at a time: a vector is one frequency, then one sample, of 8 blocks.
 * Sums are those of jpeg_pixels_idct.c in the same widths; there is the why. Interleaving stores do the transposition.
 *
 * As with AVX2: here are lines of frequencies and the two passes over a group; jpeg_pixels_idct_neon.c has the kernels
 * for coefficients in natural order, jpeg_pixels_strip_neon.c those for strips. Those look for coefficients beyond 13
 * bits in the first row, for which the short cut wraps, and give them to portable C.
 */
#if defined(__aarch64__) && !defined(MR_KERNEL_JPEG_PIXELS_PASSES_NEON_H)
#define MR_KERNEL_JPEG_PIXELS_PASSES_NEON_H

#include "kernel/jpeg_pixels_kernels.h"

#include <arm_neon.h>
#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline))

/* Places in zigzag order are constants only where loops over columns are none. */
#define UNROLL_TEXT(text) _Pragma(#text)
#define UNROLL(n)         UNROLL_TEXT(GCC unroll n)

enum { LANES = 8 };

/* Sums of 8 lanes in 32 bits. */
typedef struct wide {
    int32x4_t lo, hi;
} wide;

/* Vectors by name, not by index: compilers keep these in registers where they would keep an array in memory. */
typedef struct eight {
    int16x8_t v0, v1, v2, v3, v4, v5, v6, v7;
} eight;

typedef struct four {
    int16x8_t v0, v1, v2, v3;
} four;

INLINE wide times(int16x8_t x, int16_t factor)
{
    return (wide){vmull_n_s16(vget_low_s16(x), factor), vmull_n_s16(vget_high_s16(x), factor)};
}

INLINE wide plus_times(wide sum, int16x8_t x, int16_t factor)
{
    return (wide){vmlal_n_s16(sum.lo, vget_low_s16(x), factor), vmlal_n_s16(sum.hi, vget_high_s16(x), factor)};
}

INLINE wide two_times(int16x8_t a, int16_t low, int16x8_t b, int16_t high)
{
    return plus_times(times(a, low), b, high);
}

INLINE wide sum(wide a, wide b)
{
    return (wide){vaddq_s32(a.lo, b.lo), vaddq_s32(a.hi, b.hi)};
}

INLINE wide difference(wide a, wide b)
{
    return (wide){vsubq_s32(a.lo, b.lo), vsubq_s32(a.hi, b.hi)};
}

/* With half a unit of `shift` bits. */
INLINE wide rounded(wide x, int shift)
{
    int32x4_t half = vdupq_n_s32(1 << (shift - 1));
    return (wide){vaddq_s32(x.lo, half), vaddq_s32(x.hi, half)};
}

INLINE wide shifted(wide x, int shift)
{
    int32x4_t by = vdupq_n_s32(-shift);
    return (wide){vshlq_s32(x.lo, by), vshlq_s32(x.hi, by)};
}

/* Saturated to 16 bits. */
INLINE int16x8_t narrow(wide x, int shift)
{
    wide y = shifted(x, shift);
    return vcombine_s16(vqmovn_s32(y.lo), vqmovn_s32(y.hi));
}

INLINE eight line8(eight in, int shift)
{
    wide even0 = rounded(times(vaddq_s16(in.v0, in.v4), 8192), shift);
    wide even1 = rounded(times(vsubq_s16(in.v0, in.v4), 8192), shift);
    wide turn2 = two_times(in.v2, 4433, in.v6, -10704), turn3 = two_times(in.v2, 10703, in.v6, 4433);
    int16x8_t s37 = vaddq_s16(in.v3, in.v7), s15 = vaddq_s16(in.v1, in.v5);
    wide z3 = two_times(s37, -6436, s15, 9633), z4 = two_times(s37, 9633, s15, 6437);
    wide odd0 = plus_times(plus_times(z3, in.v7, -4927), in.v1, -7373);
    wide odd1 = plus_times(plus_times(z4, in.v5, -4176), in.v3, -20995);
    wide odd2 = plus_times(plus_times(z3, in.v5, -20995), in.v3, 4177);
    wide odd3 = plus_times(plus_times(z4, in.v7, -7373), in.v1, 4926);
    wide e0 = sum(even0, turn3), e1 = sum(even1, turn2), e2 = difference(even1, turn2), e3 = difference(even0, turn3);
    return (eight){
        narrow(sum(e0, odd3), shift),        narrow(sum(e1, odd2), shift),        narrow(sum(e2, odd1), shift),
        narrow(sum(e3, odd0), shift),        narrow(difference(e3, odd0), shift), narrow(difference(e2, odd1), shift),
        narrow(difference(e1, odd2), shift), narrow(difference(e0, odd3), shift),
    };
}

/* The same where frequencies 4 to 7 are zero. */
INLINE eight line8_short(four in, int shift)
{
    wide base = rounded(times(in.v0, 8192), shift);
    wide e0 = plus_times(base, in.v2, 10703), e3 = plus_times(base, in.v2, -10703);
    wide e1 = plus_times(base, in.v2, 4433), e2 = plus_times(base, in.v2, -4433);
    wide odd0 = two_times(in.v1, 2260, in.v3, -6436), odd1 = two_times(in.v1, 6437, in.v3, -11362);
    wide odd2 = two_times(in.v1, 9633, in.v3, -2259), odd3 = two_times(in.v1, 11363, in.v3, 9633);
    return (eight){
        narrow(sum(e0, odd3), shift),        narrow(sum(e1, odd2), shift),        narrow(sum(e2, odd1), shift),
        narrow(sum(e3, odd0), shift),        narrow(difference(e3, odd0), shift), narrow(difference(e2, odd1), shift),
        narrow(difference(e1, odd2), shift), narrow(difference(e0, odd3), shift),
    };
}

/* Frequency 4 is not looked at. */
INLINE four line4(eight in, int shift)
{
    wide base = rounded(times(in.v0, 16384), shift), turn = two_times(in.v2, 15137, in.v6, -6270);
    wide odd0 = sum(two_times(in.v1, 8697, in.v3, -17799), two_times(in.v5, 11893, in.v7, -1730));
    wide odd2 = sum(two_times(in.v1, 20995, in.v3, 7373), two_times(in.v5, -4926, in.v7, -4176));
    wide e0 = sum(base, turn), e1 = difference(base, turn);
    return (four){narrow(sum(e0, odd2), shift), narrow(sum(e1, odd0), shift), narrow(difference(e1, odd0), shift),
                  narrow(difference(e0, odd2), shift)};
}

/* Bytes around 128 from samples around 0. */
INLINE uint8x8_t bytes_of(int16x8_t x)
{
    return veor_u8(vreinterpret_u8_s8(vqmovn_s16(x)), vdup_n_u8(128));
}

INLINE uint16x8_t pairs_of(int16x8_t a, int16x8_t b)
{
    uint8x8x2_t z = vzip_u8(bytes_of(a), bytes_of(b));
    return vreinterpretq_u16_u8(vcombine_u8(z.val[0], z.val[1]));
}

/* A line of 8 samples a block. The place of a line is any address, and the store does not mind. */
INLINE void store_8(uint8_t *to, eight s)
{
    uint16x8x4_t x = {{pairs_of(s.v0, s.v1), pairs_of(s.v2, s.v3), pairs_of(s.v4, s.v5), pairs_of(s.v6, s.v7)}};
    vst4q_u16((uint16_t *)(void *)to, x);
}

INLINE void store_4(uint8_t *to, four s)
{
    uint8x8x4_t x = {{bytes_of(s.v0), bytes_of(s.v1), bytes_of(s.v2), bytes_of(s.v3)}};
    vst4_u8(to, x);
}

/*
 * A group of blocks: in natural order, already multiplied, when there is no `quant`; `bands` then says which
 * frequencies there are. Else in zigzag order up to `last`, as mr__jpeg_idct_strip has it, to be cleared as they are
 * read. All of this is inlined, so that compilers know which.
 */
typedef struct group {
    int16_t *coef;
    size_t pitch;
    uint64_t bands;
    const uint16_t *quant;
    uint32_t last;
} group;

/* Whether frequency (v, u), or any that comes after it in its column, may be there. */
INLINE bool reaches(const group *g, size_t v, size_t u)
{
    if (g->quant != NULL)
        return g->last >= mr__jpeg_zigzag(v, u);
    return (g->bands >> (8 * v + u) & UINT64_C(0x0101010101010101)) != 0;
}

/* As it is, and not cleared. */
INLINE int16x8_t peek(const group *g, size_t v, size_t u)
{
    if (g->quant == NULL)
        return vld1q_s16(g->coef + (8 * v + u) * g->pitch);
    size_t k = mr__jpeg_zigzag(v, u);
    return vmulq_n_s16(vld1q_s16(g->coef + k * g->pitch), (int16_t)g->quant[k]);
}

INLINE int16x8_t band(const group *g, size_t v, size_t u)
{
    int16x8_t x = peek(g, v, u);
    if (g->quant != NULL)
        vst1q_s16(g->coef + mr__jpeg_zigzag(v, u) * g->pitch, vdupq_n_s16(0));
    return x;
}

/* Whether the first row has coefficients beyond 13 bits. */
INLINE bool is_wild(const group *g)
{
    uint16x8_t most = vdupq_n_u16(0);
    UNROLL(8)
    for (size_t u = 0; u < 8; u++)
        if (g->quant != NULL || (g->bands >> u & 1))
            most = vmaxq_u16(most, vreinterpretq_u16_s16(vabsq_s16(peek(g, 0, u))));
    return vmaxvq_u16(most) >= 0x2000;
}

INLINE int16_t *cell(int16_t *table, size_t v, size_t u)
{
    return table + LANES * (8 * v + u);
}

INLINE void put_column(int16_t *table, size_t u, eight x)
{
    vst1q_s16(cell(table, 0, u), x.v0);
    vst1q_s16(cell(table, 1, u), x.v1);
    vst1q_s16(cell(table, 2, u), x.v2);
    vst1q_s16(cell(table, 3, u), x.v3);
    vst1q_s16(cell(table, 4, u), x.v4);
    vst1q_s16(cell(table, 5, u), x.v5);
    vst1q_s16(cell(table, 6, u), x.v6);
    vst1q_s16(cell(table, 7, u), x.v7);
}

INLINE eight all_of(int16x8_t x)
{
    return (eight){x, x, x, x, x, x, x, x};
}

/* Of a column, zero beyond its reach. */
INLINE eight column_of(const group *g, size_t u)
{
    eight x = all_of(vdupq_n_s16(0));
    if (reaches(g, 0, u))
        x.v0 = band(g, 0, u);
    if (reaches(g, 1, u)) {
        x.v1 = band(g, 1, u);
        x.v2 = band(g, 2, u);
        x.v3 = band(g, 3, u);
    }
    if (reaches(g, 4, u)) {
        x.v4 = band(g, 4, u);
        x.v5 = band(g, 5, u);
        x.v6 = band(g, 6, u);
        x.v7 = band(g, 7, u);
    }
    return x;
}

INLINE void column8(const group *g, size_t u, int16_t *table)
{
    eight x = column_of(g, u);
    if (reaches(g, 4, u))
        put_column(table, u, line8(x, 11));
    else if (reaches(g, 1, u))
        put_column(table, u, line8_short((four){x.v0, x.v1, x.v2, x.v3}, 11));
    else
        put_column(table, u, all_of(vshlq_n_s16(x.v0, 2)));
}

/* How many columns need to be looked at: 8, 4, or 1. */
INLINE size_t columns_of(const group *g)
{
    bool right = false, left = false;
    for (size_t u = 4; u < 8; u++)
        right |= reaches(g, 0, u);
    for (size_t u = 1; u < 4; u++)
        left |= reaches(g, 0, u);
    return right ? 8 : left ? 4 : 1;
}

INLINE four first_four(int16_t *table, size_t v)
{
    return (four){vld1q_s16(cell(table, v, 0)), vld1q_s16(cell(table, v, 1)), vld1q_s16(cell(table, v, 2)),
                  vld1q_s16(cell(table, v, 3))};
}

INLINE eight row_of(int16_t *table, size_t v)
{
    four x = first_four(table, v);
    return (eight){x.v0,
                   x.v1,
                   x.v2,
                   x.v3,
                   vld1q_s16(cell(table, v, 4)),
                   vld1q_s16(cell(table, v, 5)),
                   vld1q_s16(cell(table, v, 6)),
                   vld1q_s16(cell(table, v, 7))};
}

INLINE void group8(const group *g, uint8_t *to, ptrdiff_t stride)
{
    int16_t table[64 * LANES];
    size_t columns = columns_of(g);
    UNROLL(8)
    for (size_t u = 0; u < 8; u++)
        if (u < columns)
            column8(g, u, table);
    if (columns == 8)
        for (size_t v = 0; v < 8; v++, to += stride)
            store_8(to, line8(row_of(table, v), 18));
    else if (columns == 4)
        for (size_t v = 0; v < 8; v++, to += stride)
            store_8(to, line8_short(first_four(table, v), 18));
    else // (x * 8192 + half) >> 18, in 16 bits
        for (size_t v = 0; v < 8; v++, to += stride)
            store_8(to, all_of(vrshrq_n_s16(vld1q_s16(cell(table, v, 0)), 5)));
}

INLINE void group4(const group *g, uint8_t *to, ptrdiff_t stride)
{
    int16_t table[4 * 8 * LANES];
    UNROLL(8)
    for (size_t u = 0; u < 8; u++) {
        four x = line4(column_of(g, u), 12);
        vst1q_s16(cell(table, 0, u), x.v0);
        vst1q_s16(cell(table, 1, u), x.v1);
        vst1q_s16(cell(table, 2, u), x.v2);
        vst1q_s16(cell(table, 3, u), x.v3);
    }
    for (size_t v = 0; v < 4; v++, to += stride)
        store_4(to, line4(row_of(table, v), 19));
}

/* Of frequencies 1, 3, 5, 7. */
INLINE wide odd2(four x)
{
    return sum(two_times(x.v0, 29692, x.v1, -10426), two_times(x.v2, 6967, x.v3, -5906));
}

typedef struct two {
    wide upper, lower;
} two;

/* The upper and the lower sample of a column, in 32 bits. */
INLINE two column2(const group *g, size_t u)
{
    eight x = column_of(g, u);
    wide even = {vshll_n_s16(vget_low_s16(x.v0), 15), vshll_n_s16(vget_high_s16(x.v0), 15)};
    wide odd = odd2((four){x.v1, x.v3, x.v5, x.v7});
    even = rounded(even, 13);
    return (two){shifted(sum(even, odd), 13), shifted(difference(even, odd), 13)};
}

/* The first frequency has stayed in 32 bits. */
INLINE void line2(uint8_t *to, wide first, wide x1, wide x3, wide x5, wide x7)
{
    wide even = rounded((wide){vshlq_n_s32(first.lo, 15), vshlq_n_s32(first.hi, 15)}, 20);
    wide odd = odd2((four){narrow(x1, 0), narrow(x3, 0), narrow(x5, 0), narrow(x7, 0)});
    uint8x8x2_t x = {{bytes_of(narrow(sum(even, odd), 20)), bytes_of(narrow(difference(even, odd), 20))}};
    vst2_u8(to, x);
}

INLINE void group2(const group *g, uint8_t *to, ptrdiff_t stride)
{
    two x0 = column2(g, 0), x1 = column2(g, 1), x3 = column2(g, 3), x5 = column2(g, 5), x7 = column2(g, 7);
    line2(to, x0.upper, x1.upper, x3.upper, x5.upper, x7.upper);
    line2(to + stride, x0.lower, x1.lower, x3.lower, x5.lower, x7.lower);
}

/* The smallest form: (x + 4) >> 3, of which 10 bits count. */
INLINE void store_1(uint8_t *to, int16x8_t x)
{
    x = vshrq_n_s16(vshlq_n_s16(vrshrq_n_s16(x, 3), 6), 6);
    vst1_u8(to, bytes_of(x));
}

#endif
