// SPDX-License-Identifier: Apache-2.0
/*
 * The transforms of L3's units with AVX2. Only `bands` decides how far columns reach: asking the coefficients of 16
 * blocks costs more in branches guessed wrong than it saves.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels_passes_avx2.h"

/* Zero in `coef` what is not there and yet is read, of whole strips that begin there. */
AVX2 static void clear_empty(int16_t *coef, size_t pitch, uint64_t bands, size_t groups)
{
    for (uint64_t left = mr__jpeg_empty_bands(bands); left != 0; left &= left - 1)
        for (size_t g = 0; g < groups; g += 2)
            store(coef + (size_t)__builtin_ctzll(left) * pitch + 8 * g, _mm256_setzero_si256());
}

/* Whether the first row has coefficients beyond 13 bits, for which the short cut wraps, in lanes of `live`. */
INLINE bool is_wild(const strip *s, __m256i live)
{
    __m256i all = _mm256_setzero_si256();
    for (size_t u = 0; u < 8; u++)
        if (s->bands >> u & 1)
            all = _mm256_or_si256(all, _mm256_abs_epi16(band(s, 0, u)));
    return has_wild(_mm256_and_si256(all, live));
}

/* All groups, two at a time. */
INLINE void each_strip(int size, int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    uint8_t unread[UNREAD_NBYTES];
    clear_empty(coef, pitch, bands, groups);
    for (size_t g = 0; g < groups; g += 2, to += 2 * step) {
        bool both = groups - g >= 2;
        strip s = {.coef = coef + 8 * g, .pitch = pitch, .bands = bands};
        place at = place_of(to, stride, both, step, unread);
        if (size == 2)
            strip2(&s, at);
        else if (is_wild(&s, both ? _mm256_set1_epi8(-1) : _mm256_setr_epi64x(-1, -1, 0, 0)))
            (size == 8 ? mr__jpeg_idct8_c : mr__jpeg_idct4_c)(s.coef, pitch, bands, 1 + both, to, stride, step);
        else if (size == 8)
            strip8(&s, at);
        else
            strip4(&s, at);
    }
}

AVX2 static void idct8_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    each_strip(8, coef, pitch, bands, groups, to, stride, step);
}

AVX2 static void idct4_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    each_strip(4, coef, pitch, bands, groups, to, stride, step);
}
AVX2 static void idct2_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    each_strip(2, coef, pitch, bands, groups, to, stride, step);
}

AVX2 static void idct1_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t g = 0; g < groups; g++, to += step)
        store_1(to, (bands & 1) ? _mm_load_si128((const void *)(coef + 8 * g)) : _mm_setzero_si128());
}

void mr__jpeg_pixels_init_idct_avx2(mr__jpeg_pixels *table)
{
    table->idct[0] = idct8_i16_avx2;
    table->idct[1] = idct4_i16_avx2;
    table->idct[2] = idct2_i16_avx2;
    table->idct[3] = idct1_i16_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif