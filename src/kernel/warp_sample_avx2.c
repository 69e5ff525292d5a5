// SPDX-License-Identifier: Apache-2.0
/*
 * Warps with AVX2 and FMA: eight pixels at a time. Places are in double, as defined. Pixels between pixels are computed
 * in float first, whose error has a bound (below, at each); a result that far from the next whole number is cut to the
 * same byte as the double's, and one that is nearer is computed again by the portable kernel, unless it is known: of
 * pixels that are all the same, or at a pixel's very middle. That is one pixel in some hundreds or thousands.
 *
 * Eight places whose neighbours are all in the part, and not so near to a row's end that more would be read than is
 * there, are most of them, and have a short way of their own.
 */
#if defined(__x86_64__)

#include "kernel/warp_avx2.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { GROUP = MR__WARP_GROUP };

/* The last place in the part from which so many bytes can be read; may be negative. */
static int32_t last_place(const mr__warp_view *from, int32_t nbytes)
{
    return (int32_t)((from->height - 1) * from->stride) + from->width * (int32_t)from->channels - nbytes;
}

/* A number of eight, as two vectors of doubles. */
typedef struct eight {
    __m256d low, high;
} eight;

/* What is the same for all groups. Bytes that are written could be a view's, for all that a compiler knows. */
typedef struct frame {
    __m256d width, height; /* of the image */
    __m256i x, y;          /* where the part begins */
    __m256i right, bottom; /* the last column and row of it */
    __m256i far_x, far_y;  /* the last ones to begin at, so that what is read is all in the part */
    __m256i last;          /* the last place for it */
    __m256i stride, fill;
    ptrdiff_t row; /* from one to the next */
    const uint8_t *pixels;
    bool three; /* channels; or one */
} frame;

/* What a kernel looks at, from the first neighbour of a place on. */
typedef struct window {
    int32_t columns, rows; /* `columns` has all bytes that are read */
    int32_t nbytes;        /* that are read of a row */
} window;

INLINE frame frame_of(const mr__warp_view *from, window w, bool three)
{
    return (frame){
        .width = _mm256_set1_pd(from->whole_width),
        .height = _mm256_set1_pd(from->whole_height),
        .x = _mm256_set1_epi32(from->x),
        .y = _mm256_set1_epi32(from->y),
        .right = _mm256_set1_epi32(from->width - 1),
        .bottom = _mm256_set1_epi32(from->height - 1),
        .far_x = _mm256_set1_epi32(from->width - w.columns),
        .far_y = _mm256_set1_epi32(from->height - w.rows),
        .last = _mm256_set1_epi32(last_place(from, w.nbytes)),
        .stride = _mm256_set1_epi32((int)from->stride),
        .fill = _mm256_set1_epi32((int)mr__warp_load_4(from->fill)),
        .row = from->stride,
        .pixels = from->pixels,
        .three = three,
    };
}

INLINE eight load_eight(const double *from)
{
    return (eight){_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}

/* Cut to a whole number; of what is none, the least there is. */
INLINE __m256i whole_eight(eight v)
{
    return _mm256_set_m128i(_mm256_cvttpd_epi32(v.high), _mm256_cvttpd_epi32(v.low));
}

INLINE __m256 float_eight(eight v)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(v.high), _mm256_cvtpd_ps(v.low));
}

INLINE __m256d inside_four(__m256d x, __m256d y, __m256d width, __m256d height)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256d along = _mm256_and_pd(_mm256_cmp_pd(x, zero, _CMP_GE_OQ), _mm256_cmp_pd(x, width, _CMP_LT_OQ));
    __m256d down = _mm256_and_pd(_mm256_cmp_pd(y, zero, _CMP_GE_OQ), _mm256_cmp_pd(y, height, _CMP_LT_OQ));
    return _mm256_and_pd(along, down);
}

