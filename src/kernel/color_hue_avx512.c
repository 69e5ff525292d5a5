// SPDX-License-Identifier: Apache-2.0
/*
 * Hue with AVX-512 and VBMI: what color_avx2.c does, of sixteen pixels, 48 bytes, at a time. The way from a pixel to
 * its hue and back is so long that a processor has room for few of them at once: it is as fast as they are wide. (Other
 * kernels gained nothing from it.)
 */
#if defined(__x86_64__)

#include "kernel/color.h"

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX512

enum { GROUP = 16, NBYTES = 3 * GROUP };

/* Where the channels of pixels of three bytes, and of four, stand; each as the lowest byte of 32 bits. */
typedef struct places {
    __m512i red, joined;
} places;

INLINE places find_places(void)
{
    uint8_t red[64] = {0}, joined[64] = {0};
    for (size_t i = 0; i < GROUP; i++)
        red[4 * i] = (uint8_t)(3 * i);
    for (size_t i = 0; i < NBYTES; i++)
        joined[i] = (uint8_t)(i / 3 * 4 + i % 3);
    return (places){_mm512_loadu_si512(red), _mm512_loadu_si512(joined)};
}

/*
 * n pixels, at most sixteen. Of sixteen not by a mask: where a row is changed in place, a load would wait for the store
 * before it, whose masked bytes it seems to need.
 */
INLINE __m512i load_16(const uint8_t *at, size_t n)
{
    if (n < GROUP)
        return _mm512_maskz_loadu_epi8(((__mmask64)1 << 3 * n) - 1, at);
    return _mm512_inserti32x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)at)),
                              _mm_loadu_si128((const void *)(at + 32)), 2);
}

INLINE void store_16(__m512i pixels, size_t n, uint8_t *to)
{
    if (n < GROUP) {
        _mm512_mask_storeu_epi8(to, ((__mmask64)1 << 3 * n) - 1, pixels);
        return;
    }
    _mm256_storeu_si256((void *)to, _mm512_castsi512_si256(pixels));
    _mm_storeu_si128((void *)(to + 32), _mm512_extracti32x4_epi32(pixels, 2));
}

INLINE __m512i channel_of(__m512i pixels, const places *p, int c)
{
    return _mm512_maskz_permutexvar_epi8(0x1111111111111111u, _mm512_add_epi8(p->red, _mm512_set1_epi32(c)), pixels);
}

INLINE __m512i parts_of(__m512 share)
{
    return _mm512_cvttps_epi32(_mm512_mul_ps(share, _mm512_set1_ps(255.0f)));
}

INLINE __m512 sixth_of(__m512 h)
{
    const __m512 sixth = _mm512_set1_ps(1.0f / 6.0f);
    __m512 about = _mm512_mul_ps(h, sixth), rest = _mm512_fnmadd_ps(about, _mm512_set1_ps(6.0f), h);
    return _mm512_fmadd_ps(rest, sixth, about);
}

typedef struct hsv {
    __m512i h, full; /* h and v s */
    __m512 most;
} hsv;

INLINE hsv hsv_of(__m512 r, __m512 g, __m512 b)
{
    __m512 most = _mm512_max_ps(_mm512_max_ps(r, g), b), base = _mm512_set1_ps(3.0f);
    __mmask16 is_r = _mm512_cmp_ps_mask(r, most, _CMP_EQ_OQ), is_g = _mm512_cmp_ps_mask(g, most, _CMP_EQ_OQ);
    __m512 before = _mm512_mask_mov_ps(_mm512_mask_mov_ps(r, is_g, b), is_r, g);
    __m512 after = _mm512_mask_mov_ps(_mm512_mask_mov_ps(g, is_g, r), is_r, b);
    base = _mm512_mask_mov_ps(base, is_g, _mm512_set1_ps(1.0f));
    base = _mm512_mask_mov_ps(base, is_r, _mm512_set1_ps(-1.0f));
    __mmask16 falls = _mm512_cmp_ps_mask(before, after, _CMP_GT_OQ);
    __m512 range = _mm512_sub_ps(most, _mm512_min_ps(before, after));
    __m512 far = _mm512_div_ps(_mm512_sub_ps(most, _mm512_max_ps(before, after)), range);
    __m512 h = _mm512_add_ps(base, far);
    h = _mm512_mask_sub_ps(h, falls, _mm512_add_ps(base, _mm512_set1_ps(2.0f)), far);
    __m512 turn = sixth_of(h);
    turn = _mm512_mask_add_ps(turn, _mm512_cmp_ps_mask(h, _mm512_setzero_ps(), _CMP_LT_OQ), turn, _mm512_set1_ps(1.0f));
    __m512i s = parts_of(_mm512_div_ps(range, _mm512_max_ps(most, _mm512_set1_ps(1.0f))));
    return (hsv){parts_of(turn), _mm512_mullo_epi16(s, _mm512_cvtps_epi32(most)), most};
}

