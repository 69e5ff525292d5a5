// SPDX-License-Identifier: Apache-2.0
/* What the transforms of JPEG have in common with AVX2, both ways: 16 blocks at a time, sums in 32 bits. */
#if defined(__x86_64__) && !defined(MR_KERNEL_JPEG_WIDE_AVX2_H)
#define MR_KERNEL_JPEG_WIDE_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { LANES = 16 };

/*
 * Vectors by name, not by index: compilers keep these in registers where they would keep an array in memory. Of
 * frequencies, of samples, or of sums in 32 bits.
 */
typedef struct eight {
    __m256i v0, v1, v2, v3, v4, v5, v6, v7;
} eight;

/* Sums of 16 lanes in 32 bits, or pairs of frequencies: lanes 0-3 and 8-11, and the others. */
typedef struct wide {
    __m256i lo, hi;
} wide;

/* Two frequencies, interleaved. */
INLINE wide pair_of(__m256i a, __m256i b)
{
    return (wide){_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}

/* a * low + b * high of each pair. */
INLINE wide product(wide pair, int low, int high)
{
    __m256i factors = _mm256_set1_epi32((int)((uint32_t)(uint16_t)low | (uint32_t)high << 16));
    return (wide){_mm256_madd_epi16(pair.lo, factors), _mm256_madd_epi16(pair.hi, factors)};
}

INLINE wide sum(wide a, wide b)
{
    return (wide){_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}

#endif
