// SPDX-License-Identifier: Apache-2.0
/* RGB of 8 bits apart, 16 pixels at a time: the form that most images have. The others are split by plain loops. */
#include "codec/l3/pixel_split.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

/* Bytes c, c + 3, c + 6, ... of 48: where they lie in the first, second and third 16 of them. */
TARGET static inline __m128i pick(const __m128i part[3], const __m128i which[3])
{
    const __m128i two = _mm_or_si128(_mm_shuffle_epi8(part[0], which[0]), _mm_shuffle_epi8(part[1], which[1]));
    return _mm_or_si128(two, _mm_shuffle_epi8(part[2], which[2]));
}

TARGET static void split3_u8_avx2(const void *pixels, size_t n, void *const channel[4])
{
    const __m128i which[3][3] = {{_mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13)},
                                 {_mm_setr_epi8(1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14)},
                                 {_mm_setr_epi8(2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1),
                                  _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15)}};
    const uint8_t *from = pixels;
    size_t x = 0;
    for (; x + 16 <= n; x += 16) {
        __m128i part[3];
        for (unsigned i = 0; i < 3; i++)
            part[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + 3 * x + 16 * i));
        for (unsigned c = 0; c < 3; c++)
            _mm_storeu_si128((__m128i *)(void *)((uint8_t *)channel[c] + x), pick(part, which[c]));
    }
    for (; x < n; x++)
        for (unsigned c = 0; c < 3; c++)
            ((uint8_t *)channel[c])[x] = from[3 * x + c];
}

void mr__l3_split_init_avx2(mr__l3_split *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        table->row[0][3] = split3_u8_avx2;
}
#else
void mr__l3_split_init_avx2(mr__l3_split *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
