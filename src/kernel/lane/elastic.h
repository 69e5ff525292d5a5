// SPDX-License-Identifier: Apache-2.0
/*
 * Elastic (step/elastic.h) in three launches, all in floats and whole numbers:
 *
 *     elastic_noise     a word of noise for each pixel that anybody looks at: half of it along x, half along y
 *     elastic_across    both blurred across
 *     elastic_look      both blurred down, which says where a pixel is looked up
 *
 * Weights, and the middles of pixels, are the host's.
 */
#ifndef MR_KERNEL_LANE_ELASTIC_H
#define MR_KERNEL_LANE_ELASTIC_H

#include "base/philox.h"
#include "kernel/elastic_pixel.h"
#include "kernel/lane/warp.h"

typedef struct mr__order_elastic_noise {
    uint32_t to; /* uint32_t: `groups` groups a row */
    uint32_t group, groups;
    uint32_t y; /* of the first row */
    uint32_t key[2];
} mr__order_elastic_noise;

/* Each of two: along x, along y. */
typedef struct mr__order_elastic_across {
    uint32_t noise, pitch; /* words of a row */
    uint32_t noise_x;      /* of its first word, in the image */
    uint32_t to;           /* two floats a pixel */
    uint32_t x, columns;   /* that are made */
    uint32_t width;        /* of the image */
    uint32_t radius[2], weights[2];
} mr__order_elastic_across;

typedef struct mr__order_elastic_look {
    mr__sheet from, to;
    uint32_t blurred; /* two floats a pixel, as wide as `to` */
    uint32_t top;     /* its first row, in the image */
    uint32_t radius[2], weights[2];
    uint32_t middles[2]; /* floats, of the columns and of the rows that are made */
    float alpha[2];
    uint32_t side[2];       /* of the image */
    uint32_t to_y;          /* the first row that is made */
    int32_t from_x, from_y; /* the part that is there, in the image */
    uint32_t look;          /* MR__LOOK_... */
    uint32_t fill;
} mr__order_elastic_look;

/* Blocks of a row for a group of lanes. */
#define MR__NOISE_GROUPS(groups) (((groups) * (MR__ELASTIC_GROUP / 4u) + 63u) / 64u)

MR_KERNEL(elastic_noise)
{
    MR_ALONE;
    const mr__order_elastic_noise order = *MR_ORDER(mr__order_elastic_noise), *o = &order;
    uint32_t parts = MR__NOISE_GROUPS(o->groups), row = MR_ITEM / parts;
    uint32_t block = MR_ITEM % parts * MR_LANES + lane.id, at = block / 8, first = block % 8;
    if (at >= o->groups)
        return;
    uint32_t counter[4] = {8 * o->group + block, o->y + row, 0, 0}, key[2] = {o->key[0], o->key[1]}, words[4];
    MR_GLOBAL uint32_t *to = (MR_GLOBAL uint32_t *)(arena + o->to) + (row * o->groups + at) * MR__ELASTIC_GROUP;
    mr__philox_block(counter, key, words);
    for (uint32_t i = 0; i < 4; i++)
        to[8 * i + first] = words[i];
}

MR_INLINE float mr__elastic_along_x(uint32_t word)
{
    return mr__elastic_noise(word & 0xffffu);
}

MR_INLINE float mr__elastic_along_y(uint32_t word)
{
    return mr__elastic_noise(word >> 16);
}

MR_KERNEL(elastic_across)
{
    MR_ALONE;
    const mr__order_elastic_across order = *MR_ORDER(mr__order_elastic_across), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->columns), row = MR_ITEM / groups;
    uint32_t column = MR_ITEM % groups * MR_LANES + lane.id;
    if (column >= o->columns)
        return;
    int32_t x = (int32_t)(o->x + column), width = (int32_t)o->width;
    MR_GLOBAL const uint32_t *noise = (MR_GLOBAL const uint32_t *)(arena + o->noise) + row * o->pitch;
    MR_GLOBAL const float *along_x = (MR_GLOBAL const float *)(arena + o->weights[0]);
    MR_GLOBAL const float *along_y = (MR_GLOBAL const float *)(arena + o->weights[1]);
    uint32_t middle = noise[x - (int32_t)o->noise_x], most = o->radius[0] > o->radius[1] ? o->radius[0] : o->radius[1];
    float dx = along_x[0] * mr__elastic_along_x(middle), dy = along_y[0] * mr__elastic_along_y(middle);
    for (uint32_t j = 1; j <= most; j++) {
        uint32_t left = noise[mr__mirrored(x - (int32_t)j, width) - (int32_t)o->noise_x];
        uint32_t right = noise[mr__mirrored(x + (int32_t)j, width) - (int32_t)o->noise_x];
        if (j <= o->radius[0])
            dx += along_x[j] * (mr__elastic_along_x(left) + mr__elastic_along_x(right));
        if (j <= o->radius[1])
            dy += along_y[j] * (mr__elastic_along_y(left) + mr__elastic_along_y(right));
    }
    MR_GLOBAL float *to = (MR_GLOBAL float *)(arena + o->to) + 2 * (row * o->columns + column);
    to[0] = dx;
    to[1] = dy;
}

