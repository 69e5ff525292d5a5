// SPDX-License-Identifier: Apache-2.0
/* Resampling with AVX2; resample_table_avx2.h says how weights lie, and why. */
#include "step/resample_table_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

/* Sums of both parts of the weights, in 8 lanes. */
typedef struct sums {
    __m256i high, low;
} sums;

INLINE sums sums_begin(void)
{
    return (sums){_mm256_setzero_si256(), _mm256_set1_epi32(1 << (MR__RESAMPLE_BITS - 1))};
}

INLINE sums sums_add(sums s, __m256i samples, __m256i high, __m256i low)
{
    return (sums){_mm256_add_epi32(s.high, _mm256_madd_epi16(samples, high)),
                  _mm256_add_epi32(s.low, _mm256_madd_epi16(samples, low))};
}

INLINE __m256i sums_join(sums s)
{
    return _mm256_add_epi32(_mm256_slli_epi32(s.high, MR__RESAMPLE_LOW_BITS), s.low);
}

/* As whole numbers; those beyond 0 and 255 are clipped by the packs that follow. */
INLINE __m256i sums_end(sums s)
{
    return _mm256_srai_epi32(sums_join(s), MR__RESAMPLE_BITS);
}

INLINE __m256i load(const void *from)
{
    return _mm256_load_si256(from);
}

INLINE __m256i load_two(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)a)),
                                   _mm_loadu_si128((const void *)b), 1);
}

/* Some units of two rows. */
typedef struct span {
    const mr__resample_axis *axis;
    const mr__resample_table *table;
    uint32_t begin, end;
    const uint8_t *from[2]; /* at byte `base` of the rows */
    size_t base;
    uint8_t *to[2];
} span;

/* 8 samples of each of two rows. */
INLINE void store_eights(__m256i a, __m256i b, uint8_t *to_a, uint8_t *to_b)
{
    __m256i words = _mm256_packs_epi32(a, b), bytes = _mm256_packus_epi16(words, words);
    __m256i in_order = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    __m128i both = _mm256_castsi256_si128(in_order);
    _mm_storel_epi64((void *)to_a, both);
    _mm_storeh_pd((void *)to_b, _mm_castsi128_pd(both));
}

INLINE void windows(const span *s, size_t pairs, bool one, size_t channels)
{
    const mr__resample_table *t = s->table;
    const __m256i step = _mm256_set1_epi8((char)(2 * channels));
    const uint8_t *record = t->records + s->begin * t->record, *row_a = s->from[0], *row_b = s->from[1];
    uint8_t *to_a = s->to[0], *to_b = s->to[1];
    for (size_t unit = s->begin; unit < s->end; unit++, record += 32 + 64 * pairs) {
        size_t left = t->offsets[2 * unit] - s->base, right = t->offsets[2 * unit + 1] - s->base;
        __m256i mask = load(record), a = load_two(row_a + left, row_a + right);
        __m256i b = load_two(row_b + left, row_b + right);
        sums of_a = sums_begin(), of_b = sums_begin();
        for (size_t i = 0; i < pairs; i++) {
            __m256i high = load(record + 32 + 64 * i), low = load(record + 64 + 64 * i);
            of_a = sums_add(of_a, _mm256_shuffle_epi8(a, mask), high, low);
            of_b = sums_add(of_b, _mm256_shuffle_epi8(b, mask), high, low);
            if (one) {
                mask = _mm256_add_epi8(mask, step);
            } else if (i + 1 < pairs) {
                left += 2 * channels;
                right += 2 * channels;
                a = load_two(row_a + left, row_a + right);
                b = load_two(row_b + left, row_b + right);
            }
        }
        store_eights(sums_end(of_a), sums_end(of_b), to_a + 8 * unit, to_b + 8 * unit);
    }
}

/* Loops whose length the compiler knows are twice as fast. */
INLINE void windows_of(const span *s, bool one, size_t channels)
{
    switch (s->table->pairs) {
    case 1:
        windows(s, 1, true, channels);
        break;
    case 2:
        windows(s, 2, one, channels);
        break;
    case 3:
        windows(s, 3, one, channels);
        break;
    default:
        windows(s, s->table->pairs, one, channels);
    }
}

