// SPDX-License-Identifier: Apache-2.0
/*
 * The same with AVX2: a vector is one sample, then one frequency, of 16 blocks; colors are made 32 pixels at a time,
 * even and odd ones apart.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_forward.h"
#include "kernel/jpeg_wide_avx2.h"

#include <string.h>

enum { STEP = 32 };

INLINE __m256i add(__m256i a, __m256i b)
{
    return _mm256_add_epi16(a, b);
}

INLINE __m256i sub(__m256i a, __m256i b)
{
    return _mm256_sub_epi16(a, b);
}

/* Rounded. */
INLINE __m256i narrow(wide x, int shift)
{
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    __m256i lo = _mm256_srai_epi32(_mm256_add_epi32(x.lo, half), shift);
    __m256i hi = _mm256_srai_epi32(_mm256_add_epi32(x.hi, half), shift);
    return _mm256_packs_epi32(lo, hi);
}

INLINE eight line8(eight in, bool first)
{
    const int shift = first ? 11 : 15;
    eight out;
    __m256i s07 = add(in.v0, in.v7), d07 = sub(in.v0, in.v7), s16 = add(in.v1, in.v6), d16 = sub(in.v1, in.v6);
    __m256i s25 = add(in.v2, in.v5), d25 = sub(in.v2, in.v5), s34 = add(in.v3, in.v4), d34 = sub(in.v3, in.v4);
    __m256i outer = add(s07, s34), inner = add(s16, s25);
    __m256i all = add(outer, inner), apart = sub(outer, inner);
    const __m256i two = _mm256_set1_epi16(2);
    out.v0 = first ? sub(_mm256_slli_epi16(all, 2), _mm256_set1_epi16(4096)) : _mm256_srai_epi16(add(all, two), 2);
    out.v4 = first ? _mm256_slli_epi16(apart, 2) : _mm256_srai_epi16(add(apart, two), 2);
    wide xy = pair_of(sub(s07, s34), sub(s16, s25));
    out.v2 = narrow(product(xy, 10703, 4433), shift);
    out.v6 = narrow(product(xy, 4433, -10704), shift);
    wide z = pair_of(add(d34, d16), add(d25, d07)), p47 = pair_of(d34, d07), p56 = pair_of(d25, d16);
    wide z3 = product(z, -6436, 9633), z4 = product(z, 9633, 6437);
    out.v7 = narrow(sum(product(p47, -4927, -7373), z3), shift);
    out.v1 = narrow(sum(product(p47, -7373, 4926), z4), shift);
    out.v5 = narrow(sum(product(p56, -4176, -20995), z4), shift);
    out.v3 = narrow(sum(product(p56, -20995, 4177), z3), shift);
    return out;
}

/* Two blocks of each group, byte by byte in turn. */
INLINE __m256i load_two(const uint8_t *from, ptrdiff_t step)
{
    const __m256i turns =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const void *)from));
    x = _mm256_inserti128_si256(x, _mm_loadu_si128((const void *)(from + step)), 1);
    return _mm256_shuffle_epi8(x, turns);
}

/* A line of 16 blocks: their samples 0 to 7. */
INLINE eight load_line(const uint8_t *from, ptrdiff_t step)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i a = load_two(from, step), b = load_two(from + 16, step);
    __m256i c = load_two(from + 32, step), d = load_two(from + 48, step);
    __m256i ab03 = _mm256_unpacklo_epi16(a, b), ab47 = _mm256_unpackhi_epi16(a, b);
    __m256i cd03 = _mm256_unpacklo_epi16(c, d), cd47 = _mm256_unpackhi_epi16(c, d);
    __m256i u01 = _mm256_unpacklo_epi32(ab03, cd03), u23 = _mm256_unpackhi_epi32(ab03, cd03);
    __m256i u45 = _mm256_unpacklo_epi32(ab47, cd47), u67 = _mm256_unpackhi_epi32(ab47, cd47);
    return (eight){_mm256_unpacklo_epi8(u01, zero), _mm256_unpackhi_epi8(u01, zero), _mm256_unpacklo_epi8(u23, zero),
                   _mm256_unpackhi_epi8(u23, zero), _mm256_unpacklo_epi8(u45, zero), _mm256_unpackhi_epi8(u45, zero),
                   _mm256_unpacklo_epi8(u67, zero), _mm256_unpackhi_epi8(u67, zero)};
}

