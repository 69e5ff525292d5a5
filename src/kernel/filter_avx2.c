// SPDX-License-Identifier: Apache-2.0
/* Filters with AVX2. What a vector does to a sample is what filter_pixel.h does; FMA would round once less. */
#if defined(__x86_64__)

#include "kernel/filter.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = 16 }; /* samples that go together; the last ones of a row may be made twice */

INLINE __m256i load_u8(const uint8_t *at)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)at));
}

INLINE __m256i add_three(const uint8_t *at, size_t step)
{
    return _mm256_add_epi16(_mm256_add_epi16(load_u8(at - step), load_u8(at)), load_u8(at + step));
}

/* (sum + 6) / 13: a product's upper half is that, to a sum of 6553. */
INLINE __m256i smooth(__m256i sum, __m256i value)
{
    sum = _mm256_add_epi16(sum, _mm256_slli_epi16(value, 2));
    return _mm256_mulhi_epu16(_mm256_add_epi16(sum, _mm256_set1_epi16(6)), _mm256_set1_epi16(5042));
}

/* Eight of them, as whole numbers of 32 bits. To clip is left to who packs them: so large a sum is cut off as INT_MIN,
 * so that the change is bounded before. */
INLINE __m256i sharpen_eight(__m256i smooth32, __m256i change32, __m256 factor)
{
    __m256 change = _mm256_mul_ps(factor, _mm256_cvtepi32_ps(change32));
    change = _mm256_max_ps(_mm256_min_ps(change, _mm256_set1_ps(512.0f)), _mm256_set1_ps(-512.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(_mm256_cvtepi32_ps(smooth32), change));
}

INLINE void sharpen_group(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, __m256 factor,
                          uint8_t *to)
{
    __m256i value = load_u8(row);
    __m256i sum = _mm256_add_epi16(_mm256_add_epi16(add_three(above, step), add_three(below, step)),
                                   _mm256_add_epi16(_mm256_add_epi16(load_u8(row - step), load_u8(row + step)), value));
    __m256i smoothed = smooth(sum, value), change = _mm256_sub_epi16(value, smoothed);
    __m256i zero = _mm256_setzero_si256(), sign = _mm256_cmpgt_epi16(zero, change);
    __m256i low = sharpen_eight(_mm256_unpacklo_epi16(smoothed, zero), _mm256_unpacklo_epi16(change, sign), factor);
    __m256i high = sharpen_eight(_mm256_unpackhi_epi16(smoothed, zero), _mm256_unpackhi_epi16(change, sign), factor);
    __m256i words = _mm256_packs_epi32(low, high);
    _mm_storeu_si128((void *)to, _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

static AVX2 void sharpen_row_avx2(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, size_t n,
                                  float factor, uint8_t *to)
{
    if (n < GROUP) {
        mr__sharpen_row_c(above, row, below, step, n, factor, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sharpen_group(above + i, row + i, below + i, step, _mm256_set1_ps(factor), to + i);
    }
}

/* Sixteen sums, as unpacking halves of a vector leaves them: 0 to 3, 8 to 11; 4 to 7, 12 to 15. */
typedef struct sums {
    __m256 low, high;
} sums;

INLINE sums weigh_words(__m256i words, float weight)
{
    __m256i zero = _mm256_setzero_si256();
    __m256 w = _mm256_set1_ps(weight);
    return (sums){_mm256_mul_ps(w, _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(words, zero))),
                  _mm256_mul_ps(w, _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(words, zero)))};
}

INLINE void down_u8_group(const uint8_t *const *rows, const float *weight, size_t radius, size_t i, float *to)
{
    sums sum = weigh_words(load_u8(rows[radius] + i), weight[0]);
    for (size_t j = 1; j <= radius; j++) {
        __m256i both = _mm256_add_epi16(load_u8(rows[radius - j] + i), load_u8(rows[radius + j] + i));
        sums more = weigh_words(both, weight[j]);
        sum.low = _mm256_add_ps(sum.low, more.low);
        sum.high = _mm256_add_ps(sum.high, more.high);
    }
    _mm256_storeu_ps(to + i, _mm256_permute2f128_ps(sum.low, sum.high, 0x20));
    _mm256_storeu_ps(to + i + 8, _mm256_permute2f128_ps(sum.low, sum.high, 0x31));
}

INLINE void down_u8_all(const uint8_t *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        down_u8_group(rows, weight, radius, i, to);
    }
}

/* A radius that the compiler knows leaves no loop. */
static AVX2 void blur_down_u8_avx2(const uint8_t *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    if (n < GROUP)
        mr__blur_down_u8_c(rows, weight, radius, n, to);
    else if (radius == 1)
        down_u8_all(rows, weight, 1, n, to);
    else if (radius == 2)
        down_u8_all(rows, weight, 2, n, to);
    else if (radius == 3)
        down_u8_all(rows, weight, 3, n, to);
    else
        down_u8_all(rows, weight, radius, n, to);
}

INLINE sums load_f32(const float *at)
{
    return (sums){_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)};
}

