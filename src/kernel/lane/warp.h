// SPDX-License-Identifier: Apache-2.0
/*
 * Warps (kernel/warp.h) by Pillow's ways (step/op_warp.h), one lane a pixel:
 *
 *     warp_pick    columns and rows by tables that the host has made
 *     warp_walk    places in whole numbers of 2^-16 pixels: what is added up along a row is multiplied here
 *     warp         every place by itself, in double
 *     warp_sum     places added up in double, so one lane a row
 *
 * Quarters are turned by `convert`. Of the source a part is there, and of the result a part is made.
 */
#ifndef MR_KERNEL_LANE_WARP_H
#define MR_KERNEL_LANE_WARP_H

#include "kernel/lane/pass.h"

/* How a place is looked up. */
enum { MR__LOOK_NEAREST, MR__LOOK_BILINEAR, MR__LOOK_BICUBIC };

typedef struct mr__order_warp_pick {
    mr__sheet from, to;
    uint32_t columns, rows; /* of the source's part, for each of the result's: int32_t; -1: none */
    uint32_t fill;          /* a byte a channel, the first lowest */
} mr__order_warp_pick;

typedef struct mr__order_warp_walk {
    int64_t x, y, step_x, step_y, down_x, down_y, limit_x, limit_y; /* as mr__warp_walks */
    mr__sheet from, to;
    uint32_t fill;
} mr__order_warp_walk;

MR_INLINE void mr__pixel_fill(MR_GLOBAL uint8_t *to, uint32_t channels, uint32_t fill)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] = (uint8_t)(fill >> 8 * c);
}

MR_INLINE void mr__pixel_copy(MR_GLOBAL uint8_t *to, uint32_t channels, MR_GLOBAL const uint8_t *from)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] = from[c];
}

MR_KERNEL(warp_pick)
{
    MR_ALONE;
    const mr__order_warp_pick order = *MR_ORDER(mr__order_warp_pick), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= o->to.width)
        return;
    int32_t column = ((MR_GLOBAL const int32_t *)(arena + o->columns))[x];
    int32_t row = ((MR_GLOBAL const int32_t *)(arena + o->rows))[y];
    uint32_t channels = o->from.channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * channels;
    if (column < 0 || row < 0)
        mr__pixel_fill(to, channels, o->fill);
    else
        mr__pixel_copy(to, channels, arena + o->from.at + (uint32_t)row * o->from.stride + (uint32_t)column * channels);
}

MR_KERNEL(warp_walk)
{
    MR_ALONE;
    const mr__order_warp_walk order = *MR_ORDER(mr__order_warp_walk), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= o->to.width)
        return;
    int64_t at_x = o->x + (int64_t)x * o->step_x + (int64_t)y * o->down_x;
    int64_t at_y = o->y + (int64_t)x * o->step_y + (int64_t)y * o->down_y;
    uint32_t channels = o->from.channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * channels;
    if (at_x < 0 || at_x >= o->limit_x || at_y < 0 || at_y >= o->limit_y)
        mr__pixel_fill(to, channels, o->fill);
    else
        mr__pixel_copy(to, channels,
                       arena + o->from.at + (uint32_t)(at_y >> 16) * o->from.stride +
                           (uint32_t)(at_x >> 16) * channels);
}

#if defined(MR_HAS_DOUBLE)

#include "kernel/warp_pixel.h"

typedef struct mr__order_warp {
    double c[8];
    mr__sheet from, to;
    int32_t from_x, from_y;            /* the part that is there, in the source */
    int32_t whole_width, whole_height; /* of the source */
    uint32_t to_x, to_y;               /* the part that is made, in the result */
    uint32_t perspective;
    uint32_t look; /* MR__LOOK_... */
    uint32_t fill;
} mr__order_warp;

/* Where column x and row y of the source are, neighbours beyond an edge at it. */
MR_INLINE uint32_t mr__warp_column(const mr__order_warp *o, int32_t x)
{
    return (uint32_t)mr__warp_clamp(x, o->from_x, (int32_t)o->from.width) * o->from.channels;
}

MR_INLINE uint32_t mr__warp_row(const mr__order_warp *o, int32_t y)
{
    return o->from.at + (uint32_t)mr__warp_clamp(y, o->from_y, (int32_t)o->from.height) * o->from.stride;
}

