// SPDX-License-Identifier: Apache-2.0
/*
 * The decoder of a unit with AVX2 for processors whose PDEP is slow (AMD before Zen 3) or
 * absent: bits are deposited by ranks, 64 lanes at a time.
 */
#if defined(__x86_64__)

#include "codec/l3/dct_unit_isa.h"

#include <immintrin.h>

#define AVX2        __attribute__((target("avx2,popcnt")))
#define UNIT_INLINE static inline __attribute__((always_inline)) AVX2

UNIT_INLINE unsigned unit_count(uint64_t x)
{
    return (unsigned)_mm_popcnt_u64(x);
}

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

/* Not memset, which compilers make slow of. */
UNIT_INLINE void unit_clear(uint64_t word[16])
{
    for (unsigned i = 0; i < 16; i += 4)
        _mm256_store_si256((__m256i *)(word + i), _mm256_setzero_si256());
}

UNIT_INLINE void sort_modes(uint8_t mode[64], const uint8_t *from, unsigned n, uint64_t by_mode[16]);
#define unit_sort sort_modes

#include "codec/l3/dct_unit_spread_avx2.h"

AVX2 static const char *decode_avx2(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns,
                                    unsigned rows, const uint16_t quant[64], unsigned bands)
{
    return decode_unit(unit, bytes, nbytes, unit_grid(columns, rows), quant, bands);
}

void mr__l3_unit_kernels_init_avx2_nopdep(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        table->decode = decode_avx2;
}

#endif