AVX2 static void windows_u8_avx2(const span *s, uint32_t channels)
{
    bool one = s->table->way == MR__WAY_WINDOW;
    if (channels == 3 && one)
        windows_of(s, true, 3);
    else if (channels == 3)
        windows_of(s, false, 3);
    else if (one)
        windows_of(s, true, channels);
    else
        windows_of(s, false, channels);
}

INLINE __m256i broadcast(const uint8_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof pair);
    return _mm256_set1_epi32(pair);
}

/* The first samples of each 128 bits, up to 4, to either row: those behind the pixel are written over by the next. */
INLINE void store_pixels(__m256i pixels, uint8_t *to_a, uint8_t *to_b)
{
    __m256i words = _mm256_packs_epi32(pixels, pixels), bytes = _mm256_packus_epi16(words, words);
    int a = _mm_cvtsi128_si32(_mm256_castsi256_si128(bytes)), b = _mm_cvtsi128_si32(_mm256_extracti128_si256(bytes, 1));
    memcpy(to_a, &a, 4);
    memcpy(to_b, &b, 4);
}

INLINE void pixels(const span *s, size_t channels, __m256i first, __m256i second)
{
    const mr__resample_table *t = s->table;
    for (size_t x = s->begin; x < s->end; x++) {
        size_t at = s->axis->first[x] * channels - s->base, steps = (s->axis->count[x] + 3) / 4;
        const uint8_t *record = t->records + x * t->record, *a = s->from[0] + at, *b = s->from[1] + at;
        sums of = sums_begin();
        for (size_t i = 0; i < steps; i++, record += 16, a += 4 * channels, b += 4 * channels) {
            __m256i taps = load_two(a, b);
            of = sums_add(of, _mm256_shuffle_epi8(taps, first), broadcast(record), broadcast(record + 4));
            of = sums_add(of, _mm256_shuffle_epi8(taps, second), broadcast(record + 8), broadcast(record + 12));
        }
        store_pixels(sums_end(of), s->to[0] + x * channels, s->to[1] + x * channels);
    }
}

/* A mask that brings two taps of each channel together, as 16-bit numbers, of pixels from `tap` on. */
AVX2 static __m256i pair_mask(size_t channels, size_t tap)
{
    uint8_t mask[16];
    memset(mask, 0x80, sizeof mask);
    for (size_t c = 0; c < channels; c++) {
        mask[4 * c] = (uint8_t)(tap * channels + c);
        mask[4 * c + 2] = (uint8_t)((tap + 1) * channels + c);
    }
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)mask));
}

AVX2 static void pixels_u8_avx2(const span *s, uint32_t channels)
{
    __m256i first = pair_mask(channels, 0), second = pair_mask(channels, 2);
    if (channels == 3)
        pixels(s, 3, first, second);
    else
        pixels(s, channels, first, second);
}

INLINE __m256i widen_eight(const uint8_t *a, const uint8_t *b)
{
    __m128i both = _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)a), _mm_loadl_epi64((const void *)b));
    return _mm256_cvtepu8_epi16(both);
}

INLINE __m256i both_of(const uint8_t *from)
{
    return _mm256_broadcastsi128_si256(_mm_load_si128((const void *)from));
}

AVX2 static void gray_u8_avx2(const span *s, uint32_t channels)
{
    const mr__resample_table *t = s->table;
    (void)channels;
    for (size_t x = s->begin; x < s->end; x++) {
        size_t at = s->axis->first[x] - s->base, steps = (s->axis->count[x] + 7) / 8;
        const uint8_t *record = t->records + x * t->record;
        sums of = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (size_t i = 0; i < steps; i++, record += 32)
            of = sums_add(of, widen_eight(s->from[0] + at + 8 * i, s->from[1] + at + 8 * i), both_of(record),
                          both_of(record + 16));
        __m256i sum = sums_join(of);
        sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
        sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
        sum = _mm256_add_epi32(sum, _mm256_set1_epi32(1 << (MR__RESAMPLE_BITS - 1)));
        store_pixels(_mm256_srai_epi32(sum, MR__RESAMPLE_BITS), s->to[0] + x, s->to[1] + x);
    }
}

