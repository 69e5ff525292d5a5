// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of 256 with AVX2, whose shuffle looks up 16. A value goes through all 16 sixteenths, eight and eight: it is 16
 * less each time, and counts as long as it is not below 0; the tables hold what changes from one to the next, so that
 * the sum (without carry) of those that count is what the last of them has. From 128 on values are below 0 for the
 * first eight at once, and those below 128 for the others, which are given v - 128.
 */
#if defined(__x86_64__)

#include "kernel/color.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { VECTOR = 32, PIXELS = 32 };

/* `work` for so many bytes at a time; it knows them as `at`, and where they go as `out`. What is left: by a copy. */
#define EACH(nbytes, some_nbytes, work)                                                                                \
    do {                                                                                                               \
        size_t left = (nbytes);                                                                                        \
        for (; left >= (some_nbytes); left -= (some_nbytes), from += (some_nbytes), to += (some_nbytes)) {             \
            const uint8_t *at = from;                                                                                  \
            uint8_t *out = to;                                                                                         \
            work;                                                                                                      \
        }                                                                                                              \
        if (left != 0) {                                                                                               \
            uint8_t some[some_nbytes] = {0};                                                                           \
            memcpy(some, from, left);                                                                                  \
            const uint8_t *at = some;                                                                                  \
            uint8_t *out = some;                                                                                       \
            work;                                                                                                      \
            memcpy(to, some, left);                                                                                    \
        }                                                                                                              \
    } while (0)

INLINE __m256i load(const uint8_t *at)
{
    return _mm256_loadu_si256((const void *)at);
}

INLINE void store(__m256i v, uint8_t *out)
{
    _mm256_storeu_si256((void *)out, v);
}

INLINE void keep_and_turn(const uint8_t *at, __m256i keep, __m256i turn, uint8_t *out)
{
    store(_mm256_xor_si256(_mm256_and_si256(load(at), keep), turn), out);
}

AVX2 static void bits_avx2(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const __m256i keep = _mm256_set1_epi8((char)tables->keep), turn = _mm256_set1_epi8((char)tables->turn);
    EACH(n, VECTOR, keep_and_turn(at, keep, turn, out));
}

INLINE void turn_above(const uint8_t *at, __m256i first, uint8_t *out)
{
    __m256i v = load(at), is_above = _mm256_cmpeq_epi8(_mm256_max_epu8(v, first), v);
    store(_mm256_xor_si256(v, is_above), out);
}

AVX2 static void above_avx2(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const __m256i first = _mm256_set1_epi8((char)tables->first);
    EACH(n, VECTOR, turn_above(at, first, out));
}

INLINE __m256i sixteen_of(const uint8_t *change)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)change));
}

/* Two vectors at a time: each sixteenth is loaded once for both. */
INLINE void look_up(const uint8_t change[256], __m256i v[2])
{
    const __m256i step = _mm256_set1_epi8(16), upper = _mm256_set1_epi8((char)0x80);
    __m256i low[2] = {v[0], v[1]};
    __m256i high[2] = {_mm256_xor_si256(v[0], upper), _mm256_xor_si256(v[1], upper)};
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; k++) {
        __m256i first = sixteen_of(change + 16 * k), second = sixteen_of(change + 128 + 16 * k);
        for (size_t i = 0; i < 2; i++) {
            sum[i] = _mm256_xor_si256(sum[i], _mm256_shuffle_epi8(first, low[i]));
            sum[i] = _mm256_xor_si256(sum[i], _mm256_shuffle_epi8(second, high[i]));
            low[i] = _mm256_subs_epi8(low[i], step);
            high[i] = _mm256_subs_epi8(high[i], step);
        }
    }
    v[0] = sum[0];
    v[1] = sum[1];
}

INLINE void look_up_64(const uint8_t change[256], const uint8_t *at, uint8_t *out)
{
    __m256i v[2] = {load(at), load(at + VECTOR)};
    look_up(change, v);
    store(v[0], out);
    store(v[1], out + VECTOR);
}

AVX2 static void one_avx2(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    EACH(n, 2 * VECTOR, look_up_64(tables->change[0], at, out));
}

