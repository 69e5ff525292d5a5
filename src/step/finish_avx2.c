// SPDX-License-Identifier: Apache-2.0
/*
 * Finishing with AVX2, FMA and F16C.
 *
 * v / 255 as a float is v * 0x010101 * 2^-24, which is a float, and one unit in the last place more (v > 0). So a value
 * is spread to the bytes v, v, v, 0 by the shuffle that picks it from its pixel, converted, and 1 added to its bits;
 * that is v / 255 * 2^24, and the mean is 2^24 times as large. A division by std is two multiplications: 1 / std as a
 * sum of two floats. v = 0 gives a number so small that it is gone behind any mean but 0. Without a mean and std, v /
 * 255 is such a division itself. (finish.c compares all values.)
 */
#if defined(__x86_64__)

#include "step/finish.h"

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = 8 }; /* pixels that go together */

/* What the samples of a vector become. */
typedef struct numbers {
    __m256 mean, high, low;
    bool normalize;
} numbers;

INLINE __m256 finish_eight(__m256i spread, numbers k)
{
    __m256 value = _mm256_cvtepi32_ps(spread);
    if (k.normalize) {
        value = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(value), _mm256_set1_epi32(1)));
        value = _mm256_sub_ps(value, k.mean);
    }
    return _mm256_fmadd_ps(value, k.high, _mm256_mul_ps(value, k.low));
}

INLINE __m128i round_bf16(__m256 value)
{
    __m256i bits = _mm256_castps_si256(value), upper = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    bits = _mm256_srli_epi32(bits, 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}

/* How numbers are stored. */
typedef struct storing {
    mr_dtype dtype; /* f32, f16 or bf16 */
    bool stream;    /* past the caches */
} storing;

INLINE void store_eight(__m256 value, storing how, uint8_t *to, size_t at)
{
    if (how.dtype == MR_F32 && how.stream) {
        _mm256_stream_ps((void *)(to + 4 * at), value);
    } else if (how.dtype == MR_F32) {
        _mm256_storeu_ps((void *)(to + 4 * at), value);
    } else {
        __m128i halves = how.dtype == MR_F16 ? _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT) : round_bf16(value);
        if (how.stream)
            _mm_stream_si128((void *)(to + 2 * at), halves);
        else
            _mm_storeu_si128((void *)(to + 2 * at), halves);
    }
}

/*
 * A slot is written once and read much later, by somebody else: what is stored past the caches does not have to be read
 * into them first, and leaves them to the rows. It pays for whole lines, one after the other, and for nothing less.
 */
static bool can_stream(const mr__finisher *f, size_t span, const uint8_t *to, size_t plane)
{
    return f->stream && ((uintptr_t)to | span | plane) % 64 == 0;
}

INLINE __m256i load_two(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)a)),
                                   _mm_loadu_si128((const void *)b), 1);
}

/* A mask that spreads eight bytes to v, v, v, 0, or to v, 0, 0, 0. */
INLINE __m256i spread_mask(__m256i bytes, bool thrice)
{
    if (thrice)
        return _mm256_or_si256(_mm256_mullo_epi32(bytes, _mm256_set1_epi32(0x010101)),
                               _mm256_set1_epi32((int)0x80000000u));
    return _mm256_or_si256(bytes, _mm256_set1_epi32((int)0x80808000u));
}

/*
 * Eight pixels are two halves of 16 bytes, the first from the beginning and the second up to the end: of three channels
 * they overlap. Which half comes first is the flip's. Of one channel 8 bytes are all, and both halves have them.
 */
typedef struct halves {
    size_t first, second; /* where they begin */
    __m256i mask;         /* of channel 0 */
} halves;

INLINE halves halves_of(size_t channels, bool flip, bool thrice)
{
    size_t end = channels == 1 ? 0 : GROUP * channels - 16;
    __m256i forward = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), backward = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    __m256i pixel = flip ? backward : forward;
    __m256i is_second = _mm256_cmpgt_epi32(pixel, _mm256_set1_epi32(3));
    __m256i bytes = _mm256_mullo_epi32(pixel, _mm256_set1_epi32((int)channels));
    bytes = _mm256_sub_epi32(bytes, _mm256_and_si256(is_second, _mm256_set1_epi32((int)end)));
    return (halves){flip ? end : 0, flip ? 0 : end, spread_mask(bytes, thrice)};
}

