// SPDX-License-Identifier: Apache-2.0
/*
 * The transforms with AVX2, 16 blocks (two groups) at a time: a vector is one frequency of 16 blocks, then one sample
 * of 16 blocks. Sums are those of jpeg_pixels_idct.c in the same widths, two products a PMADDWD; there is the why.
 *
 * Columns and rows whose upper frequencies are zero in all 16 blocks take shorter forms, which give the same sums.
 * The one thing left out is the wrap-around in the short cut for blocks with a first row only: it takes coefficients
 * beyond 13 bits in that row, which no image has, and those go to portable C.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { LANES = 16 };

INLINE __m256i load(const int16_t *from)
{
    return _mm256_load_si256((const void *)from);
}

INLINE void store(int16_t *to, __m256i x)
{
    _mm256_store_si256((void *)to, x);
}

/* a * low + b * high in 32 bits, of 16 lanes' a and b: lanes 0-3 and 8-11 in `lo`, the others in `hi`. */
typedef struct wide {
    __m256i lo, hi;
} wide;

INLINE wide pair(__m256i a, __m256i b)
{
    return (wide){_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}

INLINE wide product(wide x, int low, int high)
{
    __m256i constants = _mm256_set1_epi32((int)((uint32_t)(uint16_t)low | (uint32_t)high << 16));
    return (wide){_mm256_madd_epi16(x.lo, constants), _mm256_madd_epi16(x.hi, constants)};
}

INLINE wide sum(wide a, wide b)
{
    return (wide){_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

INLINE wide difference(wide a, wide b)
{
    return (wide){_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}

/* Shifted and saturated to 16 bits; what is half a unit was added before. */
INLINE __m256i narrow(wide x, int shift)
{
    return _mm256_packs_epi32(_mm256_srai_epi32(x.lo, shift), _mm256_srai_epi32(x.hi, shift));
}

/* x * factor + half a unit of `shift` bits: the half is made of two numbers that fit 16 bits. */
INLINE wide scaled(__m256i x, int factor, int shift)
{
    int half = shift - 1, low = half < 10 ? 0 : half - 10;
    return product(pair(x, _mm256_set1_epi16((int16_t)(1 << low))), factor, 1 << (half - low));
}

INLINE void butterfly(wide even, wide odd, int shift, __m256i *sum_to, __m256i *difference_to)
{
    *sum_to = narrow(sum(even, odd), shift);
    *difference_to = narrow(difference(even, odd), shift);
}

/* `count` of the 8 frequencies are there, the others zero: 8 or 4. */
INLINE void line8(const __m256i in[8], int count, int shift, __m256i out[8])
{
    wide even[4], odd[4];
    if (count == 8) {
        wide base0 = scaled(_mm256_add_epi16(in[0], in[4]), 8192, shift);
        wide base1 = scaled(_mm256_sub_epi16(in[0], in[4]), 8192, shift);
        wide p26 = pair(in[2], in[6]), turn2 = product(p26, 4433, -10704), turn3 = product(p26, 10703, 4433);
        even[0] = sum(base0, turn3);
        even[1] = sum(base1, turn2);
        even[2] = difference(base1, turn2);
        even[3] = difference(base0, turn3);
        wide p71 = pair(in[7], in[1]), p53 = pair(in[5], in[3]);
        wide z = pair(_mm256_add_epi16(in[3], in[7]), _mm256_add_epi16(in[1], in[5]));
        wide z3 = product(z, -6436, 9633), z4 = product(z, 9633, 6437);
        odd[0] = sum(product(p71, -4927, -7373), z3);
        odd[1] = sum(product(p53, -4176, -20995), z4);
        odd[2] = sum(product(p53, -20995, 4177), z3);
        odd[3] = sum(product(p71, -7373, 4926), z4);
    } else {
        wide p02 = pair(in[0], in[2]), p13 = pair(in[1], in[3]);
        wide half = {_mm256_set1_epi32(1 << (shift - 1)), _mm256_set1_epi32(1 << (shift - 1))};
        even[0] = sum(product(p02, 8192, 10703), half);
        even[1] = sum(product(p02, 8192, 4433), half);
        even[2] = sum(product(p02, 8192, -4433), half);
        even[3] = sum(product(p02, 8192, -10703), half);
        odd[0] = product(p13, 2260, -6436);
        odd[1] = product(p13, 6437, -11362);
        odd[2] = product(p13, 9633, -2259);
        odd[3] = product(p13, 11363, 9633);
    }
    for (int i = 0; i < 4; i++)
        butterfly(even[i], odd[3 - i], shift, &out[i], &out[7 - i]);
}

INLINE void line4(const __m256i in[8], int shift, __m256i out[4])
{
    wide base = scaled(in[0], 16384, shift), turn = product(pair(in[2], in[6]), 15137, -6270);
    wide p13 = pair(in[1], in[3]), p57 = pair(in[5], in[7]);
    wide odd0 = sum(product(p13, 8697, -17799), product(p57, 11893, -1730));
    wide odd2 = sum(product(p13, 20995, 7373), product(p57, -4926, -4176));
    butterfly(sum(base, turn), odd2, shift, &out[0], &out[3]);
    butterfly(difference(base, turn), odd0, shift, &out[1], &out[2]);
}

/* Bytes of two samples, made unsigned, in pairs: those of a before those of b. */
INLINE __m256i bytes_of(__m256i a, __m256i b)
{
    return _mm256_xor_si256(_mm256_packs_epi16(a, b), _mm256_set1_epi8(-128));
}

/* Where the two groups go, or the one. */
typedef struct place {
    uint8_t *first, *second; /* the second is NULL when there is none */
} place;

/* Vectors a and b hold 16 bytes of the first group, then 16 of the second. */
INLINE void store_32(place to, size_t at, __m256i a, __m256i b)
{
    _mm256_storeu_si256((void *)(to.first + at), _mm256_permute2x128_si256(a, b, 0x20));
    if (to.second != NULL)
        _mm256_storeu_si256((void *)(to.second + at), _mm256_permute2x128_si256(a, b, 0x31));
}

/* A line of 8 samples a block. */
INLINE void store_8(place to, const __m256i s[8])
{
    __m256i s02 = bytes_of(s[0], s[2]), s13 = bytes_of(s[1], s[3]);
    __m256i s46 = bytes_of(s[4], s[6]), s57 = bytes_of(s[5], s[7]);
    __m256i s01 = _mm256_unpacklo_epi8(s02, s13), s23 = _mm256_unpackhi_epi8(s02, s13);
    __m256i s45 = _mm256_unpacklo_epi8(s46, s57), s67 = _mm256_unpackhi_epi8(s46, s57);
    __m256i a = _mm256_unpacklo_epi16(s01, s23), b = _mm256_unpackhi_epi16(s01, s23);
    __m256i c = _mm256_unpacklo_epi16(s45, s67), d = _mm256_unpackhi_epi16(s45, s67);
    store_32(to, 0, _mm256_unpacklo_epi32(a, c), _mm256_unpackhi_epi32(a, c));
    store_32(to, 32, _mm256_unpacklo_epi32(b, d), _mm256_unpackhi_epi32(b, d));
}

INLINE void store_4(place to, const __m256i s[4])
{
    __m256i s02 = bytes_of(s[0], s[2]), s13 = bytes_of(s[1], s[3]);
    __m256i s01 = _mm256_unpacklo_epi8(s02, s13), s23 = _mm256_unpackhi_epi8(s02, s13);
    store_32(to, 0, _mm256_unpacklo_epi16(s01, s23), _mm256_unpackhi_epi16(s01, s23));
}

INLINE place next_line(place to, ptrdiff_t stride)
{
    return (place){to.first + stride, to.second != NULL ? to.second + stride : NULL};
}

/* Which frequencies of a column (or row) need to be looked at: 8, 4, 1, or none. */
static int reach_of(uint64_t bands, size_t column)
{
    uint64_t c = bands >> column & UINT64_C(0x0101010101010101);
    return c >> 32 != 0 ? 8 : c >> 8 != 0 ? 4 : c != 0;
}

/* Zero in `coef` what is not there, as far as the columns reach, of whole strips that begin at `coef`. */
static void clear_empty(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, const int reach[8])
{
    size_t nbytes = (groups + 1) / 2 * LANES * sizeof *coef;
    for (size_t u = 0; u < 8; u++)
        for (int v = 0; v < reach[u]; v++)
            if ((bands >> (8 * v + u) & 1) == 0)
                memset(coef + (8 * v + u) * pitch, 0, nbytes);
}

/* What 16 blocks need from the columns' pass. `live` has ones for lanes that are there. */
typedef struct strip {
    const int16_t *coef;
    size_t pitch;
    uint64_t bands;
    __m256i live;
} strip;

INLINE __m256i band(const strip *s, size_t v, size_t u)
{
    return load(s->coef + (8 * v + u) * s->pitch);
}

/* Whether the first row has coefficients beyond 13 bits, for which the short cut wraps. */
AVX2 static bool is_wild(const strip *s)
{
    __m256i most = _mm256_setzero_si256();
    for (size_t u = 0; u < 8; u++)
        if (s->bands >> u & 1)
            most = _mm256_max_epu16(most, _mm256_abs_epi16(band(s, 0, u)));
    most = _mm256_and_si256(most, s->live);
    return !_mm256_testz_si256(most, _mm256_set1_epi16((int16_t)0xe000));
}

INLINE bool is_zero(const strip *s, __m256i x)
{
    return _mm256_testz_si256(x, s->live);
}

/* One column of 16 blocks to eight samples each, t[8 * v + u]. Returns whether there is anything in it. */
INLINE bool column8(const strip *s, size_t u, int reach, int16_t *t)
{
    __m256i in[8], out[8];
    in[0] = band(s, 0, u);
    if (reach == 8) {
        for (size_t v = 4; v < 8; v++)
            in[v] = band(s, v, u);
        if (is_zero(s, _mm256_or_si256(_mm256_or_si256(in[4], in[5]), _mm256_or_si256(in[6], in[7]))))
            reach = 4;
    }
    if (reach >= 4) {
        for (size_t v = 1; v < 4; v++)
            in[v] = band(s, v, u);
        if (reach == 4 && is_zero(s, _mm256_or_si256(_mm256_or_si256(in[1], in[2]), in[3])))
            reach = 1;
    }
    if (reach == 8)
        line8(in, 8, 11, out);
    else if (reach == 4)
        line8(in, 4, 11, out);
    else
        for (size_t v = 0; v < 8; v++)
            out[v] = _mm256_slli_epi16(in[0], 2);
    for (size_t v = 0; v < 8; v++)
        store(t + LANES * (8 * v + u), out[v]);
    return reach > 1 || !is_zero(s, in[0]);
}

INLINE void rows8(const int16_t *t, int count, place to, ptrdiff_t stride)
{
    for (size_t v = 0; v < 8; v++, to = next_line(to, stride)) {
        __m256i in[8], out[8];
        for (int u = 0; u < count; u++)
            in[u] = load(t + LANES * (8 * v + (size_t)u));
        line8(in, count, 18, out);
        store_8(to, out);
    }
}

/* The first column only: (x * 8192 + half) >> 18, in 16 bits. */
INLINE void rows8_flat(const int16_t *t, place to, ptrdiff_t stride)
{
    for (size_t v = 0; v < 8; v++, to = next_line(to, stride)) {
        __m256i x = _mm256_srai_epi16(load(t + LANES * 8 * v), 4), out[8];
        x = _mm256_srai_epi16(_mm256_add_epi16(x, _mm256_set1_epi16(1)), 1);
        for (size_t u = 0; u < 8; u++)
            out[u] = x;
        store_8(to, out);
    }
}

AVX2 static void strip8(const strip *s, const int reach[8], place to, ptrdiff_t stride)
{
    _Alignas(64) int16_t t[64 * LANES];
    unsigned columns = 0;
    for (size_t u = 0; u < 8; u++) {
        if (reach[u] != 0)
            columns |= (unsigned)column8(s, u, reach[u], t) << u;
        else
            for (size_t v = 0; v < 8; v++)
                store(t + LANES * (8 * v + u), _mm256_setzero_si256());
    }
    if (columns & 0xf0)
        rows8(t, 8, to, stride);
    else if (columns & 0x0e)
        rows8(t, 4, to, stride);
    else
        rows8_flat(t, to, stride);
}

AVX2 static void strip4(const strip *s, const int reach[8], place to, ptrdiff_t stride)
{
    __m256i t[4][8], in[8], out[4];
    for (size_t u = 0; u < 8; u++) {
        if (u == 4)
            continue;
        for (size_t v = 0; v < 8; v++)
            in[v] = (int)v < reach[u] ? band(s, v, u) : _mm256_setzero_si256();
        line4(in, 12, out);
        for (size_t v = 0; v < 4; v++)
            t[v][u] = out[v];
    }
    for (size_t v = 0; v < 4; v++, to = next_line(to, stride)) {
        line4(t[v], 19, out);
        store_4(to, out);
    }
}

/* All groups, two at a time. */
INLINE void each_strip(int size, int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    int reach[8];
    for (size_t u = 0; u < 8; u++)
        reach[u] = reach_of(bands, u);
    clear_empty(coef, pitch, bands, groups, reach);
    for (size_t g = 0; g < groups; g += 2, to += 2 * step) {
        bool two = groups - g >= 2;
        strip s = {coef + 8 * g, pitch, bands, _mm256_set1_epi8(-1)};
        if (!two)
            s.live = _mm256_setr_epi64x(-1, -1, 0, 0);
        place at = {to, two ? to + step : NULL};
        if (is_wild(&s))
            (size == 8 ? mr__jpeg_idct8_c : mr__jpeg_idct4_c)(coef + 8 * g, pitch, bands, 1 + two, to, stride, step);
        else if (size == 8)
            strip8(&s, reach, at, stride);
        else
            strip4(&s, reach, at, stride);
    }
}

AVX2 static void idct8_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    each_strip(8, coef, pitch, bands, groups, to, stride, step);
}

AVX2 static void idct4_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    each_strip(4, coef, pitch, bands, groups, to, stride, step);
}

/* x * 32768, which is no 16-bit factor. */
INLINE wide shifted_15(__m256i x)
{
    wide w = pair(_mm256_setzero_si256(), x);
    return (wide){_mm256_srai_epi32(w.lo, 1), _mm256_srai_epi32(w.hi, 1)};
}

INLINE wide odd2(const __m256i in[8])
{
    return sum(product(pair(in[1], in[3]), 29692, -10426), product(pair(in[5], in[7]), 6967, -5906));
}

INLINE wide rounded(wide x, int shift)
{
    __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    return (wide){_mm256_add_epi32(x.lo, half), _mm256_add_epi32(x.hi, half)};
}

INLINE void store_2(place to, __m256i left, __m256i right)
{
    __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    __m256i line = _mm256_shuffle_epi8(bytes_of(left, right), order);
    _mm_storeu_si128((void *)to.first, _mm256_castsi256_si128(line));
    if (to.second != NULL)
        _mm_storeu_si128((void *)to.second, _mm256_extracti128_si256(line, 1));
}

/* The first column stays in 32 bits between the passes. */
AVX2 static void strip2(const strip *s, const int reach[8], place to, ptrdiff_t stride)
{
    __m256i t[2][8], in[8];
    wide first[2];
    for (size_t u = 0; u < 8; u += u == 0 ? 1 : 2) {
        for (size_t v = 0; v < 8; v++)
            in[v] = (int)v < reach[u] ? band(s, v, u) : _mm256_setzero_si256();
        wide even = rounded(shifted_15(in[0]), 13), odd = odd2(in);
        if (u == 0) {
            wide a = sum(even, odd), b = difference(even, odd);
            first[0] = (wide){_mm256_srai_epi32(a.lo, 13), _mm256_srai_epi32(a.hi, 13)};
            first[1] = (wide){_mm256_srai_epi32(b.lo, 13), _mm256_srai_epi32(b.hi, 13)};
        } else
            butterfly(even, odd, 13, &t[0][u], &t[1][u]);
    }
    for (size_t v = 0; v < 2; v++, to = next_line(to, stride)) {
        wide even = {_mm256_slli_epi32(first[v].lo, 15), _mm256_slli_epi32(first[v].hi, 15)};
        __m256i left, right;
        butterfly(rounded(even, 20), odd2(t[v]), 20, &left, &right);
        store_2(to, left, right);
    }
}

AVX2 static void idct2_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    int reach[8];
    for (size_t u = 0; u < 8; u++)
        reach[u] = reach_of(bands, u);
    clear_empty(coef, pitch, bands, groups, reach);
    for (size_t g = 0; g < groups; g += 2, to += 2 * step) {
        strip s = {coef + 8 * g, pitch, bands, _mm256_setzero_si256()};
        strip2(&s, reach, (place){to, groups - g >= 2 ? to + step : NULL}, stride);
    }
}

/* (x + 4) >> 3 without overflow, of which 10 bits count. */
AVX2 static void idct1_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t g = 0; g < groups; g++, to += step) {
        __m128i x = (bands & 1) ? _mm_load_si128((const void *)(coef + 8 * g)) : _mm_setzero_si128();
        x = _mm_srai_epi16(_mm_add_epi16(_mm_srai_epi16(x, 2), _mm_set1_epi16(1)), 1);
        x = _mm_srai_epi16(_mm_slli_epi16(x, 6), 6);
        _mm_storel_epi64((void *)to, _mm_xor_si128(_mm_packs_epi16(x, x), _mm_set1_epi8(-128)));
    }
}

void mr__jpeg_pixels_init_idct_avx2(mr__jpeg_pixels *table)
{
    table->idct[0] = idct8_i16_avx2;
    table->idct[1] = idct4_i16_avx2;
    table->idct[2] = idct2_i16_avx2;
    table->idct[3] = idct1_i16_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
