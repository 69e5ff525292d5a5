// SPDX-License-Identifier: Apache-2.0
/* The planes of one band to its coefficients, with AVX2. */
#ifndef MR_CODEC_L3_DCT_UNIT_PLANES_AVX2_H
#define MR_CODEC_L3_DCT_UNIT_PLANES_AVX2_H

#ifndef UNIT_INLINE
#include "codec/l3/dct_unit_words_avx2.h"
#endif

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
UNIT_INLINE void spread_ones(int16_t to[64], uint64_t nonzero, uint64_t negative, uint16_t factor)
{
    const __m256i scale = _mm256_set1_epi16((int16_t)factor);
    const __m256i bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    for (unsigned i = 0; i < 4; i++) {
        __m256i some = _mm256_and_si256(_mm256_set1_epi16((int16_t)(nonzero >> 16 * i)), bit);
        __m256i less = _mm256_and_si256(_mm256_set1_epi16((int16_t)(negative >> 16 * i)), bit);
        some = _mm256_and_si256(_mm256_cmpeq_epi16(some, bit), scale);
        less = _mm256_cmpeq_epi16(less, bit);
        _mm256_store_si256((void *)(to + 16 * i), _mm256_sub_epi16(_mm256_xor_si256(some, less), less));
    }
}

/* Magnitudes of 7 bits, signs in the 8th. */
UNIT_INLINE void spread_narrow(int16_t to[64], const uint64_t *plane, uint16_t factor)
{
    const __m256i scale = _mm256_set1_epi16((int16_t)factor);
    lanes_u8 x = join_planes(plane);
    __m256i half[2] = {x.low, x.high};
    for (unsigned i = 0; i < 2; i++) {
        __m256i sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), half[i]);
        __m256i size = _mm256_and_si256(half[i], _mm256_set1_epi8(127));
        __m256i value = _mm256_sub_epi8(_mm256_xor_si256(size, sign), sign);
        store_scaled(to + 32 * i, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(value)), scale);
        store_scaled(to + 32 * i + 16, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(value, 1)), scale);
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

UNIT_INLINE void spread_wide(int16_t to[64], const uint64_t *plane, uint16_t factor)
{
    const __m256i scale = _mm256_set1_epi16((int16_t)factor);
    lanes_u8 low = join_planes(plane), high = join_planes(plane + 8);
    store_wide(to, _mm256_castsi256_si128(low.low), _mm256_castsi256_si128(high.low), scale);
    store_wide(to + 16, _mm256_extracti128_si256(low.low, 1), _mm256_extracti128_si256(high.low, 1), scale);
    store_wide(to + 32, _mm256_castsi256_si128(low.high), _mm256_castsi256_si128(high.high), scale);
    store_wide(to + 48, _mm256_extracti128_si256(low.high, 1), _mm256_extracti128_si256(high.high, 1), scale);
}

#endif
