// SPDX-License-Identifier: Apache-2.0
/*
 * The row kernels with AVX2, 32 pixels at a time. Even and odd pixels are kept apart, in vectors of 16 numbers of 16
 * bits: upsampling makes them so, and the shuffle that every row ends with puts them in order at no cost.
 *
 * Colour: with PMULHRSW, (x * c + 2^14) >> 15, red is y + (2 cr * 22971) and blue is y + (2 cb * 29033), both equal to
 * the 16-bit constants of the specification for all 256 values; green needs the sum of two products before it is
 * rounded, and its constants are even: (-11277 cb - 23401 cr + 2^14) >> 15. The unit test tries all values.
 */
#if defined(__x86_64__)

#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { STEP = 32 };

INLINE __m256i load(const void *from)
{
    return _mm256_loadu_si256(from);
}

INLINE void store(void *to, __m256i x)
{
    _mm256_storeu_si256(to, x);
}

INLINE __m256i load_wide(const uint8_t *from)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from));
}

INLINE __m256i thrice_of(__m256i x)
{
    return _mm256_mullo_epi16(x, _mm256_set1_epi16(3));
}

AVX2 static void sum_u8_avx2(const uint8_t *near, const uint8_t *far, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += 16)
        store(to + i, _mm256_add_epi16(thrice_of(load_wide(near + i)), load_wide(far + i)));
}

AVX2 static void quadruple_u8_avx2(const uint8_t *from, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += 16)
        store(to + i, _mm256_slli_epi16(load_wide(from + i), 2));
}

/* Bytes of the even and of the odd places, as numbers of 16 bits, and back. */
typedef struct halves {
    __m256i even, odd;
} halves;

INLINE halves split(__m256i bytes)
{
    return (halves){_mm256_and_si256(bytes, _mm256_set1_epi16(255)), _mm256_srli_epi16(bytes, 8)};
}

INLINE __m256i join(halves x)
{
    return _mm256_or_si256(x.even, _mm256_slli_epi16(x.odd, 8));
}

AVX2 static void between_u8_avx2(const uint8_t *near, const uint8_t *far, unsigned bias, uint8_t *to, size_t n)
{
    __m256i add = _mm256_set1_epi16((int16_t)bias);
    for (size_t i = 0; i < n; i += STEP) {
        halves a = split(load(near + i)), b = split(load(far + i));
        a.even = _mm256_add_epi16(_mm256_add_epi16(thrice_of(a.even), b.even), add);
        a.odd = _mm256_add_epi16(_mm256_add_epi16(thrice_of(a.odd), b.odd), add);
        store(to + i, join((halves){_mm256_srli_epi16(a.even, 2), _mm256_srli_epi16(a.odd, 2)}));
    }
}

/* 16 sums to 32 pixels, less what `left` and `right` are less than the bias. */
INLINE halves widen(const int16_t *sums, __m256i left, __m256i right)
{
    __m256i x = thrice_of(load(sums));
    __m256i even = _mm256_add_epi16(_mm256_add_epi16(x, left), load(sums - 1));
    __m256i odd = _mm256_add_epi16(_mm256_add_epi16(x, right), load(sums + 1));
    return (halves){_mm256_srai_epi16(even, 4), _mm256_srai_epi16(odd, 4)};
}

AVX2 static void widen_i16_avx2(const int16_t *sums, mr__jpeg_bias bias, size_t odd, uint8_t *to, size_t n)
{
    __m256i left = _mm256_set1_epi16(bias.left), right = _mm256_set1_epi16(bias.right);
    if (odd) {
        *to++ = mr__jpeg_right_of(sums++, bias);
        n--;
    }
    for (size_t i = 0; i < n; i += STEP)
        store(to + i, join(widen(sums + i / 2, left, right)));
}

/* 32 bytes from 32 / times bytes. */
INLINE void repeat_evenly(const uint8_t *from, size_t times, __m256i order, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i += STEP, from += STEP / times) {
        __m256i x = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)from));
        store(to + i, _mm256_shuffle_epi8(x, order));
    }
}

