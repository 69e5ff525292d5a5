// SPDX-License-Identifier: Apache-2.0
/*
 * AVX2: prefix prediction of 8-bit samples, and the base of lifting.
 *
 * What is added to W (nothing, or a slope from the row above) is known before the row is, so that a block is a sum from
 * its left end on. Sums go through neighbouring blocks as long
 * as none of them has selector 0, which has no W: masks say how far.
 */
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { STEP = MR__L3_GROUP_W, ROWS = 4, SIDE_MAX = 1024 /* of a tile */ };

/* What the selectors of a group say of its blocks, each a quarter of a vector. */
typedef struct choice {
    __m256i above;   /* is predicted by N: 0 */
    __m256i slope;   /* adds a slope: 2, 3 */
    __m256i gentle;  /* halves it: 3 */
    __m256i to_odd;  /* a shuffle: brings the last byte of an even block to an odd one that goes on with it */
    __m256i to_high; /* likewise from the lower lane to blocks of the upper one; the lower lane must be 0 */
    __m256i whole;   /* nothing but sums from the left end of the group on */
} choice;

INLINE choice read_choice(uint8_t selectors)
{
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi8(-1);
    __m256i s = _mm256_srlv_epi64(_mm256_set1_epi64x(selectors), _mm256_setr_epi64x(0, 2, 4, 6));
    s = _mm256_and_si256(s, _mm256_set1_epi64x(3));
    choice c;
    c.above = _mm256_cmpeq_epi64(s, zero);
    c.slope = _mm256_cmpgt_epi64(s, _mm256_set1_epi64x(1));
    c.gentle = _mm256_cmpeq_epi64(s, _mm256_set1_epi64x(3));
    c.to_odd = _mm256_or_si256(c.above, _mm256_setr_epi64x(-1, 0x0707070707070707, -1, 0x0707070707070707));
    __m256i broken = _mm256_or_si256(c.above, _mm256_permute4x64_epi64(c.above, 0xa0)); // within a lane
    c.to_high = _mm256_or_si256(broken, _mm256_set1_epi8(15));
    // In the upper lane blocks also depend on the whole lower lane, which is what its second block says.
    broken = _mm256_or_si256(broken, _mm256_permute4x64_epi64(broken, 0x54));
    c.whole = _mm256_xor_si256(broken, ones);
    return c;
}

/* Each byte's left neighbour; that of the first is the last of `before`. */
INLINE __m256i shift_in(__m256i before, __m256i x)
{
    return _mm256_alignr_epi8(x, _mm256_permute2x128_si256(before, x, 0x21), 15);
}

INLINE __m256i repeat_first(__m256i x)
{
    return _mm256_broadcastb_epi8(_mm256_castsi256_si128(x));
}

INLINE __m256i repeat_last(__m256i x)
{
    return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(x, 0xff), _mm256_set1_epi8(7));
}

/* What is added to the residuals before they are summed up. */
INLINE __m256i find_addend(__m256i north, __m256i corner, const choice *c)
{
    const __m256i half = _mm256_set1_epi8((char)0x80);
    __m256i d = _mm256_sub_epi8(north, corner);
    // Bytes cannot be shifted, only averaged: with s = d + 128, s - avg(s, 128) is half of d, rounded down.
    __m256i s = _mm256_xor_si256(d, half);
    __m256i gentle = _mm256_sub_epi8(s, _mm256_avg_epu8(s, half));
    d = _mm256_and_si256(_mm256_blendv_epi8(d, gentle, c->gentle), c->slope);
    return _mm256_blendv_epi8(d, north, c->above);
}

/* Sums from the left over the blocks of a group that are sums, but for what comes in from the left. */
INLINE __m256i sum_up(__m256i x, const choice *c)
{
    __m256i t = _mm256_add_epi8(x, _mm256_slli_epi64(x, 8));
    t = _mm256_add_epi8(t, _mm256_slli_epi64(t, 16));
    t = _mm256_add_epi8(t, _mm256_slli_epi64(t, 32));
    t = _mm256_blendv_epi8(t, x, c->above);
    t = _mm256_add_epi8(t, _mm256_shuffle_epi8(t, c->to_odd));
    __m256i lower = _mm256_permute2x128_si256(t, t, 0x08); // to the upper lane; 0 in its place
    return _mm256_add_epi8(t, _mm256_shuffle_epi8(lower, c->to_high));
}