/* Bit i: place i is inside. */
INLINE unsigned inside_eight(frame f, eight x, eight y)
{
    return (unsigned)_mm256_movemask_pd(inside_four(x.low, y.low, f.width, f.height)) |
           (unsigned)_mm256_movemask_pd(inside_four(x.high, y.high, f.width, f.height)) << 4;
}

/* From pixels' edges to pixels' middles: the whole part, and the rest of it. */
INLINE __m256i split_eight(eight v, __m256 *rest)
{
    const __m256d half = _mm256_set1_pd(0.5);
    __m256d low = _mm256_sub_pd(v.low, half), high = _mm256_sub_pd(v.high, half);
    eight whole = {_mm256_floor_pd(low), _mm256_floor_pd(high)};
    *rest = float_eight((eight){_mm256_sub_pd(low, whole.low), _mm256_sub_pd(high, whole.high)});
    return whole_eight(whole);
}

INLINE __m256i clamp(__m256i v, __m256i most)
{
    return _mm256_min_epi32(_mm256_max_epi32(v, _mm256_setzero_si256()), most);
}

INLINE __m256i next(__m256i v, int by)
{
    return _mm256_add_epi32(v, _mm256_set1_epi32(by));
}

INLINE __m256i times_channels(frame f, __m256i v)
{
    return f.three ? _mm256_add_epi32(v, _mm256_add_epi32(v, v)) : v;
}

INLINE unsigned bits_of(__m256i lanes)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

/* Bits to lanes. */
INLINE __m256i lanes_of(unsigned bits)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}

/* Whether all eight windows are in the part: no difference is negative. (Of what is no place, the column or row is.) */
INLINE bool all_within(frame f, __m256i column, __m256i row)
{
    __m256i first = _mm256_or_si256(column, row);
    __m256i last = _mm256_or_si256(_mm256_sub_epi32(f.far_x, column), _mm256_sub_epi32(f.far_y, row));
    return bits_of(_mm256_or_si256(first, last)) == 0;
}

/* Where the rows of eight windows begin. */
typedef struct rows {
    const uint8_t *from[4];
    const int32_t *at[4];
} rows;

/* Windows that are all in the part: a row is a stride behind the one before. */
INLINE rows rows_within(frame f, const int32_t at[GROUP], int n)
{
    rows r;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) {
        r.from[i] = f.pixels + i * f.row;
        r.at[i] = at;
    }
    return r;
}

/*
 * Of others: rows beyond an edge are those at the edge. The rows of those outside may be any number, and become the
 * image's first, so that of rows that follow each other none is above the one before. False: more would be read than is
 * there.
 */
INLINE bool find_rows_at_edge(frame f, __m256i column, __m256i row, unsigned inside, int n, int32_t places[][GROUP],
                              rows *r)
{
    __m256i along = times_channels(f, column), at = along;
    row = _mm256_and_si256(row, lanes_of(inside));
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) {
        at = _mm256_add_epi32(_mm256_mullo_epi32(clamp(next(row, i), f.bottom), f.stride), along);
        _mm256_storeu_si256((void *)places[i], at);
        r->from[i] = f.pixels;
        r->at[i] = places[i];
    }
    return bits_of(_mm256_cmpgt_epi32(at, f.last)) == 0;
}

/* 24 bytes: 12 of each half. */
INLINE void store_24(__m256i halves, uint8_t *to)
{
    halves = _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 1, 2, 4, 2, 4, 5, 6));
    _mm_storeu_si128((void *)to, _mm256_castsi256_si128(halves));
    _mm_storeu_si128((void *)(to + 8), _mm256_extracti128_si256(halves, 1));
}