/* Largest, least and between them as the bytes of a number; which of them a channel is, by sixth. */
INLINE __m512i rgb_of(__m512i h, __m512i full, __m512 most)
{
    const __m512i orders = _mm512_setr_epi32(0x010200, 0x010002, 0x020001, 0x000201, 0x000102, 0x020100, 0x010200, 0, 0,
                                             0, 0, 0, 0, 0, 0, 0);
    const __m512i lanes = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
    __m512i sixth = _mm512_mulhi_epu16(h, _mm512_set1_epi32(1543)); /* 2 h / 85: 1543 is 2^17 / 85 and a bit */
    __m512i place = _mm512_sub_epi32(_mm512_add_epi32(h, h), _mm512_mullo_epi16(sixth, _mm512_set1_epi32(85)));
    __mmask16 even = _mm512_testn_epi32_mask(sixth, _mm512_set1_epi32(1));
    __m512i down = _mm512_mask_sub_epi32(place, even, _mm512_set1_epi32(85), place);
    __m512 less = _mm512_mul_ps(_mm512_cvtepi32_ps(full), _mm512_cvtepi32_ps(down));
    __m512i between = _mm512_cvtps_epi32(_mm512_mul_ps(less, _mm512_set1_ps(1.0f / 21675.0f)));
    __m512i least = _mm512_mulhi_epu16(_mm512_add_epi32(full, _mm512_set1_epi32(128)), _mm512_set1_epi32(257));
    __m512i all = _mm512_sub_epi32(_mm512_shuffle_epi8(_mm512_cvtps_epi32(most), lanes),
                                   _mm512_or_si512(_mm512_slli_epi32(least, 8), _mm512_slli_epi32(between, 16)));
    return _mm512_shuffle_epi8(all, _mm512_add_epi32(_mm512_permutexvar_epi32(sixth, orders), lanes));
}

AVX512 static void hue_avx512(const uint8_t *from, size_t n, uint32_t turn, uint8_t *to)
{
    const places p = find_places();
    const __m512i turns = _mm512_set1_epi32((int)(turn & 255u));
    for (size_t i = 0; i < n; i += GROUP, from += NBYTES, to += NBYTES) {
        __m512i pixels = load_16(from, n - i);
        hsv color = hsv_of(_mm512_cvtepi32_ps(channel_of(pixels, &p, 0)), _mm512_cvtepi32_ps(channel_of(pixels, &p, 1)),
                           _mm512_cvtepi32_ps(channel_of(pixels, &p, 2)));
        __m512i h = _mm512_and_si512(_mm512_add_epi32(color.h, turns), _mm512_set1_epi32(255));
        store_16(_mm512_permutexvar_epi8(p.joined, rgb_of(h, color.full, color.most)), n - i, to);
    }
}

void mr__color_hue_kernels_init_avx512(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX512) == 0 || (cpu & MR__CPU_FMA) == 0)
        return;
    kernels->hue = hue_avx512;
}

#else
typedef int mr__no_avx512_here; /* ISO C wants a declaration in every file */
#endif
