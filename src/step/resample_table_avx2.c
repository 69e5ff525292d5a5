// SPDX-License-Identifier: Apache-2.0
/* Makes the tables of resample_table_avx2.h; the kernels are in resample_avx2.c. */
#include "step/resample_table_avx2.h"

#if defined(__x86_64__)

#include <string.h>

enum { WINDOW = 16, GROUP = 4, UNIT = 8, PIXEL_TAPS = 4, GRAY_TAPS = 8 };

static size_t round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* A weight's parts; of none, behind the last one, 0. */
static void put_weight(const mr__resample_axis *axis, uint32_t output, uint32_t tap, int16_t *high, int16_t *low)
{
    int32_t w = tap < axis->count[output] ? axis->weights[output * axis->pitch + tap] : 0;
    *high = (int16_t)(w >> MR__RESAMPLE_LOW_BITS);
    *low = (int16_t)(w & ((1 << MR__RESAMPLE_LOW_BITS) - 1));
}

/* {high, high}, {low, low} of pairs of weights. */
static void put_pairs(const mr__resample_axis *axis, uint32_t output, uint32_t pairs, int16_t *to)
{
    for (uint32_t i = 0; i < pairs; i++, to += 4) {
        put_weight(axis, output, 2 * i, to, to + 2);
        put_weight(axis, output, 2 * i + 1, to + 1, to + 3);
    }
}

/* An output sample: its pixel and channel. Divisions are dear, so that it is stepped from one to the next. */
typedef struct sample {
    uint32_t x, c;
} sample;

static sample first_of_group(size_t group, uint32_t channels)
{
    size_t o = group * GROUP;
    return (sample){(uint32_t)(o / channels), (uint32_t)(o % channels)};
}

static sample next_of(sample s, uint32_t channels)
{
    return s.c + 1 < channels ? (sample){s.x, s.c + 1} : (sample){s.x + 1, 0};
}

/* The byte of the row where its sources begin. */
static size_t byte_of(const mr__resample_axis *axis, uint32_t channels, sample s)
{
    return (size_t)axis->first[s.x] * channels + s.c;
}