/* Eight pixels, red in the lowest byte of each, or gray; of those that are not inside the fill. 24 bytes or 8. */
INLINE void store_pixels(frame f, __m256i pixels, unsigned inside, uint8_t *to)
{
    if (inside != 0xff)
        pixels = _mm256_blendv_epi8(f.fill, pixels, lanes_of(inside));
    if (f.three) {
        const __m256i pack = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4, 5, 6,
                                              8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
        store_24(_mm256_shuffle_epi8(pixels, pack), to);
    } else {
        const __m256i pack = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
        pixels = _mm256_shuffle_epi8(pixels, pack);
        __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(pixels), _mm256_extracti128_si256(pixels, 1));
        _mm_storel_epi64((void *)to, both);
    }
}

/* Again, exactly: those of eight pixels whose bit is set. */
static void again(mr__warp_sample *plain, const mr__warp_view *from, const double *xs, const double *ys, unsigned bits,
                  uint8_t *to)
{
    for (; bits != 0; bits &= bits - 1) {
        size_t i = (size_t)__builtin_ctz(bits);
        plain(from, xs + i, ys + i, 1, to + i * from->channels);
    }
}

/* Places of a part of a row, eight at a time: first where all of them are, then their pixels. */
enum { SOME = 128 };
typedef struct spots {
    int32_t at[SOME]; /* the first neighbour, of groups that are all within */
    float dx[SOME], dy[SOME];
    uint8_t within[SOME / GROUP];
} spots;

/* Eight pixels; those outside get the fill. Returns which are not certain, and are to be done again. */
typedef unsigned group_within(frame f, const int32_t at[GROUP], __m256 dx, __m256 dy, uint8_t *to);
typedef unsigned group_of(frame f, eight x, eight y, uint8_t *to);

typedef struct groups {
    group_within *run_within;
    group_of *run;
    mr__warp_sample *plain;
    window window;
    int before; /* neighbours before a place, either way; nearest pixels have no neighbours: -1 */
    bool three;
} groups;

INLINE bool find_spots(frame f, eight x, eight y, int before, int32_t *at, float *dx, float *dy)
{
    __m256i column, row;
    bool within = true;
    if (before < 0) {
        column = _mm256_sub_epi32(whole_eight(x), f.x), row = _mm256_sub_epi32(whole_eight(y), f.y);
        /* Between -1 and 0 is outside, and cut to 0. */
        __m256d sign = _mm256_or_pd(_mm256_or_pd(x.low, x.high), _mm256_or_pd(y.low, y.high));
        within = _mm256_movemask_pd(sign) == 0;
    } else {
        __m256 along, down;
        column = next(_mm256_sub_epi32(split_eight(x, &along), f.x), -before);
        row = next(_mm256_sub_epi32(split_eight(y, &down), f.y), -before);
        _mm256_storeu_ps(dx, along);
        _mm256_storeu_ps(dy, down);
    }
    _mm256_storeu_si256((void *)at, _mm256_add_epi32(_mm256_mullo_epi32(row, f.stride), times_channels(f, column)));
    return within & all_within(f, column, row);
}

/* The last eight may be made twice. Fewer are left to the portable kernel. */
INLINE void run_groups(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to, groups g)
{
    const frame f = frame_of(from, g.window, g.three);
    const size_t channels = g.three ? 3 : 1;
    spots s;
    if (n < GROUP) {
        g.plain(from, xs, ys, n, to);
        return;
    }
    for (size_t begin = 0, some; begin < n; begin += some) {
        begin = n - begin < GROUP ? n - GROUP : begin;
        some = n - begin < SOME ? (n - begin) / GROUP * GROUP : SOME;
        for (size_t i = 0; i < some; i += GROUP)
            s.within[i / GROUP] = find_spots(f, load_eight(xs + begin + i), load_eight(ys + begin + i), g.before,
                                             s.at + i, s.dx + i, s.dy + i);
        for (size_t i = 0; i < some; i += GROUP) {
            const double *x = xs + begin + i, *y = ys + begin + i;
            uint8_t *out = to + (begin + i) * channels;
            unsigned not_sure;
            if (__builtin_expect(s.within[i / GROUP], 1))
                not_sure = g.run_within(f, s.at + i, _mm256_loadu_ps(s.dx + i), _mm256_loadu_ps(s.dy + i), out);
            else
                not_sure = g.run(f, load_eight(x), load_eight(y), out);
            if (__builtin_expect(not_sure != 0, 0))
                again(g.plain, from, x, y, not_sure, out);
        }
    }
}

