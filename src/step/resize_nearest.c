// SPDX-License-Identifier: Apache-2.0
#include "step/resize.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/*
 * Where a middle falls on the edge of two pixels, the rounding decides, and Pillow has two: of 8-bit images a middle is
 * reached by additions, of 16-bit ones by a product.
 */
typedef struct middles {
    double at, step;
    uint32_t last, index;
    bool product;
} middles;

static middles middles_of(uint32_t in, uint32_t out, uint32_t depth)
{
    double step = (double)in / out;
    return (middles){.at = step * 0.5, .step = step, .last = in - 1, .product = depth == 16};
}

static uint32_t next_middle(middles *m)
{
    double at = m->product ? m->step * (m->index + 0.5) : m->at;
    m->at += m->step;
    m->index++;
    return at < m->last ? (uint32_t)at : m->last;
}

/* Of the depth whose rounding reaches further, either way: who asks may not know yet. */
void mr__resize_nearest_reach(uint32_t in, uint32_t out, uint32_t index, uint32_t n, uint32_t *first, uint32_t *count)
{
    uint32_t from = in - 1, end = 0;
    for (uint32_t depth = 8; depth <= 16; depth += 8) {
        middles m = middles_of(in, out, depth);
        for (uint32_t i = 0; i < index + n; i++) {
            uint32_t at = next_middle(&m);
            if (i >= index && at < from)
                from = at;
            if (i >= index && at >= end)
                end = at + 1;
        }
    }
    *first = from;
    *count = end - from;
}

/* With a size that the compiler knows. */
INLINE void pick(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, size_t n)
{
    for (size_t x = 0; x < n; x++)
        memcpy(to + x * nbytes, from + columns[x] * nbytes, nbytes);
}

void mr__resize_nearest_row(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, size_t n)
{
    switch (nbytes) {
    case 1:
        pick(from, columns, 1, to, n);
        break;
    case 2:
        pick(from, columns, 2, to, n);
        break;
    case 3:
        pick(from, columns, 3, to, n);
        break;
    case 4:
        pick(from, columns, 4, to, n);
        break;
    case 6:
        pick(from, columns, 6, to, n);
        break;
    default:
        pick(from, columns, 8, to, n);
    }
}

void mr__resize_nearest_middles(uint32_t in, uint32_t out, uint32_t depth, uint32_t begin, uint32_t count, uint32_t *to)
{
    middles m = middles_of(in, out, depth);
    for (uint32_t i = 0; i < begin; i++)
        next_middle(&m);
    for (uint32_t i = 0; i < count; i++)
        to[i] = next_middle(&m);
}

void mr__resize_nearest(const mr_image *from, const mr_image *to, uint32_t *columns)
{
    middles y = middles_of(from->height, to->height, from->depth);
    mr__resize_nearest_middles(from->width, to->width, from->depth, 0, to->width, columns);
    for (uint32_t i = 0; i < to->height; i++) {
        const uint8_t *row = (const uint8_t *)from->pixels + (ptrdiff_t)next_middle(&y) * from->stride;
        uint8_t *out = (uint8_t *)to->pixels + (ptrdiff_t)i * to->stride;
        mr__resize_nearest_row(row, columns, mr_image_pixel_nbytes(to), out, to->width);
    }
}
