// SPDX-License-Identifier: Apache-2.0
/*
 * Strips with AVX2: coefficients are multiplied as they are read, and cleared on the spot. Only `last` decides how far
 * columns reach: asking the coefficients of 16 blocks costs more in branches guessed wrong than it saves.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels_passes_avx2.h"

#include <string.h>

/* Whether the first row has products beyond 13 bits, for which the short cut wraps. */
INLINE bool is_wild(const strip *s)
{
    __m256i all = _mm256_setzero_si256();
    UNROLL(8)
    for (size_t u = 0; u < 8; u++)
        all = _mm256_or_si256(all, _mm256_abs_epi16(peek(s, 0, u)));
    return has_wild(all);
}

AVX2 static void strip8_i16_avx2(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride, ptrdiff_t step)
{
    uint8_t unread[UNREAD_NBYTES];
    strip s = {.coef = coef, .pitch = MR__JPEG_STRIP, .quant = quant, .last = last};
    if (is_wild(&s))
        mr__jpeg_strip8_c(coef, quant, last, groups, to, stride, step);
    else
        strip8(&s, place_of(to, stride, groups == 2, step, unread));
}

/* The reduced forms do not read all frequencies. */
INLINE void clear(const strip *s)
{
    memset(s->coef, 0, (s->last + 1) * sizeof(int16_t[LANES]));
}

AVX2 static void strip4_i16_avx2(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride, ptrdiff_t step)
{
    uint8_t unread[UNREAD_NBYTES];
    strip s = {.coef = coef, .pitch = MR__JPEG_STRIP, .quant = quant, .last = last};
    if (is_wild(&s))
        mr__jpeg_strip4_c(coef, quant, last, groups, to, stride, step);
    else {
        strip4(&s, place_of(to, stride, groups == 2, step, unread));
        clear(&s);
    }
}

AVX2 static void strip2_i16_avx2(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride, ptrdiff_t step)
{
    uint8_t unread[UNREAD_NBYTES];
    strip s = {.coef = coef, .pitch = MR__JPEG_STRIP, .quant = quant, .last = last};
    strip2(&s, place_of(to, stride, groups == 2, step, unread));
    clear(&s);
}

AVX2 static void strip1_i16_avx2(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride, ptrdiff_t step)
{
    (void)stride;
    strip s = {.coef = coef, .pitch = MR__JPEG_STRIP, .quant = quant, .last = last};
    __m256i x = band(&s, 0, 0);
    store_1(to, _mm256_castsi256_si128(x));
    if (groups == 2)
        store_1(to + step, _mm256_extracti128_si256(x, 1));
    clear(&s);
}

/* 8x8 values in each half of the vectors. */
INLINE void transpose(const __m256i in[8], __m256i out[8])
{
    __m256i a[8], b[8];
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi16(in[i], in[i + 4]);
        a[2 * i + 1] = _mm256_unpackhi_epi16(in[i], in[i + 4]);
    }
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        b[2 * i] = _mm256_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm256_unpackhi_epi16(a[i], a[i + 4]);
    }
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        out[2 * i] = _mm256_unpacklo_epi16(b[i], b[i + 4]);
        out[2 * i + 1] = _mm256_unpackhi_epi16(b[i], b[i + 4]);
    }
}

/* A bit for each of eight places: whether any block has something there. */
INLINE uint32_t find_places(const __m256i rows[8])
{
    __m256i all = rows[0];
    UNROLL(8)
    for (size_t i = 1; i < 8; i++)
        all = _mm256_or_si256(all, rows[i]);
    __m128i any = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    __m128i empty = _mm_cmpeq_epi16(any, _mm_setzero_si128());
    return ~(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(empty, empty)) & 0xff;
}

INLINE __m256i load_two(const int16_t *low, const int16_t *high)
{
    __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const void *)low));
    return _mm256_inserti128_si256(x, _mm_loadu_si128((const void *)high), 1);
}

/* Eight places of 16 blocks at a time. What is zero in all blocks is so in the strip already. */
AVX2 static uint32_t lay_i16_avx2(const int16_t *blocks, size_t count, int16_t *coef)
{
    static const int16_t none[64];
    const int16_t *block[LANES];
    uint32_t last = 0;
    for (size_t i = 0; i < LANES; i++)
        block[i] = i < count ? blocks + 64 * i : none;
    for (uint32_t k = 0; k < 64; k += 8) {
        __m256i rows[8], places[8];
        UNROLL(8)
        for (size_t i = 0; i < 8; i++)
            rows[i] = load_two(block[i] + k, block[i + 8] + k);
        uint32_t found = find_places(rows);
        if (found == 0)
            continue;
        last = k + 31 - (uint32_t)__builtin_clz(found);
        transpose(rows, places);
        UNROLL(8)
        for (size_t i = 0; i < 8; i++)
            store(coef + (k + i) * LANES, places[i]);
    }
    return last;
}

/* A magnitude of 32768 is no int16, but as good as any. */
AVX2 static bool within_i16_avx2(const int16_t *blocks, size_t count, const uint16_t most[64])
{
    __m256i beyond = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i++, blocks += 64)
        for (size_t k = 0; k < 64; k += 16) {
            __m256i x = _mm256_abs_epi16(_mm256_loadu_si256((const void *)(blocks + k)));
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(x, _mm256_loadu_si256((const void *)(most + k))));
        }
    return _mm256_testz_si256(beyond, beyond);
}

void mr__jpeg_pixels_init_strip_avx2(mr__jpeg_pixels *table)
{
    table->strip[0] = strip8_i16_avx2;
    table->strip[1] = strip4_i16_avx2;
    table->strip[2] = strip2_i16_avx2;
    table->strip[3] = strip1_i16_avx2;
    table->lay = lay_i16_avx2;
    table->within = within_i16_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
