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
#ifndef MR_KERNEL_JPEG_PIXELS_PASSES_AVX2_H
#define MR_KERNEL_JPEG_PIXELS_PASSES_AVX2_H

#include "kernel/jpeg_pixels_kernels.h"

#include <immintrin.h>
#include <stdbool.h>

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

/*
 * Vectors by name, not by index: compilers keep these in registers where they would keep an array in memory. Of
 * frequencies, of samples, or of sums in 32 bits.
 */
typedef struct eight {
    __m256i v0, v1, v2, v3, v4, v5, v6, v7;
} eight;

typedef struct four {
    __m256i v0, v1, v2, v3;
} four;

/* Two frequencies, interleaved; 16 blocks make two of them: lanes 0-3 and 8-11, and the others. */
INLINE __m256i low_pair(__m256i a, __m256i b)
{
    return _mm256_unpacklo_epi16(a, b);
}

INLINE __m256i high_pair(__m256i a, __m256i b)
{
    return _mm256_unpackhi_epi16(a, b);
}

/* a * low + b * high of each pair. */
INLINE __m256i product(__m256i pair, int low, int high)
{
    return _mm256_madd_epi16(pair, _mm256_set1_epi32((int)((uint32_t)(uint16_t)low | (uint32_t)high << 16)));
}

INLINE __m256i sum(__m256i a, __m256i b)
{
    return _mm256_add_epi32(a, b);
}

INLINE __m256i difference(__m256i a, __m256i b)
{
    return _mm256_sub_epi32(a, b);
}

/*
 * Half a unit of `shift` bits comes into the sums for nothing: the base is paired with a number, and multiplied by
 * another, that give it.
 */
INLINE __m256i half_low(int shift)
{
    return _mm256_set1_epi16((int16_t)(1 << (shift - 11)));
}

enum { HALF_HIGH = 1 << 10 };

/* Half of a line of 8: the pairs are of frequencies (0 + 4, half), (0 - 4, half), (2, 6), (7, 1), (5, 3), sums of odd.
 */
INLINE eight half8(__m256i base0, __m256i base1, __m256i p26, __m256i p71, __m256i p53, __m256i z, int shift)
{
    __m256i even0 = product(base0, 8192, HALF_HIGH), even1 = product(base1, 8192, HALF_HIGH);
    __m256i turn2 = product(p26, 4433, -10704), turn3 = product(p26, 10703, 4433);
    __m256i z3 = product(z, -6436, 9633), z4 = product(z, 9633, 6437);
    __m256i odd0 = sum(product(p71, -4927, -7373), z3), odd3 = sum(product(p71, -7373, 4926), z4);
    __m256i odd1 = sum(product(p53, -4176, -20995), z4), odd2 = sum(product(p53, -20995, 4177), z3);
    __m256i e0 = sum(even0, turn3), e3 = difference(even0, turn3);
    __m256i e1 = sum(even1, turn2), e2 = difference(even1, turn2);
    return (eight){
        _mm256_srai_epi32(sum(e0, odd3), shift),        _mm256_srai_epi32(sum(e1, odd2), shift),
        _mm256_srai_epi32(sum(e2, odd1), shift),        _mm256_srai_epi32(sum(e3, odd0), shift),
        _mm256_srai_epi32(difference(e3, odd0), shift), _mm256_srai_epi32(difference(e2, odd1), shift),
        _mm256_srai_epi32(difference(e1, odd2), shift), _mm256_srai_epi32(difference(e0, odd3), shift),
    };
}

INLINE eight pack8(eight lo, eight hi)
{
    return (eight){
        _mm256_packs_epi32(lo.v0, hi.v0), _mm256_packs_epi32(lo.v1, hi.v1), _mm256_packs_epi32(lo.v2, hi.v2),
        _mm256_packs_epi32(lo.v3, hi.v3), _mm256_packs_epi32(lo.v4, hi.v4), _mm256_packs_epi32(lo.v5, hi.v5),
        _mm256_packs_epi32(lo.v6, hi.v6), _mm256_packs_epi32(lo.v7, hi.v7),
    };
}

INLINE eight line8(eight in, int shift)
{
    __m256i half = half_low(shift);
    __m256i s04 = _mm256_add_epi16(in.v0, in.v4), d04 = _mm256_sub_epi16(in.v0, in.v4);
    __m256i s37 = _mm256_add_epi16(in.v3, in.v7), s15 = _mm256_add_epi16(in.v1, in.v5);
    eight lo = half8(low_pair(s04, half), low_pair(d04, half), low_pair(in.v2, in.v6), low_pair(in.v7, in.v1),
                     low_pair(in.v5, in.v3), low_pair(s37, s15), shift);
    eight hi = half8(high_pair(s04, half), high_pair(d04, half), high_pair(in.v2, in.v6), high_pair(in.v7, in.v1),
                     high_pair(in.v5, in.v3), high_pair(s37, s15), shift);
    return pack8(lo, hi);
}

