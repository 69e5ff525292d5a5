// SPDX-License-Identifier: Apache-2.0
/* The block coder with AVX2 and PEXT: a block is one vector, and its cost for a k a handful of instructions. */
#include "codec/l3/pixel_blocks.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2,popcnt")))

/* A block's magnitudes (v, or -1 - v of a negative one), the greatest, and the bits a block without layers needs. */
typedef struct magnitudes {
    __m256i all;
    unsigned most;
    unsigned width;
    unsigned written;
} magnitudes;

TARGET static inline unsigned bit_width(unsigned x)
{
    return x == 0 ? 0 : 32 - (unsigned)__builtin_clz(x);
}

TARGET static inline unsigned greatest(__m256i bytes)
{
    const __m128i most = _mm_max_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    const __m128i least = _mm_xor_si128(most, _mm_set1_epi8(-1));
    const __m128i found = _mm_minpos_epu16(_mm_min_epu8(least, _mm_srli_epi16(least, 8)));
    return 255 - ((unsigned)_mm_cvtsi128_si32(found) & 255);
}

TARGET static inline magnitudes measure(const uint64_t *block)
{
    magnitudes m;
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)block);
    m.all = _mm256_xor_si256(v, _mm256_cmpgt_epi8(_mm256_setzero_si256(), v));
    m.most = greatest(m.all);
    m.width = bit_width(m.most);
    m.written = _mm256_testz_si256(v, v) ? 0 : m.width + 1;
    return m;
}

TARGET static inline __m256i quotients(const magnitudes *m, unsigned k)
{
    const __m256i mask = _mm256_set1_epi8((char)(0x7f >> (k - 1)));
    return _mm256_and_si256(_mm256_srl_epi16(m->all, _mm_cvtsi32_si128((int)k - 1)), mask);
}

/* The least k with layers that can hold the block: no quotient above the number of layers. */
TARGET static inline unsigned least_layered(const magnitudes *m, unsigned layers)
{
    unsigned bits = layers == 3 ? 2 : 3;
    unsigned k = m->width > bits ? m->width - bits + 1 : 1;
    return k + (m->most >> (k - 1) > layers);
}

TARGET static inline unsigned cost_layered(const magnitudes *m, unsigned k, unsigned layers)
{
    const __m256i q = _mm256_min_epu8(quotients(m, k), _mm256_set1_epi8((char)(layers - 1)));
    const __m256i sums = _mm256_sad_epu8(q, _mm256_setzero_si256());
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    const __m128i one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    return 32 * k + 32 + (unsigned)_mm_cvtsi128_si32(one);
}

TARGET static inline unsigned ones_of_first_layer(const magnitudes *m, unsigned header)
{
    if (header <= 8)
        return 0;
    const __m256i none = _mm256_cmpeq_epi8(quotients(m, header - 8), _mm256_setzero_si256());
    return 32 - (unsigned)__builtin_popcount((unsigned)_mm256_movemask_epi8(none));
}

#define BLOCKS_TARGET  TARGET
#define BLOCKS_NAME(x) x##_blocks_avx2
#include "codec/l3/pixel_blocks_choose.h"

TARGET static inline unsigned count_ones(uint64_t word)
{
    return (unsigned)_mm_popcnt_u64(word);
}

TARGET static inline uint64_t gather_bits(uint64_t word, uint64_t mask)
{
    return _pext_u64(word, mask);
}

/* Bytes in the order of a mask's bits: column by column, the four rows of each. */
TARGET static inline __m256i by_columns(__m256i block)
{
    const __m128i pairs = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m128i upper = _mm_shuffle_epi8(_mm256_castsi256_si128(block), pairs);
    const __m128i lower = _mm_shuffle_epi8(_mm256_extracti128_si256(block, 1), pairs);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(upper, lower)),
                                   _mm_unpackhi_epi16(upper, lower), 1);
}

TARGET static inline void masks_of_block(const uint64_t *block, unsigned k, unsigned layers, uint32_t *masks)
{
    const __m256i v = by_columns(_mm256_loadu_si256((const __m256i *)(const void *)block));
    const magnitudes m = {.all = _mm256_xor_si256(v, _mm256_cmpgt_epi8(_mm256_setzero_si256(), v))};
    const __m256i q = quotients(&m, k);
    for (unsigned j = 1; j <= layers; j++)
        masks[j] = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(q, _mm256_set1_epi8((char)(j - 1))));
}

#include "codec/l3/pixel_blocks_write.h"

void mr__l3_block_kernels_init_avx2(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0 || (cpu & MR__CPU_BMI2) == 0)
        return;
    table->choose = choose_blocks_avx2;
    table->cost = cost_blocks_avx2;
    if ((cpu & MR__CPU_FAST_PDEP) != 0)
        table->write = write_blocks_avx2;
}
#else
void mr__l3_block_kernels_init_avx2(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