/* One row of a group: under `north`, with the groups left of both. */
INLINE __m256i predict(const mr__l3_prefix *p, const choice *c, size_t x, unsigned y, __m256i north,
                       __m256i north_before, __m256i before)
{
    // In the first column the sample above stands for both neighbours.
    __m256i first = repeat_first(north), west = x != 0 ? repeat_last(before) : first;
    __m256i corner = shift_in(x != 0 ? north_before : first, north);
    __m256i r = _mm256_loadu_si256((const void *)(p->r + y * p->pitch + x));
    __m256i t = sum_up(_mm256_add_epi8(r, find_addend(north, corner, c)), c);
    t = _mm256_add_epi8(t, _mm256_and_si256(west, c->whole));
    _mm256_storeu_si256((void *)((uint8_t *)p->to[y] + x), t);
    return t;
}

/* The last two groups of each row, with the row above them in front. */
typedef struct state {
    __m256i last[ROWS + 1], before[ROWS + 1];
} state;

INLINE void read_above(const mr__l3_prefix *p, state *s, size_t x)
{
    s->before[0] = s->last[0];
    if (p->above != NULL)
        s->last[0] = _mm256_loadu_si256((const void *)((const uint8_t *)p->above + x));
}

/*
 * Each row is a group behind the one above it. So what is done in one turn of the loop depends on the turns before
 * only, and the processor can do all rows at once.
 */
INLINE void prefix_rows(const mr__l3_prefix *p, unsigned rows)
{
    choice choices[SIDE_MAX / STEP];
    size_t groups = (p->w + STEP - 1u) / STEP;
    state s;
    for (unsigned i = 0; i <= ROWS; i++)
        s.last[i] = s.before[i] = _mm256_set1_epi8((char)0x80);
    for (size_t i = 0; i < groups; i++)
        choices[i] = read_choice(p->s[i]);
    for (size_t turn = 0; turn < groups + rows - 1; turn++) {
#pragma GCC unroll 4
        for (unsigned y = ROWS; y-- > 0;) {
            size_t i = turn - y;
            if (y >= rows || turn < y || i >= groups)
                continue;
            if (y == 0)
                read_above(p, &s, i * STEP);
            __m256i t = predict(p, &choices[i], i * STEP, y, s.last[y], s.before[y], s.last[y + 1]);
            s.before[y + 1] = s.last[y + 1];
            s.last[y + 1] = t;
        }
    }
    for (unsigned y = 0; y < ROWS && y < rows; y++) {
        uint8_t *to = p->to[y];
        to[p->w] = to[p->w - 1];
    }
}

/* restrict: for all a compiler knows, a store of bytes could otherwise change *prefix. */
TARGET static void prefix_u8_avx2(const mr__l3_prefix *restrict prefix)
{
    if (prefix->rows == ROWS)
        prefix_rows(prefix, ROWS);
    else
        prefix_rows(prefix, prefix->rows);
}

/* The first row is one sum throughout: selector 1 of prefix, under a row of halves. */
INLINE void sum_row(const uint8_t *r, unsigned w, uint8_t *to)
{
    choice c = read_choice(0x55);
    __m256i west = _mm256_set1_epi8((char)0x80);
    for (size_t x = 0; x < w; x += STEP) {
        __m256i t = sum_up(_mm256_loadu_si256((const void *)(r + x)), &c);
        t = _mm256_add_epi8(t, west);
        _mm256_storeu_si256((void *)(to + x), t);
        west = repeat_last(t);
    }
}

TARGET static void base_u8_avx2(const void *above, const uint8_t *r, const uint8_t *h, unsigned w, void *to)
{
    const uint8_t *north = above;
    uint8_t *t = to;
    (void)h;
    if (north == NULL)
        sum_row(r, w, t);
    for (size_t x = 0; north != NULL && x < w; x += STEP) {
        __m256i n = _mm256_loadu_si256((const void *)(north + x));
        _mm256_storeu_si256((void *)(t + x), _mm256_add_epi8(n, _mm256_loadu_si256((const void *)(r + x))));
    }
    t[w] = t[w - 1];
}

void mr__l3_prefix_init_avx2(mr__l3_pixel_kernels *table)
{
    table->prefix[0] = prefix_u8_avx2;
    table->base[0] = base_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
