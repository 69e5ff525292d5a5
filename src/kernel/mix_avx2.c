// SPDX-License-Identifier: Apache-2.0
/* Mixing with AVX2 and F16C. No FMA: products are rounded before they are added. */
#if defined(__x86_64__)

#include "kernel/mix.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2,f16c")))
#define INLINE static inline __attribute__((always_inline)) AVX2

/*
 * own * w + other * (65536 - w): as pairs of 16 bits they are one instruction, for weights below 2^15. So half of each
 * weight, twice, and the last bit, which both weights have or neither.
 */
typedef struct pair_weights {
    __m256i half, bit;
} pair_weights;

INLINE __m256i mix_eight_u8(__m256i pairs, pair_weights w)
{
    __m256i sum = _mm256_slli_epi32(_mm256_madd_epi16(pairs, w.half), 1);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, w.bit));
    return _mm256_srli_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(32768)), 16);
}

AVX2 static void mix_u8_avx2(void *to, const void *from, size_t count, const mr__mix_weights *weights)
{
    uint8_t *own = to;
    const uint8_t *other = from;
    uint32_t w = weights->own_u8;
    size_t i = 0;
    if (w != 0 && w != 65536) { // of which half is 2^15
        const __m256i zero = _mm256_setzero_si256();
        pair_weights k = {_mm256_set1_epi32((int)((65536 - w) >> 1 << 16 | w >> 1)),
                          _mm256_set1_epi32((int)((w & 1) << 16 | (w & 1)))};
        for (; count - i >= 32; i += 32) {
            __m256i a = _mm256_loadu_si256((const void *)(own + i)), b = _mm256_loadu_si256((const void *)(other + i));
            __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
            __m256i first = _mm256_packus_epi32(mix_eight_u8(_mm256_unpacklo_epi8(low, zero), k),
                                                mix_eight_u8(_mm256_unpackhi_epi8(low, zero), k));
            __m256i last = _mm256_packus_epi32(mix_eight_u8(_mm256_unpacklo_epi8(high, zero), k),
                                               mix_eight_u8(_mm256_unpackhi_epi8(high, zero), k));
            _mm256_storeu_si256((void *)(own + i), _mm256_packus_epi16(first, last));
        }
    }
    mr__mix_u8_c(own + i, other + i, count - i, weights);
}

INLINE __m256 mix_eight(__m256 own, __m256 other, const mr__mix_weights *w)
{
    __m256 a = _mm256_mul_ps(other, _mm256_set1_ps(w->other)), b = _mm256_mul_ps(own, _mm256_set1_ps(w->own));
    return _mm256_add_ps(a, b);
}

AVX2 static void mix_f32_avx2(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    float *own = to;
    const float *other = from;
    size_t i = 0;
    for (; count - i >= 8; i += 8)
        _mm256_storeu_ps(own + i, mix_eight(_mm256_loadu_ps(own + i), _mm256_loadu_ps(other + i), w));
    mr__mix_f32_c(own + i, other + i, count - i, w);
}

INLINE __m256 load_f16(const uint16_t *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)at));
}

AVX2 static void mix_f16_avx2(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    size_t i = 0;
    for (; count - i >= 8; i += 8) {
        __m256 mixed = mix_eight(load_f16(own + i), load_f16(other + i), w);
        _mm_storeu_si128((void *)(own + i), _mm256_cvtps_ph(mixed, _MM_FROUND_TO_NEAREST_INT));
    }
    mr__mix_f16_c(own + i, other + i, count - i, w);
}

INLINE __m256 load_bf16(const uint16_t *at)
{
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

INLINE __m128i round_bf16(__m256 value)
{
    __m256i bits = _mm256_castps_si256(value), upper = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    bits = _mm256_srli_epi32(bits, 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}

AVX2 static void mix_bf16_avx2(void *to, const void *from, size_t count, const mr__mix_weights *w)
{
    uint16_t *own = to;
    const uint16_t *other = from;
    size_t i = 0;
    for (; count - i >= 8; i += 8) {
        __m256 mixed = mix_eight(load_bf16(own + i), load_bf16(other + i), w);
        _mm_storeu_si128((void *)(own + i), round_bf16(mixed));
    }
    mr__mix_bf16_c(own + i, other + i, count - i, w);
}

void mr__mix_kernels_init_avx2(mr__mix_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    kernels->u8 = mix_u8_avx2;
    kernels->f32 = mix_f32_avx2;
    kernels->bf16 = mix_bf16_avx2;
    if ((cpu & MR__CPU_FMA) != 0) // with which F16C comes
        kernels->f16 = mix_f16_avx2;
}

#endif