INLINE __m256i load_pixels(const uint8_t *at, const halves *h, size_t channels)
{
    if (channels == 1)
        return _mm256_broadcastsi128_si256(_mm_loadl_epi64((const void *)at));
    return load_two(at + h->first, at + h->second);
}

/* One channel after the other: planes that are a multiple of 4096 bytes apart are not written side by side. */
INLINE void planes(const mr__finisher *f, storing how, size_t channels, bool normalize, const uint8_t *row, size_t n,
                   bool flip, uint8_t *to, size_t plane)
{
    const halves h = halves_of(channels, flip, normalize);
    for (size_t c = 0; c < channels; c++, to += plane) {
        __m256i mask = _mm256_add_epi8(h.mask, _mm256_set1_epi8((char)c));
        numbers k = {_mm256_set1_ps(f->mean24[c]), _mm256_set1_ps(f->high[c]), _mm256_set1_ps(f->low[c]), normalize};
        for (size_t i = 0; i < n; i += GROUP) {
            i = n - i < GROUP ? n - GROUP : i; /* the last ones may be made twice */
            __m256i spread = _mm256_shuffle_epi8(load_pixels(row + i * channels, &h, channels), mask);
            store_eight(finish_eight(spread, k), how, to, flip ? n - GROUP - i : i);
        }
    }
}

INLINE void planes_of(const mr__finisher *f, storing how, const uint8_t *row, size_t n, bool flip, uint8_t *to,
                      size_t plane)
{
    if (f->channels == 3 && f->normalize)
        planes(f, how, 3, true, row, n, flip, to, plane);
    else if (f->channels == 3)
        planes(f, how, 3, false, row, n, flip, to, plane);
    else if (f->channels == 1)
        planes(f, how, 1, f->normalize, row, n, flip, to, plane);
    else
        planes(f, how, f->channels, f->normalize, row, n, flip, to, plane);
}

/* Eight pixels are as many vectors as there are channels; each has its numbers. At least eight pixels. */
INLINE void pixels(const mr__finisher *f, storing how, size_t channels, bool normalize, const uint8_t *row, size_t n,
                   uint8_t *to)
{
    const __m256i mask = spread_mask(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), normalize);
    numbers k[4];
    for (size_t j = 0; j < channels; j++) {
        size_t at = GROUP * j;
        k[j] = (numbers){_mm256_loadu_ps(f->mean24 + at), _mm256_loadu_ps(f->high + at), _mm256_loadu_ps(f->low + at),
                         normalize};
    }
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        for (size_t j = 0; j < channels; j++) {
            size_t at = i * channels + j * GROUP;
            __m256i eight = _mm256_broadcastsi128_si256(_mm_loadl_epi64((const void *)(row + at)));
            store_eight(finish_eight(_mm256_shuffle_epi8(eight, mask), k[j]), how, to, at);
        }
    }
}

/*
 * 16 pixels are 48 bytes, a, b and c of 16 each, and are written as 32 and 16. The first 32 are c and b backwards, but
 * for a byte of b in c's half, one of c in b's and one of a; the last 16 are a backwards, but for a byte of b. From the
 * row's begin on, which is how it comes into the caches.
 */
AVX2 static void mirror_3(const uint8_t *row, size_t n, uint8_t *to)
{
    const __m256i of_cb = _mm256_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, -1, /* c */
                                           15, -1, 11, 12, 13, 8, 9, 10, 5, 6, 7, 2, 3, 4, -1, 0);
    const __m256i of_bc = _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 14, /* b */
                                           -1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i a_of_b = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 15, -1);
    const __m128i of_a = _mm_setr_epi8(-1, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2);
    const __m128i b_of_a = _mm_setr_epi8(1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    for (size_t i = 0; i < n; i += 16) {
        i = n - i < 16 ? n - 16 : i;
        uint8_t *end = to + 3 * (n - 16 - i);
        __m128i a = _mm_loadu_si128((const void *)(row + 3 * i));
        __m256i bc = _mm256_loadu_si256((const void *)(row + 3 * i + 16)), cb = _mm256_permute4x64_epi64(bc, 0x4e);
        __m256i first = _mm256_or_si256(_mm256_shuffle_epi8(cb, of_cb), _mm256_shuffle_epi8(bc, of_bc));
        __m256i more = _mm256_inserti128_si256(_mm256_setzero_si256(), _mm_shuffle_epi8(a, a_of_b), 1);
        __m128i last = _mm_or_si128(_mm_shuffle_epi8(a, of_a), _mm_shuffle_epi8(_mm256_castsi256_si128(bc), b_of_a));
        _mm_storeu_si128((void *)(end + 32), last);
        _mm256_storeu_si256((void *)end, _mm256_or_si256(first, more));
    }
}

