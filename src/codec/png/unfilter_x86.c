// SPDX-License-Identifier: Apache-2.0
/*
 * SSE4.1. What AVX2 does better is in unfilter_avx2.c: the rest waits for the pixel on its left, and was not faster
 * when built for AVX2.
 *
 * Invariant: a pixel of 3 (or 6) bytes is moved as 4 (or 8) wherever a whole pixel follows in the row; the bytes too
 * many are written again with that pixel. The row's last pixel is moved with its exact size.
 */
#if defined(__x86_64__)

#include "codec/png/unfilter.h"
#include "codec/png/unfilter_kernels.h"

#include <immintrin.h>
#include <string.h>

#define SSE41  __attribute__((target("sse4.1")))
#define INLINE static inline __attribute__((always_inline)) SSE41

/* `size` bytes, constant where it is inlined. */
INLINE __m128i load(const uint8_t *from, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, from, size);
    return _mm_cvtsi64_si128((int64_t)bits);
}

INLINE void store(uint8_t *to, __m128i pixel, size_t size)
{
    uint64_t bits = (uint64_t)_mm_cvtsi128_si64(pixel);
    memcpy(to, &bits, size);
}

INLINE __m128i load16(const void *from)
{
    return _mm_loadu_si128(from);
}

INLINE void store16(void *to, __m128i v)
{
    _mm_storeu_si128(to, v);
}

/* How many bytes a pixel is moved as where another follows. */
INLINE size_t roomy(size_t pixel)
{
    return pixel == 3 ? 4 : pixel == 6 ? 8 : pixel;
}

/* Shifts towards the end of the row by a constant that compilers only see after inlining. */
INLINE __m128i shift(__m128i v, size_t nbytes)
{
    switch (nbytes) {
    case 1:
        return _mm_slli_si128(v, 1);
    case 2:
        return _mm_slli_si128(v, 2);
    case 3:
        return _mm_slli_si128(v, 3);
    case 4:
        return _mm_slli_si128(v, 4);
    case 6:
        return _mm_slli_si128(v, 6);
    default:
        return _mm_slli_si128(v, 8);
    }
}

/* The pixel that ends at byte `end`, repeated over the vector. */
INLINE __m128i repeat_mask(size_t end, size_t pixel)
{
    uint8_t mask[16];
    for (size_t i = 0; i < 16; i++)
        mask[i] = (uint8_t)(end - pixel + i % pixel);
    return load16(mask);
}

/* Sums of 1, then 2, then 4 (and 8) pixels inside a vector; the vector before it adds its last pixel to all. */
INLINE void sub_row(uint8_t *to, const uint8_t *from, size_t nbytes, size_t pixel)
{
    size_t step = pixel == 3 || pixel == 6 ? 12 : 16, i = 0;
    __m128i mask = repeat_mask(step, pixel), left = _mm_setzero_si128();
    for (; nbytes - i >= 16; i += step) {
        __m128i v = load16(from + i);
        v = _mm_add_epi8(v, shift(v, pixel));
        if (pixel <= 4)
            v = _mm_add_epi8(v, shift(v, 2 * pixel));
        if (pixel <= 2)
            v = _mm_add_epi8(v, shift(v, 4 * pixel));
        if (pixel == 1)
            v = _mm_add_epi8(v, shift(v, 8));
        v = _mm_add_epi8(v, left);
        left = _mm_shuffle_epi8(v, mask);
        store16(to + i, v);
    }
    for (; i < nbytes; i += pixel) {
        left = _mm_add_epi8(left, load(from + i, pixel));
        store(to + i, left, pixel);
    }
}

/*
 * With everything complemented, the rounding-up average of the instruction becomes PNG's rounding-down one:
 * floor((a + b) / 2) = ~ceil-average(~a, ~b), and so ~(x + floor((a + b) / 2)) = ceil-average(~a, ~b) - x.
 * The way from one pixel to the next is two instructions.
 */
INLINE __m128i average_pixel(__m128i x, __m128i not_left, __m128i above)
{
    __m128i not_above = _mm_xor_si128(above, _mm_set1_epi8(-1));
    return _mm_sub_epi8(_mm_avg_epu8(not_left, not_above), x);
}

INLINE void average_row(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes, size_t pixel)
{
    const __m128i ones = _mm_set1_epi8(-1);
    size_t size = roomy(pixel), i = 0;
    __m128i not_left = ones;
    for (; i < nbytes - pixel; i += pixel) {
        not_left = average_pixel(load(from + i, size), not_left, load(above + i, size));
        store(to + i, _mm_xor_si128(not_left, ones), size);
    }
    not_left = average_pixel(load(from + i, pixel), not_left, load(above + i, pixel));
    store(to + i, _mm_xor_si128(not_left, ones), pixel);
}

