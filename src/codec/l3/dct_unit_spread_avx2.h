// SPDX-License-Identifier: Apache-2.0
/* From bit planes to coefficients with AVX2: for both ways of depositing bits. */
#ifndef MR_CODEC_L3_DCT_UNIT_SPREAD_AVX2_H
#define MR_CODEC_L3_DCT_UNIT_SPREAD_AVX2_H

#include "codec/l3/dct_unit_words_avx2.h"
// after the words
#include "codec/l3/dct_unit_parse.h"

#include <string.h>

/* 64 bytes: lanes 0 to 31 and 32 to 63. */
typedef struct lanes_u8 {
    __m256i low, high;
} lanes_u8;

/* Each 64 bits are a matrix of 8 x 8: transposed. */
UNIT_INLINE __m256i transpose_bits(__m256i x)
{
    __m256i t;
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 7)), _mm256_set1_epi64x(0x00aa00aa00aa00aa));
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 7)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 14)), _mm256_set1_epi64x(0x0000cccc0000cccc));
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 14)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 28)), _mm256_set1_epi64x(0x00000000f0f0f0f0));
    return _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 28)));
}

/* Eight planes of 64 lanes to a byte for each lane, the first plane lowest. */
UNIT_INLINE lanes_u8 join_planes(const uint64_t plane[8])
{
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3,
                                           11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i low = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)plane), pairs);
    __m256i high = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)(plane + 4)), pairs);
    __m256i even = _mm256_permute2x128_si256(low, high, 0x20), odd = _mm256_permute2x128_si256(low, high, 0x31);
    low = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi16(even, odd), order);
    high = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi16(even, odd), order);
    return (lanes_u8){transpose_bits(low), transpose_bits(high)};
}

UNIT_INLINE void store_scaled(int16_t *to, __m256i value, __m256i factor)
{
    _mm256_store_si256((void *)to, _mm256_mullo_epi16(value, factor));
}

/* A band whose values are 0, 1 or -1. */
UNIT_INLINE void spread_ones(int16_t to[64], uint64_t nonzero, uint64_t negative, __m256i factor)
{
    const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    for (unsigned i = 0; i < 4; i++) {
        __m256i some = _mm256_and_si256(_mm256_set1_epi16((int16_t)(nonzero >> 16 * i)), bit);
        __m256i less = _mm256_and_si256(_mm256_set1_epi16((int16_t)(negative >> 16 * i)), bit);
        some = _mm256_and_si256(_mm256_cmpeq_epi16(some, bit), factor);
        less = _mm256_cmpeq_epi16(less, bit);
        _mm256_store_si256((void *)(to + 16 * i), _mm256_sub_epi16(_mm256_xor_si256(some, less), less));
    }
}

/* Magnitudes of 7 bits, signs in the 8th. */
UNIT_INLINE void spread_narrow(int16_t to[64], const uint64_t *plane, __m256i factor)
{
    lanes_u8 x = join_planes(plane);
    __m256i half[2] = {x.low, x.high};
    for (unsigned i = 0; i < 2; i++) {
        __m256i sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), half[i]);
        __m256i size = _mm256_and_si256(half[i], _mm256_set1_epi8(127));
        __m256i value = _mm256_sub_epi8(_mm256_xor_si256(size, sign), sign);
        store_scaled(to + 32 * i, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(value)), factor);
        store_scaled(to + 32 * i + 16, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(value, 1)), factor);
    }
}

/* 16 lanes of magnitudes of 15 bits. */
UNIT_INLINE void store_wide(int16_t *to, __m128i low, __m128i high, __m256i factor)
{
    __m256i value = _mm256_or_si256(_mm256_cvtepu8_epi16(low), _mm256_slli_epi16(_mm256_cvtepu8_epi16(high), 8));
    __m256i sign = _mm256_srai_epi16(value, 15);
    value = _mm256_and_si256(value, _mm256_set1_epi16(0x7fff));
    store_scaled(to, _mm256_sub_epi16(_mm256_xor_si256(value, sign), sign), factor);
}

