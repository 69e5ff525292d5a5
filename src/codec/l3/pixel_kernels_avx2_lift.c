// SPDX-License-Identifier: Apache-2.0
/*
 * AVX2: lifting of 8-bit samples, 32 columns of D, B and C at a time and all rows of a call in them, so that D stays in
 * registers: what C needs of it from the columns before is shifted in.
 */
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { STEP = MR__L3_GROUP_W, ROWS = 4 };

INLINE __m256i load(const void *from, size_t x)
{
    return _mm256_loadu_si256((const void *)((const uint8_t *)from + x));
}

/* Which columns of a group are predicted by H alone, which by V alone. */
typedef struct choice {
    __m256i h, v;
} choice;

INLINE choice read_choice(uint8_t selectors)
{
    __m256i s = _mm256_srlv_epi64(_mm256_set1_epi64x(selectors), _mm256_setr_epi64x(0, 2, 4, 6));
    s = _mm256_and_si256(s, _mm256_set1_epi64x(3));
    choice c = {_mm256_cmpeq_epi64(s, _mm256_set1_epi64x(1)), _mm256_cmpeq_epi64(s, _mm256_set1_epi64x(2))};
    return c;
}

INLINE __m256i predict(__m256i h, __m256i v, choice c)
{
    return _mm256_avg_epu8(_mm256_blendv_epi8(h, v, c.v), _mm256_blendv_epi8(v, h, c.h));
}

