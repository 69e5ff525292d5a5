// SPDX-License-Identifier: Apache-2.0
/* The same with AVX2: the eight blocks of a group side by side, and tables looked up eight at a time. */
#if defined(__x86_64__)

#include "kernel/noise.h"
#include "kernel/normal.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { ROUNDS = 10, MIDDLE = 255 };

/* One word of eight blocks each. */
typedef struct blocks {
    __m256i w[4];
} blocks;

INLINE __m256i multiply(__m256i x, __m256i by, __m256i *high)
{
    __m256i even = _mm256_mul_epu32(x, by), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), by);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

INLINE blocks draw(const uint32_t key[2], uint32_t row, uint32_t group)
{
    const __m256i m0 = _mm256_set1_epi32((int)0xd2511f53u), m1 = _mm256_set1_epi32((int)0xcd9e8d57u);
    const __m256i each = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    uint32_t k0 = key[0], k1 = key[1];
    __m256i c0 = _mm256_add_epi32(_mm256_set1_epi32((int)(8 * group)), each), c1 = _mm256_set1_epi32((int)row);
    __m256i c2 = _mm256_setzero_si256(), c3 = c2;
    for (int i = 0; i < ROUNDS; i++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        __m256i high0, high1;
        __m256i low0 = multiply(c0, m0, &high0), low1 = multiply(c2, m1, &high1);
        c0 = _mm256_xor_si256(_mm256_xor_si256(high1, c1), _mm256_set1_epi32((int)k0));
        c2 = _mm256_xor_si256(_mm256_xor_si256(high0, c3), _mm256_set1_epi32((int)k1));
        c1 = low1;
        c3 = low0;
    }
    return (blocks){{c0, c1, c2, c3}};
}

AVX2 static void words_avx2(const uint32_t key[2], uint32_t row, uint32_t group, uint32_t to[MR__NOISE_GROUP])
{
    blocks b = draw(key, row, group);
    for (size_t w = 0; w < 4; w++)
        _mm256_storeu_si256((void *)(to + 8 * w), b.w[w]);
}

/*
 * The octave is the exponent of v as a float. With the bit below each one cleared it cannot be rounded up to the next.
 */
INLINE __m256 normal_of(__m256i word)
{
    const __m256i one = _mm256_set1_epi32(1);
    __m256i v = _mm256_or_si256(_mm256_and_si256(word, _mm256_set1_epi32(0x7fffffff)), one);
    __m256 rough = _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(v, 1), v));
    __m256i octave = _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(rough), 23), _mm256_set1_epi32(127));
    __m256i shifted = _mm256_sllv_epi32(v, _mm256_sub_epi32(_mm256_set1_epi32(31), octave));
    __m256i part = _mm256_and_si256(_mm256_srli_epi32(shifted, 28), _mm256_set1_epi32(7));
    part = _mm256_add_epi32(_mm256_slli_epi32(octave, 3), part);
    __m256i rest = _mm256_and_si256(_mm256_srli_epi32(shifted, 4), _mm256_set1_epi32(0xffffff));
    __m256 t = _mm256_mul_ps(_mm256_cvtepi32_ps(rest), _mm256_set1_ps(0x1p-24F));
    __m256 x = _mm256_i32gather_ps(mr__normal_cubics[3], part, 4);
    x = _mm256_add_ps(_mm256_mul_ps(x, t), _mm256_i32gather_ps(mr__normal_cubics[2], part, 4));
    x = _mm256_add_ps(_mm256_mul_ps(x, t), _mm256_i32gather_ps(mr__normal_cubics[1], part, 4));
    x = _mm256_add_ps(_mm256_mul_ps(x, t), _mm256_i32gather_ps(mr__normal_cubics[0], part, 4));
    __m256i sign = _mm256_andnot_si256(word, _mm256_set1_epi32((int)0x80000000u));
    return _mm256_xor_ps(x, _mm256_castsi256_ps(sign));
}

AVX2 static void normals_avx2(const uint32_t key[2], uint32_t row, uint32_t group, float to[MR__NOISE_GROUP])
{
    blocks b = draw(key, row, group);
    for (size_t w = 0; w < 4; w++)
        _mm256_storeu_ps(to + 8 * w, normal_of(b.w[w]));
}

/* The number of the slot, or that of its alias. */
INLINE __m256i level_of(const uint32_t *slots, __m256i word)
{
    __m256i number = _mm256_srli_epi32(word, 23), slot = _mm256_i32gather_epi32((const void *)slots, number, 4);
    __m256i rest = _mm256_and_si256(word, _mm256_set1_epi32(0x7fffff));
    __m256i own = _mm256_cmpgt_epi32(_mm256_srli_epi32(slot, 9), rest);
    return _mm256_blendv_epi8(_mm256_and_si256(slot, _mm256_set1_epi32(511)), number, own);
}

/* 16 levels and 16 samples. */
INLINE __m256i sum(__m256i first, __m256i second, const uint8_t *samples, __m256i mask)
{
    __m256i levels = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xd8);
    __m256i x = _mm256_add_epi16(levels, _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)samples)));
    return _mm256_and_si256(_mm256_sub_epi16(x, _mm256_set1_epi16(MIDDLE)), mask);
}

AVX2 static void add_avx2(const mr__noise *noise, uint32_t row, uint32_t group, uint8_t samples[MR__NOISE_GROUP])
{
    blocks b = draw(noise->key, row, group);
    __m256i mask = _mm256_set1_epi16(noise->wrap ? 255 : -1);
    __m256i x = sum(level_of(noise->slots, b.w[0]), level_of(noise->slots, b.w[1]), samples, mask);
    __m256i y = sum(level_of(noise->slots, b.w[2]), level_of(noise->slots, b.w[3]), samples + 16, mask);
    _mm256_storeu_si256((void *)samples, _mm256_permute4x64_epi64(_mm256_packus_epi16(x, y), 0xd8));
}

void mr__noise_kernels_init_avx2(mr__noise_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    table->words = words_avx2;
    table->normals = normals_avx2;
    table->add = add_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
