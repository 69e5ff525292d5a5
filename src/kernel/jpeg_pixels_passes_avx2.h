// SPDX-License-Identifier: Apache-2.0
/*
 * The transforms with AVX2, 16 blocks (two groups) at a time: a vector is one frequency of 16 blocks, then one sample
 * of 16 blocks. Sums are those of jpeg_pixels_idct.c in the same widths, two products a PMADDWD; there is the why.
 *
 * Here are lines of frequencies and the two passes over a strip; jpeg_pixels_idct_avx2.c has the kernels for
 * coefficients in natural order, jpeg_pixels_strip_avx2.c those for strips as entropy decoders leave them. Columns and
 * rows whose upper frequencies are empty take shorter forms, which give the same sums.
 * The one thing left out is the wrap-around in the short cut for blocks with a first row only: it takes coefficients
 * beyond 13 bits in that row, which no image has. The kernels look for those, and give them to portable C.
 */
#if defined(__x86_64__) && !defined(MR_KERNEL_JPEG_PIXELS_PASSES_AVX2_H)
#define MR_KERNEL_JPEG_PIXELS_PASSES_AVX2_H

#include "kernel/jpeg_pixels_kernels.h"
#include "kernel/jpeg_wide_avx2.h"

#include <stdbool.h>

/* Places in zigzag order are constants only where loops over columns are none. */
#define UNROLL_TEXT(text) _Pragma(#text)
#define UNROLL(n)         UNROLL_TEXT(GCC unroll n)

INLINE __m256i load(const int16_t *from)
{
    return _mm256_load_si256((const void *)from);
}

INLINE void store(int16_t *to, __m256i x)
{
    _mm256_store_si256((void *)to, x);
}

typedef struct four {
    __m256i v0, v1, v2, v3;
} four;