AVX2 static void mirror_1(const uint8_t *row, size_t n, uint8_t *to)
{
    const __m128i mask = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (size_t i = 0; i < n; i += 16) {
        i = n - i < 16 ? n - 16 : i;
        __m128i some = _mm_loadu_si128((const void *)(row + i));
        _mm_storeu_si128((void *)(to + n - 16 - i), _mm_shuffle_epi8(some, mask));
    }
}

AVX2 static void mirror_4(const uint8_t *row, size_t n, uint8_t *to)
{
    const __m256i order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    for (size_t i = 0; i < n; i += 8) {
        i = n - i < 8 ? n - 8 : i;
        __m256i some = _mm256_loadu_si256((const void *)(row + 4 * i));
        _mm256_storeu_si256((void *)(to + 4 * (n - 8 - i)), _mm256_permutevar8x32_epi32(some, order));
    }
}

static void pixels_u8_avx2(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    if (flip && f->channels == 3 && n >= 16)
        mirror_3(row, n, to);
    else if (flip && f->channels == 1 && n >= 16)
        mirror_1(row, n, to);
    else if (flip && f->channels == 4 && n >= 8)
        mirror_4(row, n, to);
    else
        mr__finish_pixels_u8_c(f, row, n, flip, to, plane);
}

/* A flip goes through a mirrored copy, some pixels at a time: as many as keep lines whole, and what is left last. */
INLINE void pixels_of(const mr__finisher *f, storing how, const uint8_t *row, size_t n, bool flip, uint8_t *to)
{
    enum { SOME = 128 };
    uint8_t mirrored[2 * SOME * 4];
    size_t some = n;
    for (size_t i = 0; i < n; i += some) {
        const uint8_t *from = row + i * f->channels;
        if (flip) {
            some = n - i < 2 * SOME ? n - i : SOME;
            pixels_u8_avx2(f, from, some, true, mirrored, 0);
            from = mirrored;
        }
        uint8_t *begin = to + (flip ? n - i - some : 0) * f->channels * f->number_nbytes;
        if (f->channels == 3 && f->normalize)
            pixels(f, how, 3, true, from, some, begin);
        else
            pixels(f, how, f->channels, f->normalize, from, some, begin);
    }
}

AVX2 static void end_avx2(void)
{
    _mm_sfence();
}

#define KERNELS(name, dtype, planes_c, pixels_c)                                                                       \
    AVX2 static void planes_##name##_avx2(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, \
                                          size_t plane)                                                                \
    {                                                                                                                  \
        if (n < GROUP || f->channels == 2)                                                                             \
            planes_c(f, row, n, flip, to, plane);                                                                      \
        else if (can_stream(f, n * f->number_nbytes, to, plane))                                                       \
            planes_of(f, (storing){dtype, true}, row, n, flip, to, plane);                                             \
        else                                                                                                           \
            planes_of(f, (storing){dtype, false}, row, n, flip, to, plane);                                            \
    }                                                                                                                  \
    AVX2 static void pixels_##name##_avx2(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, \
                                          size_t plane)                                                                \
    {                                                                                                                  \
        if (n < GROUP)                                                                                                 \
            pixels_c(f, row, n, flip, to, plane);                                                                      \
        else if (can_stream(f, n * f->channels * f->number_nbytes, to, 0))                                             \
            pixels_of(f, (storing){dtype, true}, row, n, flip, to);                                                    \
        else                                                                                                           \
            pixels_of(f, (storing){dtype, false}, row, n, flip, to);                                                   \
    }