/*
 * Vector j of three has channel (i + 2 j) mod 3 at byte i. So whichever channel a byte position is of in one of them,
 * the others have the other two there: three blends sort the three by channels, each byte where it was, and three more
 * put them back.
 */
typedef struct places {
    __m256i of_1, of_2; /* bytes i with i mod 3 of 1, and of 2 */
} places;

INLINE places find_places(void)
{
    uint8_t first[VECTOR], second[VECTOR];
    for (size_t i = 0; i < VECTOR; i++) {
        first[i] = i % 3 == 1 ? 0xff : 0;
        second[i] = i % 3 == 2 ? 0xff : 0;
    }
    return (places){load(first), load(second)};
}

/* The bytes of `a` in places 0, of `b` in places 1, of `c` in places 2. */
INLINE __m256i pick(const places *p, __m256i a, __m256i b, __m256i c)
{
    return _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, p->of_1), c, p->of_2);
}

INLINE void look_up_192(const mr__color_tables *tables, const places *p, const uint8_t *at, uint8_t *out)
{
    __m256i r[2], g[2], b[2];
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *half = at + i * 3 * VECTOR;
        __m256i first = load(half), second = load(half + VECTOR), third = load(half + 2 * VECTOR);
        r[i] = pick(p, first, second, third);
        g[i] = pick(p, third, first, second);
        b[i] = pick(p, second, third, first);
    }
    look_up(tables->change[0], r);
    look_up(tables->change[1], g);
    look_up(tables->change[2], b);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *half = out + i * 3 * VECTOR;
        store(pick(p, r[i], g[i], b[i]), half);
        store(pick(p, b[i], r[i], g[i]), half + VECTOR);
        store(pick(p, g[i], b[i], r[i]), half + 2 * VECTOR);
    }
}

AVX2 static void three_avx2(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    const places p = find_places();
    EACH(3 * n, 6 * VECTOR, look_up_192(tables, &p, at, out));
}

INLINE void widen(uint8_t range[2], uint8_t value)
{
    range[0] = value < range[0] ? value : range[0];
    range[1] = value > range[1] ? value : range[1];
}

/* Three vectors by turns are whole pixels, and a byte of each is always of the same channel. */
INLINE void find_range(const uint8_t *from, size_t nbytes, size_t channels, uint8_t (*range)[2])
{
    __m256i least[3], most[3];
    uint8_t found[2][3 * VECTOR];
    for (size_t j = 0; j < 3; j++) {
        least[j] = _mm256_set1_epi8((char)0xff);
        most[j] = _mm256_setzero_si256();
    }
    bool any = nbytes >= 3 * VECTOR;
    for (; nbytes >= 3 * VECTOR; nbytes -= 3 * VECTOR, from += 3 * VECTOR)
        for (size_t j = 0; j < 3; j++) {
            least[j] = _mm256_min_epu8(least[j], load(from + j * VECTOR));
            most[j] = _mm256_max_epu8(most[j], load(from + j * VECTOR));
        }
    for (size_t j = 0; j < 3; j++) {
        store(least[j], found[0] + j * VECTOR);
        store(most[j], found[1] + j * VECTOR);
    }
    for (size_t i = 0; any && i < 3 * VECTOR; i++) {
        widen(range[i % channels], found[0][i]);
        widen(range[i % channels], found[1][i]);
    }
    for (size_t i = 0; i < nbytes; i++)
        widen(range[i % channels], from[i]);
}

AVX2 static void range_1_avx2(const uint8_t *from, size_t n, uint8_t range[1][2])
{
    find_range(from, n, 1, range);
}

AVX2 static void range_3_avx2(const uint8_t *from, size_t n, uint8_t range[3][2])
{
    find_range(from, 3 * n, 3, range);
}

void mr__color_tables_kernels_init_avx2(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    kernels->bits = bits_avx2;
    kernels->above = above_avx2;
    kernels->one = one_avx2;
    kernels->three = three_avx2;
    kernels->range_1 = range_1_avx2;
    kernels->range_3 = range_3_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
