// SPDX-License-Identifier: Apache-2.0
/*
 * Strips with AVX2: coefficients are multiplied as they are read, and cleared on the spot.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels_passes_avx2.h"

/* Whether the first row has products beyond 13 bits, for which the short cut wraps. */
INLINE bool is_wild(const int16_t *coef, const uint16_t quant[64])
{
    __m256i all = _mm256_setzero_si256();
    for (size_t u = 0; u < 8; u++) {
        size_t k = mr__jpeg_zigzag(0, u);
        all = _mm256_or_si256(all, _mm256_abs_epi16(_mm256_mullo_epi16(load(coef + k * MR__JPEG_STRIP),
                                                                       _mm256_set1_epi16((int16_t)quant[k]))));
    }
    return !_mm256_testz_si256(all, _mm256_set1_epi16((int16_t)0xe000));
}

/* How many frequencies of each column there are up to `last`, rounded up to 8, 4, 1, or none. */
INLINE void find_reach(uint32_t last, int reach[8])
{
    for (size_t u = 0; u < 8; u++)
        reach[u] = last >= mr__jpeg_zigzag(4, u)   ? 8
                   : last >= mr__jpeg_zigzag(1, u) ? 4
                                                   : last >= mr__jpeg_zigzag(0, u);
}

AVX2 static void strip8_i16_avx2(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride)
{
    uint8_t unread[UNREAD_NBYTES];
    int reach[8];
    if (is_wild(coef, quant)) {
        mr__jpeg_strip8_c(coef, quant, last, groups, to, stride);
        return;
    }
    find_reach(last, reach);
    strip8(&(strip){coef, MR__JPEG_STRIP, quant}, reach, place_of(to, stride, groups == 2, 64, unread));
}

void mr__jpeg_pixels_init_strip_avx2(mr__jpeg_pixels *table)
{
    table->strip[0] = strip8_i16_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
