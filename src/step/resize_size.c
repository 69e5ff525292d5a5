// SPDX-License-Identifier: Apache-2.0
#include <millrace/resize.h>

#define SIDE_MAX 0x7fffffffu

static bool is_size(uint32_t width, uint32_t height, uint32_t n, const uint32_t *out_width, const uint32_t *out_height)
{
    return width >= 1 && width <= SIDE_MAX && height >= 1 && height <= SIDE_MAX && n >= 1 && out_width != NULL &&
           out_height != NULL;
}

int mr_resize_max_side(uint32_t width, uint32_t height, uint32_t n, uint32_t *out_width, uint32_t *out_height)
{
    if (!is_size(width, height, n, out_width, out_height))
        return MR_EARGUMENT;
    uint32_t most = width > height ? width : height;
    n = n < most ? n : most;
    uint64_t new_width = ((uint64_t)width * n * 2 + most) / most / 2;
    uint64_t new_height = ((uint64_t)height * n * 2 + most) / most / 2;
    *out_width = new_width == 0 ? 1 : (uint32_t)new_width;
    *out_height = new_height == 0 ? 1 : (uint32_t)new_height;
    return 0;
}

int mr_resize_short_side(uint32_t width, uint32_t height, uint32_t n, uint32_t *out_width, uint32_t *out_height)
{
    if (!is_size(width, height, n, out_width, out_height))
        return MR_EARGUMENT;
    uint32_t least = width < height ? width : height;
    n = n < least ? n : least;
    *out_width = (uint32_t)((uint64_t)width * n / least);
    *out_height = (uint32_t)((uint64_t)height * n / least);
    return 0;
}
