// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of 256 with VBMI, which looks up 128 at a time, and of the two that it finds takes the one that the upper bit
 * of the value says.
 */
#if defined(__x86_64__)

#include "kernel/color.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define INLINE static inline __attribute__((always_inline)) AVX512

enum { VECTOR = 64 };

/* Bytes i with i mod 3 of 1, and of 2. */
#define PLACES_1 0x2492492492492492u
#define PLACES_2 0x4924924924924924u

typedef struct quarters {
    __m512i of[4];
} quarters;

INLINE quarters quarters_of(const uint8_t table[256])
{
    return (quarters){{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
                       _mm512_loadu_si512(table + 192)}};
}

INLINE __m512i look_up(const quarters *q, __m512i v)
{
    __m512i low = _mm512_permutex2var_epi8(q->of[0], v, q->of[1]);
    __m512i high = _mm512_permutex2var_epi8(q->of[2], v, q->of[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high);
}

AVX512 static void one_avx512(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const quarters q = quarters_of(tables->table[0]);
    for (; n >= VECTOR; n -= VECTOR, from += VECTOR, to += VECTOR)
        _mm512_storeu_si512(to, look_up(&q, _mm512_loadu_si512(from)));
    __mmask64 left = ((__mmask64)1 << n) - 1;
    _mm512_mask_storeu_epi8(to, left, look_up(&q, _mm512_maskz_loadu_epi8(left, from)));
}

/* The bytes of `a` in places 0, of `b` in places 1, of `c` in places 2. */
INLINE __m512i pick(__m512i a, __m512i b, __m512i c)
{
    return _mm512_mask_blend_epi8(PLACES_2, _mm512_mask_blend_epi8(PLACES_1, a, b), c);
}

/* As with AVX2: vector j of three has channel (i + j) mod 3 at byte i; sorted by channels, looked up, put back. */
AVX512 static void three_avx512(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const quarters red = quarters_of(tables->table[0]), green = quarters_of(tables->table[1]);
    const quarters blue = quarters_of(tables->table[2]);
    for (size_t left = 3 * n; left != 0;) {
        __mmask64 mask[3];
        for (size_t j = 0; j < 3; j++)
            mask[j] = left >= (j + 1) * VECTOR ? ~(__mmask64)0
                      : left > j * VECTOR      ? ((__mmask64)1 << (left - j * VECTOR)) - 1
                                               : 0;
        __m512i first = _mm512_maskz_loadu_epi8(mask[0], from),
                second = _mm512_maskz_loadu_epi8(mask[1], from + VECTOR);
        __m512i third = _mm512_maskz_loadu_epi8(mask[2], from + 2 * VECTOR);
        __m512i r = look_up(&red, pick(first, third, second)), g = look_up(&green, pick(second, first, third));
        __m512i b = look_up(&blue, pick(third, second, first));
        _mm512_mask_storeu_epi8(to, mask[0], pick(r, g, b));
        _mm512_mask_storeu_epi8(to + VECTOR, mask[1], pick(g, b, r));
        _mm512_mask_storeu_epi8(to + 2 * VECTOR, mask[2], pick(b, r, g));
        size_t done = left < 3 * VECTOR ? left : 3 * VECTOR;
        left -= done;
        from += done;
        to += done;
    }
}

void mr__color_kernels_init_avx512(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX512) == 0)
        return;
    kernels->one = one_avx512;
    kernels->three = three_avx512;
}

#else
typedef int mr__no_avx512_here; /* ISO C wants a declaration in every file */
#endif