/* All eight are left to the portable kernel, those that are outside excepted. */
INLINE unsigned leave(frame f, unsigned inside, uint8_t *to)
{
    store_pixels(f, f.fill, 0, to);
    return inside;
}

/* Pixels as they are. Of three channels each is written with a byte too many, which the next one comes over. */
INLINE void copy_eight(frame f, const int32_t at[GROUP], uint8_t *to)
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

INLINE unsigned nearest_within(frame f, const int32_t at[GROUP], __m256 dx, __m256 dy, uint8_t *to)
{
    copy_eight(f, at, to);
    (void)dx;
    (void)dy;
    return 0;
}

INLINE unsigned nearest_group(frame f, eight x, eight y, uint8_t *to)
{
    rows r;
    int32_t at[1][GROUP];
    uint32_t pixels[GROUP];
    __m256i column = _mm256_sub_epi32(whole_eight(x), f.x), row = _mm256_sub_epi32(whole_eight(y), f.y);
    unsigned inside = inside_eight(f, x, y);
    if (inside == 0 || !find_rows_at_edge(f, clamp(column, f.right), row, inside, 1, at, &r))
        return leave(f, inside, to);
    for (size_t k = 0; k < GROUP; k++)
        pixels[k] = f.three ? mr__warp_load_4(f.pixels + at[0][k]) : f.pixels[at[0][k]];
    store_pixels(f, _mm256_loadu_si256((const void *)pixels), inside, to);
    return 0;
}

/* A byte of each lane, as a float, times 2^16. */
INLINE __m256 value_of(__m256i lanes, int byte)
{
    const __m256i third = _mm256_setr_epi8(-1, -1, 0, -1, -1, -1, 4, -1, -1, -1, 8, -1, -1, -1, 12, -1, -1, -1, 0, -1,
                                           -1, -1, 4, -1, -1, -1, 8, -1, -1, -1, 12, -1);
    return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(lanes, _mm256_add_epi8(third, _mm256_set1_epi32(byte << 16))));
}

/*
 * What comes out, in 2^-16: cut, and then raised by the margin of doubt, which is above the error's bound by one at
 * least. A result is certain unless the rest of it is less than twice the margin. And if it is the whole number itself
 * that the float is an approximation of, it is that number which is above the rest.
 */
typedef struct results {
    __m256i of[3];
} results;

INLINE __m256i result_of(__m256 value, int margin)
{
    return next(_mm256_cvttps_epi32(value), margin);
}

INLINE __m256i is_doubtful(__m256i lanes, int margin)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(2 * margin), _mm256_and_si256(lanes, _mm256_set1_epi32(0xffff)));
}

/* Whether any of them is. */
INLINE bool any_doubtful(frame f, const results *v, int margin)
{
    __m256i least = v->of[0];
    if (f.three)
        least = _mm256_min_epu16(_mm256_min_epu16(least, v->of[1]), v->of[2]);
    return bits_of(is_doubtful(least, margin)) != 0;
}

/* Bits of pixels with a channel that is doubtful, and not known; `known` has a byte for each channel. */
INLINE unsigned doubtful(frame f, const results *v, int margin, __m256i known)
{
    __m256i open = _mm256_setzero_si256();
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        if (c > 0 && !f.three)
            continue;
        /* At 0 and beyond 255 it does not matter. */
        __m256i high = _mm256_cmpgt_epi32(v->of[c], _mm256_set1_epi32(0x8000));
        __m256i counts = _mm256_andnot_si256(_mm256_cmpgt_epi32(v->of[c], _mm256_set1_epi32(0xff8000)), high);
        counts =
            _mm256_and_si256(_mm256_and_si256(counts, is_doubtful(v->of[c], margin)), _mm256_set1_epi32(0xff << 8 * c));
        open = _mm256_or_si256(open, _mm256_andnot_si256(known, counts));
    }
    return bits_of(_mm256_cmpgt_epi32(open, _mm256_setzero_si256()));
}

