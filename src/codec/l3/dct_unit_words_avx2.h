// SPDX-License-Identifier: Apache-2.0
/*
 * The words of dct_unit_words.h with AVX2; with UNIT_FAST_PDEP defined, also with PDEP and PEXT. Other processors (AMD
 * before Zen 3) have these in microcode, too slow to use: bits are then deposited by ranks, 64 lanes at a time.
 */
#ifndef MR_CODEC_L3_DCT_UNIT_WORDS_AVX2_H
#define MR_CODEC_L3_DCT_UNIT_WORDS_AVX2_H

#include "codec/l3/dct_unit_bits.h"

#include <immintrin.h>

#if defined(UNIT_AVX512)
#define UNIT_TARGET                                                                                                    \
    __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni")))
#elif defined(UNIT_FAST_PDEP)
#define UNIT_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#else
#define UNIT_TARGET __attribute__((target("avx2,popcnt")))
#endif
#define UNIT_INLINE static inline __attribute__((always_inline)) UNIT_TARGET

UNIT_INLINE unsigned unit_count(uint64_t x)
{
    return (unsigned)_mm_popcnt_u64(x);
}

#ifdef UNIT_FAST_PDEP

UNIT_INLINE uint64_t unit_deposit(uint64_t bits, uint64_t mask)
{
    return _pdep_u64(bits, mask);
}

UNIT_INLINE uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    return _pext_u64(bits, mask);
}

#else

/* How many bits are set in each byte, and in all below it. */
UNIT_INLINE uint64_t count_up_to_bytes(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return x * UINT64_C(0x0101010101010101);
}

/*
 * 32 lanes of a deposit. A lane's rank is how many lanes below it are in the mask: it gets the bit of that number.
 * `before` has the ranks of the first lane of each byte; `spread` takes lane i to byte i / 8.
 */
UNIT_INLINE uint32_t deposit_lanes(__m256i bits, __m256i mask, __m256i before, __m256i spread)
{
    const __m256i bit = _mm256_set1_epi64x((int64_t)UINT64_C(0x8040201008040201));
    __m256i in = _mm256_and_si256(_mm256_shuffle_epi8(mask, spread), bit);
    in = _mm256_cmpeq_epi8(in, bit);
    __m256i sum = _mm256_add_epi8(in, _mm256_slli_epi64(in, 8)); // of -1
    sum = _mm256_add_epi8(sum, _mm256_slli_epi64(sum, 16));
    sum = _mm256_add_epi8(sum, _mm256_slli_epi64(sum, 32));
    __m256i rank = _mm256_sub_epi8(_mm256_shuffle_epi8(before, spread), _mm256_sub_epi8(sum, in));
    __m256i byte = _mm256_and_si256(_mm256_srli_epi16(rank, 3), _mm256_set1_epi8(7));
    __m256i wanted = _mm256_shuffle_epi8(bit, _mm256_and_si256(rank, _mm256_set1_epi8(7)));
    __m256i is = _mm256_and_si256(_mm256_shuffle_epi8(bits, byte), wanted);
    is = _mm256_and_si256(_mm256_cmpeq_epi8(is, wanted), in);
    return (uint32_t)_mm256_movemask_epi8(is);
}

UNIT_INLINE uint64_t unit_deposit(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    const __m256i low = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3,
                                         3, 3, 3, 3, 3, 3);
    const __m256i high = _mm256_add_epi8(low, _mm256_set1_epi8(4));
    __m256i from = _mm256_set1_epi64x((int64_t)bits), to = _mm256_set1_epi64x((int64_t)mask);
    __m256i before = _mm256_set1_epi64x((int64_t)(count_up_to_bytes(mask) << 8));
    return deposit_lanes(from, to, before, low) | (uint64_t)deposit_lanes(from, to, before, high) << 32;
}

UNIT_INLINE uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++)
        to |= (uint64_t)((bits & mask & (0 - mask)) != 0) << n;
    return to;
}

#endif

/* Not memset, which compilers make slow of. */
UNIT_INLINE void unit_clear(uint64_t word[16])
{
    for (unsigned i = 0; i < 16; i += 4)
        _mm256_store_si256((__m256i *)(word + i), _mm256_setzero_si256());
}

UNIT_INLINE void unit_sort(uint8_t mode[64], const uint8_t *from, unsigned n, uint64_t by_mode[MR__MODES])
{
    __m256i x = _mm256_permute4x64_epi64(_mm256_loadu_si256((const void *)from), 0xd8);
    __m256i even = _mm256_and_si256(x, _mm256_set1_epi8(15));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi16(x, 4), _mm256_set1_epi8(15));
    __m256i low = _mm256_unpacklo_epi8(even, odd), high = _mm256_unpackhi_epi8(even, odd);
    const __m256i index = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    low = _mm256_and_si256(low, _mm256_cmpgt_epi8(_mm256_set1_epi8((char)n), index));
    high = _mm256_and_si256(high, _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(n - 32)), index));
    _mm256_store_si256((void *)mode, low);
    _mm256_store_si256((void *)(mode + 32), high);
    for (int m = 0; m < 16; m++) {
        __m256i this = _mm256_set1_epi8((char)m);
        uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, this));
        uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, this));
        by_mode[m] = a | (uint64_t)b << 32;
    }
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