/*
 * Lanes of 16 bits that hold bytes; adding them as bytes keeps the upper halves zero. The three possible results are
 * made before the choice, so that from `a` to the result there are six instructions in a row.
 */
INLINE __m128i paeth_pixel(__m128i x, __m128i a, __m128i b, __m128i c)
{
    __m128i bc = _mm_sub_epi16(b, c), ac = _mm_sub_epi16(a, c);
    __m128i to_a = _mm_abs_epi16(bc), to_b = _mm_abs_epi16(ac), to_c = _mm_abs_epi16(_mm_add_epi16(ac, bc));
    __m128i b_or_c = _mm_blendv_epi8(_mm_add_epi8(x, b), _mm_add_epi8(x, c), _mm_cmpgt_epi16(to_b, to_c));
    return _mm_blendv_epi8(_mm_add_epi8(x, a), b_or_c, _mm_cmpgt_epi16(to_a, _mm_min_epi16(to_b, to_c)));
}

INLINE __m128i widen(__m128i bytes)
{
    return _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
}

INLINE void paeth_row(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes, size_t pixel)
{
    size_t size = roomy(pixel), i = 0;
    __m128i a = _mm_setzero_si128(), c = a;
    for (; i < nbytes - pixel; i += pixel) {
        __m128i b = widen(load(above + i, size));
        a = paeth_pixel(widen(load(from + i, size)), a, b, c);
        c = b;
        store(to + i, _mm_packus_epi16(a, a), size);
    }
    a = paeth_pixel(widen(load(from + i, pixel)), a, widen(load(above + i, pixel)), c);
    store(to + i, _mm_packus_epi16(a, a), pixel);
}

/* Two rows in one vector: the upper row's pixel in the lower half, the lower row's, two pixels behind, in the other. */
typedef struct pair {
    __m128i a;      /* the last results, of both rows */
    __m128i before; /* the ones before these: their lower half is what lies above the lower row's next pixel */
    __m128i c;
} pair;

/* `upper` and `lower` are the sizes to move each row's pixel as; 0 where the row has none (yet, or any more). */
INLINE void pair_step(pair *p, uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t i,
                      size_t pixel, size_t upper, size_t lower)
{
    size_t j = i - 2 * pixel;
    __m128i none = _mm_setzero_si128();
    __m128i x = upper != 0 ? load(from[0] + i, upper) : none, b = upper != 0 ? load(above + i, upper) : none;
    x = _mm_unpacklo_epi32(x, lower != 0 ? load(from[1] + j, lower) : none);
    b = _mm_unpacklo_epi64(widen(b), p->before);
    __m128i a = paeth_pixel(widen(x), p->a, b, p->c);
    p->before = p->a;
    p->a = a;
    p->c = b;
    __m128i bytes = _mm_packus_epi16(a, a);
    if (upper != 0)
        store(to[0] + i, bytes, upper);
    if (lower != 0)
        store(to[1] + j, _mm_srli_si128(bytes, 4), lower);
}

/* Pixels of more than 4 bytes fill a vector alone. */
INLINE void paeth_two_rows(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t nbytes,
                           size_t pixel)
{
    if (pixel > 4 || nbytes < 4 * pixel) {
        paeth_row(to[0], from[0], above, nbytes, pixel);
        paeth_row(to[1], from[1], to[0], nbytes, pixel);
        return;
    }
    pair p = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    size_t size = roomy(pixel), i = 0;
    for (; i < 2 * pixel; i += pixel)
        pair_step(&p, to, from, above, i, pixel, size, 0);
    for (; i < nbytes - pixel; i += pixel)
        pair_step(&p, to, from, above, i, pixel, size, size);
    pair_step(&p, to, from, above, i, pixel, pixel, size);
    pair_step(&p, to, from, above, i + pixel, pixel, 0, size);
    pair_step(&p, to, from, above, i + 2 * pixel, pixel, 0, pixel);
}

UNFILTER_KERNELS(sse41, SSE41)

SSE41 static void up_u8_sse41(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)
{
    size_t i = 0;
    for (; nbytes - i >= 16; i += 16) {
        __m128i x = load16(from + i), b = load16(above + i);
        store16(to + i, _mm_add_epi8(x, b));
    }
    for (; i < nbytes; i++)
        to[i] = (uint8_t)(from[i] + above[i]);
}

void mr__unfilter_init_x86(mr__unfilter *table, mr__cpu_flags cpu)
{
    if (cpu & MR__CPU_SSE41)
        UNFILTER_FILL(table, sse41);
    mr__unfilter_init_avx2(table, cpu);
}

#else
typedef int mr__no_x86_here; /* ISO C wants a declaration in every file */
#endif