INLINE wide difference(wide a, wide b)
{
    return (wide){_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}

INLINE wide shifted(wide x, int shift)
{
    return (wide){_mm256_srai_epi32(x.lo, shift), _mm256_srai_epi32(x.hi, shift)};
}

/* Saturated to 16 bits. */
INLINE __m256i narrow(wide x, int shift)
{
    wide y = shifted(x, shift);
    return _mm256_packs_epi32(y.lo, y.hi);
}

/* Half a unit of `shift` bits. */
INLINE wide half_wide(int shift)
{
    __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    return (wide){half, half};
}

/*
 * Half a unit of `shift` bits comes into the sums for nothing: the base is paired with a number, and multiplied by
 * another, that give it.
 */
INLINE wide with_half(__m256i x, int shift)
{
    return pair_of(x, _mm256_set1_epi16((int16_t)(1 << (shift - 11))));
}

enum { HALF_HIGH = 1 << 10 };

/* Statements stand in the order that needs fewest registers: as soon as its parts are there, a sample is made. */
INLINE eight line8(eight in, int shift)
{
    eight out;
    wide z = pair_of(_mm256_add_epi16(in.v3, in.v7), _mm256_add_epi16(in.v1, in.v5));
    wide even0 = product(with_half(_mm256_add_epi16(in.v0, in.v4), shift), 8192, HALF_HIGH);
    wide even1 = product(with_half(_mm256_sub_epi16(in.v0, in.v4), shift), 8192, HALF_HIGH);
    wide p26 = pair_of(in.v2, in.v6);
    wide turn2 = product(p26, 4433, -10704), turn3 = product(p26, 10703, 4433);
    wide e0 = sum(even0, turn3), e3 = difference(even0, turn3), e1 = sum(even1, turn2), e2 = difference(even1, turn2);
    wide z3 = product(z, -6436, 9633), z4 = product(z, 9633, 6437);
    wide p71 = pair_of(in.v7, in.v1);
    wide odd0 = sum(product(p71, -4927, -7373), z3);
    out.v3 = narrow(sum(e3, odd0), shift);
    out.v4 = narrow(difference(e3, odd0), shift);
    wide odd3 = sum(product(p71, -7373, 4926), z4);
    out.v0 = narrow(sum(e0, odd3), shift);
    out.v7 = narrow(difference(e0, odd3), shift);
    wide p53 = pair_of(in.v5, in.v3);
    wide odd1 = sum(product(p53, -4176, -20995), z4);
    out.v2 = narrow(sum(e2, odd1), shift);
    out.v5 = narrow(difference(e2, odd1), shift);
    wide odd2 = sum(product(p53, -20995, 4177), z3);
    out.v1 = narrow(sum(e1, odd2), shift);
    out.v6 = narrow(difference(e1, odd2), shift);
    return out;
}

/* The same where frequencies 4 to 7 are zero. */
INLINE eight line8_short(four in, int shift)
{
    eight out;
    wide half = half_wide(shift);
    wide p02 = pair_of(in.v0, in.v2), p13 = pair_of(in.v1, in.v3);
    wide e0 = sum(product(p02, 8192, 10703), half), odd3 = product(p13, 11363, 9633);
    out.v0 = narrow(sum(e0, odd3), shift);
    out.v7 = narrow(difference(e0, odd3), shift);
    wide e1 = sum(product(p02, 8192, 4433), half), odd2 = product(p13, 9633, -2259);
    out.v1 = narrow(sum(e1, odd2), shift);
    out.v6 = narrow(difference(e1, odd2), shift);
    wide e2 = sum(product(p02, 8192, -4433), half), odd1 = product(p13, 6437, -11362);
    out.v2 = narrow(sum(e2, odd1), shift);
    out.v5 = narrow(difference(e2, odd1), shift);
    wide e3 = sum(product(p02, 8192, -10703), half), odd0 = product(p13, 2260, -6436);
    out.v3 = narrow(sum(e3, odd0), shift);
    out.v4 = narrow(difference(e3, odd0), shift);
    return out;
}

/* Frequency 4 is not looked at. */
INLINE four line4(eight in, int shift)
{
    wide even = product(with_half(in.v0, shift), 16384, HALF_HIGH), turn = product(pair_of(in.v2, in.v6), 15137, -6270);
    wide e0 = sum(even, turn), e1 = difference(even, turn);
    wide p13 = pair_of(in.v1, in.v3), p57 = pair_of(in.v5, in.v7);
    wide odd0 = sum(product(p13, 8697, -17799), product(p57, 11893, -1730));
    wide odd2 = sum(product(p13, 20995, 7373), product(p57, -4926, -4176));
    return (four){narrow(sum(e0, odd2), shift), narrow(sum(e1, odd0), shift), narrow(difference(e1, odd0), shift),
                  narrow(difference(e0, odd2), shift)};
}

/* Bytes of two samples, made unsigned, in pairs: those of a before those of b. */
INLINE __m256i bytes_of(__m256i a, __m256i b)
{
    return _mm256_xor_si256(_mm256_packs_epi16(a, b), _mm256_set1_epi8(-128));
}

/*
 * Where the two groups go. Where there is only one, the second goes to a line of its own that nobody reads: that is
 * cheaper than asking at every store.
 */
typedef struct place {
    uint8_t *first, *second;
    ptrdiff_t stride, second_stride;
} place;

enum { UNREAD_NBYTES = 64 };

INLINE place place_of(uint8_t *to, ptrdiff_t stride, bool both, ptrdiff_t step, uint8_t unread[UNREAD_NBYTES])
{
    return (place){to, both ? to + step : unread, stride, both ? stride : 0};
}

/* Vectors a and b hold 16 bytes of the first group, then 16 of the second. */
INLINE void store_32(place to, size_t at, __m256i a, __m256i b)
{
    _mm256_storeu_si256((void *)(to.first + at), _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((void *)(to.second + at), _mm256_permute2x128_si256(a, b, 0x31));
}

/* A line of 8 samples a block. */
INLINE void store_8(place to, eight s)
{
    __m256i s02 = bytes_of(s.v0, s.v2), s13 = bytes_of(s.v1, s.v3);
    __m256i s46 = bytes_of(s.v4, s.v6), s57 = bytes_of(s.v5, s.v7);
    __m256i s01 = _mm256_unpacklo_epi8(s02, s13), s23 = _mm256_unpackhi_epi8(s02, s13);
    __m256i s45 = _mm256_unpacklo_epi8(s46, s57), s67 = _mm256_unpackhi_epi8(s46, s57);
    __m256i a = _mm256_unpacklo_epi16(s01, s23), b = _mm256_unpackhi_epi16(s01, s23);
    __m256i c = _mm256_unpacklo_epi16(s45, s67), d = _mm256_unpackhi_epi16(s45, s67);
    store_32(to, 0, _mm256_unpacklo_epi32(a, c), _mm256_unpackhi_epi32(a, c));
    store_32(to, 32, _mm256_unpacklo_epi32(b, d), _mm256_unpackhi_epi32(b, d));
}

INLINE void store_4(place to, four s)
{
    __m256i s02 = bytes_of(s.v0, s.v2), s13 = bytes_of(s.v1, s.v3);
    __m256i s01 = _mm256_unpacklo_epi8(s02, s13), s23 = _mm256_unpackhi_epi8(s02, s13);
    store_32(to, 0, _mm256_unpacklo_epi16(s01, s23), _mm256_unpackhi_epi16(s01, s23));
}
INLINE place next_line(place to)
{
    return (place){to.first + to.stride, to.second + to.second_stride, to.stride, to.second_stride};
}

/*
 * 16 blocks: in natural order, already multiplied, when there is no `quant`; `bands` then says which frequencies there
 * are. Else in zigzag order up to `last`, as mr__jpeg_idct_strip has it, to be cleared as they are read. All of this is
 * inlined, so that compilers know which.
 */
typedef struct strip {
    int16_t *coef;
    size_t pitch;
    uint64_t bands;
    const uint16_t *quant;
    uint32_t last;
} strip;

/* Whether frequency (v, u), or any that comes after it in its column, may be there. */
INLINE bool reaches(const strip *s, size_t v, size_t u)
{
    if (s->quant != NULL)
        return s->last >= mr__jpeg_zigzag(v, u);
    return (s->bands >> (8 * v + u) & UINT64_C(0x0101010101010101)) != 0;
}

/* Of a strip in zigzag order, not to be cleared. */
INLINE __m256i peek(const strip *s, size_t v, size_t u)
{
    size_t k = mr__jpeg_zigzag(v, u);
    return _mm256_mullo_epi16(load(s->coef + k * s->pitch), _mm256_set1_epi16((int16_t)s->quant[k]));
}

INLINE __m256i band(const strip *s, size_t v, size_t u)
{
    if (s->quant == NULL)
        return load(s->coef + (8 * v + u) * s->pitch);
    __m256i x = peek(s, v, u);
    store(s->coef + mr__jpeg_zigzag(v, u) * s->pitch, _mm256_setzero_si256());
    return x;
}

/* Whether any of a row is beyond 13 bits; `all` has the bits of their absolute values. */
INLINE bool has_wild(__m256i all)
{
    return !_mm256_testz_si256(all, _mm256_set1_epi16((int16_t)0xe000));
}

/* The passes meet in a table: sample or row v, frequency u. */
INLINE int16_t *cell(int16_t *table, size_t v, size_t u)
{
    return table + LANES * (8 * v + u);
}

INLINE void put_column(int16_t *table, size_t u, eight x)
{
    store(cell(table, 0, u), x.v0);
    store(cell(table, 1, u), x.v1);
    store(cell(table, 2, u), x.v2);
    store(cell(table, 3, u), x.v3);
    store(cell(table, 4, u), x.v4);
    store(cell(table, 5, u), x.v5);
    store(cell(table, 6, u), x.v6);
    store(cell(table, 7, u), x.v7);
}
INLINE eight all_of(__m256i x)
{
    return (eight){x, x, x, x, x, x, x, x};
}

INLINE four upper_four(const strip *s, size_t u)
{
    return (four){band(s, 0, u), band(s, 1, u), band(s, 2, u), band(s, 3, u)};
}

/* One column of 16 blocks to eight samples each. */
INLINE void column8(const strip *s, size_t u, int16_t *table)
{
    if (reaches(s, 4, u)) {
        four x = upper_four(s, u), y = {band(s, 4, u), band(s, 5, u), band(s, 6, u), band(s, 7, u)};
        put_column(table, u, line8((eight){x.v0, x.v1, x.v2, x.v3, y.v0, y.v1, y.v2, y.v3}, 11));
    } else if (reaches(s, 1, u))
        put_column(table, u, line8_short(upper_four(s, u), 11));
    else if (reaches(s, 0, u))
        put_column(table, u, all_of(_mm256_slli_epi16(band(s, 0, u), 2)));
    else
        put_column(table, u, all_of(_mm256_setzero_si256()));
}

INLINE four first_four(int16_t *table, size_t v)
{
    return (four){load(cell(table, v, 0)), load(cell(table, v, 1)), load(cell(table, v, 2)), load(cell(table, v, 3))};
}

INLINE eight row_of(int16_t *table, size_t v)
{
    four x = first_four(table, v);
    return (eight){x.v0,
                   x.v1,
                   x.v2,
                   x.v3,
                   load(cell(table, v, 4)),
                   load(cell(table, v, 5)),
                   load(cell(table, v, 6)),
                   load(cell(table, v, 7))};
}

/* The first column only: (x * 8192 + half) >> 18, in 16 bits. */
INLINE eight line8_flat(__m256i x)
{
    __m256i y = _mm256_add_epi16(_mm256_srai_epi16(x, 4), _mm256_set1_epi16(1));
    return all_of(_mm256_srai_epi16(y, 1));
}

/* How many columns need to be looked at: 8, 4, or 1. */
INLINE size_t columns_of(const strip *s)
{
    bool right = false, left = false;
    for (size_t u = 4; u < 8; u++)
        right |= reaches(s, 0, u);
    for (size_t u = 1; u < 4; u++)
        left |= reaches(s, 0, u);
    return right ? 8 : left ? 4 : 1;
}

INLINE void strip8(const strip *s, place to)
{
    _Alignas(64) int16_t table[64 * LANES];
    size_t columns = columns_of(s);
    UNROLL(8)
    for (size_t u = 0; u < 8; u++)
        if (u < columns)
            column8(s, u, table);
    if (columns == 8)
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8(row_of(table, v), 18));
    else if (columns == 4)
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8_short(first_four(table, v), 18));
    else
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8_flat(load(cell(table, v, 0))));
}

