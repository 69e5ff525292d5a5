// SPDX-License-Identifier: Apache-2.0
#include "base/size.h"

#include <millrace/image.h>

static uint32_t sample_at(const mr_image *image, uint32_t x, uint32_t y, uint32_t c)
{
    const uint8_t *row = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
    size_t i = (size_t)x * image->channels + c;
    return image->depth == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

/* The mean of the block at (x, y), at most n x n, rounded half up. */
static uint32_t block_mean(const mr_image *image, uint32_t x, uint32_t y, uint32_t n, uint32_t c)
{
    uint32_t right = image->width - x < n ? image->width : x + n;
    uint32_t below = image->height - y < n ? image->height : y + n;
    uint32_t sum = 0, count = (right - x) * (below - y);
    for (uint32_t j = y; j < below; j++)
        for (uint32_t i = x; i < right; i++)
            sum += sample_at(image, i, j, c);
    return (sum + count / 2) / count;
}

int mr_image_reduce(const mr_image *from, uint32_t n, const mr_image *to)
{
    bool fits = (n == 2 || n == 4 || n == 8) && mr_image_is_valid(from) && mr_image_is_valid(to) &&
                from->channels == to->channels && from->depth == to->depth &&
                to->width == mr__ceil_div(from->width, n) && to->height == mr__ceil_div(from->height, n);
    if (!fits)
        return MR_EARGUMENT;
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *row = (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
        for (uint32_t x = 0; x < to->width; x++)
            for (uint32_t c = 0; c < to->channels; c++) {
                uint32_t mean = block_mean(from, x * n, y * n, n, c);
                size_t i = (size_t)x * to->channels + c;
                if (to->depth == 8)
                    row[i] = (uint8_t)mean;
                else
                    ((uint16_t *)(void *)row)[i] = (uint16_t)mean;
            }
    }
    return 0;
}
