// SPDX-License-Identifier: Apache-2.0
/*
 * A pass of a chain (step/chain.h) on a device: resample along one side, then the other, place, finish, border. The
 * last resampling, the placing and the finishing are one kernel, which writes into the batch; so between the decoded
 * pixels and the finished numbers one sheet is written and read.
 *
 *     resample    along one side, from a sheet to a sheet
 *     place       each pixel of a canvas: from the window, its border, or the fill; finished by table
 *
 * Weights are made on the host (step/resample.h), and all arithmetic is of whole numbers.
 */
#ifndef MR_KERNEL_LANE_PASS_H
#define MR_KERNEL_LANE_PASS_H

#include "kernel/lane/lane.h"

enum { MR__ALONG_NOTHING, MR__ALONG_X, MR__ALONG_Y };

/* Of one side: for each output where its source samples begin, how many they are, and their weights (2^-22). */
typedef struct mr__axis_at {
    uint32_t along; /* MR__ALONG_... */
    uint32_t first, count, weights;
    uint32_t pitch; /* weights of an output */
} mr__axis_at;

typedef struct mr__order_resample {
    mr__sheet from, to;
    mr__axis_at axis;
    uint32_t alpha; /* the source's colors are multiplied by its last channel first */
} mr__order_resample;

typedef struct mr__order_place {
    uint64_t to; /* in the batch, or in the arena */
    uint64_t to_plane;
    uint32_t to_row, to_pixel;
    uint32_t in_arena;
    uint32_t number_nbytes; /* of a finished number: 1, 2, 4 */
    uint32_t table;         /* 256 of them for each channel; 0: samples as they are */
    mr__sheet from;
    mr__axis_at axis;
    uint32_t columns, rows; /* of the source, for each of the window's: nearest; 0: as they are */
    uint32_t alpha;         /* colors are divided by the last channel */
    uint32_t canvas_width, canvas_height;
    uint32_t x, y, width, height; /* the window; no width: all is fill */
    uint32_t flip_x, flip_y;
    uint32_t border; /* mr_border */
    uint32_t fill;   /* a byte a channel, the first lowest */
} mr__order_place;

/* Groups that a canvas of this size takes: each has a part of a row. */
#define MR__ROW_GROUPS(width)            (((width) + 63u) / 64u)
#define MR__CANVAS_GROUPS(width, height) (MR__ROW_GROUPS(width) * (height))

MR_INLINE uint32_t mr__premultiplied(uint32_t color, uint32_t alpha)
{
    uint32_t product = color * alpha + 128u;
    return ((product >> 8) + product) >> 8;
}

MR_INLINE uint32_t mr__unpremultiplied(uint32_t color, uint32_t alpha)
{
    uint32_t value = alpha == 0 || alpha == 255 ? color : 255u * color / alpha;
    return value > 255 ? 255 : value;
}

MR_INLINE uint32_t mr__resampled(int32_t sum)
{
    int32_t value = sum >> 22;
    return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Channel c of what output `index` of the axis is made of; the other coordinate is `across`. */
MR_INLINE uint32_t mr__axis_sample(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__axis_at *axis,
                                   MR_GLOBAL const mr__sheet *from, uint32_t index, uint32_t across, uint32_t c,
                                   uint32_t alpha)
{
    uint32_t first = ((MR_GLOBAL const uint32_t *)(arena + axis->first))[index];
    uint32_t count = ((MR_GLOBAL const uint32_t *)(arena + axis->count))[index];
    MR_GLOBAL const int32_t *weights = (MR_GLOBAL const int32_t *)(arena + axis->weights) + index * axis->pitch;
    bool x = axis->along == MR__ALONG_X;
    uint32_t step = x ? from->channels : from->stride;
    MR_GLOBAL const uint8_t *at =
        arena + from->at + (x ? across * from->stride : across * from->channels) + first * step;
    int32_t sum = 1 << 21;
    for (uint32_t i = 0; i < count; i++, at += step) {
        uint32_t value = at[c];
        if (alpha != 0 && c + 1 < from->channels)
            value = mr__premultiplied(value, at[from->channels - 1]);
        sum += weights[i] * (int32_t)value;
    }
    return mr__resampled(sum);
}

MR_KERNEL(resample)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_resample *o = MR_ORDER(mr__order_resample);
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= o->to.width)
        return;
    bool along_x = o->axis.along == MR__ALONG_X;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * o->to.channels;
    for (uint32_t c = 0; c < o->to.channels; c++)
        to[c] = (uint8_t)mr__axis_sample(arena, &o->axis, &o->from, along_x ? x : y, along_x ? y : x, c, o->alpha);
}

