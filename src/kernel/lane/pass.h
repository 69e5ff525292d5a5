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

#include "kernel/eight.h"
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

/* Groups that a sheet or canvas of this size takes: each has a part of a row, a pixel a lane. */
#define MR__ROW_GROUPS(width)            (((width) + 63u) / 64u)
#define MR__CANVAS_GROUPS(width, height) (MR__ROW_GROUPS(width) * (height))

/*
 * Resampling along x takes four pixels a lane that stand below each other, and share their weights. Placing takes eight
 * side by side, whose samples are neighbours in memory; lanes go on from row to row.
 */
#define MR__RESAMPLE_ROWS                  4u
#define MR__RESAMPLE_GROUPS(width, height) (MR__ROW_GROUPS(width) * (((height) + 3u) / 4u))
#define MR__PLACE_PIXELS                   8u
#define MR__PLACE_SPANS(width)             (((width) + 7u) / 8u)
#define MR__PLACE_GROUPS(width, height)    ((MR__PLACE_SPANS(width) * (height) + 63u) / 64u)

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

/* What an output of an axis is made of. */
typedef struct mr__taps {
    uint32_t first, count;
    MR_GLOBAL const int32_t *weights;
} mr__taps;

MR_INLINE mr__taps mr__taps_of(MR_GLOBAL const uint8_t *arena, const mr__axis_at *axis, uint32_t index)
{
    mr__taps taps;
    taps.first = ((MR_GLOBAL const uint32_t *)(arena + axis->first))[index];
    taps.count = ((MR_GLOBAL const uint32_t *)(arena + axis->count))[index];
    taps.weights = (MR_GLOBAL const int32_t *)(arena + axis->weights) + index * axis->pitch;
    return taps;
}

/* One pixel, whatever its channels: taps from `at` on, a step apart. */
MR_INLINE void mr__tap_pixel(mr__taps taps, MR_GLOBAL const uint8_t *at, uint32_t step, uint32_t channels, bool alpha,
                             uint32_t pixel[4])
{
    int32_t sum[4] = {1 << 21, 1 << 21, 1 << 21, 1 << 21};
    for (uint32_t i = 0; i < taps.count; i++, at += step)
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t value = at[c];
            if (alpha && c + 1 < channels)
                value = mr__premultiplied(value, at[channels - 1]);
            sum[c] += taps.weights[i] * (int32_t)value;
        }
    for (uint32_t c = 0; c < channels; c++)
        pixel[c] = mr__resampled(sum[c]);
}

typedef struct mr__rgb_sum {
    int32_t r, g, b;
} mr__rgb_sum;

MR_INLINE mr__rgb_sum mr__rgb_add(mr__rgb_sum sum, int32_t weight, MR_GLOBAL const uint8_t *at)
{
    sum.r += weight * (int32_t)at[0];
    sum.g += weight * (int32_t)at[1];
    sum.b += weight * (int32_t)at[2];
    return sum;
}

MR_INLINE void mr__rgb_put(mr__rgb_sum sum, MR_GLOBAL uint8_t *to)
{
    to[0] = (uint8_t)mr__resampled(sum.r);
    to[1] = (uint8_t)mr__resampled(sum.g);
    to[2] = (uint8_t)mr__resampled(sum.b);
}

/* Four rows of one column of RGB at once. */
MR_INLINE void mr__tap_rows(mr__taps taps, MR_GLOBAL const uint8_t *from, uint32_t stride, MR_GLOBAL uint8_t *to,
                            uint32_t to_stride)
{
    mr__rgb_sum a = {1 << 21, 1 << 21, 1 << 21}, b = a, c = a, d = a;
    for (uint32_t i = 0; i < taps.count; i++, from += 3) {
        int32_t weight = taps.weights[i];
        a = mr__rgb_add(a, weight, from);
        b = mr__rgb_add(b, weight, from + stride);
        c = mr__rgb_add(c, weight, from + 2 * stride);
        d = mr__rgb_add(d, weight, from + 3 * stride);
    }
    mr__rgb_put(a, to);
    mr__rgb_put(b, to + to_stride);
    mr__rgb_put(c, to + 2 * to_stride);
    mr__rgb_put(d, to + 3 * to_stride);
}