/* A column of the reduced forms; frequency 4 is not looked at, nor are others beyond the reach. */
INLINE eight column_of(const strip *s, size_t u)
{
    eight x = all_of(_mm256_setzero_si256());
    if (reaches(s, 0, u))
        x.v0 = band(s, 0, u);
    if (reaches(s, 1, u)) {
        x.v1 = band(s, 1, u);
        x.v2 = band(s, 2, u);
        x.v3 = band(s, 3, u);
    }
    if (reaches(s, 4, u)) {
        x.v5 = band(s, 5, u);
        x.v6 = band(s, 6, u);
        x.v7 = band(s, 7, u);
    }
    return x;
}

INLINE void strip4(const strip *s, place to)
{
    _Alignas(64) int16_t table[4 * 8 * LANES];
    UNROLL(8)
    for (size_t u = 0; u < 8; u++) {
        four x = line4(column_of(s, u), 12);
        store(cell(table, 0, u), x.v0);
        store(cell(table, 1, u), x.v1);
        store(cell(table, 2, u), x.v2);
        store(cell(table, 3, u), x.v3);
    }
    for (size_t v = 0; v < 4; v++, to = next_line(to))
        store_4(to, line4(row_of(table, v), 19));
}

/* Of frequencies 1, 3, 5, 7. */
INLINE wide odd2(four x)
{
    return sum(product(pair_of(x.v0, x.v1), 29692, -10426), product(pair_of(x.v2, x.v3), 6967, -5906));
}

