// SPDX-License-Identifier: Apache-2.0
/* Eight samples at a time, and the same operations on each: multiplied, then added. */
#if defined(__x86_64__)

#include "kernel/augmix.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

INLINE __m256 part(const uint8_t *from, __m256 weight)
{
    __m256i samples = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)from));
    return _mm256_mul_ps(weight, _mm256_cvtepi32_ps(samples));
}

AVX2 static void begin_f32_avx2(float *sum, const uint8_t *from, size_t n, float weight)
{
    __m256 w = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(sum + i, part(from + i, w));
    for (; i < n; i++)
        sum[i] = mr__augmix_part(from[i], weight);
}

AVX2 static void add_f32_avx2(float *sum, const uint8_t *from, size_t n, float weight)
{
    __m256 w = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), part(from + i, w)));
    for (; i < n; i++)
        sum[i] += mr__augmix_part(from[i], weight);
}

INLINE __m256i whole(const float *sum, const uint8_t *from, __m256 weight)
{
    return _mm256_cvttps_epi32(_mm256_add_ps(_mm256_loadu_ps(sum), part(from, weight)));
}

AVX2 static void end_f32_avx2(uint8_t *to, const float *sum, const uint8_t *from, size_t n, float weight)
{
    __m256 w = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i pairs = _mm256_packus_epi32(whole(sum + i, from + i, w), whole(sum + i + 8, from + i + 8, w));
        __m256i bytes = _mm256_packus_epi16(pairs, pairs); /* 0-3 8-11, twice; 4-7 12-15, twice */
        bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 0, 0, 0));
        _mm_storeu_si128((void *)(to + i), _mm256_castsi256_si128(bytes));
    }
    for (; i < n; i++)
        to[i] = mr__augmix_whole(sum[i] + mr__augmix_part(from[i], weight));
}

void mr__augmix_kernels_init_avx2(mr__augmix_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        *kernels = (mr__augmix_kernels){begin_f32_avx2, add_f32_avx2, end_f32_avx2};
}

#else
typedef int mr__no_augmix_avx2_here; /* ISO C wants a declaration in every file */
#endif
