// SPDX-License-Identifier: Apache-2.0
/*
 * Nearest pixels of a perspective with AVX2 and FMA: eight at a time, by one division for both places of a pixel.
 *
 * Which pixel a place is in needs no more than 16 bits of the rest. So 1 / depth is multiplied, and 1.5 x 2^36 added,
 * which rounds to 2^-16 and leaves the place in the lower half of the double's bits, as 16 bits and 16, and in the
 * upper half bits that are always the same, if it is from 0 to 65535. A place by other operations than the definition's
 * is wrong by far less than 2^-17, if numbers are tame (below). Thus it is certain which pixel it is in, unless the
 * rest comes out as 0: those are done as they are defined.
 */
#if defined(__x86_64__)

#include "kernel/warp_avx2.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = MR__WARP_GROUP };

/* A line along a row: a x + b. */
typedef struct line {
    __m256d a, b;
} line;

INLINE line line_of(double a, double b, double c, double y)
{
    return (line){_mm256_set1_pd(a), _mm256_set1_pd(b * y + c)};
}

INLINE __m256d on_line(line l, __m256d x)
{
    return _mm256_fmadd_pd(l.a, x, l.b);
}

/* What is the same for a row. Columns are the lower 16 bits of a lane, rows the upper ones. */
typedef struct frame {
    line x, y, depth;
    __m256d round_x, round_y; /* what rounds places, from the part's first column and row on */
    __m256i most;             /* its last column and row */
    __m256i steps;            /* bytes from one to the next */
    __m256i last;             /* the last place from which as much as is read can be read */
    uint32_t fill;
    const uint8_t *pixels;
    bool three; /* channels; or one */
} frame;

INLINE __m256i pair_of(int32_t column, int32_t row)
{
    return _mm256_set1_epi32((int)((uint32_t)column | (uint32_t)row << 16));
}

INLINE frame frame_of(const mr__warp_view *from, const double c[8], uint32_t y, bool three)
{
    double down = (double)y + 0.5;
    int32_t channels = three ? 3 : 1, end = (int32_t)((from->height - 1) * from->stride) + from->width * channels;
    return (frame){
        .x = line_of(c[0], c[1], c[2], down),
        .y = line_of(c[3], c[4], c[5], down),
        .depth = line_of(c[6], c[7], 1.0, down),
        .round_x = _mm256_set1_pd(0x1.8p36 - from->x),
        .round_y = _mm256_set1_pd(0x1.8p36 - from->y),
        .most = pair_of(from->width - 1, from->height - 1),
        .steps = pair_of(channels, (int32_t)from->stride),
        .last = _mm256_set1_epi32(end - (three ? 4 : 1)),
        .fill = mr__warp_load_4(from->fill),
        .pixels = from->pixels,
        .three = three,
    };
}

/* Eight places along an axis, in 2^-16; and lanes of those that are from 0 to 65535. */
typedef struct places {
    __m256i at, there;
} places;

INLINE places places_of(__m256d low, __m256d high)
{
    __m256 a = _mm256_castpd_ps(low), b = _mm256_castpd_ps(high);
    __m256i upper = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
    return (places){_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                    _mm256_cmpeq_epi32(upper, _mm256_set1_epi32(0x42380000))};
}

INLINE unsigned bits_of(__m256i lanes)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

/* Of three channels each pixel is written with a byte too many, which the next one comes over. */
INLINE void copy_pixels(frame f, const int32_t at[GROUP], uint8_t *to)
{
#pragma GCC unroll 8
    for (size_t k = 0; k < GROUP; k++) {
        uint32_t pixel = f.three ? mr__warp_load_4(f.pixels + at[k]) : f.pixels[at[k]];
        if (!f.three) {
            to[k] = (uint8_t)pixel;
        } else if (k + 1 < GROUP) {
            memcpy(to + 3 * k, &pixel, 4);
        } else {
            memcpy(to + 3 * k, &pixel, 2);
            to[3 * k + 2] = (uint8_t)(pixel >> 16);
        }
    }
}

/* The fill, for those that are outside. */
INLINE void fill_pixels(frame f, unsigned outside, uint8_t *to)
{
    for (; outside != 0; outside &= outside - 1) {
        size_t k = (size_t)__builtin_ctz(outside);
        if (f.three) {
            memcpy(to + 3 * k, &f.fill, 2);
            to[3 * k + 2] = (uint8_t)(f.fill >> 16);
        } else {
            to[k] = (uint8_t)f.fill;
        }
    }
}

INLINE void fill_all(frame f, uint8_t *to)
{
    if (f.three) {
        const __m256i mask = _mm256_setr_epi8(0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2, 0, 1,
                                              2, 0, 1, 2, 0, 1, 2);
        __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)f.fill), mask);
        _mm_storeu_si128((void *)to, _mm256_castsi256_si128(bytes));
        _mm_storeu_si128((void *)(to + 8), _mm256_extracti128_si256(bytes, 1));
    } else {
        memset(to, (int)(f.fill & 0xff), GROUP);
    }
}

/* Places of a part of a row: first where all of them are, then their pixels. */
enum { SOME = 128, DOUBT = 0x100 };
typedef struct spots {
    int32_t at[SOME];
    uint16_t inside[SOME / GROUP]; /* bits of eight; and DOUBT, if not all of them are certain */
} spots;

