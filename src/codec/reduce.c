// SPDX-License-Identifier: Apache-2.0
#include "base/size.h"
#include "kernel/reduce_pixel.h"

#include <millrace/image.h>

static inline __attribute__((always_inline)) uint32_t sample_at(const void *row, size_t index, uint32_t depth)
{
    return depth == 8 ? ((const uint8_t *)row)[index] : ((const uint16_t *)row)[index];
}

static const uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* One row of results, from `height` rows at `y`. Inlined with a constant depth. */
static inline __attribute__((always_inline)) void reduce_row(const mr_image *from, uint32_t y, uint32_t height,
                                                             uint32_t n, const mr_image *to, void *out, uint32_t depth)
{
    uint32_t channels = from->channels;
    for (uint32_t x = 0; x < to->width; x++) {
        uint32_t left = x * n, width = mr__box_side(from->width, left, n);
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t sum = 0; // at most 64 x 65535
            for (uint32_t j = 0; j < height; j++)
                for (uint32_t i = 0; i < width; i++)
                    sum += sample_at(row_of(from, y + j), (size_t)(left + i) * channels + c, depth);
            if (depth == 8)
                ((uint8_t *)out)[(size_t)x * channels + c] = (uint8_t)mr__box_mean_8(sum, width * height);
            else
                ((uint16_t *)out)[(size_t)x * channels + c] = (uint16_t)mr__box_mean_16(sum, width * height);
        }
    }
}

int mr_image_reduce(const mr_image *from, uint32_t n, const mr_image *to)
{
    bool fits = (n == 2 || n == 4 || n == 8) && mr_image_is_valid(from) && mr_image_is_valid(to) &&
                from->channels == to->channels && from->depth == to->depth &&
                to->width == mr__ceil_div(from->width, n) && to->height == mr__ceil_div(from->height, n);
    if (!fits)
        return MR_EARGUMENT;
    for (uint32_t y = 0; y < to->height; y++) {
        uint32_t top = y * n, height = mr__box_side(from->height, top, n);
        void *out = (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
        if (from->depth == 8)
            reduce_row(from, top, height, n, to, out, 8);
        else
            reduce_row(from, top, height, n, to, out, 16);
    }
    return 0;
}