AVX2 static void repeat_u8_avx2(const uint8_t *from, size_t times, size_t skip, uint8_t *to, size_t n)
{
    for (; skip % times != 0 && n != 0; n--) {
        *to++ = *from;
        from += ++skip == times;
    }
    if (times == 2)
        repeat_evenly(from, 2,
                      _mm256_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
                                       12, 13, 13, 14, 14, 15, 15),
                      to, n);
    else if (times == 4)
        repeat_evenly(from, 4,
                      _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6,
                                       6, 7, 7, 7, 7),
                      to, n);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = from[i / times];
}

/* Bytes of 32 pixels, in what order the shuffle knows. */
typedef struct pixels {
    __m256i r, g, b;
} pixels;

/*
 * In the 48 bytes of 16 pixels, red of pixel p stands at 3p, and 3p modulo 16 is another for each p: so one shuffle
 * brings all reds to their place in one or other of three vectors, and blending them with greens and blues, whose
 * places are one and two further, makes the vectors. `order` has the byte for each place of reds; the others follow by
 * turning.
 */
typedef struct shuffles {
    __m256i r, g, b;
} shuffles;

#define TWICE(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

INLINE shuffles shuffles_of(__m256i r)
{
    return (shuffles){r, _mm256_alignr_epi8(r, r, 15), _mm256_alignr_epi8(r, r, 14)};
}

INLINE shuffles in_order(void)
{
    return shuffles_of(TWICE(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5));
}

/* Eight even pixels, then eight odd ones: pixel p is at p / 2, and 8 further if it is odd. */
INLINE shuffles even_then_odd(void)
{
    return shuffles_of(TWICE(0, 13, 3, 8, 6, 11, 1, 14, 4, 9, 7, 12, 2, 15, 5, 10));
}

INLINE void store_pixels(uint8_t *to, pixels p, shuffles s)
{
    const __m256i third0 = TWICE(-1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1);
    const __m256i third1 = TWICE(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    const __m256i third2 = TWICE(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
    __m256i r = _mm256_shuffle_epi8(p.r, s.r), g = _mm256_shuffle_epi8(p.g, s.g), b = _mm256_shuffle_epi8(p.b, s.b);
    __m256i x = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, third1), b, third2);
    __m256i y = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, third0), b, third1);
    __m256i z = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, third2), b, third0);
    store(to, _mm256_permute2x128_si256(x, y, 0x20));
    store(to + 32, _mm256_permute2x128_si256(z, x, 0x30));
    store(to + 64, _mm256_permute2x128_si256(y, z, 0x31));
}

/* Red, green and blue of 16 pixels, not yet within 0 to 255; cb and cr are around 0. */
INLINE pixels color(__m256i y, __m256i cb, __m256i cr)
{
    const __m256i half = _mm256_set1_epi32(1 << 14);
    const __m256i constants = _mm256_set1_epi32((int)((uint32_t)(uint16_t)-11277 | (uint32_t)-23401 << 16));
    __m256i lo = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), constants);
    __m256i hi = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), constants);
    lo = _mm256_srai_epi32(_mm256_add_epi32(lo, half), 15);
    hi = _mm256_srai_epi32(_mm256_add_epi32(hi, half), 15);
    __m256i red = _mm256_mulhrs_epi16(_mm256_add_epi16(cr, cr), _mm256_set1_epi16(22971));
    __m256i blue = _mm256_mulhrs_epi16(_mm256_add_epi16(cb, cb), _mm256_set1_epi16(29033));
    return (pixels){_mm256_add_epi16(y, red), _mm256_add_epi16(y, _mm256_packs_epi32(lo, hi)),
                    _mm256_add_epi16(y, blue)};
}

INLINE pixels color_of(halves y, halves cb, halves cr)
{
    pixels even = color(y.even, cb.even, cr.even), odd = color(y.odd, cb.odd, cr.odd);
    return (pixels){_mm256_packus_epi16(even.r, odd.r), _mm256_packus_epi16(even.g, odd.g),
                    _mm256_packus_epi16(even.b, odd.b)};
}