/* The band's bit, where a lane is not zero. */
INLINE uint64_t quantise(__m256i x, const mr__jpeg_quant *quant, size_t b, int16_t *coef)
{
    __m256i by = _mm256_set1_epi16((int16_t)quant->by[b]);
    __m256i size = add(_mm256_abs_epi16(x), _mm256_slli_epi16(by, 2));
    // Eighths are left out and the number doubled, as the reciprocal is one of 15 bits.
    size = _mm256_slli_epi16(_mm256_srli_epi16(size, 3), 1);
    __m256i times = _mm256_mulhi_epu16(size, _mm256_set1_epi16((int16_t)quant->reciprocal[b]));
    times = _mm256_srl_epi16(times, _mm_cvtsi32_si128(quant->shift[b]));
    _mm256_store_si256((void *)(coef + LANES * b), _mm256_sign_epi16(_mm256_mullo_epi16(times, by), x));
    return (uint64_t)!_mm256_testz_si256(times, times) << b;
}

AVX2 static uint64_t fdct_avx2(const uint8_t *from, ptrdiff_t stride, ptrdiff_t step, const mr__jpeg_quant *quant,
                               int16_t *coef)
{
    __m256i table[8][8];
    uint64_t bands = 0;
    for (size_t v = 0; v < 8; v++, from += stride) {
        eight x = line8(load_line(from, step), true);
        memcpy(table[v], &x, sizeof x);
    }
    for (size_t u = 0; u < 8; u++) {
        eight x = {table[0][u], table[1][u], table[2][u], table[3][u],
                   table[4][u], table[5][u], table[6][u], table[7][u]};
        x = line8(x, false);
        bands |= quantise(x.v0, quant, u, coef) | quantise(x.v1, quant, 8 + u, coef);
        bands |= quantise(x.v2, quant, 16 + u, coef) | quantise(x.v3, quant, 24 + u, coef);
        bands |= quantise(x.v4, quant, 32 + u, coef) | quantise(x.v5, quant, 40 + u, coef);
        bands |= quantise(x.v6, quant, 48 + u, coef) | quantise(x.v7, quant, 56 + u, coef);
    }
    return bands;
}

/* Red, green and blue of 16 pixels as numbers of 16 bits. */
typedef struct pixels {
    __m256i r, g, b;
} pixels;

#define TWICE(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

INLINE __m256i load_halves(const uint8_t *first, const uint8_t *second)
{
    __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const void *)first));
    return _mm256_inserti128_si256(x, _mm_loadu_si128((const void *)second), 1);
}

/*
 * 32 pixels, the even ones and the odd ones. In 48 bytes that are 16 pixels red of pixel p stands at 3 p, which is
 * another for each p modulo 16: so three vectors of 16 bytes blend to one of all reds, in an order that one shuffle
 * mends, and the same for green and blue with the vectors in turn.
 */