KERNELS(f32, MR_F32, mr__finish_planes_f32_c, mr__finish_pixels_f32_c)
KERNELS(f16, MR_F16, mr__finish_planes_half_c, mr__finish_pixels_half_c)
KERNELS(bf16, MR_BF16, mr__finish_planes_half_c, mr__finish_pixels_half_c)

/* Brings four pixels, from byte `first` on, to the order of channels. */
INLINE __m128i order_mask(size_t channels, bool flip, char first)
{
    __m128i three = _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 12, 12, 12, 12);
    __m128i four = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m128i turn = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    __m128i mask = channels == 3 ? three : four;
    mask = flip ? _mm_shuffle_epi8(mask, turn) : mask;
    return _mm_add_epi8(mask, _mm_set1_epi8(first));
}

/*
 * 32 pixels as four vectors of 4 and 4 pixels, 16 apart; each is brought to the order of channels, and the four are
 * then exchanged, 4 bytes at a time. With three channels the last half begins 4 bytes early, so as not to read beyond.
 */
INLINE void split_32(const uint8_t *row, bool flip, size_t channels, uint8_t *to, size_t plane)
{
    const size_t four = 4 * channels, early = channels == 3 ? 4 : 0;
    const __m128i one = order_mask(channels, flip, 0), end = order_mask(channels, flip, (char)early);
    const __m256i mask = _mm256_set_m128i(one, one);
    const __m256i first = flip ? _mm256_set_m128i(one, end) : mask, last = flip ? mask : _mm256_set_m128i(end, one);
#define HALF(i) (row + four * (flip ? 7 - (i) : (i)) - ((i) == (flip ? 0 : 7) ? early : 0))
    __m256i a = _mm256_shuffle_epi8(load_two(HALF(0), HALF(4)), first);
    __m256i b = _mm256_shuffle_epi8(load_two(HALF(1), HALF(5)), mask);
    __m256i c = _mm256_shuffle_epi8(load_two(HALF(2), HALF(6)), mask);
    __m256i d = _mm256_shuffle_epi8(load_two(HALF(3), HALF(7)), last);
#undef HALF
    __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    __m256i ab_high = _mm256_unpackhi_epi32(a, b), cd_high = _mm256_unpackhi_epi32(c, d);
    _mm256_storeu_si256((void *)to, _mm256_unpacklo_epi64(ab, cd));
    _mm256_storeu_si256((void *)(to + plane), _mm256_unpackhi_epi64(ab, cd));
    _mm256_storeu_si256((void *)(to + 2 * plane), _mm256_unpacklo_epi64(ab_high, cd_high));
    if (channels == 4)
        _mm256_storeu_si256((void *)(to + 3 * plane), _mm256_unpackhi_epi64(ab_high, cd_high));
}

INLINE void split(const uint8_t *row, size_t n, bool flip, size_t channels, uint8_t *to, size_t plane)
{
    for (size_t i = 0; i < n; i += 32) {
        i = n - i < 32 ? n - 32 : i;
        split_32(row + i * channels, flip, channels, to + (flip ? n - 32 - i : i), plane);
    }
}

AVX2 static void planes_u8_avx2(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to,
                                size_t plane)
{
    if (f->channels == 1)
        pixels_u8_avx2(f, row, n, flip, to, plane);
    else if (n < 32 || f->channels == 2)
        mr__finish_planes_u8_c(f, row, n, flip, to, plane);
    else if (f->channels == 4 && flip)
        split(row, n, true, 4, to, plane);
    else if (f->channels == 4)
        split(row, n, false, 4, to, plane);
    else if (flip)
        split(row, n, true, 3, to, plane);
    else
        split(row, n, false, 3, to, plane);
}

void mr__finish_kernels_init_avx2(mr__finish_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0 || (cpu & MR__CPU_FMA) == 0)
        return;
    *kernels = (mr__finish_kernels){.of =
                                        {
                                            [MR_U8] = {planes_u8_avx2, pixels_u8_avx2},
                                            [MR_F32] = {planes_f32_avx2, pixels_f32_avx2},
                                            [MR_F16] = {planes_f16_avx2, pixels_f16_avx2},
                                            [MR_BF16] = {planes_bf16_avx2, pixels_bf16_avx2},
                                        },
                                    .end = end_avx2};
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
