// SPDX-License-Identifier: Apache-2.0
/*
 * Colors with AVX2 and FMA. Eight pixels are 24 bytes: two halves of 16, of which the second begins at byte 8, so that
 * nothing beyond them is read; 16 and 8 bytes are written. What is left of a row goes through a copy.
 */
#if defined(__x86_64__)

#include "kernel/color.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = 8, NBYTES = 3 * GROUP, VECTOR = 32 };

/* `work` for every eight pixels; it knows them as `at`, and where they go as `out`. */
#define EACH_8(work)                                                                                                   \
    do {                                                                                                               \
        for (; n >= GROUP; n -= GROUP, from += NBYTES, to += NBYTES) {                                                 \
            const uint8_t *at = from;                                                                                  \
            uint8_t *out = to;                                                                                         \
            work;                                                                                                      \
        }                                                                                                              \
        if (n != 0) {                                                                                                  \
            uint8_t some[NBYTES] = {0};                                                                                \
            memcpy(some, from, 3 * n);                                                                                 \
            const uint8_t *at = some;                                                                                  \
            uint8_t *out = some;                                                                                       \
            work;                                                                                                      \
            memcpy(to, some, 3 * n);                                                                                   \
        }                                                                                                              \
    } while (0)

/* Four pixels from byte 0 of the one half, four from byte 4 of the other. */
INLINE __m256i load_8(const uint8_t *at)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                   _mm_loadu_si128((const void *)(at + 8)), 1);
}

/* Twelve bytes of each half. */
INLINE void store_8(__m256i pixels, uint8_t *out)
{
    pixels = _mm256_permutevar8x32_epi32(pixels, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 6, 6));
    _mm_storeu_si128((void *)out, _mm256_castsi256_si128(pixels));
    _mm_storel_epi64((void *)(out + 16), _mm256_extracti128_si256(pixels, 1));
}

/* One channel of eight pixels as whole numbers of 32 bits. */
INLINE __m256i channel_of(__m256i pixels, char c)
{
    const __m256i mask = _mm256_setr_epi32((int)0x80808000u, (int)0x80808003u, (int)0x80808006u, (int)0x80808009u,
                                           (int)0x80808004u, (int)0x80808007u, (int)0x8080800au, (int)0x8080800du);
    return _mm256_shuffle_epi8(pixels, _mm256_add_epi8(mask, _mm256_set1_epi32(c)));
}

/* L of eight pixels, as whole numbers of 32 bits. 38470 is no signed 16 bits, but half of it is, of r g and g b. */
INLINE __m256i gray_of(__m256i pixels)
{
    const __m256i red = _mm256_setr_epi32((int)0x80018000u, (int)0x80048003u, (int)0x80078006u, (int)0x800a8009u,
                                          (int)0x80058004u, (int)0x80088007u, (int)0x800b800au, (int)0x800e800du);
    const __m256i blue = _mm256_setr_epi32((int)0x80028001u, (int)0x80058004u, (int)0x80088007u, (int)0x800b800au,
                                           (int)0x80068005u, (int)0x80098008u, (int)0x800c800bu, (int)0x800f800eu);
    __m256i rg = _mm256_shuffle_epi8(pixels, red), gb = _mm256_shuffle_epi8(pixels, blue);
    __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(rg, _mm256_set1_epi32(19235 << 16 | 19595)),
                                   _mm256_madd_epi16(gb, _mm256_set1_epi32(7471 << 16 | 19235)));
    return _mm256_srli_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(0x8000)), 16);
}

AVX2 static void grayscale_avx2(const uint8_t *from, size_t n, uint8_t *to)
{
    const __m256i thrice =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 4, 4, 4, 8, 8, 8, 12, 12, 12, 0, 0, 0, 0));
    EACH_8(store_8(_mm256_shuffle_epi8(gray_of(load_8(at)), thrice), out));
}

/* The sum of eight times 32 bits. */
INLINE uint64_t sum_8(__m256i v)
{
    __m256i sum = _mm256_add_epi64(_mm256_and_si256(v, _mm256_set1_epi64x(0xffffffff)), _mm256_srli_epi64(v, 32));
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

/* Some groups at a time: so many that 32 bits have room for their sum. */
AVX2 static uint64_t sum_gray_avx2(const uint8_t *from, size_t n)
{
    enum { GROUPS = 1 << 20 };
    uint64_t all = 0;
    while (n >= GROUP) {
        size_t groups = n / GROUP < GROUPS ? n / GROUP : GROUPS;
        __m256i sum = _mm256_setzero_si256();
        for (size_t i = 0; i < groups; i++, from += NBYTES)
            sum = _mm256_add_epi32(sum, gray_of(load_8(from)));
        all += sum_8(sum);
        n -= groups * GROUP;
    }
    uint8_t some[NBYTES] = {0};
    memcpy(some, from, 3 * n);
    return all + sum_8(gray_of(load_8(some)));
}

AVX2 static uint64_t sum_avx2(const uint8_t *from, size_t n)
{
    __m256i sum = _mm256_setzero_si256();
    for (; n >= VECTOR; n -= VECTOR, from += VECTOR)
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_loadu_si256((const void *)from), _mm256_setzero_si256()));
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    uint64_t all = (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
    for (; n != 0; n--)
        all += *from++;
    return all;
}

