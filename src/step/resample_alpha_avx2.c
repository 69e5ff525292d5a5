// SPDX-License-Identifier: Apache-2.0
/* Color times alpha, and back, with AVX2. Alpha itself goes along: it is multiplied by 255 and divided by 255. */
#if defined(__x86_64__)

#include "step/resample.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

/* 16 samples as 16-bit numbers. `spread` puts alpha in the place of color, `full` is 255 in its own. */
INLINE __m256i multiply(__m256i samples, __m256i spread, __m256i full)
{
    __m256i by = _mm256_or_si256(_mm256_shuffle_epi8(samples, spread), full);
    __m256i product = _mm256_add_epi16(_mm256_mullo_epi16(samples, by), _mm256_set1_epi16(128));
    return _mm256_srli_epi16(_mm256_add_epi16(_mm256_srli_epi16(product, 8), product), 8);
}

INLINE void premultiply(const uint8_t *from, size_t channels, uint8_t *to, size_t n)
{
    const __m128i spread2 = _mm_setr_epi8(2, 3, -1, -1, 6, 7, -1, -1, 10, 11, -1, -1, 14, 15, -1, -1);
    const __m128i spread4 = _mm_setr_epi8(6, 7, 6, 7, 6, 7, -1, -1, 14, 15, 14, 15, 14, 15, -1, -1);
    const __m256i spread = _mm256_broadcastsi128_si256(channels == 2 ? spread2 : spread4);
    const __m256i full = channels == 2 ? _mm256_set1_epi32(255 << 16) : _mm256_set1_epi64x(INT64_C(255) << 48);
    const __m256i zero = _mm256_setzero_si256();
    size_t pixels = 32 / channels, i = 0;
    for (; i + pixels <= n; i += pixels) {
        __m256i samples = _mm256_loadu_si256((const void *)(from + i * channels));
        __m256i lower = multiply(_mm256_unpacklo_epi8(samples, zero), spread, full);
        __m256i upper = multiply(_mm256_unpackhi_epi8(samples, zero), spread, full);
        _mm256_storeu_si256((void *)(to + i * channels), _mm256_packus_epi16(lower, upper));
    }
    mr__resample_premultiply_u8_c(from + i * channels, (uint32_t)channels, to + i * channels, n - i);
}

AVX2 static void premultiply_u8_avx2(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    if (channels == 2)
        premultiply(from, 2, to, n);
    else
        premultiply(from, 4, to, n);
}

/*
 * Quotients of whole numbers below 2^16, rounded to float, are never rounded up to a whole number, so that cutting off
 * what is behind the point is exact. Where alpha is 0, color is divided by 255, and stays.
 */
INLINE __m256i divide(__m256i samples, size_t channels)
{
    const __m256i full = _mm256_set1_epi32(255);
    __m256i by = channels == 2 ? _mm256_blend_epi32(_mm256_shuffle_epi32(samples, 0xf5), full, 0xaa)
                               : _mm256_blend_epi32(_mm256_shuffle_epi32(samples, 0xff), full, 0x88);
    by = _mm256_or_si256(by, _mm256_and_si256(_mm256_cmpeq_epi32(by, _mm256_setzero_si256()), full));
    __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(samples), _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_div_ps(product, _mm256_cvtepi32_ps(by)));
}

INLINE void unpremultiply(const uint8_t *from, size_t channels, uint8_t *to, size_t n)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4);
    size_t pixels = 8 / channels, i = 0;
    for (; i + pixels <= n; i += pixels) {
        __m128i eight = _mm_loadl_epi64((const void *)(from + i * channels));
        __m256i colors = divide(_mm256_cvtepu8_epi32(eight), channels);
        __m256i words = _mm256_packs_epi32(colors, colors), bytes = _mm256_packus_epi16(words, words);
        bytes = _mm256_permutevar8x32_epi32(bytes, order);
        _mm_storel_epi64((void *)(to + i * channels), _mm256_castsi256_si128(bytes));
    }
    mr__resample_unpremultiply_u8_c(from + i * channels, (uint32_t)channels, to + i * channels, n - i);
}

AVX2 static void unpremultiply_u8_avx2(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    if (channels == 2)
        unpremultiply(from, 2, to, n);
    else
        unpremultiply(from, 4, to, n);
}

void mr__resample_init_alpha_avx2(mr__resample *table)
{
    table->premultiply = premultiply_u8_avx2;
    table->unpremultiply = unpremultiply_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
