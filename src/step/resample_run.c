// SPDX-License-Identifier: Apache-2.0
/*
 * One resize over its rows. Rows go through the passes as they are needed, so that what lies between the passes stays
 * in the cache: across first, it is a ring of as many rows as an output row is made of, and two; down first, two rows.
 */
#include "base/size.h"
#include "step/resample.h"

#include <string.h>

/* Working memory, and where it lies. */
typedef struct work {
    size_t ring_rows, ring_pitch; /* rows of the width of the result, with slack */
    size_t wide_pitch;            /* two rows of the width of the source */
    size_t ring, wide, scratch, rows, tags, row, end;
} work;

static size_t round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* The next part of so many bytes, 64-byte aligned. */
static bool take(work *w, size_t count, size_t nbytes, size_t *at)
{
    *at = round_up(w->end);
    return mr__size_mul_add(count, nbytes, *at, &w->end) && w->end <= PTRDIFF_MAX;
}

static bool lay_out(const mr__resampling *r, work *w)
{
    bool across_first = r->x != NULL && r->y != NULL && !r->down_first;
    size_t taps = r->y != NULL ? r->y->taps : 1;
    *w = (work){.ring_rows = across_first ? taps + 2 : 2};
    w->ring_pitch = round_up(mr_image_row_nbytes(&r->to) + MR__RESAMPLE_SLACK);
    w->wide_pitch = round_up(mr_image_row_nbytes(&r->from));
    return take(w, w->ring_rows, w->ring_pitch, &w->ring) && take(w, 2, w->wide_pitch, &w->wide) &&
           take(w, 1, r->x != NULL ? r->x->table_extra : 0, &w->scratch) &&
           take(w, taps, sizeof(const uint8_t *), &w->rows) && take(w, w->ring_rows, sizeof(uint32_t), &w->tags) &&
           take(w, 1, w->ring_pitch, &w->row);
}

bool mr__resampling_nbytes(const mr__resampling *r, size_t *nbytes)
{
    work w;
    if (!lay_out(r, &w))
        return false;
    *nbytes = w.end;
    return true;
}

