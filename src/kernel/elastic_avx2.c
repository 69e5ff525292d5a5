// SPDX-License-Identifier: Apache-2.0
/* Elastic with AVX2: what elastic_pixel.h does, eight at a time. */
#if defined(__x86_64__)

#include "kernel/elastic.h"

#include "kernel/elastic_pixel.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = 8 };

/* The two halves of eight products of 32 bits. */
typedef struct product {
    __m256i high, low;
} product;

INLINE product multiply(__m256i a, uint32_t multiplier)
{
    __m256i m = _mm256_set1_epi32((int)multiplier);
    __m256i even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    return (product){_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa),
                     _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa)};
}

/* mr__philox (base/rng.c) of eight counters. */
INLINE void philox_eight(__m256i c[4], const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        product p0 = multiply(c[0], 0xd2511f53u), p1 = multiply(c[2], 0xcd9e8d57u);
        c[0] = _mm256_xor_si256(_mm256_xor_si256(p1.high, c[1]), _mm256_set1_epi32((int)k0));
        c[2] = _mm256_xor_si256(_mm256_xor_si256(p0.high, c[3]), _mm256_set1_epi32((int)k1));
        c[1] = p1.low;
        c[3] = p0.low;
    }
}

INLINE __m256 noise_of(__m256i half)
{
    return _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(half), _mm256_set1_ps(32767.5f)), _mm256_set1_ps(0x1p-15f));
}

static AVX2 void noise_row_avx2(const uint32_t key[2], uint32_t y, uint32_t group, size_t groups, float *dx, float *dy)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t g = 0; g < groups; g++, dx += MR__ELASTIC_GROUP, dy += MR__ELASTIC_GROUP) {
        __m256i zero = _mm256_setzero_si256();
        __m256i c[4] = {_mm256_add_epi32(_mm256_set1_epi32((int)(8 * (group + (uint32_t)g))), lanes),
                        _mm256_set1_epi32((int)y), zero, zero};
        philox_eight(c, key);
        for (size_t i = 0; i < 4; i++) {
            _mm256_storeu_ps(dx + 8 * i, noise_of(_mm256_and_si256(c[i], _mm256_set1_epi32(0xffff))));
            _mm256_storeu_ps(dy + 8 * i, noise_of(_mm256_srli_epi32(c[i], 16)));
        }
    }
}

static AVX2 void scale_row_avx2(float *row, size_t n, float alpha, float side)
{
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        __m256 v = _mm256_mul_ps(_mm256_loadu_ps(row + i), _mm256_set1_ps(alpha));
        _mm256_storeu_ps(row + i, _mm256_div_ps(v, _mm256_set1_ps(side)));
    }
    mr__elastic_scale_row_c(row + i, n - i, alpha, side);
}

static AVX2 void place_row_avx2(const float *middle, size_t apart, const float *displaced, size_t n, float half,
                                float *to)
{
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        __m256 at = apart == 0 ? _mm256_set1_ps(*middle) : _mm256_loadu_ps(middle + i);
        at = _mm256_add_ps(_mm256_add_ps(at, _mm256_loadu_ps(displaced + i)), _mm256_set1_ps(1.0f));
        _mm256_storeu_ps(to + i, _mm256_sub_ps(_mm256_mul_ps(at, _mm256_set1_ps(half)), _mm256_set1_ps(0.5f)));
    }
    mr__elastic_place_row_c(middle + i * apart, apart, displaced + i, n - i, half, to + i);
}

/* Of eight pixels: where their four neighbours begin, and the weights of these, pixel by pixel. */
typedef struct eight {
    int32_t left[GROUP], top[GROUP];
    float weight[GROUP][4];
} eight;

/* False unless of all eight both rows of neighbours are inside, with so many bytes to spare as are loaded. */
INLINE bool locate(const mr__elastic_view *view, const float *x, const float *y, int32_t spare, eight *e)
{
    __m256 px = _mm256_loadu_ps(x), py = _mm256_loadu_ps(y), one = _mm256_set1_ps(1.0f);
    __m256 left = _mm256_floor_ps(px), top = _mm256_floor_ps(py);
    __m256i at_x = _mm256_cvtps_epi32(left), at_y = _mm256_cvtps_epi32(top);
    __m256i outside = _mm256_or_si256(at_x, at_y); /* the sign */
    outside = _mm256_or_si256(outside, _mm256_cmpgt_epi32(at_x, _mm256_set1_epi32(view->right - spare)));
    outside = _mm256_or_si256(outside, _mm256_cmpgt_epi32(at_y, _mm256_set1_epi32(view->height - 2)));
    if (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) != 0)
        return false;
    __m256 right_part = _mm256_sub_ps(px, left), left_part = _mm256_sub_ps(one, right_part);
    __m256 lower_part = _mm256_sub_ps(py, top), upper_part = _mm256_sub_ps(one, lower_part);
    __m256 a = _mm256_mul_ps(left_part, upper_part), b = _mm256_mul_ps(right_part, upper_part);
    __m256 c = _mm256_mul_ps(left_part, lower_part), d = _mm256_mul_ps(right_part, lower_part);
    __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    __m256 ab2 = _mm256_unpackhi_ps(a, b), cd2 = _mm256_unpackhi_ps(c, d);
    __m256 four[4] = {_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee),
                      _mm256_shuffle_ps(ab2, cd2, 0x44), _mm256_shuffle_ps(ab2, cd2, 0xee)};
    for (size_t i = 0; i < 4; i++) {
        _mm_storeu_ps(e->weight[i], _mm256_castps256_ps128(four[i]));
        _mm_storeu_ps(e->weight[i + 4], _mm256_extractf128_ps(four[i], 1));
    }
    _mm256_storeu_si256((void *)e->left, at_x);
    _mm256_storeu_si256((void *)e->top, at_y);
    return true;
}