/* Whole numbers below 0 and above 255 become these. */
INLINE void store_results(frame f, const results *v, unsigned inside, uint8_t *to)
{
    __m256i pixels, first = _mm256_srai_epi32(v->of[0], 16);
    if (f.three) {
        const __m256i order = _mm256_setr_epi8(0, 1, 8, -1, 2, 3, 10, -1, 4, 5, 12, -1, 6, 7, 14, -1, 0, 1, 8, -1, 2, 3,
                                               10, -1, 4, 5, 12, -1, 6, 7, 14, -1);
        const __m256i dense = _mm256_setr_epi8(0, 1, 8, 2, 3, 10, 4, 5, 12, 6, 7, 14, -1, -1, -1, -1, 0, 1, 8, 2, 3, 10,
                                               4, 5, 12, 6, 7, 14, -1, -1, -1, -1);
        __m256i both = _mm256_blend_epi16(first, v->of[1], 0xaa);
        pixels = _mm256_packus_epi16(both, _mm256_srai_epi32(v->of[2], 16));
        if (inside == 0xff) {
            store_24(_mm256_shuffle_epi8(pixels, dense), to);
            return;
        }
        pixels = _mm256_shuffle_epi8(pixels, order);
    } else {
        pixels = clamp(first, _mm256_set1_epi32(255));
    }
    store_pixels(f, pixels, inside, to);
}

/* From each of eight places eight bytes, as two vectors of lanes: the first four, and the last. */
INLINE void load_eights(const uint8_t *from, const int32_t at[GROUP], __m256i of[2])
{
    __m256 q[2];
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        const int32_t *p = at + 2 * i;
        __m128 low = _mm_castsi128_ps(_mm_loadl_epi64((const void *)(from + p[0])));
        __m128 high = _mm_castsi128_ps(_mm_loadl_epi64((const void *)(from + p[4])));
        low = _mm_loadh_pi(low, (const void *)(from + p[1]));
        high = _mm_loadh_pi(high, (const void *)(from + p[5]));
        q[i] = _mm256_set_m128(high, low);
    }
    of[0] = _mm256_castps_si256(_mm256_shuffle_ps(q[0], q[1], 0x88));
    of[1] = _mm256_castps_si256(_mm256_shuffle_ps(q[0], q[1], 0xdd));
}

/* Two bytes. */
INLINE __m256i load_twos(const uint8_t *from, const int32_t at[GROUP])
{
    __m128i twos = _mm_setzero_si128();
#define TWO(i)                                                                                                         \
    do {                                                                                                               \
        uint16_t two;                                                                                                  \
        memcpy(&two, from + at[i], 2);                                                                                 \
        twos = _mm_insert_epi16(twos, two, i);                                                                         \
    } while (0)
    TWO(0);
    TWO(1);
    TWO(2);
    TWO(3);
    TWO(4);
    TWO(5);
    TWO(6);
    TWO(7);
#undef TWO
    return _mm256_cvtepu16_epi32(twos);
}

/* Four bytes. */
INLINE __m256i load_fours(const uint8_t *from, const int32_t at[GROUP])
{
#define FOUR(i) (int)mr__warp_load_4(from + at[i])
    return _mm256_setr_epi32(FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7));
#undef FOUR
}