/* The same where frequencies 4 to 7 are zero. */
INLINE eight half8_short(__m256i p02, __m256i p13, int shift)
{
    __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    __m256i e0 = sum(product(p02, 8192, 10703), half), e3 = sum(product(p02, 8192, -10703), half);
    __m256i e1 = sum(product(p02, 8192, 4433), half), e2 = sum(product(p02, 8192, -4433), half);
    __m256i odd0 = product(p13, 2260, -6436), odd1 = product(p13, 6437, -11362);
    __m256i odd2 = product(p13, 9633, -2259), odd3 = product(p13, 11363, 9633);
    return (eight){
        _mm256_srai_epi32(sum(e0, odd3), shift),        _mm256_srai_epi32(sum(e1, odd2), shift),
        _mm256_srai_epi32(sum(e2, odd1), shift),        _mm256_srai_epi32(sum(e3, odd0), shift),
        _mm256_srai_epi32(difference(e3, odd0), shift), _mm256_srai_epi32(difference(e2, odd1), shift),
        _mm256_srai_epi32(difference(e1, odd2), shift), _mm256_srai_epi32(difference(e0, odd3), shift),
    };
}

INLINE eight line8_short(four in, int shift)
{
    eight lo = half8_short(low_pair(in.v0, in.v2), low_pair(in.v1, in.v3), shift);
    eight hi = half8_short(high_pair(in.v0, in.v2), high_pair(in.v1, in.v3), shift);
    return pack8(lo, hi);
}

/* Half of a line of 4: of frequencies (0, half), (2, 6), (1, 3), (5, 7). */
INLINE four half4(__m256i base, __m256i p26, __m256i p13, __m256i p57, int shift)
{
    __m256i even = product(base, 16384, HALF_HIGH), turn = product(p26, 15137, -6270);
    __m256i odd0 = sum(product(p13, 8697, -17799), product(p57, 11893, -1730));
    __m256i odd2 = sum(product(p13, 20995, 7373), product(p57, -4926, -4176));
    __m256i e0 = sum(even, turn), e1 = difference(even, turn);
    return (four){_mm256_srai_epi32(sum(e0, odd2), shift), _mm256_srai_epi32(sum(e1, odd0), shift),
                  _mm256_srai_epi32(difference(e1, odd0), shift), _mm256_srai_epi32(difference(e0, odd2), shift)};
}

