// SPDX-License-Identifier: Apache-2.0
/* The planes of one band to its coefficients, with AVX-512 (VBMI) and GFNI. */
#ifndef MR_CODEC_L3_DCT_UNIT_PLANES_AVX512_H
#define MR_CODEC_L3_DCT_UNIT_PLANES_AVX512_H

#ifndef UNIT_INLINE
#define UNIT_FAST_PDEP
#define UNIT_AVX512
#include "codec/l3/dct_unit_words_avx2.h"
#endif

/*
 * Eight planes of 64 lanes to a byte for each lane, the first plane lowest. GFNI multiplies bytes by a matrix of 8 x 8
 * bits: here the matrix is the planes' bits of eight lanes (the last plane first, as it counts rows from above), and
 * the bytes are the identity.
 */
UNIT_INLINE __m512i join_planes(const uint64_t plane[8])
{
    _Alignas(64) static const uint8_t order[64] = {56, 48, 40, 32, 24, 16, 8,  0, 57, 49, 41, 33, 25, 17, 9,  1,
                                                   58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3,
                                                   60, 52, 44, 36, 28, 20, 12, 4, 61, 53, 45, 37, 29, 21, 13, 5,
                                                   62, 54, 46, 38, 30, 22, 14, 6, 63, 55, 47, 39, 31, 23, 15, 7};
    __m512i x = _mm512_permutexvar_epi8(_mm512_load_si512(order), _mm512_loadu_si512(plane));
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((int64_t)UINT64_C(0x8040201008040201)), x, 0);
}

/* 32 lanes, negative where the mask says so. */
UNIT_INLINE void store_signed(int16_t *to, __m512i size, uint32_t negative, __m512i scale)
{
    __m512i value = _mm512_mullo_epi16(size, scale);
    _mm512_store_si512(to, _mm512_mask_sub_epi16(value, negative, _mm512_setzero_si512(), value));
}

/* A band whose values are 0, 1 or -1. */
UNIT_INLINE void spread_ones(int16_t to[64], uint64_t nonzero, uint64_t negative, uint16_t factor)
{
    const __m512i more = _mm512_set1_epi16((int16_t)factor), less = _mm512_sub_epi16(_mm512_setzero_si512(), more);
    for (unsigned i = 0; i < 2; i++) {
        __m512i value = _mm512_maskz_mov_epi16((uint32_t)(nonzero >> 32 * i), more);
        _mm512_store_si512(to + 32 * i, _mm512_mask_mov_epi16(value, (uint32_t)(negative >> 32 * i), less));
    }
}

/* Magnitudes of 7 bits, signs in the 8th. */
UNIT_INLINE void spread_narrow(int16_t to[64], const uint64_t *plane, uint16_t factor)
{
    const __m512i scale = _mm512_set1_epi16((int16_t)factor);
    __m512i x = join_planes(plane);
    uint64_t negative = plane[7];
    x = _mm512_and_si512(x, _mm512_set1_epi8(127));
    store_signed(to, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(x)), (uint32_t)negative, scale);
    store_signed(to + 32, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(x, 1)), (uint32_t)(negative >> 32), scale);
}

/* Magnitudes of 15 bits, signs in the 16th. */
UNIT_INLINE void spread_wide(int16_t to[64], const uint64_t *plane, uint16_t factor)
{
    const __m512i scale = _mm512_set1_epi16((int16_t)factor), sizes = _mm512_set1_epi16(0x7fff);
    __m512i low = join_planes(plane), high = join_planes(plane + 8);
    __m256i lows[2] = {_mm512_castsi512_si256(low), _mm512_extracti64x4_epi64(low, 1)};
    __m256i highs[2] = {_mm512_castsi512_si256(high), _mm512_extracti64x4_epi64(high, 1)};
    for (unsigned i = 0; i < 2; i++) {
        __m512i both =
            _mm512_or_si512(_mm512_cvtepu8_epi16(lows[i]), _mm512_slli_epi16(_mm512_cvtepu8_epi16(highs[i]), 8));
        store_signed(to + 32 * i, _mm512_and_si512(both, sizes), (uint32_t)(plane[15] >> 32 * i), scale);
    }
}

#endif