/* From each of eight places twelve bytes of sixteen, as three vectors of lanes. */
INLINE void load_twelves(const uint8_t *from, const int32_t at[GROUP], __m256i of[3])
{
    __m256i q[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        q[i] = _mm256_set_m128i(_mm_loadu_si128((const void *)(from + at[i + 4])),
                                _mm_loadu_si128((const void *)(from + at[i])));
    __m256i a = _mm256_unpacklo_epi32(q[0], q[1]), b = _mm256_unpacklo_epi32(q[2], q[3]);
    __m256i c = _mm256_unpackhi_epi32(q[0], q[1]), d = _mm256_unpackhi_epi32(q[2], q[3]);
    of[0] = _mm256_unpacklo_epi64(a, b);
    of[1] = _mm256_unpackhi_epi64(a, b);
    of[2] = _mm256_unpacklo_epi64(c, d);
}

/* Part of a row of neighbours: of three channels as many bytes as two or four pixels have, of one as many bytes. */
typedef struct strip {
    __m256i of[3];
} strip;

INLINE strip load_strip(frame f, const rows *r, int row, int columns)
{
    strip s;
    const uint8_t *from = r->from[row];
    const int32_t *at = r->at[row];
    if (f.three && columns == 2)
        load_eights(from, at, s.of);
    else if (f.three)
        load_twelves(from, at, s.of);
    else
        s.of[0] = columns == 2 ? load_twos(from, at) : load_fours(from, at);
    return s;
}

/* A channel of a pixel of it. */
INLINE __m256 strip_value(frame f, const strip *s, int column, int channel)
{
    int byte = f.three ? 3 * column + channel : column;
    return value_of(s->of[byte / 4], byte % 4);
}

/* A pixel of it, with the bytes of its channels the lowest ones. */
INLINE __m256i strip_pixel(frame f, const strip *s, int column)
{
    int byte = f.three ? 3 * column : column;
    __m256i low = _mm256_srli_epi32(s->of[byte / 4], byte % 4 * 8);
    if (!f.three || byte % 4 < 2)
        return low;
    return _mm256_or_si256(low, _mm256_slli_epi32(s->of[byte / 4 + 1], 32 - byte % 4 * 8));
}

INLINE __m256i is_zero(__m256 value)
{
    return _mm256_castps_si256(_mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_EQ_OQ));
}

/*
 * Bytes of channels whose value is known: rows have no way to go, or nowhere to go to (all their pixels are the same),
 * nor have columns, of which only the pixel at `column`, which the place is at or behind, is looked at then.
 */
INLINE __m256i known_bytes(frame f, const rows *r, int n, __m256 dx, __m256 dy)
{
    __m256i flat = _mm256_set1_epi8(-1), even = flat, first = flat;
    const int column = n / 2 - 1;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) {
        strip s = load_strip(f, r, i, n);
        __m256i here = strip_pixel(f, &s, column);
        for (int j = 0; j < n; j++)
            flat = _mm256_and_si256(flat, _mm256_cmpeq_epi8(here, strip_pixel(f, &s, j)));
        first = i == 0 ? here : first;
        even = _mm256_and_si256(even, _mm256_cmpeq_epi8(here, first));
    }
    return _mm256_and_si256(_mm256_or_si256(flat, is_zero(dx)), _mm256_or_si256(even, is_zero(dy)));
}

INLINE __m256 lerp(__m256 a, __m256 b, __m256 way)
{
    return _mm256_fmadd_ps(_mm256_sub_ps(b, a), way, a);
}

/*
 * In units of 2^-17 (of a pixel's 1; half of a float's last bit, of values from 128 on): a way is wrong by 2^-25, which
 * is 1 of 255; a lerp along x by 1 for the way and 1 for the sum; that along y by these 2, by 1 for the difference, 1
 * for the way and 1 for the sum: 5 in all, or 2.5 x 2^-16.
 */
enum { LINEAR_MARGIN = 4 };

