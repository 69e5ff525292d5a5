// SPDX-License-Identifier: Apache-2.0
/* Interlaced images: seven small images, each on a grid of its own. */
#include "codec/png/png.h"

#include "base/size.h"

#include <string.h>

/* First column and row of each pass, and the distance to the next. */
static const struct grid {
    uint32_t x, y, dx, dy;
} grids[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

static uint32_t count_on_grid(uint32_t size, uint32_t first, uint32_t distance)
{
    return size > first ? mr__ceil_div(size - first, distance) : 0;
}

bool mr__png_passes(const mr__png *png, mr__pass pass[7], size_t *count, size_t *raw_nbytes)
{
    uint32_t bits = mr__png_samples(png) * png->bit_depth;
    *count = png->interlaced ? 7 : 1;
    *raw_nbytes = 0;
    for (size_t i = 0; i < *count; i++) {
        const struct grid *g = &grids[i];
        pass[i] = (mr__pass){.width = png->width, .height = png->height, .pixel = bits < 8 ? 1 : bits / 8};
        if (png->interlaced) {
            pass[i].width = count_on_grid(png->width, g->x, g->dx);
            pass[i].height = pass[i].width != 0 ? count_on_grid(png->height, g->y, g->dy) : 0;
        }
        pass[i].pitch = (size_t)mr__png_row_nbytes(png, pass[i].width) + 1;
        if (!mr__size_mul_add(pass[i].pitch, pass[i].height, *raw_nbytes, raw_nbytes))
            return false;
    }
    return true;
}

static void scatter(uint8_t *to, const uint8_t *from, size_t pixel, size_t step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + i * step, from + i * pixel, pixel);
}

/* The pixels of one undone row that lie in the region, into their places. */
static void place_row(const struct grid *g, const uint8_t *row, uint32_t width, uint32_t y, mr__expand *expand,
                      mr_rect region, const mr_image *to)
{
    if (y < region.y || y - region.y >= region.height)
        return;
    uint32_t first = count_on_grid(region.x, g->x, g->dx);
    uint32_t end = count_on_grid(region.x + region.width, g->x, g->dx);
    if (end > width)
        end = width;
    if (first >= end)
        return;
    uint8_t *made = expand->made;
    size_t pixel = mr_image_pixel_nbytes(to);
    mr__expand_row(expand, made, row, first, end - first);
    uint32_t x = g->x + first * g->dx - region.x;
    scatter((uint8_t *)to->pixels + (ptrdiff_t)(y - region.y) * to->stride + x * pixel, made, pixel, g->dx * pixel,
            end - first);
}

void mr__png_decode_adam7(const mr__png_state *state, const mr__pass pass[7], const mr__ring *ring, mr__expand *expand,
                          mr_rect region, const mr_image *to)
{
    for (size_t i = 0; i < 7; i++) {
        const uint8_t *above = ring->zeros;
        for (uint32_t y = 0; y < pass[i].height; y++) {
            uint8_t *const target = ring->rows + y % 2 * ring->pitch;
            mr__pass_undo(&pass[i], &state->unfilter, y, 1, &target, above, pass[i].pitch - 1);
            place_row(&grids[i], target, pass[i].width, grids[i].y + y * grids[i].dy, expand, region, to);
            above = target;
        }
    }
}