/* Packs do the clipping. */
INLINE __m256i blend_8(__m256 from, __m256i other, __m256 alpha)
{
    __m256 more = _mm256_mul_ps(alpha, _mm256_sub_ps(_mm256_cvtepi32_ps(other), from));
    return _mm256_cvttps_epi32(_mm256_add_ps(from, more));
}

/* Three channels of 32 bits, clipped, as eight pixels. */
INLINE __m256i join_8(__m256i r, __m256i g, __m256i b)
{
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 0, 0, 0, 0));
    __m256i all = _mm256_packus_epi16(_mm256_packs_epi32(r, g), _mm256_packs_epi32(b, b));
    return _mm256_shuffle_epi8(all, order);
}

INLINE void saturate_8(const uint8_t *at, __m256 factor, uint8_t *out)
{
    __m256i pixels = load_8(at);
    __m256 gray = _mm256_cvtepi32_ps(gray_of(pixels));
    store_8(join_8(blend_8(gray, channel_of(pixels, 0), factor), blend_8(gray, channel_of(pixels, 1), factor),
                   blend_8(gray, channel_of(pixels, 2), factor)),
            out);
}

AVX2 static void saturation_avx2(const uint8_t *from, size_t n, float factor, uint8_t *to)
{
    const __m256 factors = _mm256_set1_ps(factor);
    EACH_8(saturate_8(at, factors, out));
}

INLINE void blend_16(const uint8_t *from, const uint8_t *other, __m256 alpha, uint8_t *to)
{
    __m256i sums[2];
    for (size_t i = 0; i < 2; i++) {
        __m256i a = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(from + 8 * i)));
        sums[i] =
            blend_8(_mm256_cvtepi32_ps(a), _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(other + 8 * i))), alpha);
    }
    __m256i all = _mm256_permute4x64_epi64(_mm256_packs_epi32(sums[0], sums[1]), 0xd8);
    _mm_storeu_si128((void *)to, _mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}

AVX2 static void blend_avx2(const uint8_t *from, const uint8_t *other, size_t n, float alpha, uint8_t *to)
{
    const __m256 alphas = _mm256_set1_ps(alpha);
    for (; n >= 16; n -= 16, from += 16, other += 16, to += 16)
        blend_16(from, other, alphas, to);
    if (n == 0)
        return;
    uint8_t some[2][16] = {{0}};
    memcpy(some[0], from, n);
    memcpy(some[1], other, n);
    blend_16(some[0], some[1], alphas, some[0]);
    memcpy(to, some[0], n);
}

INLINE __m256i parts_of(__m256 share)
{
    return _mm256_cvttps_epi32(_mm256_mul_ps(share, _mm256_set1_ps(255.0f)));
}

/* h / 6 as a division would round it. */
INLINE __m256 sixth_of(__m256 h)
{
    const __m256 sixth = _mm256_set1_ps(1.0f / 6.0f);
    __m256 about = _mm256_mul_ps(h, sixth), rest = _mm256_fnmadd_ps(about, _mm256_set1_ps(6.0f), h);
    return _mm256_fmadd_ps(rest, sixth, about);
}

typedef struct hsv {
    __m256i h, full; /* h and v s */
    __m256 most;
} hsv;

/*
 * In floats, of which the samples and their differences are whole numbers. Of the two channels that are not the largest
 * one is the least: h is then a whole number plus or minus how far the other is from the largest. Of a gray h is
 * nothing that makes sense, and s = 0.
 */
INLINE hsv hsv_of(__m256 r, __m256 g, __m256 b)
{
    __m256 most = _mm256_max_ps(_mm256_max_ps(r, g), b);
    __m256 is_r = _mm256_cmp_ps(r, most, _CMP_EQ_OQ), is_g = _mm256_cmp_ps(g, most, _CMP_EQ_OQ);
    __m256 before = _mm256_blendv_ps(_mm256_blendv_ps(r, b, is_g), g, is_r);
    __m256 after = _mm256_blendv_ps(_mm256_blendv_ps(g, r, is_g), b, is_r);
    __m256 base = _mm256_blendv_ps(_mm256_blendv_ps(_mm256_set1_ps(3.0f), _mm256_set1_ps(1.0f), is_g),
                                   _mm256_set1_ps(-1.0f), is_r);
    __m256 middle = _mm256_max_ps(before, after), range = _mm256_sub_ps(most, _mm256_min_ps(before, after));
    __m256 falls = _mm256_cmp_ps(before, after, _CMP_GT_OQ);
    __m256 far = _mm256_div_ps(_mm256_sub_ps(most, middle), range);
    base = _mm256_add_ps(base, _mm256_and_ps(falls, _mm256_set1_ps(2.0f)));
    __m256 h = _mm256_add_ps(base, _mm256_xor_ps(far, _mm256_and_ps(falls, _mm256_set1_ps(-0.0f))));
    __m256 turn = _mm256_and_ps(_mm256_cmp_ps(h, _mm256_setzero_ps(), _CMP_LT_OQ), _mm256_set1_ps(1.0f));
    __m256i s = parts_of(_mm256_div_ps(range, _mm256_max_ps(most, _mm256_set1_ps(1.0f))));
    __m256i full = _mm256_mullo_epi16(s, _mm256_cvtps_epi32(most));
    return (hsv){parts_of(_mm256_add_ps(sixth_of(h), turn)), full, most};
}

