// SPDX-License-Identifier: Apache-2.0
/* What was decoded at a half, a quarter or an eighth of its size: the mean of boxes (mr_image_reduce). */
#ifndef MR_KERNEL_LANE_REDUCE_H
#define MR_KERNEL_LANE_REDUCE_H

#include "kernel/lane/pass.h"
#include "kernel/reduce_pixel.h"

typedef struct mr__order_reduce {
    mr__sheet from, to; /* `to` has a pixel for each box, those that are cut off too */
    uint32_t n;
} mr__order_reduce;

/* A lane a sample. */
#define MR__REDUCE_GROUPS(sheet) MR__CANVAS_GROUPS((sheet).width *(sheet).channels, (uint64_t)(sheet).height)

MR_KERNEL(reduce)
{
    MR_ALONE;
    const mr__order_reduce order = *MR_ORDER(mr__order_reduce), *o = &order;
    uint32_t channels = o->to.channels, samples = o->to.width * channels, groups = MR__ROW_GROUPS(samples);
    uint32_t y = MR_ITEM / groups, i = MR_ITEM % groups * MR_LANES + lane.id;
    if (i >= samples)
        return;
    uint32_t left = i / channels * o->n, top = y * o->n, sum = 0;
    uint32_t width = mr__box_side(o->from.width, left, o->n), height = mr__box_side(o->from.height, top, o->n);
    MR_GLOBAL const uint8_t *row = arena + o->from.at + top * o->from.stride + left * channels + i % channels;
    for (uint32_t j = 0; j < height; j++, row += o->from.stride)
        for (uint32_t k = 0; k < width; k++)
            sum += row[k * channels];
    arena[o->to.at + y * o->to.stride + i] = (uint8_t)mr__box_mean_8(sum, width * height);
}

#endif
