// SPDX-License-Identifier: Apache-2.0
/* Channels and depth, one row at a time. */
#include "kernel/channels_pixel.h"

#include <millrace/image.h>

static uint32_t load(const void *row, size_t index, uint32_t depth)
{
    return depth == 8 ? ((const uint8_t *)row)[index] : ((const uint16_t *)row)[index];
}

static void store(void *row, size_t index, uint32_t depth, uint32_t value)
{
    if (depth == 8)
        ((uint8_t *)row)[index] = (uint8_t)value;
    else
        ((uint16_t *)row)[index] = (uint16_t)value;
}

static uint32_t change_depth(uint32_t value, uint32_t from, uint32_t to)
{
    if (from == to)
        return value;
    return to == 16 ? value * 257 : value >> 8;
}

typedef struct shape {
    uint32_t channels;
    uint32_t depth;
} shape;

/* Inlined with constant shapes below, so that each becomes a loop of its own. */
static inline __attribute__((always_inline)) void convert_row(const void *from, shape f, void *to, shape t,
                                                              uint32_t count)
{
    uint32_t opaque = f.depth == 8 ? 255 : 65535;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)i * f.channels;
        uint32_t v[4] = {load(from, at, f.depth), 0, 0, 0};
        if (f.channels >= 2)
            v[1] = load(from, at + 1, f.depth);
        if (f.channels >= 3)
            v[2] = load(from, at + 2, f.depth);
        if (f.channels == 4)
            v[3] = load(from, at + 3, f.depth);
        mr__channels_change(v, f.channels, t.channels, opaque);
        for (uint32_t c = 0; c < t.channels; c++)
            store(to, (size_t)i * t.channels + c, t.depth, change_depth(v[c], f.depth, t.depth));
    }
}

typedef void row_function(const void *from, shape f, void *to, shape t, uint32_t count);

static void gray_to_rgb8(const void *from, shape f, void *to, shape t, uint32_t count)
{
    (void)f, (void)t;
    convert_row(from, (shape){1, 8}, to, (shape){3, 8}, count);
}

static void rgba_to_rgb8(const void *from, shape f, void *to, shape t, uint32_t count)
{
    (void)f, (void)t;
    convert_row(from, (shape){4, 8}, to, (shape){3, 8}, count);
}

static void rgb_to_gray8(const void *from, shape f, void *to, shape t, uint32_t count)
{
    (void)f, (void)t;
    convert_row(from, (shape){3, 8}, to, (shape){1, 8}, count);
}

static void any_to_any(const void *from, shape f, void *to, shape t, uint32_t count)
{
    convert_row(from, f, to, t, count);
}

/* The pairs that training sets hold get a loop of their own; the rest share one. */
static row_function *choose(shape f, shape t)
{
    if (f.depth == 8 && t.depth == 8) {
        if (f.channels == 1 && t.channels == 3)
            return gray_to_rgb8;
        if (f.channels == 4 && t.channels == 3)
            return rgba_to_rgb8;
        if (f.channels == 3 && t.channels == 1)
            return rgb_to_gray8;
    }
    return any_to_any;
}

int mr_image_convert(const mr_image *from, const mr_image *to)
{
    bool fits =
        mr_image_is_valid(from) && mr_image_is_valid(to) && from->width == to->width && from->height == to->height;
    if (!fits)
        return MR_EARGUMENT;
    if (from->channels == to->channels && from->depth == to->depth)
        return mr_image_copy(from, to);
    shape f = {from->channels, from->depth}, t = {to->channels, to->depth};
    row_function *row = choose(f, t);
    for (uint32_t y = 0; y < from->height; y++)
        row((const uint8_t *)from->pixels + (ptrdiff_t)y * from->stride, f,
            (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride, t, from->width);
    return 0;
}