/* The row's last pixels, fewer than 32, by way of a vector's worth of room. */
INLINE void store_some(uint8_t *to, size_t n, pixels p, shuffles s)
{
    uint8_t room[3 * STEP];
    store_pixels(room, p, s);
    memcpy(to, room, 3 * n);
}

INLINE halves around_zero(__m256i bytes)
{
    halves x = split(bytes);
    const __m256i middle = _mm256_set1_epi16(128);
    return (halves){_mm256_sub_epi16(x.even, middle), _mm256_sub_epi16(x.odd, middle)};
}

AVX2 static void ycc_u8_avx2(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to, size_t n)
{
    const shuffles order = even_then_odd();
    for (size_t i = 0; i < n; i += STEP) {
        pixels p = color_of(split(load(y + i)), around_zero(load(cb + i)), around_zero(load(cr + i)));
        if (n - i >= STEP)
            store_pixels(to + 3 * i, p, order);
        else
            store_some(to + 3 * i, n - i, p, order);
    }
}

AVX2 static void ycc_widen_u8_avx2(const uint8_t *y, const int16_t *cb, const int16_t *cr, mr__jpeg_bias bias,
                                   size_t odd, uint8_t *to, size_t n)
{
    const shuffles order = even_then_odd();
    // The 128 that chroma is above zero is 2048 sixteenths.
    __m256i left = _mm256_set1_epi16((int16_t)(bias.left - 2048));
    __m256i right = _mm256_set1_epi16((int16_t)(bias.right - 2048));
    if (odd) {
        mr__jpeg_ycc_pixel(*y++, mr__jpeg_right_of(cb++, bias), mr__jpeg_right_of(cr++, bias), to);
        to += 3;
        n--;
    }
    for (size_t i = 0; i < n; i += STEP) {
        pixels p = color_of(split(load(y + i)), widen(cb + i / 2, left, right), widen(cr + i / 2, left, right));
        if (n - i >= STEP)
            store_pixels(to + 3 * i, p, order);
        else
            store_some(to + 3 * i, n - i, p, order);
    }
}

AVX2 static void interleave_u8_avx2(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *to, size_t n)
{
    const shuffles order = in_order();
    for (size_t i = 0; i < n; i += STEP) {
        pixels p = {load(r + i), load(g + i), load(b + i)};
        if (n - i >= STEP)
            store_pixels(to + 3 * i, p, order);
        else
            store_some(to + 3 * i, n - i, p, order);
    }
}

/* One plane needs no blending. */
AVX2 static void thrice_u8_avx2(const uint8_t *from, uint8_t *to, size_t n)
{
    const __m256i first = TWICE(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5);
    const __m256i second = TWICE(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10);
    const __m256i third = TWICE(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15);
    for (size_t i = 0; i < n; i += STEP) {
        uint8_t room[3 * STEP], *at = n - i >= STEP ? to + 3 * i : room;
        __m256i y = load(from + i);
        __m256i a = _mm256_shuffle_epi8(y, first), b = _mm256_shuffle_epi8(y, second);
        __m256i c = _mm256_shuffle_epi8(y, third);
        store(at, _mm256_permute2x128_si256(a, b, 0x20));
        store(at + 32, _mm256_permute2x128_si256(c, a, 0x30));
        store(at + 64, _mm256_permute2x128_si256(b, c, 0x31));
        if (at == room)
            memcpy(to + 3 * i, room, 3 * (n - i));
    }
}

void mr__jpeg_pixels_init_avx2(mr__jpeg_pixels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    mr__jpeg_pixels_init_idct_avx2(table);
    mr__jpeg_pixels_init_strip_avx2(table);
    table->sum = sum_u8_avx2;
    table->quadruple = quadruple_u8_avx2;
    table->between = between_u8_avx2;
    table->widen = widen_i16_avx2;
    table->repeat = repeat_u8_avx2;
    table->ycc = ycc_u8_avx2;
    table->ycc_widen = ycc_widen_u8_avx2;
    table->interleave = interleave_u8_avx2;
    table->thrice = thrice_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