INLINE unsigned bilinear_eight(frame f, const rows *r, __m256 dx, __m256 dy, unsigned inside, uint8_t *to)
{
    strip upper = load_strip(f, r, 0, 2), lower = load_strip(f, r, 1, 2);
    results v;
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        if (c > 0 && !f.three)
            continue;
        __m256 above = lerp(strip_value(f, &upper, 0, c), strip_value(f, &upper, 1, c), dx);
        __m256 below = lerp(strip_value(f, &lower, 0, c), strip_value(f, &lower, 1, c), dx);
        v.of[c] = result_of(lerp(above, below, dy), LINEAR_MARGIN);
    }
    store_results(f, &v, inside, to);
    if (__builtin_expect(!any_doubtful(f, &v, LINEAR_MARGIN), 1))
        return 0;
    return doubtful(f, &v, LINEAR_MARGIN, known_bytes(f, r, 2, dx, dy)) & inside;
}

INLINE unsigned bilinear_within(frame f, const int32_t at[GROUP], __m256 dx, __m256 dy, uint8_t *to)
{
    rows r = rows_within(f, at, 2);
    return bilinear_eight(f, &r, dx, dy, 0xff, to);
}

/* Before the first column and behind the last both columns are one: the way is none, or all of it, and exact. */
INLINE unsigned bilinear_group(frame f, eight x, eight y, uint8_t *to)
{
    rows r;
    int32_t at[2][GROUP];
    __m256 dx, dy;
    __m256i column = _mm256_sub_epi32(split_eight(x, &dx), f.x), row = _mm256_sub_epi32(split_eight(y, &dy), f.y);
    unsigned inside = inside_eight(f, x, y);
    __m256i nearest = clamp(column, next(f.right, -1));
    __m256i before = _mm256_cmpgt_epi32(nearest, column), behind = _mm256_cmpgt_epi32(column, nearest);
    dx = _mm256_andnot_ps(_mm256_castsi256_ps(before), dx);
    dx = _mm256_blendv_ps(dx, _mm256_set1_ps(1.0f), _mm256_castsi256_ps(behind));
    if (inside == 0 || !find_rows_at_edge(f, nearest, row, inside, 2, at, &r))
        return leave(f, inside, to);
    return bilinear_eight(f, &r, dx, dy, inside, to);
}

/* Weights of four pixels: with s = 1 - t and p = t s these are -p s, s + p s, t + p t, -p t; the outer ones negated. */
typedef struct weights {
    __m256 of[4];
} weights;

INLINE weights weights_of(__m256 t)
{
    __m256 s = _mm256_sub_ps(_mm256_set1_ps(1.0f), t), p = _mm256_mul_ps(t, s);
    __m256 ps = _mm256_mul_ps(p, s), pt = _mm256_mul_ps(p, t);
    return (weights){{ps, _mm256_add_ps(s, ps), _mm256_add_ps(t, pt), pt}};
}

/*
 * Units of 2^-25 for weights: t is wrong by 1, s by 2, p by 2.25, ps by 3, s + ps by 6, pt by 2.75, t + pt by 4.75:
 * 16.5 in all. Units of 2^-17 for values: a row, of pixels to 255, by 16.5 for its weights and by 4 x 2 for its sums
 * (to 319). The column, of values to 319, by 20.7 for its weights, by 24.5 x 1.5 from the rows and by 4 x 2 for its
 * sums (to 479): 65.5 in all, or 33 x 2^-16.
 */
enum { CUBIC_MARGIN = 36 };

INLINE __m256 cubic_row(frame f, const strip *s, int channel, const weights *w)
{
    __m256 sum = _mm256_mul_ps(strip_value(f, s, 1, channel), w->of[1]);
    sum = _mm256_fmadd_ps(strip_value(f, s, 2, channel), w->of[2], sum);
    sum = _mm256_fnmadd_ps(strip_value(f, s, 0, channel), w->of[0], sum);
    return _mm256_fnmadd_ps(strip_value(f, s, 3, channel), w->of[3], sum);
}