INLINE sums weigh(sums s, float weight)
{
    __m256 w = _mm256_set1_ps(weight);
    return (sums){_mm256_mul_ps(w, s.low), _mm256_mul_ps(w, s.high)};
}

INLINE sums add(sums a, sums b)
{
    return (sums){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

static AVX2 void blur_down_f32_avx2(const float *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    if (n < GROUP) {
        mr__blur_down_f32_c(rows, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = weigh(load_f32(rows[radius] + i), weight[0]);
        for (size_t j = 1; j <= radius; j++)
            sum = add(sum, weigh(add(load_f32(rows[radius - j] + i), load_f32(rows[radius + j] + i)), weight[j]));
        _mm256_storeu_ps(to + i, sum.low);
        _mm256_storeu_ps(to + i + 8, sum.high);
    }
}

INLINE sums sum_across(const float *row, size_t step, const float *weight, size_t radius)
{
    sums sum = weigh(load_f32(row), weight[0]);
    for (size_t j = 1; j <= radius; j++)
        sum = add(sum, weigh(add(load_f32(row - j * step), load_f32(row + j * step)), weight[j]));
    return sum;
}

INLINE void across_u8_all(const float *row, size_t step, const float *weight, size_t radius, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = sum_across(row + i, step, weight, radius);
        __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(sum.low), _mm256_cvtps_epi32(sum.high));
        words = _mm256_permute4x64_epi64(words, 0xd8);
        _mm_storeu_si128((void *)(to + i),
                         _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
    }
}

static AVX2 void blur_across_u8_avx2(const float *row, size_t step, const float *weight, size_t radius, size_t n,
                                     uint8_t *to)
{
    if (n < GROUP)
        mr__blur_across_u8_c(row, step, weight, radius, n, to);
    else if (radius == 1)
        across_u8_all(row, step, weight, 1, n, to);
    else if (radius == 2)
        across_u8_all(row, step, weight, 2, n, to);
    else if (radius == 3)
        across_u8_all(row, step, weight, 3, n, to);
    else
        across_u8_all(row, step, weight, radius, n, to);
}

static AVX2 void blur_across_f32_avx2(const float *row, size_t step, const float *weight, size_t radius, size_t n,
                                      float *to)
{
    if (n < GROUP) {
        mr__blur_across_f32_c(row, step, weight, radius, n, to);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        sums sum = sum_across(row + i, step, weight, radius);
        _mm256_storeu_ps(to + i, sum.low);
        _mm256_storeu_ps(to + i + 8, sum.high);
    }
}

void mr__filters_init_avx2(mr__filters *filters, mr__cpu_flags cpu)
{
    if (cpu & MR__CPU_AVX2)
        *filters = (mr__filters){sharpen_row_avx2, blur_down_u8_avx2, blur_down_f32_avx2, blur_across_u8_avx2,
                                 blur_across_f32_avx2};
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