MR_INLINE void mr__warp_look_bilinear(MR_GLOBAL const uint8_t *arena, const mr__order_warp *o, mr__warp_spot s,
                                      MR_GLOBAL uint8_t *to)
{
    MR_GLOBAL const uint8_t *upper = arena + mr__warp_row(o, s.y), *lower = arena + mr__warp_row(o, s.y + 1);
    uint32_t left = mr__warp_column(o, s.x), right = mr__warp_column(o, s.x + 1);
    for (uint32_t c = 0; c < o->from.channels; c++) {
        double above = mr__warp_lerp(upper[left + c], upper[right + c], s.dx);
        double below = mr__warp_lerp(lower[left + c], lower[right + c], s.dx);
        to[c] = mr__warp_byte(mr__warp_lerp(above, below, s.dy));
    }
}

MR_INLINE void mr__warp_look_bicubic(MR_GLOBAL const uint8_t *arena, const mr__order_warp *o, mr__warp_spot s,
                                     MR_GLOBAL uint8_t *to)
{
    uint32_t columns[4];
    for (int32_t k = 0; k < 4; k++)
        columns[k] = mr__warp_column(o, s.x - 1 + k);
    for (uint32_t c = 0; c < o->from.channels; c++) {
        double v[4];
        for (int32_t k = 0; k < 4; k++) {
            MR_GLOBAL const uint8_t *row = arena + mr__warp_row(o, s.y - 1 + k) + c;
            v[k] = mr__warp_cubic(row[columns[0]], row[columns[1]], row[columns[2]], row[columns[3]], s.dx);
        }
        to[c] = mr__warp_byte(mr__warp_cubic(v[0], v[1], v[2], v[3], s.dy));
    }
}

/* The pixel at a place, which may be anything, NaN too. */
MR_INLINE void mr__warp_look(MR_GLOBAL const uint8_t *arena, const mr__order_warp *o, double x, double y,
                             MR_GLOBAL uint8_t *to)
{
    if (!mr__warp_inside(x, y, o->whole_width, o->whole_height))
        mr__pixel_fill(to, o->from.channels, o->fill);
    else if (o->look == MR__LOOK_NEAREST)
        mr__pixel_copy(to, o->from.channels, arena + mr__warp_row(o, (int32_t)y) + mr__warp_column(o, (int32_t)x));
    else if (o->look == MR__LOOK_BILINEAR)
        mr__warp_look_bilinear(arena, o, mr__warp_spot_of(x, y), to);
    else
        mr__warp_look_bicubic(arena, o, mr__warp_spot_of(x, y), to);
}

#endif

MR_KERNEL(warp)
{
    MR_ALONE;
#if defined(MR_HAS_DOUBLE)
    const mr__order_warp order = *MR_ORDER(mr__order_warp), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), row = MR_ITEM / groups;
    uint32_t column = MR_ITEM % groups * MR_LANES + lane.id;
    if (column >= o->to.width)
        return;
    double x = (double)(o->to_x + column) + 0.5, y = (double)(o->to_y + row) + 0.5;
    double at_x = mr__warp_line(o->c[0], o->c[1], o->c[2], x, y);
    double at_y = mr__warp_line(o->c[3], o->c[4], o->c[5], x, y);
    if (o->perspective != 0) {
        double depth = mr__warp_line(o->c[6], o->c[7], 1.0, x, y);
        at_x = at_x / depth;
        at_y = at_y / depth;
    }
    mr__warp_look(arena, o, at_x, at_y, arena + o->to.at + row * o->to.stride + column * o->to.channels);
#endif
}

MR_KERNEL(warp_sum)
{
    MR_ALONE;
#if defined(MR_HAS_DOUBLE)
    const mr__order_warp order = *MR_ORDER(mr__order_warp), *o = &order;
    uint32_t row = MR_ITEM * MR_LANES + lane.id;
    if (row >= o->to.height)
        return;
    double x = mr__warp_add_up(o->c[2] + o->c[1] * 0.5 + o->c[0] * 0.5, o->c[1], o->to_y + row);
    double y = mr__warp_add_up(o->c[5] + o->c[4] * 0.5 + o->c[3] * 0.5, o->c[4], o->to_y + row);
    x = mr__warp_add_up(x, o->c[0], o->to_x);
    y = mr__warp_add_up(y, o->c[3], o->to_x);
    MR_GLOBAL uint8_t *to = arena + o->to.at + row * o->to.stride;
    for (uint32_t i = 0; i < o->to.width; i++, x += o->c[0], y += o->c[3], to += o->to.channels)
        mr__warp_look(arena, o, x, y, to);
#endif
}

#endif