INLINE unsigned bicubic_eight(frame f, const rows *r, __m256 dx, __m256 dy, unsigned inside, uint8_t *to)
{
    const weights along = weights_of(dx), down = weights_of(dy);
    __m256 sums[3] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    results v;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        strip s = load_strip(f, r, i, 4);
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++) {
            if (c > 0 && !f.three)
                continue;
            __m256 value = cubic_row(f, &s, c, &along);
            sums[c] = i == 0 || i == 3 ? _mm256_fnmadd_ps(value, down.of[i], sums[c])
                                       : _mm256_fmadd_ps(value, down.of[i], sums[c]);
        }
    }
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++)
        v.of[c] = result_of(sums[c], CUBIC_MARGIN);
    store_results(f, &v, inside, to);
    if (__builtin_expect(!any_doubtful(f, &v, CUBIC_MARGIN), 1))
        return 0;
    return doubtful(f, &v, CUBIC_MARGIN, known_bytes(f, r, 4, dx, dy)) & inside;
}

INLINE unsigned bicubic_within(frame f, const int32_t at[GROUP], __m256 dx, __m256 dy, uint8_t *to)
{
    rows r = rows_within(f, at, 4);
    return bicubic_eight(f, &r, dx, dy, 0xff, to);
}

/* Columns beyond an edge are left to the portable kernel. */
INLINE unsigned bicubic_group(frame f, eight x, eight y, uint8_t *to)
{
    rows r;
    int32_t at[4][GROUP];
    __m256 dx, dy;
    __m256i column = next(_mm256_sub_epi32(split_eight(x, &dx), f.x), -1);
    __m256i row = next(_mm256_sub_epi32(split_eight(y, &dy), f.y), -1);
    unsigned inside = inside_eight(f, x, y);
    __m256i nearest = clamp(column, next(f.right, -3));
    unsigned edge = inside & ~bits_of(_mm256_cmpeq_epi32(column, nearest));
    if (edge == inside || !find_rows_at_edge(f, nearest, row, inside, 4, at, &r))
        return leave(f, inside, to);
    return bicubic_eight(f, &r, dx, dy, inside, to) | edge;
}

/* Parts that are smaller than a window are left to the portable kernels. */
#define SAMPLE(name, kind, is_three, before, ...)                                                                      \
    AVX2 static void name(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to)        \
    {                                                                                                                  \
        const window w = {__VA_ARGS__};                                                                                \
        if (mr__warp_is_plain(from) && from->width >= w.columns && from->height >= w.rows)                             \
            run_groups(from, xs, ys, n, to,                                                                            \
                       (groups){kind##_within, kind##_group, mr__warp_##kind##_c, w, before, is_three});               \
        else                                                                                                           \
            mr__warp_##kind##_c(from, xs, ys, n, to);                                                                  \
    }

SAMPLE(nearest_1_avx2, nearest, false, -1, 1, 1, 1)
SAMPLE(nearest_3_avx2, nearest, true, -1, 2, 1, 4)
SAMPLE(bilinear_1_avx2, bilinear, false, 0, 2, 2, 2)
SAMPLE(bilinear_3_avx2, bilinear, true, 0, 3, 2, 8)
SAMPLE(bicubic_1_avx2, bicubic, false, 1, 4, 4, 4)
SAMPLE(bicubic_3_avx2, bicubic, true, 1, 6, 4, 16)

void mr__warp_samples_init_avx2(mr__warp_kernels *kernels)
{
    kernels->sample[MR__WARP_NEAREST][0] = nearest_1_avx2;
    kernels->sample[MR__WARP_NEAREST][1] = nearest_3_avx2;
    kernels->sample[MR__WARP_BILINEAR][0] = bilinear_1_avx2;
    kernels->sample[MR__WARP_BILINEAR][1] = bilinear_3_avx2;
    kernels->sample[MR__WARP_BICUBIC][0] = bicubic_1_avx2;
    kernels->sample[MR__WARP_BICUBIC][1] = bicubic_3_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
