// SPDX-License-Identifier: Apache-2.0
/*
 * Random numbers by place (kernel/noise.h), and rectangles that are filled, in a sheet or in finished numbers:
 *
 *     copy_around    a sheet, but for a rectangle
 *     fill           a rectangle with the same numbers
 *     randomize      a rectangle with random bytes or normal numbers
 *     add_noise      to a sheet
 *
 * A lane that draws has one block of Philox: four samples of its group of 32.
 */
#ifndef MR_KERNEL_LANE_NOISE_H
#define MR_KERNEL_LANE_NOISE_H

#include "kernel/half_pixel.h"
#include "kernel/lane/lane.h"
#include "kernel/lane/pass.h"
#include "kernel/noise_pixel.h"
#include "kernel/normal_pixel.h"

/* Where the numbers of a rectangle go: its first one, and from there. */
typedef struct mr__ground {
    uint64_t to, to_plane; /* in the batch, or in the arena */
    uint32_t to_row, to_pixel;
    uint32_t in_arena;
    uint32_t width, height, channels; /* of the rectangle */
} mr__ground;

typedef struct mr__order_around {
    mr__sheet from, to;
    uint32_t x, y, width, height; /* what is left out */
} mr__order_around;

typedef struct mr__order_fill {
    mr__ground ground;
    uint32_t number_nbytes;
    uint32_t bits[4]; /* of each channel's number */
} mr__order_fill;

/* Samples of a row from number `first` on, of rows from number `row` on. */
typedef struct mr__draws {
    uint32_t key[2];
    uint32_t row, first, count;
} mr__draws;

enum { MR__RANDOM_BYTES, MR__RANDOM_F32, MR__RANDOM_F16, MR__RANDOM_BF16 };

typedef struct mr__order_random {
    mr__ground ground;
    mr__draws draws;
    uint32_t kind;
    uint32_t cubics; /* mr__normal_cubics, for normal numbers */
} mr__order_random;

typedef struct mr__order_noise {
    mr__sheet from, to;
    mr__draws draws;
    uint32_t wrap;
    uint32_t slots; /* mr__noise's */
} mr__order_noise;

/* Groups of lanes that draw a row: each has eight groups of 32 samples. */
#define MR__DRAW_GROUPS(first, count) ((((first) + (count)-1u) / 32u - (first) / 32u) / 8u + 1u)

/* A lane's four samples: the words drawn for them, and of each the place in the row, `count` or more: not there. */
typedef struct mr__drawn {
    uint32_t y;
    uint32_t words[4], place[4];
} mr__drawn;

MR_INLINE mr__drawn mr__draw(MR_GLOBAL const mr__draws *draws, uint32_t item, uint32_t id)
{
    uint32_t groups = MR__DRAW_GROUPS(draws->first, draws->count);
    uint32_t g = draws->first / 32 + item % groups * 8 + id / 8, i = id % 8;
    const uint32_t key[2] = {draws->key[0], draws->key[1]};
    mr__drawn drawn;
    drawn.y = item / groups;
    mr__noise_block(key, draws->row + drawn.y, g, i, drawn.words);
    for (uint32_t w = 0; w < 4; w++)
        drawn.place[w] = g * 32 + w * 8 + i - draws->first; /* below 0 is a very large number */
    return drawn;
}

MR_KERNEL(add_noise)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_noise *o = MR_ORDER(mr__order_noise);
    MR_GLOBAL const uint32_t *slots = (MR_GLOBAL const uint32_t *)(arena + o->slots);
    mr__drawn drawn = mr__draw(&o->draws, MR_ITEM, lane.id);
    MR_GLOBAL const uint8_t *from = arena + o->from.at + drawn.y * o->from.stride;
    MR_GLOBAL uint8_t *to = arena + o->to.at + drawn.y * o->to.stride;
    for (uint32_t w = 0; w < 4; w++) {
        uint32_t at = drawn.place[w], word = drawn.words[w];
        if (at < o->draws.count)
            to[at] = mr__noised(from[at], word, slots[mr__noise_slot(word)], o->wrap != 0);
    }
}

MR_KERNEL(copy_around)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_around *o = MR_ORDER(mr__order_around);
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= o->to.width || (x - o->x < o->width && y - o->y < o->height))
        return;
    MR_GLOBAL const uint8_t *from = arena + o->from.at + y * o->from.stride + x * o->from.channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * o->to.channels;
    for (uint32_t c = 0; c < o->to.channels; c++)
        to[c] = from[c];
}

MR_INLINE void mr__put_bits(MR_GLOBAL uint8_t *to, uint32_t nbytes, uint32_t bits)
{
    if (nbytes == 1)
        *to = (uint8_t)bits;
    else if (nbytes == 2)
        *(MR_GLOBAL uint16_t *)to = (uint16_t)bits;
    else
        *(MR_GLOBAL uint32_t *)to = bits;
}

MR_KERNEL(fill)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_fill *o = MR_ORDER(mr__order_fill);
    MR_GLOBAL const mr__ground *g = &o->ground;
    uint32_t groups = MR__ROW_GROUPS(g->width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= g->width)
        return;
    MR_GLOBAL uint8_t *to =
        (g->in_arena != 0 ? arena : out) + g->to + (uint64_t)y * g->to_row + (uint64_t)x * g->to_pixel;
    for (uint32_t c = 0; c < g->channels; c++, to += g->to_plane)
        mr__put_bits(to, o->number_nbytes, o->bits[c]);
}

MR_INLINE void mr__put_random(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_random *o, uint32_t word,
                              MR_GLOBAL uint8_t *to)
{
    if (o->kind == MR__RANDOM_BYTES) {
        *to = (uint8_t)(word >> 24);
        return;
    }
    MR_GLOBAL const float *cubics = (MR_GLOBAL const float *)(arena + o->cubics);
    mr__normal_spot spot = mr__normal_spot_of(word);
    cubics += spot.part;
    float number = mr__normal_by(word, spot.t, cubics[0], cubics[MR__NORMAL_PARTS], cubics[2 * MR__NORMAL_PARTS],
                                 cubics[3 * MR__NORMAL_PARTS]);
    uint32_t bits = mr__float_bits(number);
    if (o->kind == MR__RANDOM_F32)
        mr__put_bits(to, 4, bits);
    else
        mr__put_bits(to, 2, o->kind == MR__RANDOM_F16 ? mr__f16_of_bits(bits) : mr__bf16_of_bits(bits));
}

MR_KERNEL(randomize)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_random *o = MR_ORDER(mr__order_random);
    MR_GLOBAL const mr__ground *g = &o->ground;
    mr__drawn drawn = mr__draw(&o->draws, MR_ITEM, lane.id);
    MR_GLOBAL uint8_t *to = (g->in_arena != 0 ? arena : out) + g->to + (uint64_t)drawn.y * g->to_row;
    for (uint32_t w = 0; w < 4; w++) {
        uint32_t at = drawn.place[w], x = at / g->channels, c = at % g->channels;
        if (at < o->draws.count)
            mr__put_random(arena, o, drawn.words[w], to + (uint64_t)x * g->to_pixel + c * g->to_plane);
    }
}

#endif