/* The place in a row of n that stands for place i: as numpy's pad has it. */
MR_INLINE uint32_t mr__stand_in(uint32_t border, int32_t i, uint32_t n)
{
    int32_t side = (int32_t)n, turn, at;
    if (border == 1 || n == 1)
        return i < 0 ? 0 : i < side ? (uint32_t)i : n - 1;
    turn = border == 2 ? 2 * (side - 1) : 2 * side;
    at = (i % turn + turn) % turn;
    if (at >= side)
        at = border == 2 ? turn - at : turn - 1 - at;
    return (uint32_t)at;
}

/* Four samples of the window's pixel x, y. */
MR_INLINE void mr__window_pixel(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_place *o, uint32_t x,
                                uint32_t y, uint32_t pixel[4])
{
    uint32_t channels = o->from.channels;
    if (o->axis.along != MR__ALONG_NOTHING) {
        bool along_x = o->axis.along == MR__ALONG_X;
        for (uint32_t c = 0; c < channels; c++)
            pixel[c] = mr__axis_sample(arena, &o->axis, &o->from, along_x ? x : y, along_x ? y : x, c, o->alpha >> 1);
    } else {
        uint32_t column = o->columns != 0 ? ((MR_GLOBAL const uint32_t *)(arena + o->columns))[x] : x;
        uint32_t row = o->rows != 0 ? ((MR_GLOBAL const uint32_t *)(arena + o->rows))[y] : y;
        MR_GLOBAL const uint8_t *at = arena + o->from.at + row * o->from.stride + column * channels;
        for (uint32_t c = 0; c < channels; c++)
            pixel[c] = at[c];
    }
    if ((o->alpha & 1) != 0)
        for (uint32_t c = 0; c + 1 < channels; c++)
            pixel[c] = mr__unpremultiplied(pixel[c], pixel[channels - 1]);
}

MR_INLINE void mr__put_number(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_place *o, MR_GLOBAL uint8_t *to,
                              uint32_t c, uint32_t value)
{
    if (o->table == 0)
        *to = (uint8_t)value;
    else if (o->number_nbytes == 4)
        *(MR_GLOBAL uint32_t *)to = ((MR_GLOBAL const uint32_t *)(arena + o->table))[c * 256 + value];
    else
        *(MR_GLOBAL uint16_t *)to = ((MR_GLOBAL const uint16_t *)(arena + o->table))[c * 256 + value];
}

MR_KERNEL(place)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_place *o = MR_ORDER(mr__order_place);
    uint32_t groups = MR__ROW_GROUPS(o->canvas_width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    uint32_t pixel[4] = {0, 0, 0, 0};
    if (x >= o->canvas_width)
        return;
    int32_t at_x = (int32_t)x - (int32_t)o->x, at_y = (int32_t)y - (int32_t)o->y;
    bool inside = at_x >= 0 && at_y >= 0 && at_x < (int32_t)o->width && at_y < (int32_t)o->height;
    if (inside || (o->border != 0 && o->width != 0)) {
        uint32_t from_x = inside ? (uint32_t)at_x : mr__stand_in(o->border, at_x, o->width);
        uint32_t from_y = inside ? (uint32_t)at_y : mr__stand_in(o->border, at_y, o->height);
        from_x = o->flip_x != 0 ? o->width - 1 - from_x : from_x;
        from_y = o->flip_y != 0 ? o->height - 1 - from_y : from_y;
        mr__window_pixel(arena, o, from_x, from_y, pixel);
    } else {
        for (uint32_t c = 0; c < 4; c++)
            pixel[c] = o->fill >> 8 * c & 255;
    }
    MR_GLOBAL uint8_t *to =
        (o->in_arena != 0 ? arena : out) + o->to + (uint64_t)y * o->to_row + (uint64_t)x * o->to_pixel;
    for (uint32_t c = 0; c < o->from.channels; c++, to += o->to_plane)
        mr__put_number(arena, o, to, c, pixel[c]);
}

#endif