/* Two neighbouring pixels, each with a fourth number, which is 1: its sum is that of the weights. */
INLINE __m256 load_pair(const uint8_t *at, size_t channels)
{
    __m128i bytes = channels == 3 ? _mm_loadl_epi64((const void *)at) : _mm_loadu_si16(at);
    __m128i spread = channels == 3 ? _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, -1)
                                   : _mm_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m128i ones = _mm_setr_epi8(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_or_si128(_mm_shuffle_epi8(bytes, spread), ones)));
}

INLINE __m128i look(const mr__elastic_view *view, const eight *e, size_t i, size_t channels, __m128 fill)
{
    const uint8_t *at = view->pixels + (ptrdiff_t)(e->top[i] - view->y) * view->stride +
                        (ptrdiff_t)(e->left[i] - view->x) * (ptrdiff_t)channels;
    __m256 weights = _mm256_broadcast_ps((const __m128 *)e->weight[i]);
    __m256 upper = _mm256_permutevar_ps(weights, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    __m256 lower = _mm256_permutevar_ps(weights, _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3));
    upper = _mm256_mul_ps(upper, load_pair(at, channels));
    lower = _mm256_mul_ps(lower, load_pair(at + view->stride, channels));
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(upper), _mm256_extractf128_ps(upper, 1));
    sum = _mm_add_ps(_mm_add_ps(sum, _mm256_castps256_ps128(lower)), _mm256_extractf128_ps(lower, 1));
    __m128 inside = _mm_permute_ps(sum, 0xff);
    return _mm_cvtps_epi32(_mm_add_ps(_mm_mul_ps(_mm_sub_ps(sum, fill), inside), fill));
}

/* Four pixels of four bytes. */
INLINE __m128i look_four(const mr__elastic_view *view, const eight *e, size_t i, size_t channels, __m128 fill)
{
    __m128i first = _mm_packs_epi32(look(view, e, i, channels, fill), look(view, e, i + 1, channels, fill));
    __m128i second = _mm_packs_epi32(look(view, e, i + 2, channels, fill), look(view, e, i + 3, channels, fill));
    return _mm_packus_epi16(first, second);
}

INLINE void store_four(__m128i pixels, size_t channels, uint8_t *to)
{
    if (channels == 1) {
        pixels = _mm_shuffle_epi8(pixels, _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
        _mm_storeu_si32(to, pixels);
        return;
    }
    pixels = _mm_shuffle_epi8(pixels, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    _mm_storel_epi64((void *)to, pixels);
    _mm_storeu_si32(to + 8, _mm_srli_si128(pixels, 8));
}

INLINE void bilinear(const mr__elastic_view *view, const float *x, const float *y, size_t n, size_t channels,
                     uint8_t *to)
{
    __m128 fill = _mm_setr_ps(view->fill[0], view->fill[1], view->fill[2], 0.0f);
    int32_t spare = channels == 3 ? 3 : 2; /* of eight bytes two are of the pixel behind */
    size_t i = 0;
    for (eight e; i + GROUP <= n; i += GROUP, to += GROUP * channels) {
        if (!locate(view, x + i, y + i, spare, &e)) {
            mr__elastic_bilinear_c(view, x + i, y + i, GROUP, to);
            continue;
        }
        store_four(look_four(view, &e, 0, channels, fill), channels, to);
        store_four(look_four(view, &e, 4, channels, fill), channels, to + 4 * channels);
    }
    mr__elastic_bilinear_c(view, x + i, y + i, n - i, to);
}

static AVX2 void bilinear_avx2(const mr__elastic_view *view, const float *x, const float *y, size_t n, uint8_t *to)
{
    if (view->channels == 3)
        bilinear(view, x, y, n, 3, to);
    else
        bilinear(view, x, y, n, 1, to);
}

void mr__elastics_init_avx2(mr__elastics *elastics, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    elastics->noise = noise_row_avx2;
    elastics->scale = scale_row_avx2;
    elastics->place = place_row_avx2;
    elastics->bilinear = bilinear_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
