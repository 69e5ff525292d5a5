// SPDX-License-Identifier: Apache-2.0
/*
 * Filters: sharpness, and blurs, first down into floats, then across (kernel/filter.h says in which order sums are
 * made; weights are the host's). Sheets are parts of images: what stands at an image's edge, and what is mirrored
 * there, goes by its places in the whole.
 */
#ifndef MR_KERNEL_LANE_FILTER_H
#define MR_KERNEL_LANE_FILTER_H

#include "kernel/filter_pixel.h"
#include "kernel/lane/lane.h"
#include "kernel/lane/pass.h"

typedef struct mr__order_sharpen {
    mr__sheet from, to;
    uint32_t from_x, from_y, to_x, to_y; /* of their first pixels in the image */
    uint32_t width, height;              /* of the image */
    float factor;
} mr__order_sharpen;

/* Of blur_down and blur_across; `sums` are floats between them, of `columns` columns from number `first` on. */
typedef struct mr__order_blur {
    mr__sheet from, to;
    uint32_t from_x, from_y, to_x, to_y;
    uint32_t width, height;
    uint32_t sums, first, columns;
    uint32_t down, down_radius, across, across_radius; /* weights, floats */
} mr__order_blur;

MR_INLINE uint8_t mr__sharp_sample(MR_GLOBAL const uint8_t *at, uint32_t stride, uint32_t step, float factor)
{
    int32_t sum = 0;
    MR_GLOBAL const uint8_t *row = at - stride - step;
    for (uint32_t i = 0; i < 3; i++, row += stride)
        sum += row[0] + row[step] + row[2 * step];
    return mr__sharpened(mr__smooth(sum, *at), *at, factor);
}

MR_KERNEL(sharpen)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_sharpen *o = MR_ORDER(mr__order_sharpen);
    uint32_t groups = MR__ROW_GROUPS(o->to.width), j = MR_ITEM / groups, i = MR_ITEM % groups * MR_LANES + lane.id;
    uint32_t x = o->to_x + i, y = o->to_y + j, channels = o->to.channels;
    if (i >= o->to.width)
        return;
    bool edge = x == 0 || y == 0 || x + 1 == o->width || y + 1 == o->height;
    MR_GLOBAL const uint8_t *at = arena + o->from.at + (y - o->from_y) * o->from.stride + (x - o->from_x) * channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + j * o->to.stride + i * channels;
    for (uint32_t c = 0; c < channels; c++)
        to[c] = edge ? at[c] : mr__sharp_sample(at + c, o->from.stride, channels, o->factor);
}

/* A lane has a sample of the rows that are blurred, in the columns that the sums have. */
MR_KERNEL(blur_down)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_blur *o = MR_ORDER(mr__order_blur);
    MR_GLOBAL const float *weight = (MR_GLOBAL const float *)(arena + o->down);
    uint32_t n = o->columns * o->from.channels, groups = MR__ROW_GROUPS(n);
    uint32_t row = MR_ITEM / groups, i = MR_ITEM % groups * MR_LANES + lane.id;
    if (i >= n)
        return;
    int32_t y = (int32_t)(o->to_y + row), height = (int32_t)o->height;
    uint32_t stride = o->from.stride;
    MR_GLOBAL const uint8_t *from = arena + o->from.at + (o->first - o->from_x) * o->from.channels + i;
    float sum = weight[0] * (float)from[((uint32_t)y - o->from_y) * stride];
    for (uint32_t j = 1; j <= o->down_radius; j++) {
        uint32_t above = (uint32_t)mr__mirrored(y - (int32_t)j, height) - o->from_y;
        uint32_t below = (uint32_t)mr__mirrored(y + (int32_t)j, height) - o->from_y;
        sum += weight[j] * (float)(from[above * stride] + from[below * stride]);
    }
    ((MR_GLOBAL float *)(arena + o->sums))[row * n + i] = sum;
}

MR_KERNEL(blur_across)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_blur *o = MR_ORDER(mr__order_blur);
    MR_GLOBAL const float *weight = (MR_GLOBAL const float *)(arena + o->across);
    uint32_t channels = o->to.channels, n = o->to.width * channels, groups = MR__ROW_GROUPS(n);
    uint32_t row = MR_ITEM / groups, i = MR_ITEM % groups * MR_LANES + lane.id;
    if (i >= n)
        return;
    int32_t x = (int32_t)(o->to_x + i / channels), width = (int32_t)o->width;
    MR_GLOBAL const float *sums =
        (MR_GLOBAL const float *)(arena + o->sums) + row * o->columns * channels + i % channels;
    float sum = weight[0] * sums[((uint32_t)x - o->first) * channels];
    for (uint32_t j = 1; j <= o->across_radius; j++) {
        uint32_t left = (uint32_t)mr__mirrored(x - (int32_t)j, width) - o->first;
        uint32_t right = (uint32_t)mr__mirrored(x + (int32_t)j, width) - o->first;
        sum += weight[j] * (sums[left * channels] + sums[right * channels]);
    }
    arena[o->to.at + row * o->to.stride + i] = mr__rounded_u8(sum);
}

#endif
