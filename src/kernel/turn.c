// SPDX-License-Identifier: Apache-2.0
#include "kernel/turn.h"

#include <stdbool.h>
#include <string.h>

/* Pixels of a block's side: its rows and those that it is written to stay in the nearest cache. */
enum { BLOCK = 16 };

mr_rect mr__turn_need(uint32_t quarters, uint32_t width, uint32_t height, mr_rect part)
{
    if (quarters == 1)
        return (mr_rect){width - part.y - part.height, part.x, part.height, part.width};
    if (quarters == 2)
        return (mr_rect){width - part.x - part.width, height - part.y - part.height, part.width, part.height};
    return (mr_rect){part.y, height - part.x - part.width, part.height, part.width};
}

/*
 * From one place a step after the other, to pixels in a row. Of three bytes four are copied, which is one instruction:
 * the next pixel comes over the fourth. `last`: behind one of these pixels nothing may be read.
 */
static void collect(const uint8_t *from, ptrdiff_t step, uint32_t n, uint32_t channels, uint8_t *to, bool last)
{
    uint32_t i = 0;
    if (channels == 1) {
        for (; i < n; i++, from += step)
            to[i] = *from;
        return;
    }
    for (; !last && i + 1 < n; i++, from += step)
        memcpy(to + 3 * (size_t)i, from, 4);
    for (; i < n; i++, from += step)
        memcpy(to + 3 * (size_t)i, from, 3);
}

void mr__turn(uint32_t quarters, const uint8_t *from, ptrdiff_t stride, uint32_t width, uint32_t height,
              uint32_t channels, uint8_t *to, ptrdiff_t to_stride)
{
    ptrdiff_t pixel = (ptrdiff_t)channels, right = (ptrdiff_t)(width - 1) * pixel;
    ptrdiff_t bottom = (ptrdiff_t)(height - 1) * stride;
    if (quarters == 2) {
        for (uint32_t y = 0; y < height; y++)
            collect(from + bottom - (ptrdiff_t)y * stride + right, -pixel, width, channels,
                    to + (ptrdiff_t)y * to_stride, y == 0 || stride < 0);
        return;
    }
    /* A row of the result is a column: the last one from the top first, or the first one from the bottom. */
    const uint8_t *first = quarters == 1 ? from + right : from + bottom;
    ptrdiff_t next = quarters == 1 ? -pixel : pixel, step = quarters == 1 ? stride : -stride;
    uint32_t last = quarters == 1 ? 0 : width - 1;
    for (uint32_t y = 0; y < width; y += BLOCK)
        for (uint32_t x = 0; x < height; x += BLOCK) {
            uint32_t rows = width - y < BLOCK ? width - y : BLOCK, n = height - x < BLOCK ? height - x : BLOCK;
            for (uint32_t i = y; i < y + rows; i++)
                collect(first + (ptrdiff_t)i * next + (ptrdiff_t)x * step, step, n, channels,
                        to + (ptrdiff_t)i * to_stride + (ptrdiff_t)x * pixel, i == last);
        }
}