/* Of eight pixels, of which 0, 1, 4 and 5 are at `low`: so shuffles of two vectors have them in order. */
INLINE unsigned find_eight(frame f, __m256d low, int32_t at[GROUP])
{
    const __m256d one = _mm256_set1_pd(1.0), high = _mm256_add_pd(low, _mm256_set1_pd(2.0));
    const __m256i zero = _mm256_setzero_si256(), all = _mm256_set1_epi32(-1);
    __m256d by_low = _mm256_div_pd(one, on_line(f.depth, low)), by_high = _mm256_div_pd(one, on_line(f.depth, high));
    places x = places_of(_mm256_fmadd_pd(on_line(f.x, low), by_low, f.round_x),
                         _mm256_fmadd_pd(on_line(f.x, high), by_high, f.round_x));
    places y = places_of(_mm256_fmadd_pd(on_line(f.y, low), by_low, f.round_y),
                         _mm256_fmadd_pd(on_line(f.y, high), by_high, f.round_y));
    __m256i rest = _mm256_and_si256(_mm256_min_epu16(x.at, y.at), _mm256_set1_epi32(0xffff));
    __m256i pair = _mm256_blend_epi16(_mm256_srli_epi32(x.at, 16), y.at, 0xaa);
    __m256i inside = _mm256_cmpeq_epi16(_mm256_min_epu16(pair, f.most), pair);
    inside = _mm256_cmpeq_epi32(_mm256_and_si256(inside, _mm256_and_si256(x.there, y.there)), all);
    __m256i where = _mm256_madd_epi16(_mm256_and_si256(pair, inside), f.steps);
    __m256i doubt = _mm256_or_si256(_mm256_cmpeq_epi32(rest, zero), _mm256_cmpgt_epi32(where, f.last));
    _mm256_storeu_si256((void *)at, where);
    return bits_of(inside) | (bits_of(doubt) != 0 ? DOUBT : 0);
}

INLINE void see_eight(frame f, const int32_t at[GROUP], unsigned inside, uint8_t *to)
{
    if (inside == 0) {
        fill_all(f, to);
        return;
    }
    copy_pixels(f, at, to);
    if (inside != 0xff)
        fill_pixels(f, 0xff & ~inside, to);
}

/*
 * Whether numbers are tame: the sums of lines and what they are made of are below 2^20, the depth, which has its least
 * at one end of the row, is at least 2^-6 and made of numbers below 2^4. Then a line is wrong by 2^-31 at most, a place
 * by 2^-25 for it, and one to 2^16 by 2^16 x 2^-47 x 2^6 = 2^-25 for the depth.
 */
static bool is_tame(const double c[8], uint32_t x, uint32_t y, size_t n)
{
    double first = (double)x + 0.5, last = first + (double)(n - 1), down = (double)y + 0.5, end = last + 1.0;
    double from = mr__warp_line(c[6], c[7], 1.0, first, down), to = mr__warp_line(c[6], c[7], 1.0, last, down);
    return fabs(c[0]) * end + fabs(c[1]) * down + fabs(c[2]) < 0x1p20 &&
           fabs(c[3]) * end + fabs(c[4]) * down + fabs(c[5]) < 0x1p20 &&
           fabs(c[6]) * end + fabs(c[7]) * down + 1.0 < 0x1p4 &&
           ((from > 0x1p-6 && to > 0x1p-6) || (from < -0x1p-6 && to < -0x1p-6));
}

/* Whether 15 bits have what is multiplied, and 32 every place in the part. */
static bool is_small(const mr__warp_view *from)
{
    return mr__warp_is_plain(from) && from->stride <= INT16_MAX && from->width <= INT16_MAX &&
           from->height <= INT16_MAX && from->whole_width <= UINT16_MAX && from->whole_height <= UINT16_MAX;
}

/* As it is defined. */
static void see_exactly(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n, uint8_t *to)
{
    double xs[SOME], ys[SOME];
    mr__warp_kernels k;
    mr__warp_kernels_init(&k, MR__CPU_AVX2 | MR__CPU_FMA);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < SOME ? n - i : SOME;
        k.place_perspective(c, x + (uint32_t)i, y, some, xs, ys);
        k.sample[MR__WARP_NEAREST][from->channels == 1 ? 0 : 1](from, xs, ys, some, to + i * from->channels);
    }
}

/* The last eight may be made twice. */
INLINE void see(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n, uint8_t *to, bool three)
{
    if (n < GROUP || !is_small(from) || !is_tame(c, x, y, n)) {
        see_exactly(from, c, x, y, n, to);
        return;
    }
    const frame f = frame_of(from, c, y, three);
    const __m256d four = _mm256_setr_pd(0.5, 1.5, 4.5, 5.5);
    spots s;
    for (size_t begin = 0, some; begin < n; begin += some) {
        begin = n - begin < GROUP ? n - GROUP : begin;
        some = n - begin < SOME ? (n - begin) / GROUP * GROUP : SOME;
        uint32_t first = x + (uint32_t)begin;
        for (size_t i = 0; i < some; i += GROUP) {
            __m256d low = _mm256_add_pd(_mm256_set1_pd((double)(first + (uint32_t)i)), four);
            s.inside[i / GROUP] = (uint16_t)find_eight(f, low, s.at + i);
        }
        for (size_t i = 0; i < some; i += GROUP) {
            uint8_t *out = to + (begin + i) * (three ? 3 : 1);
            if (__builtin_expect(s.inside[i / GROUP] < DOUBT, 1))
                see_eight(f, s.at + i, s.inside[i / GROUP], out);
            else
                mr__warp_seen_c(from, c, first + (uint32_t)i, y, GROUP, out);
        }
    }
}

AVX2 static void seen_1_avx2(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n,
                             uint8_t *to)
{
    see(from, c, x, y, n, to, false);
}

AVX2 static void seen_3_avx2(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n,
                             uint8_t *to)
{
    see(from, c, x, y, n, to, true);
}

void mr__warp_seen_init_avx2(mr__warp_kernels *kernels)
{
    kernels->seen[0] = seen_1_avx2;
    kernels->seen[1] = seen_3_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