/* Frequency 4 is not looked at. */
INLINE four line4(eight in, int shift)
{
    __m256i half = half_low(shift);
    four lo =
        half4(low_pair(in.v0, half), low_pair(in.v2, in.v6), low_pair(in.v1, in.v3), low_pair(in.v5, in.v7), shift);
    four hi =
        half4(high_pair(in.v0, half), high_pair(in.v2, in.v6), high_pair(in.v1, in.v3), high_pair(in.v5, in.v7), shift);
    return (four){_mm256_packs_epi32(lo.v0, hi.v0), _mm256_packs_epi32(lo.v1, hi.v1), _mm256_packs_epi32(lo.v2, hi.v2),
                  _mm256_packs_epi32(lo.v3, hi.v3)};
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

INLINE place place_of(uint8_t *to, ptrdiff_t stride, bool two, ptrdiff_t step, uint8_t unread[UNREAD_NBYTES])
{
    return (place){to, two ? to + step : unread, stride, two ? stride : 0};
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
 * 16 blocks: natural order, already multiplied, when there is no `quant`; else in zigzag order, as mr__jpeg_idct_strip
 * has it, to be cleared as it is read. Compilers know which when all of this is inlined.
 */
typedef struct strip {
    int16_t *coef;
    size_t pitch;
    const uint16_t *quant;
} strip;

INLINE __m256i band(const strip *s, size_t v, size_t u)
{
    if (s->quant == NULL)
        return load(s->coef + (8 * v + u) * s->pitch);
    size_t k = mr__jpeg_zigzag(v, u);
    __m256i x = _mm256_mullo_epi16(load(s->coef + k * s->pitch), _mm256_set1_epi16((int16_t)s->quant[k]));
    store(s->coef + k * s->pitch, _mm256_setzero_si256());
    return x;
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
INLINE void column8(const strip *s, size_t u, int reach, int16_t *table)
{
    if (reach == 8) {
        four x = upper_four(s, u), y = {band(s, 4, u), band(s, 5, u), band(s, 6, u), band(s, 7, u)};
        put_column(table, u, line8((eight){x.v0, x.v1, x.v2, x.v3, y.v0, y.v1, y.v2, y.v3}, 11));
    } else if (reach == 4)
        put_column(table, u, line8_short(upper_four(s, u), 11));
    else if (reach == 1)
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

INLINE void strip8(const strip *s, const int reach[8], place to)
{
    _Alignas(64) int16_t table[64 * LANES];
    int last = 7;
    while (last > 0 && reach[last] == 0)
        last--;
    for (size_t u = 0; u < (last >= 4 ? 8 : last >= 1 ? 4 : 1); u++)
        column8(s, u, reach[u], table);
    if (last >= 4)
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8(row_of(table, v), 18));
    else if (last >= 1)
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8_short(first_four(table, v), 18));
    else
        for (size_t v = 0; v < 8; v++, to = next_line(to))
            store_8(to, line8_flat(load(cell(table, v, 0))));
}

/* A column of the reduced forms; frequency 4 is not looked at, nor are others beyond the reach. */
INLINE eight column_of(const strip *s, size_t u, int reach)
{
    eight x = all_of(_mm256_setzero_si256());
    if (reach >= 1)
        x.v0 = band(s, 0, u);
    if (reach >= 4) {
        x.v1 = band(s, 1, u);
        x.v2 = band(s, 2, u);
        x.v3 = band(s, 3, u);
    }
    if (reach == 8) {
        x.v5 = band(s, 5, u);
        x.v6 = band(s, 6, u);
        x.v7 = band(s, 7, u);
    }
    return x;
}

INLINE void strip4(const strip *s, const int reach[8], place to)
{
    _Alignas(64) int16_t table[4 * 8 * LANES];
    for (size_t u = 0; u < 8; u++) {
        four x = line4(column_of(s, u, reach[u]), 12);
        store(cell(table, 0, u), x.v0);
        store(cell(table, 1, u), x.v1);
        store(cell(table, 2, u), x.v2);
        store(cell(table, 3, u), x.v3);
    }
    for (size_t v = 0; v < 4; v++, to = next_line(to))
        store_4(to, line4(row_of(table, v), 19));
}

/* Of frequencies (1, 3) and (5, 7). */
INLINE __m256i odd2(__m256i p13, __m256i p57)
{
    return sum(product(p13, 29692, -10426), product(p57, 6967, -5906));
}

/* x * 32768, which is no 16-bit factor, and half a unit of the first pass. */
INLINE __m256i even2(__m256i zero_and_x)
{
    return sum(_mm256_srai_epi32(zero_and_x, 1), _mm256_set1_epi32(1 << 12));
}

/* The sums of a column: of the upper and of the lower sample, each in two halves. */
INLINE four column2(eight x)
{
    __m256i zero = _mm256_setzero_si256();
    __m256i even_lo = even2(low_pair(zero, x.v0)), odd_lo = odd2(low_pair(x.v1, x.v3), low_pair(x.v5, x.v7));
    __m256i even_hi = even2(high_pair(zero, x.v0)), odd_hi = odd2(high_pair(x.v1, x.v3), high_pair(x.v5, x.v7));
    return (four){_mm256_srai_epi32(sum(even_lo, odd_lo), 13), _mm256_srai_epi32(sum(even_hi, odd_hi), 13),
                  _mm256_srai_epi32(difference(even_lo, odd_lo), 13),
                  _mm256_srai_epi32(difference(even_hi, odd_hi), 13)};
}

INLINE void store_2(place to, __m256i left, __m256i right)
{
    __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    __m256i line = _mm256_shuffle_epi8(bytes_of(left, right), order);
    _mm_storeu_si128((void *)to.first, _mm256_castsi256_si128(line));
    _mm_storeu_si128((void *)to.second, _mm256_extracti128_si256(line, 1));
}

/* The first frequency has stayed in 32 bits; the odd ones are 1, 3, 5, 7. */
INLINE void line2(place to, __m256i first_lo, __m256i first_hi, four odd)
{
    __m256i half = _mm256_set1_epi32(1 << 19);
    __m256i even_lo = sum(_mm256_slli_epi32(first_lo, 15), half), even_hi = sum(_mm256_slli_epi32(first_hi, 15), half);
    __m256i odd_lo = odd2(low_pair(odd.v0, odd.v1), low_pair(odd.v2, odd.v3));
    __m256i odd_hi = odd2(high_pair(odd.v0, odd.v1), high_pair(odd.v2, odd.v3));
    store_2(
        to,
        _mm256_packs_epi32(_mm256_srai_epi32(sum(even_lo, odd_lo), 20), _mm256_srai_epi32(sum(even_hi, odd_hi), 20)),
        _mm256_packs_epi32(_mm256_srai_epi32(difference(even_lo, odd_lo), 20),
                           _mm256_srai_epi32(difference(even_hi, odd_hi), 20)));
}

INLINE void strip2(const strip *s, const int reach[8], place to)
{
    four first = column2(column_of(s, 0, reach[0])), x1 = column2(column_of(s, 1, reach[1]));
    four x3 = column2(column_of(s, 3, reach[3])), x5 = column2(column_of(s, 5, reach[5]));
    four x7 = column2(column_of(s, 7, reach[7]));
    line2(to, first.v0, first.v1,
          (four){_mm256_packs_epi32(x1.v0, x1.v1), _mm256_packs_epi32(x3.v0, x3.v1), _mm256_packs_epi32(x5.v0, x5.v1),
                 _mm256_packs_epi32(x7.v0, x7.v1)});
    line2(next_line(to), first.v2, first.v3,
          (four){_mm256_packs_epi32(x1.v2, x1.v3), _mm256_packs_epi32(x3.v2, x3.v3), _mm256_packs_epi32(x5.v2, x5.v3),
                 _mm256_packs_epi32(x7.v2, x7.v3)});
}

#endif