MR_KERNEL(resample)
{
    MR_ALONE;
    const mr__order_resample o = *MR_ORDER(mr__order_resample);
    uint32_t groups = MR__ROW_GROUPS(o.to.width), x = MR_ITEM % groups * MR_LANES + lane.id;
    uint32_t y = MR_ITEM / groups * MR__RESAMPLE_ROWS, channels = o.to.channels, pixel[4];
    bool along_x = o.axis.along == MR__ALONG_X;
    if (x >= o.to.width)
        return;
    MR_GLOBAL uint8_t *to = arena + o.to.at + y * o.to.stride + x * channels;
    if (along_x && channels == 3 && y + MR__RESAMPLE_ROWS <= o.to.height) {
        mr__taps taps = mr__taps_of(arena, &o.axis, x);
        mr__tap_rows(taps, arena + o.from.at + y * o.from.stride + taps.first * 3, o.from.stride, to, o.to.stride);
        return;
    }
    for (uint32_t end = y + MR__RESAMPLE_ROWS; y < end && y < o.to.height; y++, to += o.to.stride) {
        mr__taps taps = mr__taps_of(arena, &o.axis, along_x ? x : y);
        uint32_t step = along_x ? channels : o.from.stride;
        MR_GLOBAL const uint8_t *from = arena + o.from.at + taps.first * step;
        from += along_x ? y * o.from.stride : x * channels;
        mr__tap_pixel(taps, from, step, channels, o.alpha != 0, pixel);
        for (uint32_t c = 0; c < channels; c++)
            to[c] = (uint8_t)pixel[c];
    }
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

/* The samples of the window's pixel x, y. */
MR_INLINE void mr__window_pixel(MR_GLOBAL const uint8_t *arena, const mr__order_place *o, uint32_t x, uint32_t y,
                                uint32_t pixel[4])
{
    uint32_t channels = o->from.channels;
    MR_GLOBAL const uint8_t *from = arena + o->from.at;
    if (o->axis.along != MR__ALONG_NOTHING) {
        bool along_x = o->axis.along == MR__ALONG_X;
        mr__taps taps = mr__taps_of(arena, &o->axis, along_x ? x : y);
        uint32_t step = along_x ? channels : o->from.stride;
        from += taps.first * step + (along_x ? y * o->from.stride : x * channels);
        mr__tap_pixel(taps, from, step, channels, o->alpha >> 1 != 0, pixel);
    } else {
        uint32_t column = o->columns != 0 ? ((MR_GLOBAL const uint32_t *)(arena + o->columns))[x] : x;
        uint32_t row = o->rows != 0 ? ((MR_GLOBAL const uint32_t *)(arena + o->rows))[y] : y;
        from += row * o->from.stride + column * channels;
        for (uint32_t c = 0; c < channels; c++)
            pixel[c] = from[c];
    }
    if ((o->alpha & 1) != 0)
        for (uint32_t c = 0; c + 1 < channels; c++)
            pixel[c] = mr__unpremultiplied(pixel[c], pixel[channels - 1]);
}

/* A pixel of the canvas: of the window, its border, or the fill. */
MR_INLINE void mr__canvas_pixel(MR_GLOBAL const uint8_t *arena, const mr__order_place *o, uint32_t x, uint32_t y,
                                uint32_t pixel[4])
{
    int32_t at_x = (int32_t)x - (int32_t)o->x, at_y = (int32_t)y - (int32_t)o->y;
    bool inside = at_x >= 0 && at_y >= 0 && at_x < (int32_t)o->width && at_y < (int32_t)o->height;
    if (!inside && (o->border == 0 || o->width == 0)) {
        for (uint32_t c = 0; c < 4; c++)
            pixel[c] = o->fill >> 8 * c & 255;
        return;
    }
    uint32_t from_x = inside ? (uint32_t)at_x : mr__stand_in(o->border, at_x, o->width);
    uint32_t from_y = inside ? (uint32_t)at_y : mr__stand_in(o->border, at_y, o->height);
    from_x = o->flip_x != 0 ? o->width - 1 - from_x : from_x;
    from_y = o->flip_y != 0 ? o->height - 1 - from_y : from_y;
    mr__window_pixel(arena, o, from_x, from_y, pixel);
}

MR_INLINE void mr__put_number(MR_GLOBAL const uint8_t *arena, const mr__order_place *o, MR_GLOBAL uint8_t *to,
                              uint32_t c, uint32_t value)
{
    if (o->table == 0)
        *to = (uint8_t)value;
    else if (o->number_nbytes == 4)
        *(MR_GLOBAL uint32_t *)to = ((MR_GLOBAL const uint32_t *)(arena + o->table))[c * 256 + value];
    else
        *(MR_GLOBAL uint16_t *)to = ((MR_GLOBAL const uint16_t *)(arena + o->table))[c * 256 + value];
}

/*
 * Pixels of RGB side by side in the window, resampled along y: the dear part of most recipes. `x` is the canvas', of
 * the first of them; all are inside.
 */
MR_INLINE void mr__place_span(MR_GLOBAL const uint8_t *arena, const mr__order_place *o, uint32_t x, uint32_t y,
                              MR_GLOBAL uint8_t *to)
{
    uint32_t from_x = x - o->x, from_y = y - o->y, stride = o->from.stride;
    from_x = o->flip_x != 0 ? o->width - MR__PLACE_PIXELS - from_x : from_x;
    from_y = o->flip_y != 0 ? o->height - 1 - from_y : from_y;
    mr__taps taps = mr__taps_of(arena, &o->axis, from_y);
    MR_GLOBAL const uint8_t *from = arena + o->from.at + taps.first * stride + from_x * 3;
    mr__eight a, b, c;
    mr__eight_set(&a, 1 << 21);
    b = c = a;
    for (uint32_t i = 0; i < taps.count; i++, from += stride) {
        int32_t weight = taps.weights[i];
        mr__eight_add(&a, weight, from);
        mr__eight_add(&b, weight, from + 8);
        mr__eight_add(&c, weight, from + 16);
    }
    uint8_t row[24];
    mr__eight_bytes(&a, 22, row);
    mr__eight_bytes(&b, 22, row + 8);
    mr__eight_bytes(&c, 22, row + 16);
    for (uint32_t channel = 0; channel < 3; channel++)
        for (uint32_t i = 0; i < MR__PLACE_PIXELS; i++) {
            uint32_t at = o->flip_x != 0 ? MR__PLACE_PIXELS - 1 - i : i;
            mr__put_number(arena, o, to + channel * o->to_plane + i * o->to_pixel, channel, row[3 * at + channel]);
        }
}

MR_KERNEL(place)
{
    MR_ALONE;
    const mr__order_place o = *MR_ORDER(mr__order_place);
    uint32_t spans = MR__PLACE_SPANS(o.canvas_width), span = MR_ITEM * MR_LANES + lane.id;
    uint32_t x = span % spans * MR__PLACE_PIXELS, y = span / spans, pixel[4] = {0, 0, 0, 0};
    if (y >= o.canvas_height)
        return;
    MR_GLOBAL uint8_t *to = o.in_arena != 0 ? arena : out;
    to += o.to + (uint64_t)y * o.to_row + (uint64_t)x * o.to_pixel;
    bool inside = x >= o.x && x + MR__PLACE_PIXELS <= o.x + o.width && y >= o.y && y < o.y + o.height;
    if (inside && o.axis.along == MR__ALONG_Y && o.from.channels == 3) {
        mr__place_span(arena, &o, x, y, to);
        return;
    }
    for (uint32_t end = x + MR__PLACE_PIXELS; x < end && x < o.canvas_width; x++, to += o.to_pixel) {
        mr__canvas_pixel(arena, &o, x, y, pixel);
        for (uint32_t c = 0; c < o.from.channels; c++)
            mr__put_number(arena, &o, to + c * o.to_plane, c, pixel[c]);
    }
}

#endif
