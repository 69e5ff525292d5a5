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

/* With a size that the compiler knows. */
INLINE void pick(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, size_t n)
{
    for (size_t x = 0; x < n; x++)
        memcpy(to + x * nbytes, from + columns[x] * nbytes, nbytes);
}

static void pick_row(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, size_t n)
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

void mr__resize_nearest(const mr_image *from, const mr_image *to, uint32_t *columns)
{
    middles x = middles_of(from->width, to->width, from->depth);
    middles y = middles_of(from->height, to->height, from->depth);
    for (uint32_t i = 0; i < to->width; i++)
        columns[i] = next_middle(&x);
    for (uint32_t i = 0; i < to->height; i++) {
        const uint8_t *row = (const uint8_t *)from->pixels + (ptrdiff_t)next_middle(&y) * from->stride;
        pick_row(row, columns, mr_image_pixel_nbytes(to), (uint8_t *)to->pixels + (ptrdiff_t)i * to->stride, to->width);
    }
}