INLINE void store_interleaved(void *to, size_t x, __m256i even, __m256i odd)
{
    uint8_t *t = (uint8_t *)to + 2 * x;
    __m256i low = _mm256_unpacklo_epi8(even, odd), high = _mm256_unpackhi_epi8(even, odd);
    _mm256_storeu_si256((void *)t, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((void *)(t + 32), _mm256_permute2x128_si256(low, high, 0x31));
}

/* Each byte's left neighbour; that of the first is the last of `before`. */
INLINE __m256i shift_in(__m256i before, __m256i x)
{
    return _mm256_alignr_epi8(x, _mm256_permute2x128_si256(before, x, 0x21), 15);
}

/* What goes from row to row, and from columns to columns. */
typedef struct state {
    __m256i a, a_next; /* of the row at hand, and its right neighbours */
    __m256i up;        /* D of the row above */
    __m256i before[ROWS];
} state;

INLINE __m256i make_d(const mr__l3_lift *l, const state *s, __m256i below, __m256i below_next, size_t x, unsigned y)
{
    __m256i falling = _mm256_avg_epu8(s->a, below_next), rising = _mm256_avg_epu8(s->a_next, below);
    return _mm256_add_epi8(_mm256_avg_epu8(falling, rising), load(l->rd + y * l->pitch, x));
}

INLINE void make_b(const mr__l3_lift *l, const state *s, __m256i down, choice c, size_t x, unsigned y)
{
    __m256i h = _mm256_avg_epu8(s->a, s->a_next), v = _mm256_avg_epu8(s->up, down);
    __m256i b = _mm256_add_epi8(predict(h, v, c), load(l->rb + y * l->pitch, x));
    store_interleaved(l->to[2 * y], x, s->a, b);
}

INLINE void make_c(const mr__l3_lift *l, const state *s, __m256i below, __m256i d, choice c, size_t x, unsigned y)
{
    // Left of the first column there is nothing: it stands for its neighbour itself.
    __m256i before = x != 0 ? s->before[y] : _mm256_broadcastb_epi8(_mm256_castsi256_si128(d));
    __m256i h = _mm256_avg_epu8(shift_in(before, d), d), v = _mm256_avg_epu8(s->a, below);
    store_interleaved(l->to[2 * y + 1], x, _mm256_add_epi8(predict(h, v, c), load(l->rc + y * l->pitch, x)), d);
}

/* 32 columns; D has rows, here or above. */
INLINE void lift_columns(const mr__l3_lift *l, state *s, size_t x, unsigned rows_b, unsigned rows_d)
{
    choice cb = read_choice(l->sb[x / STEP]), cc = read_choice(rows_d != 0 ? l->sc[x / STEP] : 0);
    s->a = load(l->a[0], x);
    s->a_next = load(l->a[0], x + 1);
    bool is_top = l->d[0] == NULL;
    if (!is_top)
        s->up = load(l->d[0], x);
#pragma GCC unroll 4
    for (unsigned y = 0; y < ROWS && y < rows_b; y++) {
        if (y >= rows_d) {
            make_b(l, s, s->up, cb, x, y);
            break;
        }
        __m256i below = load(l->a[y + 1], x), below_next = load(l->a[y + 1], x + 1);
        __m256i d = make_d(l, s, below, below_next, x, y);
        if (y == 0 && is_top)
            s->up = d;
        make_b(l, s, d, cb, x, y);
        make_c(l, s, below, d, cc, x, y);
        s->before[y] = s->up = d;
        s->a = below;
        s->a_next = below_next;
    }
    if (rows_d != 0)
        _mm256_storeu_si256((void *)((uint8_t *)l->d[rows_d] + x), s->up);
}

INLINE void lift_rows(const mr__l3_lift *l, unsigned rows_b, unsigned rows_d)
{
    state s = {.up = _mm256_setzero_si256()};
    for (size_t x = 0; x < l->wo; x += STEP)
        lift_columns(l, &s, x, rows_b, rows_d);
}

INLINE uint8_t average(uint8_t a, uint8_t b)
{
    return (uint8_t)((a + b + 1) >> 1);
}

/* Where D has no rows there is only one prediction for B. */
INLINE void lift_one_row(const mr__l3_lift *l)
{
    const uint8_t *a = l->a[0];
    uint8_t *to = l->to[0];
    for (unsigned x = 0; x < l->wo; x++) {
        to[2 * x] = a[x];
        to[2 * x + 1] = (uint8_t)(average(a[x], a[x + 1]) + l->rb[x]);
    }
}

/* The last column of an odd width: no D stands right of it. */
INLINE uint8_t last_c(const mr__l3_lift *l, unsigned y)
{
    unsigned x = l->we - 1, selector = l->sc[x / STEP] >> 2 * (x % STEP / MR__L3_BLOCK_W) & 3;
    uint8_t v = average(((const uint8_t *)l->a[y])[x], ((const uint8_t *)l->a[y + 1])[x]);
    uint8_t h = l->wo != 0 ? ((const uint8_t *)l->to[2 * y + 1])[2 * x - 1] : v;
    uint8_t prediction = selector == 1 ? h : selector == 2 ? v : average(h, v);
    return (uint8_t)(prediction + l->rc[y * l->pitch + x]);
}

INLINE void finish_rows(const mr__l3_lift *l)
{
    unsigned w = l->we + l->wo;
    for (unsigned y = 0; y < l->rows_b; y++) {
        uint8_t *even = l->to[2 * y], *odd = l->to[2 * y + 1];
        if (l->we != l->wo)
            even[w - 1] = ((const uint8_t *)l->a[y])[l->we - 1];
        even[w] = even[w - 1];
        if (y >= l->rows_d)
            break;
        if (l->we != l->wo)
            odd[w - 1] = last_c(l, y);
        odd[w] = odd[w - 1];
    }
}

/* restrict: for all a compiler knows, a store of bytes could otherwise change *lift. */
TARGET static void lift_u8_avx2(const mr__l3_lift *restrict lift)
{
    if (lift->rows_d == 0 && lift->d[0] == NULL)
        lift_one_row(lift);
    else if (lift->rows_d == ROWS)
        lift_rows(lift, ROWS, ROWS);
    else
        lift_rows(lift, lift->rows_b, lift->rows_d);
    finish_rows(lift);
}

void mr__l3_lift_init_avx2(mr__l3_pixel_kernels *table)
{
    table->lift[0] = lift_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
