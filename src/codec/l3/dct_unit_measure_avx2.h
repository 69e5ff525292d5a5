// SPDX-License-Identifier: Apache-2.0
/* What dct_unit_write.h asks of an instruction set, with AVX2; unit_extract is left to the file that includes this. */
#ifndef MR_CODEC_L3_DCT_UNIT_MEASURE_AVX2_H
#define MR_CODEC_L3_DCT_UNIT_MEASURE_AVX2_H

#include <immintrin.h>
#include <stdint.h>

typedef struct unit_band unit_band;

UNIT_INLINE unsigned unit_count(uint64_t x)
{
    return (unsigned)_mm_popcnt_u64(x);
}

UNIT_INLINE __m256i load16(const uint16_t *from, unsigned i)
{
    return _mm256_load_si256((const __m256i *)from + i);
}

/* The highest bit of each of 32 words. */
UNIT_INLINE uint32_t top_bits(__m256i a, __m256i b)
{
    __m256i packed = _mm256_packs_epi16(a, b); // keeps signs
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8));
}

UNIT_INLINE uint64_t unit_at_least(const uint16_t size[64], unsigned n)
{
    __m256i least = _mm256_set1_epi16((int16_t)n), is[4];
    for (unsigned i = 0; i < 4; i++) {
        __m256i x = load16(size, i);
        is[i] = _mm256_cmpeq_epi16(_mm256_max_epu16(x, least), x);
    }
    return top_bits(is[0], is[1]) | (uint64_t)top_bits(is[2], is[3]) << 32;
}

UNIT_INLINE uint64_t unit_bit(const uint16_t size[64], unsigned r)
{
    __m128i up = _mm_cvtsi32_si128((int)(15 - r));
    __m256i is[4];
    for (unsigned i = 0; i < 4; i++)
        is[i] = _mm256_sll_epi16(load16(size, i), up);
    return top_bits(is[0], is[1]) | (uint64_t)top_bits(is[2], is[3]) << 32;
}

/* As in C: a quotient costs itself, and from 15 on 14 + 16, which is 15 twice. */
UNIT_INLINE void unit_costs(uint32_t *cost, const uint16_t size[64], unsigned n)
{
    const __m256i most = _mm256_set1_epi16(15);
    for (unsigned raw = 0; raw < n; raw++) {
        __m128i down = _mm_cvtsi32_si128((int)raw);
        __m256i sum = _mm256_setzero_si256();
        for (unsigned i = 0; i < 4; i++) {
            __m256i quotient = _mm256_min_epu16(_mm256_srl_epi16(load16(size, i), down), most);
            __m256i escape = _mm256_and_si256(_mm256_cmpeq_epi16(quotient, most), most);
            sum = _mm256_add_epi16(sum, _mm256_add_epi16(quotient, escape));
        }
        sum = _mm256_sad_epu8(sum, _mm256_setzero_si256()); // each word is 120 at most
        __m128i both = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        cost[raw] = (uint32_t)(_mm_cvtsi128_si32(both) + _mm_extract_epi16(both, 4));
    }
}

/* Eight vectors of eight words: transposed. */
UNIT_INLINE void transpose_words(__m128i x[8])
{
    __m128i a[8], b[8];
    for (unsigned i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(x[2 * i], x[2 * i + 1]);
        a[2 * i + 1] = _mm_unpackhi_epi16(x[2 * i], x[2 * i + 1]);
    }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++) {
            b[4 * i + 2 * k] = _mm_unpacklo_epi32(a[4 * i + k], a[4 * i + k + 2]);
            b[4 * i + 2 * k + 1] = _mm_unpackhi_epi32(a[4 * i + k], a[4 * i + k + 2]);
        }
    for (unsigned i = 0; i < 4; i++) {
        x[2 * i] = _mm_unpacklo_epi64(b[i], b[i + 4]);
        x[2 * i + 1] = _mm_unpackhi_epi64(b[i], b[i + 4]);
    }
}

UNIT_INLINE void unit_gather(int16_t to[64][64], const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows)
{
    for (unsigned y = 0; y < 8; y++)
        for (unsigned z = 0; z < 64; z += 8) {
            __m128i x[8];
            for (unsigned i = 0; i < 8; i++) {
                const int16_t *block = blocks + (y * pitch + i) * 64;
                x[i] = y < rows && i < columns ? _mm_loadu_si128((const void *)(block + z)) : _mm_setzero_si128();
            }
            transpose_words(x);
            for (unsigned i = 0; i < 8; i++)
                _mm_store_si128((void *)(to[z + i] + 8 * y), x[i]);
        }
}

#include "codec/l3/dct_unit_write.h"

UNIT_INLINE void unit_measure(unit_band *band, const int16_t from[64])
{
    __m256i value[4], all = _mm256_setzero_si256();
    for (unsigned i = 0; i < 4; i++) {
        value[i] = _mm256_load_si256((const __m256i *)from + i);
        __m256i size = _mm256_abs_epi16(value[i]);
        _mm256_store_si256((__m256i *)band->size + i, size);
        all = _mm256_or_si256(all, size);
    }
    band->negative = top_bits(value[0], value[1]) | (uint64_t)top_bits(value[2], value[3]) << 32;
    band->nonzero = unit_at_least(band->size, 1);
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    uint64_t bits = (uint64_t)_mm_cvtsi128_si64(half) | (uint64_t)_mm_extract_epi64(half, 1);
    bits |= bits >> 32;
    band->all_bits = (unsigned)((bits | bits >> 16) & 0xffff);
}

#endif