static uint8_t *row_at(const mr_image *image, size_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

static void across(const mr__resampling *r, const uint8_t *const from[2], uint8_t *const to[2], uint8_t *scratch)
{
    mr__resample_across *kernel = r->from.depth == 16 ? r->kernels->across16 : r->kernels->across;
    kernel(r->x, r->from.channels, from, to, scratch);
}

static void down(const mr__resampling *r, uint32_t y, const uint8_t *const *rows, uint8_t *to, uint32_t width)
{
    mr__resample_down *kernel = r->from.depth == 16 ? r->kernels->down16 : r->kernels->down;
    kernel(r->y, y, rows, to, (size_t)width * r->from.channels);
}

/* Rows come from memory: what is asked for early is there when it is needed. */
static void prefetch_row(const mr__resampling *r, uint32_t y)
{
    if (y >= r->from.height)
        return;
    const uint8_t *row = row_at(&r->from, y);
    for (size_t i = 0, nbytes = mr_image_row_nbytes(&r->from); i < nbytes; i += 64)
        __builtin_prefetch(row + i);
}

/* Where row `y` of the result is to be made. */
static uint8_t *begin_row(const mr__resampling *r, const work *w, uint8_t *memory, uint32_t y)
{
    return r->take != NULL ? memory + w->row : row_at(&r->to, y);
}

static void end_row(const mr__resampling *r, uint32_t y, uint8_t *row)
{
    if (r->take != NULL)
        r->take(r->taker, y, row);
}

/* Source rows `y` and the next through across into the ring; the last one alone stands for both. */
static void fill_ring(const mr__resampling *r, const work *w, uint8_t *memory, uint32_t y)
{
    uint32_t *tags = (void *)(memory + w->tags);
    uint32_t next = y + 1 < r->from.height ? y + 1 : y;
    size_t slot = y % w->ring_rows, next_slot = next % w->ring_rows;
    const uint8_t *from[2] = {row_at(&r->from, y), row_at(&r->from, next)};
    uint8_t *to[2] = {memory + w->ring + slot * w->ring_pitch, memory + w->ring + next_slot * w->ring_pitch};
    prefetch_row(r, y + 2);
    across(r, from, to, memory + w->scratch);
    prefetch_row(r, y + 3);
    tags[slot] = y;
    tags[next_slot] = next;
}

/*
 * Of the rows that an output row needs, those that are not in the ring are made. The second row of a pair never takes
 * the place of one that this output row needs: the ring has two rows more than that.
 */
static void across_then_down(const mr__resampling *r, const work *w, uint8_t *memory)
{
    uint32_t *tags = (void *)(memory + w->tags);
    const uint8_t **rows = (void *)(memory + w->rows);
    for (size_t i = 0; i < w->ring_rows; i++)
        tags[i] = UINT32_MAX;
    for (uint32_t y = 0; y < r->to.height; y++) {
        uint32_t first = r->y->first[y];
        for (uint32_t i = 0; i < r->y->count[y]; i++) {
            size_t slot = (first + i) % w->ring_rows;
            if (tags[slot] != first + i)
                fill_ring(r, w, memory, first + i);
            rows[i] = memory + w->ring + slot * w->ring_pitch;
        }
        uint8_t *to = begin_row(r, w, memory, y);
        down(r, y, rows, to, r->to.width);
        end_row(r, y, to);
    }
}

/* One row of the result's height from the source, by down or as it is. */
static const uint8_t *wide_row(const mr__resampling *r, uint32_t y, const uint8_t **rows, uint8_t *to)
{
    if (r->y == NULL)
        return row_at(&r->from, y);
    for (uint32_t i = 0; i < r->y->count[y]; i++)
        rows[i] = row_at(&r->from, r->y->first[y] + i);
    down(r, y, rows, to, r->from.width);
    return to;
}

/* A row that lies in our own memory. */
static void give_row(const mr__resampling *r, uint32_t y, uint8_t *row)
{
    if (r->take != NULL)
        r->take(r->taker, y, row);
    else
        memcpy(row_at(&r->to, y), row, mr_image_row_nbytes(&r->to));
}

/* Two rows at a time; their ends are not ours to write beyond, so that the last step is a copy. */
static void down_then_across(const mr__resampling *r, const work *w, uint8_t *memory)
{
    const uint8_t **rows = (void *)(memory + w->rows);
    for (uint32_t y = 0; y < r->to.height; y += 2) {
        bool both = y + 1 < r->to.height;
        const uint8_t *from[2];
        uint8_t *to[2] = {memory + w->ring, memory + w->ring + (both ? w->ring_pitch : 0)};
        from[0] = wide_row(r, y, rows, memory + w->wide);
        from[1] = both ? wide_row(r, y + 1, rows, memory + w->wide + w->wide_pitch) : from[0];
        across(r, from, to, memory + w->scratch);
        give_row(r, y, to[0]);
        if (both)
            give_row(r, y + 1, to[1]);
    }
}

static void down_alone(const mr__resampling *r, const work *w, uint8_t *memory)
{
    const uint8_t **rows = (void *)(memory + w->rows);
    for (uint32_t y = 0; y < r->to.height; y++) {
        uint8_t *to = begin_row(r, w, memory, y);
        wide_row(r, y, rows, to);
        end_row(r, y, to);
    }
}

bool mr__resample_goes_down_first(uint32_t width, uint32_t height, uint32_t to_width, uint32_t to_height)
{
    int64_t fewer_rows = (int64_t)height - to_height, fewer_columns = (int64_t)width - to_width;
    return fewer_rows > 0 && fewer_rows > 2 * fewer_columns;
}

void mr__resampling_run(const mr__resampling *r, void *memory)
{
    work w;
    if (!lay_out(r, &w))
        return;
    if (r->x == NULL)
        down_alone(r, &w, memory);
    else if (r->y == NULL || r->down_first)
        down_then_across(r, &w, memory);
    else
        across_then_down(r, &w, memory);
}