UNIT_INLINE void spread_wide(int16_t to[64], const uint64_t *plane, __m256i factor)
{
    lanes_u8 low = join_planes(plane), high = join_planes(plane + 8);
    store_wide(to, _mm256_castsi256_si128(low.low), _mm256_castsi256_si128(high.low), factor);
    store_wide(to + 16, _mm256_extracti128_si256(low.low, 1), _mm256_extracti128_si256(high.low, 1), factor);
    store_wide(to + 32, _mm256_castsi256_si128(low.high), _mm256_castsi256_si128(high.high), factor);
    store_wide(to + 48, _mm256_extracti128_si256(low.high, 1), _mm256_extracti128_si256(high.high, 1), factor);
}

UNIT_INLINE __m256i factor_of(const uint16_t quant[64], unsigned z)
{
    return _mm256_set1_epi16(z == 0 ? 1 : (int16_t)quant[z]);
}

/* By kind of band, so that no branch depends on the next one. */
UNIT_INLINE void spread_bands(mr__l3_unit *unit, const unit_work *w, const uint16_t quant[64], uint64_t wanted)
{
    uint64_t wide = 0, there = 1;
    for (unsigned m = MODE_DENSE + RAW_NARROW_MAX + 1; m < MODES; m++)
        wide |= w->by_mode[m];
    for (uint64_t set = w->filled & ~w->leveled & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        const uint64_t *plane = w->plane[z];
        there |= UINT64_C(1) << to;
        spread_ones(unit->coef[to], plane[PLANE_QUOTIENT], plane[PLANE_QUOTIENT + SIGN_NARROW], factor_of(quant, z));
    }
    for (uint64_t set = w->leveled & ~wide & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        there |= UINT64_C(1) << to;
        spread_narrow(unit->coef[to], w->plane[z] + first_plane(w, z), factor_of(quant, z));
    }
    for (uint64_t set = wide & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        there |= UINT64_C(1) << to;
        spread_wide(unit->coef[to], w->plane[z] + first_plane(w, z), factor_of(quant, z));
    }
    unit->bands = there;
}

/* Sums from the left. */
UNIT_INLINE __m128i sum_row(__m128i x)
{
    x = _mm_add_epi16(x, _mm_slli_si128(x, 2));
    x = _mm_add_epi16(x, _mm_slli_si128(x, 4));
    return _mm_add_epi16(x, _mm_slli_si128(x, 8));
}

/* mr__l3_unit_predict_c, a row at a time. */
UNIT_INLINE void predict_rows(int16_t dc[64], int16_t seed, unsigned predictor, uint16_t factor)
{
    __m128i scale = _mm_set1_epi16((int16_t)factor), *row = (__m128i *)dc;
    __m128i above = sum_row(_mm_insert_epi16(_mm_load_si128(row), seed, 0));
    _mm_store_si128(row, _mm_mullo_epi16(above, scale));
    for (unsigned y = 1; y < 8; y++) {
        __m128i x = _mm_load_si128(row + y);
        if (predictor == PREDICT_ABOVE)
            x = _mm_add_epi16(x, above);
        else if (predictor == PREDICT_PLANE)
            x = _mm_add_epi16(sum_row(x), above);
        else {
            __m128i slope = _mm_srai_epi16(_mm_sub_epi16(above, _mm_slli_si128(above, 2)), 1);
            slope = predictor == PREDICT_LEFT ? _mm_setzero_si128() : slope;
            x = sum_row(_mm_add_epi16(x, _mm_blend_epi16(slope, above, 1)));
        }
        above = x;
        _mm_store_si128(row + y, _mm_mullo_epi16(x, scale));
    }
}

UNIT_INLINE const char *decode_unit(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, uint64_t grid,
                                    const uint16_t quant[64], unsigned bands)
{
    unit_work work;
    const char *why = parse_unit(&work, bytes, nbytes, grid);
    if (why != NULL)
        return why;
    uint64_t wanted = unit_low_bits(bands);
    if ((work.filled & 1) == 0)
        memset(unit->coef[0], 0, sizeof unit->coef[0]);
    spread_bands(unit, &work, quant, wanted);
    work.escaped &= wanted;
    if (work.escaped != 0)
        write_escapes(unit, &work, quant);
    predict_rows(unit->coef[0], work.seed, work.predictor, quant[0]);
    return NULL;
}

#endif