/*
 * Largest, least and between them as the bytes of a number; which of them a channel is, a shuffle says, of seven that
 * there are, by sixth.
 */
INLINE __m256i rgb_of(__m256i h, __m256i full, __m256 most)
{
    const __m256i orders = _mm256_setr_epi32((int)0x80010200u, (int)0x80010002u, (int)0x80020001u, (int)0x80000201u,
                                             (int)0x80000102u, (int)0x80020100u, (int)0x80010200u, 0);
    const __m256i thrice = _mm256_broadcastsi128_si256(
        _mm_setr_epi32((int)0x80000000u, (int)0x80040404u, (int)0x80080808u, (int)0x800c0c0cu));
    const __m256i lanes = _mm256_setr_epi32(0, 0x040404, 0x080808, 0x0c0c0c, 0, 0x040404, 0x080808, 0x0c0c0c);
    __m256i sixth = _mm256_mulhi_epu16(h, _mm256_set1_epi32(1543)); /* 2 h / 85: 1543 is 2^17 / 85 and a bit */
    __m256i place = _mm256_sub_epi32(_mm256_add_epi32(h, h), _mm256_mullo_epi16(sixth, _mm256_set1_epi32(85)));
    __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(sixth, 31)); /* its sign says so */
    __m256 up = _mm256_cvtepi32_ps(place);
    __m256 down = _mm256_blendv_ps(_mm256_sub_ps(_mm256_set1_ps(85.0f), up), up, odd);
    __m256 less = _mm256_mul_ps(_mm256_cvtepi32_ps(full), down);
    __m256i between = _mm256_cvtps_epi32(_mm256_mul_ps(less, _mm256_set1_ps(1.0f / 21675.0f)));
    __m256i least = _mm256_mulhi_epu16(_mm256_add_epi32(full, _mm256_set1_epi32(128)), _mm256_set1_epi32(257));
    __m256i all = _mm256_sub_epi32(_mm256_shuffle_epi8(_mm256_cvtps_epi32(most), thrice),
                                   _mm256_or_si256(_mm256_slli_epi32(least, 8), _mm256_slli_epi32(between, 16)));
    __m256i order = _mm256_add_epi32(_mm256_permutevar8x32_epi32(orders, sixth), lanes);
    return _mm256_shuffle_epi8(all, order);
}

INLINE void turn_8(const uint8_t *at, __m256i turn, uint8_t *out)
{
    const __m256i close =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 3, 3, 3));
    __m256i pixels = load_8(at);
    hsv color = hsv_of(_mm256_cvtepi32_ps(channel_of(pixels, 0)), _mm256_cvtepi32_ps(channel_of(pixels, 1)),
                       _mm256_cvtepi32_ps(channel_of(pixels, 2)));
    __m256i h = _mm256_and_si256(_mm256_add_epi32(color.h, turn), _mm256_set1_epi32(255));
    store_8(_mm256_shuffle_epi8(rgb_of(h, color.full, color.most), close), out);
}

AVX2 static void hue_avx2(const uint8_t *from, size_t n, uint32_t turn, uint8_t *to)
{
    const __m256i turns = _mm256_set1_epi32((int)(turn & 255u));
    EACH_8(turn_8(at, turns, out));
}

AVX2 static void permute_avx2(const uint8_t *from, size_t n, uint32_t order, uint8_t *to)
{
    int8_t mask[32] = {0};
    for (size_t i = 0; i < 24; i++) {
        uint32_t channel = order >> (2 * (i % 3)) & 3u;
        mask[i / 12 * 16 + i % 12] = (int8_t)(channel < 3 ? i / 3 % 4 * 3 + channel + i / 12 * 4 : 0x80);
    }
    const __m256i all = _mm256_loadu_si256((const void *)mask);
    EACH_8(store_8(_mm256_shuffle_epi8(load_8(at), all), out));
}

void mr__color_kernels_init_avx2(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0 || (cpu & MR__CPU_FMA) == 0)
        return;
    kernels->grayscale = grayscale_avx2;
    kernels->saturation = saturation_avx2;
    kernels->hue = hue_avx2;
    kernels->permute = permute_avx2;
    kernels->blend = blend_avx2;
    kernels->sum = sum_avx2;
    kernels->sum_gray = sum_gray_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