INLINE void load_pixels(const uint8_t *from, pixels *even, pixels *odd)
{
    const __m256i third0 = TWICE(-1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1);
    const __m256i third1 = TWICE(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    const __m256i evens = TWICE(0, -1, 6, -1, 12, -1, 2, -1, 8, -1, 14, -1, 4, -1, 10, -1);
    const __m256i odds = TWICE(3, -1, 9, -1, 15, -1, 5, -1, 11, -1, 1, -1, 7, -1, 13, -1);
    __m256i x = load_halves(from, from + 48), y = load_halves(from + 16, from + 64);
    __m256i z = load_halves(from + 32, from + 80);
    // Where byte 3 p is in x, third0; 3 p - 16 in y, its places being 2, 5, ...; 3 p - 32 in z: 1, 4, ...
    __m256i r = _mm256_blendv_epi8(_mm256_blendv_epi8(y, x, third0), z, third1);
    __m256i g = _mm256_blendv_epi8(_mm256_blendv_epi8(z, y, third0), x, third1);
    __m256i b = _mm256_blendv_epi8(_mm256_blendv_epi8(x, z, third0), y, third1);
    g = _mm256_alignr_epi8(g, g, 1);
    b = _mm256_alignr_epi8(b, b, 2);
    *even = (pixels){_mm256_shuffle_epi8(r, evens), _mm256_shuffle_epi8(g, evens), _mm256_shuffle_epi8(b, evens)};
    *odd = (pixels){_mm256_shuffle_epi8(r, odds), _mm256_shuffle_epi8(g, odds), _mm256_shuffle_epi8(b, odds)};
}

typedef struct color {
    __m256i y, cb, cr;
} color;

/* Sums of products and `more`, upper halves. */
INLINE __m256i upper(wide a, wide b, int more)
{
    const __m256i constant = _mm256_set1_epi32(more);
    wide x = sum(a, b);
    return _mm256_packus_epi32(_mm256_srli_epi32(_mm256_add_epi32(x.lo, constant), 16),
                               _mm256_srli_epi32(_mm256_add_epi32(x.hi, constant), 16));
}

/* The same, taken from `more`. */
INLINE __m256i upper_of_rest(wide a, wide b, int more)
{
    const __m256i constant = _mm256_set1_epi32(more);
    wide x = sum(a, b);
    return _mm256_packus_epi32(_mm256_srli_epi32(_mm256_sub_epi32(constant, x.lo), 16),
                               _mm256_srli_epi32(_mm256_sub_epi32(constant, x.hi), 16));
}

/*
 * Factors of a product have 16 bits and a sign: 38470 is the sum of two, and what has 32768 is made with its sign
 * changed and taken from the rest.
 */
INLINE color color_of(pixels p)
{
    const int middle = (128 << 16) + 32767;
    wide rg = pair_of(p.r, p.g), bg = pair_of(p.b, p.g);
    color c;
    c.y = upper(product(rg, 19595, 22086), product(bg, 7471, 16384), 32768);
    c.cb = upper_of_rest(product(rg, 11059, 0), product(bg, -32768, 21709), middle);
    c.cr = upper_of_rest(product(rg, -32768, 27439), product(bg, 5329, 0), middle);
    return c;
}

INLINE __m256i mean(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i bias = _mm256_set1_epi32(1 | 2 << 16);
    return _mm256_srli_epi16(add(add(add(a, b), add(c, d)), bias), 2);
}

INLINE void store_16(uint8_t *to, __m256i x)
{
    _mm_storeu_si128((void *)to, _mm_packus_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

INLINE void store_32(uint8_t *to, __m256i even, __m256i odd)
{
    _mm256_storeu_si256((void *)to, _mm256_or_si256(even, _mm256_slli_epi16(odd, 8)));
}

INLINE void halve_32(const uint8_t *upper_row, const uint8_t *lower_row, uint8_t *y_upper, uint8_t *y_lower,
                     uint8_t *cb, uint8_t *cr)
{
    pixels even, odd;
    load_pixels(upper_row, &even, &odd);
    color a = color_of(even), b = color_of(odd);
    store_32(y_upper, a.y, b.y);
    load_pixels(lower_row, &even, &odd);
    color c = color_of(even), d = color_of(odd);
    store_32(y_lower, c.y, d.y);
    store_16(cb, mean(a.cb, b.cb, c.cb, d.cb));
    store_16(cr, mean(a.cr, b.cr, c.cr, d.cr));
}

AVX2 static void halve_avx2(const uint8_t *upper_row, const uint8_t *lower_row, size_t pairs, uint8_t *y_upper,
                            uint8_t *y_lower, uint8_t *cb, uint8_t *cr)
{
    size_t i = 0;
    for (; i + STEP / 2 <= pairs; i += STEP / 2)
        halve_32(upper_row + 6 * i, lower_row + 6 * i, y_upper + 2 * i, y_lower + 2 * i, cb + i, cr + i);
    if (i < pairs) {
        uint8_t room[2][3 * STEP] = {{0}};
        memcpy(room[0], upper_row + 6 * i, 6 * (pairs - i));
        memcpy(room[1], lower_row + 6 * i, 6 * (pairs - i));
        halve_32(room[0], room[1], y_upper + 2 * i, y_lower + 2 * i, cb + i, cr + i);
    }
}

void mr__jpeg_forward_init_avx2(mr__jpeg_forward *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    table->fdct = fdct_avx2;
    table->halve = halve_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
