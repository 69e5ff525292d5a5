// SPDX-License-Identifier: Apache-2.0
/*
 * The transforms of L3's units with AVX2. Only `bands` decides how far columns reach: asking the coefficients of 16
 * blocks costs more in branches guessed wrong than it saves.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels_passes_avx2.h"

/* Which frequencies of a column (or row) need to be looked at: 8, 4, 1, or none. */
static int reach_of(uint64_t bands, size_t column)
{
    uint64_t c = bands >> column & UINT64_C(0x0101010101010101);
    return c >> 32 != 0 ? 8 : c >> 8 != 0 ? 4 : c != 0;
}

/* Zero in `coef` what is not there, as far as the columns reach, of whole strips that begin at `coef`. */
AVX2 static void clear_empty(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, const int reach[8])
{
    for (size_t u = 0; u < 8; u++)
        for (int v = 0; v < reach[u]; v++)
            if ((bands >> (8 * (size_t)v + u) & 1) == 0)
                for (size_t g = 0; g < groups; g += 2)
                    store(coef + (8 * (size_t)v + u) * pitch + 8 * g, _mm256_setzero_si256());
}
/* Whether the first row has coefficients beyond 13 bits, for which the short cut wraps, in lanes of `live`. */
INLINE bool is_wild(const strip *s, uint64_t bands, __m256i live)
{
    __m256i most = _mm256_setzero_si256();
    for (size_t u = 0; u < 8; u++)
        if (bands >> u & 1)
            most = _mm256_or_si256(most, _mm256_abs_epi16(band(s, 0, u)));
    return !_mm256_testz_si256(_mm256_and_si256(most, live), _mm256_set1_epi16((int16_t)0xe000));
}

/* All groups, two at a time. */
INLINE void each_strip(int size, int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    int reach[8];
    uint8_t unread[UNREAD_NBYTES];
    for (size_t u = 0; u < 8; u++)
        reach[u] = reach_of(bands, u);
    clear_empty(coef, pitch, bands, groups, reach);
    for (size_t g = 0; g < groups; g += 2, to += 2 * step) {
        bool two = groups - g >= 2;
        strip s = {coef + 8 * g, pitch, NULL};
        place at = place_of(to, stride, two, step, unread);
        __m256i live = two ? _mm256_set1_epi8(-1) : _mm256_setr_epi64x(-1, -1, 0, 0);
        if (size == 2)
            strip2(&s, reach, at);
        else if (is_wild(&s, bands, live))
            (size == 8 ? mr__jpeg_idct8_c : mr__jpeg_idct4_c)(coef + 8 * g, pitch, bands, 1 + two, to, stride, step);
        else if (size == 8)
            strip8(&s, reach, at);
        else
            strip4(&s, reach, at);
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

/* (x + 4) >> 3 without overflow, of which 10 bits count. */
AVX2 static void idct1_i16_avx2(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                                ptrdiff_t stride, ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t g = 0; g < groups; g++, to += step) {
        __m128i x = (bands & 1) ? _mm_load_si128((const void *)(coef + 8 * g)) : _mm_setzero_si128();
        x = _mm_srai_epi16(_mm_add_epi16(_mm_srai_epi16(x, 2), _mm_set1_epi16(1)), 1);
        x = _mm_srai_epi16(_mm_slli_epi16(x, 6), 6);
        _mm_storel_epi64((void *)to, _mm_xor_si128(_mm_packs_epi16(x, x), _mm_set1_epi8(-128)));
    }
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