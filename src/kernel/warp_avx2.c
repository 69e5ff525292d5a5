// SPDX-License-Identifier: Apache-2.0
/* Warps with AVX2: places, walks. */
#if defined(__x86_64__)

#include "kernel/warp_avx2.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = MR__WARP_GROUP };

AVX2 static void place_affine_avx2(const double c[8], uint32_t x, uint32_t y, size_t n, double *xs, double *ys)
{
    double down = (double)y + 0.5;
    __m256d along = _mm256_add_pd(_mm256_set1_pd((double)x + 0.5), _mm256_setr_pd(0.0, 1.0, 2.0, 3.0));
    __m256d b = _mm256_set1_pd(c[1] * down), e = _mm256_set1_pd(c[4] * down);
    size_t i = 0;
    for (; i + 4 <= n; i += 4, along = _mm256_add_pd(along, _mm256_set1_pd(4.0))) {
        __m256d u = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(c[0]), along), b);
        __m256d v = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(c[3]), along), e);
        _mm256_storeu_pd(xs + i, _mm256_add_pd(u, _mm256_set1_pd(c[2])));
        _mm256_storeu_pd(ys + i, _mm256_add_pd(v, _mm256_set1_pd(c[5])));
    }
    mr__warp_place_affine_c(c, x + (uint32_t)i, y, n - i, xs + i, ys + i);
}

INLINE __m256d line_of(const double *c, double last, __m256d along, __m256d down)
{
    __m256d sum = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(c[0]), along), _mm256_mul_pd(_mm256_set1_pd(c[1]), down));
    return _mm256_add_pd(sum, _mm256_set1_pd(last));
}

AVX2 static void place_perspective_avx2(const double c[8], uint32_t x, uint32_t y, size_t n, double *xs, double *ys)
{
    __m256d down = _mm256_set1_pd((double)y + 0.5);
    __m256d along = _mm256_add_pd(_mm256_set1_pd((double)x + 0.5), _mm256_setr_pd(0.0, 1.0, 2.0, 3.0));
    size_t i = 0;
    for (; i + 4 <= n; i += 4, along = _mm256_add_pd(along, _mm256_set1_pd(4.0))) {
        __m256d depth = line_of(c + 6, 1.0, along, down);
        _mm256_storeu_pd(xs + i, _mm256_div_pd(line_of(c, c[2], along, down), depth));
        _mm256_storeu_pd(ys + i, _mm256_div_pd(line_of(c + 3, c[5], along, down), depth));
    }
    mr__warp_place_perspective_c(c, x + (uint32_t)i, y, n - i, xs + i, ys + i);
}

INLINE __m256i walk_places(__m256i x, __m256i y, __m256i stride, bool three)
{
    x = _mm256_srai_epi32(x, 16);
    __m256i row = _mm256_mullo_epi32(_mm256_srai_epi32(y, 16), stride);
    return _mm256_add_epi32(row, three ? _mm256_add_epi32(x, _mm256_add_epi32(x, x)) : x);
}

/* Whether a walk comes to the last pixel of the part, behind which nothing may be read: with one of its ends. */
static bool ends_last(const mr__warp_view *from, mr__warp_walk_of walk, size_t n)
{
    int64_t x = walk.x + (int64_t)(n - 1) * walk.step_x, y = walk.y + (int64_t)(n - 1) * walk.step_y;
    int32_t right = from->width - 1, bottom = from->height - 1;
    return (walk.x >> 16 == right && walk.y >> 16 == bottom) || (x >> 16 == right && y >> 16 == bottom);
}

/* Of three channels, four bytes of each pixel but the row's last ones: the next one comes over the fourth. */
INLINE void walk_avx2(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to, bool three,
                      mr__warp_walk *plain)
{
    size_t i = 0;
    if (mr__warp_is_plain(from) && !ends_last(from, walk, n)) {
        const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), stride = _mm256_set1_epi32((int)from->stride);
        __m256i step_x = _mm256_set1_epi32(walk.step_x), step_y = _mm256_set1_epi32(walk.step_y);
        __m256i x = _mm256_add_epi32(_mm256_set1_epi32(walk.x), _mm256_mullo_epi32(step_x, iota));
        __m256i y = _mm256_add_epi32(_mm256_set1_epi32(walk.y), _mm256_mullo_epi32(step_y, iota));
        step_x = _mm256_slli_epi32(step_x, 3);
        step_y = _mm256_slli_epi32(step_y, 3);
        for (; i + GROUP + 1 <= n; i += GROUP) {
            int32_t at[GROUP];
            _mm256_storeu_si256((void *)at, walk_places(x, y, stride, three));
            for (size_t k = 0; k < GROUP; k++) {
                if (three) {
                    uint32_t pixel = mr__warp_load_4(from->pixels + at[k]);
                    memcpy(to + 3 * (i + k), &pixel, 4);
                } else {
                    to[i + k] = from->pixels[at[k]];
                }
            }
            x = _mm256_add_epi32(x, step_x);
            y = _mm256_add_epi32(y, step_y);
        }
    }
    walk.x = (int32_t)(walk.x + (int64_t)i * walk.step_x);
    walk.y = (int32_t)(walk.y + (int64_t)i * walk.step_y);
    plain(from, walk, n - i, to + i * (three ? 3 : 1));
}

AVX2 static void walk_1_avx2(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to)
{
    walk_avx2(from, walk, n, to, false, mr__warp_walk_1_c);
}

AVX2 static void walk_3_avx2(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to)
{
    walk_avx2(from, walk, n, to, true, mr__warp_walk_3_c);
}

void mr__warp_kernels_init_avx2(mr__warp_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0 || (cpu & MR__CPU_FMA) == 0)
        return;
    kernels->place_affine = place_affine_avx2;
    kernels->place_perspective = place_perspective_avx2;
    kernels->walk[0] = walk_1_avx2;
    kernels->walk[1] = walk_3_avx2;
    mr__warp_samples_init_avx2(kernels);
    mr__warp_seen_init_avx2(kernels);
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