/* The first byte that four outputs begin at, and how far the last one is from it. Outputs behind the end are none. */
static size_t group_first(const mr__resample_axis *axis, uint32_t channels, size_t group, size_t *span)
{
    size_t least = SIZE_MAX, most = 0;
    sample s = first_of_group(group, channels);
    for (size_t i = 0; i < GROUP && s.x < axis->out; i++, s = next_of(s, channels)) {
        size_t at = byte_of(axis, channels, s);
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    *span = least == SIZE_MAX ? 0 : most - least;
    return least;
}

static mr__resample_way choose(const mr__resample_axis *axis, uint32_t channels, uint32_t pairs)
{
    size_t outputs = (size_t)axis->out * channels, most = 0;
    if ((size_t)axis->in * channels > INT32_MAX || outputs > INT32_MAX)
        return MR__WAY_C;
    for (size_t group = 0; group * GROUP < outputs; group++) {
        size_t span;
        group_first(axis, channels, group, &span);
        most = span > most ? span : most;
    }
    if (most + channels * (2 * pairs - 1) < WINDOW)
        return MR__WAY_WINDOW;
    if (most + channels < WINDOW)
        return MR__WAY_WINDOWS;
    return channels == 1 ? MR__WAY_GRAY : MR__WAY_PIXEL;
}

/* All but the tail and the pointers. */
static mr__resample_table measure(const mr__resample_axis *axis, uint32_t channels)
{
    mr__resample_table t = {.pairs = (axis->taps + 1) / 2, .units = axis->out};
    t.way = (mr__resample_way)axis->way;
    if (t.way == MR__WAY_WINDOW || t.way == MR__WAY_WINDOWS) {
        t.units = (uint32_t)(((size_t)axis->out * channels + UNIT - 1) / UNIT);
        t.record = 32 + (size_t)t.pairs * 64;
    } else if (t.way == MR__WAY_PIXEL) {
        t.record = (axis->taps + PIXEL_TAPS - 1) / PIXEL_TAPS * (size_t)16;
    } else if (t.way == MR__WAY_GRAY) {
        t.record = (axis->taps + GRAY_TAPS - 1) / GRAY_TAPS * (size_t)32;
    }
    return t;
}

static size_t offsets_nbytes(const mr__resample_table *t)
{
    bool windows = t->way == MR__WAY_WINDOW || t->way == MR__WAY_WINDOWS;
    return windows ? round_up(2 * sizeof(uint32_t) * (size_t)t->units) : 0;
}

static size_t down_record(const mr__resample_axis *axis)
{
    return (axis->taps + 1) / 2 * 4 * sizeof(int16_t);
}

size_t mr__resample_table_nbytes_avx2(mr__resample_axis *axis, uint32_t channels)
{
    if (channels == 0)
        return axis->out * down_record(axis);
    axis->way = choose(axis, channels, (axis->taps + 1) / 2);
    mr__resample_table t = measure(axis, channels);
    return round_up(sizeof t) + offsets_nbytes(&t) + t.units * t.record;
}

/* One of eight outputs: the bytes of its first pair in the window, as 16-bit numbers, and all its weights. */
static inline void put_output(const mr__resample_axis *axis, size_t pairs, uint32_t channels, sample s, size_t window,
                              uint8_t *record, size_t place)
{
    static const int32_t none[2] = {0, 0};
    bool is_none = s.x >= axis->out;
    const int32_t *w = is_none ? none : axis->weights + s.x * axis->pitch;
    uint32_t byte = is_none ? 0 : (uint32_t)(byte_of(axis, channels, s) - window);
    uint32_t mask = is_none ? 0x80808080u : 0x80008000u | byte | (byte + channels) << 16;
    uint8_t *to = record + 4 * place;
    memcpy(to, &mask, sizeof mask);
    for (size_t i = 0; i < pairs; i++, w += is_none ? 0 : 2) {
        uint32_t low_bits = (1u << MR__RESAMPLE_LOW_BITS) - 1u, first = (uint32_t)w[0], second = (uint32_t)w[1];
        uint32_t high =
            ((uint32_t)(w[0] >> MR__RESAMPLE_LOW_BITS) & 0xffffu) | (uint32_t)(w[1] >> MR__RESAMPLE_LOW_BITS) << 16;
        uint32_t low = (first & low_bits) | (second & low_bits) << 16;
        memcpy(to + 32 + 64 * i, &high, sizeof high);
        memcpy(to + 64 + 64 * i, &low, sizeof low);
    }
}

static void put_windows(const mr__resample_axis *axis, const mr__resample_table *t, uint32_t channels)
{
    for (size_t group = 0; group < 2 * (size_t)t->units; group++) {
        size_t span, first = group_first(axis, channels, group, &span);
        if (first == SIZE_MAX) /* no output is in it: anything will do that the other half reads as well */
            first = t->offsets[group - 1];
        t->offsets[group] = (uint32_t)first;
        sample s = first_of_group(group, channels);
        for (size_t i = 0; i < GROUP; i++, s = next_of(s, channels))
            put_output(axis, t->pairs, channels, s, first, t->records + group / 2 * t->record, group % 2 * GROUP + i);
    }
}

static void put_gray(const mr__resample_axis *axis, uint32_t x, int16_t *to)
{
    for (uint32_t i = 0; i < axis->taps; i += GRAY_TAPS, to += 2 * GRAY_TAPS)
        for (uint32_t s = 0; s < GRAY_TAPS; s++)
            put_weight(axis, x, i + s, to + s, to + GRAY_TAPS + s);
}

/* The bytes that a unit reads: from, and up to. */
static void reads_of(const mr__resample_axis *axis, const mr__resample_table *t, uint32_t channels, uint32_t unit,
                     size_t *first, size_t *end)
{
    if (t->offsets != NULL) {
        uint32_t a = t->offsets[2 * unit], b = t->offsets[2 * unit + 1];
        *first = a < b ? a : b;
        *end = (a < b ? b : a) + WINDOW;
        if (t->way == MR__WAY_WINDOWS)
            *end += 2 * (size_t)channels * (t->pairs - 1);
        return;
    }
    size_t taps = t->way == MR__WAY_GRAY ? GRAY_TAPS : PIXEL_TAPS, steps = (axis->count[unit] + taps - 1) / taps;
    *first = (size_t)axis->first[unit] * channels;
    *end = steps == 0 ? *first : *first + (steps - 1) * taps * channels + (t->way == MR__WAY_GRAY ? 8 : WINDOW);
}

static void find_tail(const mr__resample_axis *axis, mr__resample_table *t, uint32_t channels)
{
    size_t row = (size_t)axis->in * channels, most = row, first, end;
    for (t->safe = 0; t->safe < t->units; t->safe++) {
        reads_of(axis, t, channels, t->safe, &first, &end);
        if (end > row)
            break;
    }
    t->tail_first = row;
    for (uint32_t unit = t->safe; unit < t->units; unit++) {
        reads_of(axis, t, channels, unit, &first, &end);
        t->tail_first = first < t->tail_first ? first : t->tail_first;
        most = end > most ? end : most;
    }
    t->tail_nbytes = row - t->tail_first;
    t->tail_pitch = round_up(most - t->tail_first);
}

void mr__resample_table_init_avx2(mr__resample_axis *axis, uint32_t channels, void *memory)
{
    uint8_t *bytes = memory;
    axis->table = memory;
    if (channels == 0) {
        for (uint32_t y = 0; y < axis->out; y++)
            put_pairs(axis, y, (axis->taps + 1) / 2, (void *)(bytes + y * down_record(axis)));
        return;
    }
    mr__resample_table *t = memory;
    *t = measure(axis, channels);
    t->records = bytes + round_up(sizeof *t) + offsets_nbytes(t);
    if (offsets_nbytes(t) != 0)
        t->offsets = (void *)(bytes + round_up(sizeof *t));
    if (t->offsets != NULL)
        put_windows(axis, t, channels);
    for (uint32_t x = 0; x < axis->out; x++) {
        if (t->way == MR__WAY_PIXEL)
            put_pairs(axis, x, (uint32_t)(t->record / 8), (void *)(t->records + x * t->record));
        else if (t->way == MR__WAY_GRAY)
            put_gray(axis, x, (void *)(t->records + x * t->record));
    }
    if (t->way != MR__WAY_C)
        find_tail(axis, t, channels);
    axis->table_extra = 2 * t->tail_pitch;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