/* The end of a row, with zeros behind it. */
static const uint8_t *copy_tail(const mr__resample_table *t, const uint8_t *row, uint8_t *to)
{
    memcpy(to, row + t->tail_first, t->tail_nbytes);
    memset(to + t->tail_nbytes, 0, t->tail_pitch - t->tail_nbytes);
    return to;
}

static void across_u8_avx2(const mr__resample_axis *axis, uint32_t channels, const uint8_t *const from[2],
                           uint8_t *const to[2], uint8_t *scratch)
{
    const mr__resample_table *t = axis->table;
    if (t->way == MR__WAY_C) {
        mr__resample_across_u8_c(axis, channels, from, to, scratch);
        return;
    }
    void (*run)(const span *s, uint32_t channels) = t->way == MR__WAY_PIXEL  ? pixels_u8_avx2
                                                    : t->way == MR__WAY_GRAY ? gray_u8_avx2
                                                                             : windows_u8_avx2;
    span s = {axis, t, 0, t->safe, {from[0], from[1]}, 0, {to[0], to[1]}};
    if (t->safe != 0)
        run(&s, channels);
    if (t->safe == t->units)
        return;
    s.begin = t->safe;
    s.end = t->units;
    s.from[0] = copy_tail(t, from[0], scratch);
    s.from[1] = from[1] == from[0] ? s.from[0] : copy_tail(t, from[1], scratch + t->tail_pitch);
    s.base = t->tail_first;
    run(&s, channels);
}

/* 32 samples of an output row. */
INLINE __m256i down_32(const uint8_t *const *rows, const uint8_t *weights, size_t count, size_t pairs, size_t at)
{
    const __m256i zero = _mm256_setzero_si256();
    sums s0 = sums_begin(), s1 = s0, s2 = s0, s3 = s0;
    for (size_t i = 0; i < pairs; i++) {
        const uint8_t *next = rows[2 * i + 1 < count ? 2 * i + 1 : 2 * i]; /* the last one is without weight */
        __m256i a = _mm256_loadu_si256((const void *)(rows[2 * i] + at)),
                b = _mm256_loadu_si256((const void *)(next + at));
        __m256i high = broadcast(weights + 8 * i), low = broadcast(weights + 8 * i + 4);
        __m256i lower = _mm256_unpacklo_epi8(a, b), upper = _mm256_unpackhi_epi8(a, b);
        s0 = sums_add(s0, _mm256_unpacklo_epi8(lower, zero), high, low);
        s1 = sums_add(s1, _mm256_unpackhi_epi8(lower, zero), high, low);
        s2 = sums_add(s2, _mm256_unpacklo_epi8(upper, zero), high, low);
        s3 = sums_add(s3, _mm256_unpackhi_epi8(upper, zero), high, low);
    }
    return _mm256_packus_epi16(_mm256_packs_epi32(sums_end(s0), sums_end(s1)),
                               _mm256_packs_epi32(sums_end(s2), sums_end(s3)));
}

/* The last 32 may be made twice. */
INLINE void down(const uint8_t *const *rows, const uint8_t *weights, size_t count, size_t pairs, uint8_t *to, size_t n)
{
    for (size_t at = 0; at < n; at += 32) {
        at = n - at < 32 ? n - 32 : at;
        _mm256_storeu_si256((void *)(to + at), down_32(rows, weights, count, pairs, at));
    }
}

AVX2 static void down_u8_avx2(const mr__resample_axis *axis, uint32_t y, const uint8_t *const *rows, uint8_t *to,
                              size_t n)
{
    size_t count = axis->count[y], record = (axis->taps + 1) / 2 * (size_t)8;
    const uint8_t *weights = (const uint8_t *)axis->table + y * record;
    if (n < 32)
        mr__resample_down_u8_c(axis, y, rows, to, n);
    else if (count == 2)
        down(rows, weights, 2, 1, to, n);
    else if (count == 3)
        down(rows, weights, 3, 2, to, n);
    else if (count == 4)
        down(rows, weights, 4, 2, to, n);
    else
        down(rows, weights, count, (count + 1) / 2, to, n);
}

void mr__resample_init_avx2(mr__resample *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    table->across = across_u8_avx2;
    table->down = down_u8_avx2;
    mr__resample_init_alpha_avx2(table);
    table->table_nbytes = mr__resample_table_nbytes_avx2;
    table->table_init = mr__resample_table_init_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