typedef struct two {
    wide upper, lower;
} two;

/* The upper and the lower sample of a column, in 32 bits. The factor of the first frequency, 32768, has no 16 bits. */
INLINE two column2(eight x)
{
    wide even = sum(shifted(pair_of(_mm256_setzero_si256(), x.v0), 1), half_wide(13));
    wide odd = odd2((four){x.v1, x.v3, x.v5, x.v7});
    return (two){shifted(sum(even, odd), 13), shifted(difference(even, odd), 13)};
}

INLINE void store_2(place to, __m256i left, __m256i right)
{
    __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    __m256i line = _mm256_shuffle_epi8(bytes_of(left, right), order);
    _mm_storeu_si128((void *)to.first, _mm256_castsi256_si128(line));
    _mm_storeu_si128((void *)to.second, _mm256_extracti128_si256(line, 1));
}

/* The first frequency has stayed in 32 bits. */
INLINE void line2(place to, wide first, wide x1, wide x3, wide x5, wide x7)
{
    wide even = sum((wide){_mm256_slli_epi32(first.lo, 15), _mm256_slli_epi32(first.hi, 15)}, half_wide(20));
    wide odd = odd2((four){narrow(x1, 0), narrow(x3, 0), narrow(x5, 0), narrow(x7, 0)});
    store_2(to, narrow(sum(even, odd), 20), narrow(difference(even, odd), 20));
}

INLINE void strip2(const strip *s, place to)
{
    two x0 = column2(column_of(s, 0)), x1 = column2(column_of(s, 1));
    two x3 = column2(column_of(s, 3)), x5 = column2(column_of(s, 5));
    two x7 = column2(column_of(s, 7));
    line2(to, x0.upper, x1.upper, x3.upper, x5.upper, x7.upper);
    line2(next_line(to), x0.lower, x1.lower, x3.lower, x5.lower, x7.lower);
}

/* A group of the smallest form: (x + 4) >> 3 without overflow, of which 10 bits count. */
INLINE void store_1(uint8_t *to, __m128i x)
{
    x = _mm_srai_epi16(_mm_add_epi16(_mm_srai_epi16(x, 2), _mm_set1_epi16(1)), 1);
    x = _mm_srai_epi16(_mm_slli_epi16(x, 6), 6);
    _mm_storel_epi64((void *)to, _mm_xor_si128(_mm_packs_epi16(x, x), _mm_set1_epi8(-128)));
}

#endif
