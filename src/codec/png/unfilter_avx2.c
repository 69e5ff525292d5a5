// SPDX-License-Identifier: Apache-2.0
/*
 * AVX2: vectors of 32 bytes for Up, and four rows of Paeth in one vector; unfilter_x86.c has the arithmetic and the
 * reasons. Each row is two pixels behind the one above it.
 */
#if defined(__x86_64__)

#include "codec/png/unfilter.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { ROWS = 4, LAG = 2 };

AVX2 static void up_u8_avx2(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)
{
    size_t i = 0;
    for (; nbytes - i >= 32; i += 32) {
        __m256i x = _mm256_loadu_si256((const void *)(from + i));
        __m256i b = _mm256_loadu_si256((const void *)(above + i));
        _mm256_storeu_si256((void *)(to + i), _mm256_add_epi8(x, b));
    }
    for (; i < nbytes; i++)
        to[i] = (uint8_t)(from[i] + above[i]);
}

INLINE __m256i paeth_pixel(__m256i x, __m256i a, __m256i b, __m256i c)
{
    __m256i bc = _mm256_sub_epi16(b, c), ac = _mm256_sub_epi16(a, c);
    __m256i to_a = _mm256_abs_epi16(bc), to_b = _mm256_abs_epi16(ac), to_c = _mm256_abs_epi16(_mm256_add_epi16(ac, bc));
    __m256i b_or_c = _mm256_blendv_epi8(_mm256_add_epi8(x, b), _mm256_add_epi8(x, c), _mm256_cmpgt_epi16(to_b, to_c));
    return _mm256_blendv_epi8(_mm256_add_epi8(x, a), b_or_c, _mm256_cmpgt_epi16(to_a, _mm256_min_epi16(to_b, to_c)));
}

/* 3 or 4 bytes, or none. Where `size` is a constant, so is the choice. */
INLINE int load(const uint8_t *row, size_t at, size_t size)
{
    uint32_t bits = 0;
    if (size == 4)
        memcpy(&bits, row + at, 4);
    else if (size == 3)
        memcpy(&bits, row + at, 3);
    return (int)bits;
}

INLINE void store(uint8_t *row, size_t at, int bits, size_t size)
{
    if (size == 4)
        memcpy(row + at, &bits, 4);
    else if (size == 3)
        memcpy(row + at, &bits, 3);
}

/* A quarter of 64 bits for each row, the uppermost in the lowest. */
typedef struct quad {
    __m256i a;      /* the last results */
    __m256i before; /* the ones before these: what lies above the next pixels, one quarter further */
    __m256i c;
} quad;

/* The sizes to move each row's pixel as; 0 where the row has none (yet, or any more). */
typedef struct sizes {
    size_t s0, s1, s2, s3;
} sizes;

INLINE void quad_step(quad *q, uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t i,
                      size_t lag, sizes s)
{
    __m128i low = _mm_cvtsi32_si128(load(from[0], i, s.s0)), high = _mm_cvtsi32_si128(load(from[2], i - 2 * lag, s.s2));
    low = _mm_insert_epi32(low, load(from[1], i - lag, s.s1), 1);
    high = _mm_insert_epi32(high, load(from[3], i - 3 * lag, s.s3), 1);
    __m256i b = _mm256_castsi128_si256(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(load(above, i, s.s0))));
    b = _mm256_blend_epi32(_mm256_permute4x64_epi64(q->before, 0x90), b, 3);
    __m256i a = paeth_pixel(_mm256_cvtepu8_epi16(_mm_unpacklo_epi64(low, high)), q->a, b, q->c);
    q->before = q->a;
    q->a = a;
    q->c = b;
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    store(to[0], i, _mm_cvtsi128_si32(bytes), s.s0);
    store(to[1], i - lag, _mm_extract_epi32(bytes, 1), s.s1);
    store(to[2], i - 2 * lag, _mm_extract_epi32(bytes, 2), s.s2);
    store(to[3], i - 3 * lag, _mm_extract_epi32(bytes, 3), s.s3);
}

/* For a step at the ends of the rows: whether a row has a pixel there, and its last, to be moved with its exact size.
 */
INLINE size_t size_at(size_t i, size_t behind, size_t nbytes, size_t pixel)
{
    if (i < behind || i - behind >= nbytes)
        return 0;
    return i - behind == nbytes - pixel ? pixel : 4;
}

INLINE void edge_step(quad *q, uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t i,
                      size_t nbytes, size_t pixel)
{
    size_t lag = LAG * pixel;
    sizes s = {size_at(i, 0, nbytes, pixel), size_at(i, lag, nbytes, pixel), size_at(i, 2 * lag, nbytes, pixel),
               size_at(i, 3 * lag, nbytes, pixel)};
    quad_step(q, to, from, above, i, lag, s);
}

/* For pixels of 3 and 4 bytes. */
INLINE void paeth_four_rows(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t nbytes,
                            size_t pixel)
{
    // Local copies: for all a compiler knows, a store of bytes could change the caller's arrays.
    uint8_t *const t[ROWS] = {to[0], to[1], to[2], to[3]};
    const uint8_t *const f[ROWS] = {from[0], from[1], from[2], from[3]};
    quad q = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    const size_t lag = LAG * pixel, lead = (ROWS - 1) * lag;
    size_t i = 0;
    for (; i < lead; i += pixel)
        edge_step(&q, t, f, above, i, nbytes, pixel);
    for (; i + pixel < nbytes; i += pixel)
        quad_step(&q, t, f, above, i, lag, (sizes){4, 4, 4, 4});
    for (; i < nbytes + lead; i += pixel)
        edge_step(&q, t, f, above, i, nbytes, pixel);
}

AVX2 static void paeth_quad3_u8_avx2(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above,
                                     size_t nbytes)
{
    paeth_four_rows(to, from, above, nbytes, 3);
}

AVX2 static void paeth_quad4_u8_avx2(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above,
                                     size_t nbytes)
{
    paeth_four_rows(to, from, above, nbytes, 4);
}

void mr__unfilter_init_avx2(mr__unfilter *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    table->up = up_u8_avx2;
    table->paeth_quad[3] = paeth_quad3_u8_avx2;
    table->paeth_quad[4] = paeth_quad4_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