/* Blurred down: the one along x (axis 0) or y (1) at this pixel. */
MR_INLINE float mr__elastic_down(MR_GLOBAL const uint8_t *arena, const mr__order_elastic_look *o, uint32_t axis,
                                 uint32_t column, uint32_t row)
{
    MR_GLOBAL const float *from = (MR_GLOBAL const float *)(arena + o->blurred) + 2 * column + axis;
    MR_GLOBAL const float *weights = (MR_GLOBAL const float *)(arena + o->weights[axis]);
    int32_t y = (int32_t)(o->to_y + row), height = (int32_t)o->side[1], top = (int32_t)o->top;
    uint32_t pitch = 2 * o->to.width;
    float sum = weights[0] * from[(uint32_t)(y - top) * pitch];
    for (uint32_t j = 1; j <= o->radius[axis]; j++) {
        uint32_t above = (uint32_t)(mr__mirrored(y - (int32_t)j, height) - top);
        uint32_t below = (uint32_t)(mr__mirrored(y + (int32_t)j, height) - top);
        sum += weights[j] * (from[above * pitch] + from[below * pitch]);
    }
    return sum;
}

/* Where it is looked up along an axis; `at` is its column or row. */
MR_INLINE float mr__elastic_at(MR_GLOBAL const uint8_t *arena, const mr__order_elastic_look *o, uint32_t axis,
                               uint32_t at, float blurred)
{
    float middle = ((MR_GLOBAL const float *)(arena + o->middles[axis]))[at], side = (float)o->side[axis];
    return mr__elastic_place(middle, mr__elastic_scaled(blurred, o->alpha[axis], side), side * 0.5f);
}

MR_INLINE bool mr__elastic_inside(const mr__order_elastic_look *o, int32_t x, int32_t y)
{
    return x >= 0 && x < (int32_t)o->side[0] && y >= 0 && y < (int32_t)o->side[1];
}

MR_INLINE MR_GLOBAL const uint8_t *mr__elastic_pixel(MR_GLOBAL const uint8_t *arena, const mr__order_elastic_look *o,
                                                     int32_t x, int32_t y)
{
    return arena + o->from.at + (uint32_t)(y - o->from_y) * o->from.stride +
           (uint32_t)(x - o->from_x) * o->from.channels;
}

/* Adds `n` pixels of a row, by their weights; sum[3] is that of the weights. What is outside is nothing. */
MR_INLINE void mr__elastic_add(MR_GLOBAL const uint8_t *arena, const mr__order_elastic_look *o, int32_t x, int32_t y,
                               int32_t n, const float *weight, float sum[4])
{
    for (int32_t j = 0; j < n; j++) {
        if (!mr__elastic_inside(o, x + j, y))
            continue;
        MR_GLOBAL const uint8_t *from = mr__elastic_pixel(arena, o, x + j, y);
        for (uint32_t c = 0; c < o->from.channels; c++)
            sum[c] += (float)from[c] * weight[j];
        sum[3] += weight[j];
    }
}

MR_INLINE void mr__elastic_sum(MR_GLOBAL const uint8_t *arena, const mr__order_elastic_look *o, float x, float y,
                               float sum[4])
{
    int32_t left = mr__elastic_floor(x), top = mr__elastic_floor(y);
    float across[4], down[4];
    if (o->look == MR__LOOK_BILINEAR) {
        mr__elastic_linear(x - (float)left, y - (float)top, across);
        mr__elastic_add(arena, o, left, top, 2, across, sum);
        mr__elastic_add(arena, o, left, top + 1, 2, across + 2, sum);
        return;
    }
    mr__elastic_cubic(x - (float)left, across);
    mr__elastic_cubic(y - (float)top, down);
    for (int32_t j = 0; j < 4; j++) {
        float row[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        mr__elastic_add(arena, o, left - 1, top - 1 + j, 4, across, row);
        for (uint32_t c = 0; c < 4; c++)
            sum[c] += row[c] * down[j];
    }
}

MR_KERNEL(elastic_look)
{
    MR_ALONE;
    const mr__order_elastic_look order = *MR_ORDER(mr__order_elastic_look), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), row = MR_ITEM / groups, channels = o->to.channels;
    uint32_t column = MR_ITEM % groups * MR_LANES + lane.id;
    if (column >= o->to.width)
        return;
    float x = mr__elastic_at(arena, o, 0, column, mr__elastic_down(arena, o, 0, column, row));
    float y = mr__elastic_at(arena, o, 1, row, mr__elastic_down(arena, o, 1, column, row));
    MR_GLOBAL uint8_t *to = arena + o->to.at + row * o->to.stride + column * channels;
    if (o->look != MR__LOOK_NEAREST) {
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        mr__elastic_sum(arena, o, x, y, sum);
        for (uint32_t c = 0; c < channels; c++)
            to[c] = mr__elastic_filled(sum[c], sum[3], (float)(o->fill >> 8 * c & 255));
        return;
    }
    int32_t at_x = mr__elastic_next_to(x), at_y = mr__elastic_next_to(y);
    if (mr__elastic_inside(o, at_x, at_y))
        mr__pixel_copy(to, channels, mr__elastic_pixel(arena, o, at_x, at_y));
    else
        mr__pixel_fill(to, channels, o->fill);
}

#endif
