// SPDX-License-Identifier: Apache-2.0
/*
 * Lifting (doc/format-l3.md). The base is a chain down its columns, and its first row one along it: a team a channel,
 * a word of columns a lane; it is a small part of the samples. Then, level by level, every sample of D is alone, and
 * after those every sample of B and C: a lane has a word of them, unpacks their residuals itself, and writes the 16
 * samples of its row that they and their neighbours are. Of a tile, only what the region's samples come from is made.
 */
#ifndef MR_KERNEL_LANE_L3_PIXEL_LIFT_H
#define MR_KERNEL_LANE_L3_PIXEL_LIFT_H

#include "kernel/lane/l3_pixel.h"

typedef struct mr__order_l3_base {
    mr__l3_list list;                                    /* an item each */
    uint32_t w[MR__L3_LEVELS + 1], h[MR__L3_LEVELS + 1]; /* of the arrays of each level; rows as far as needed */
} mr__order_l3_base;

typedef struct mr__order_l3_lift {
    mr__l3_list list;
    mr__l3_field field; /* of D; or of the level's rows, a word being the 8 columns of A in 16 */
    uint32_t level, w, h;
} mr__order_l3_lift;

/* The first row: sums from the left. Each lane has words id, id + 32, ...; what it has of the first row, it keeps. */
MR_INLINE uint32_t mr__l3_base_first(mr_lane lane, MR_GLOBAL uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane,
                                     uint32_t to, uint32_t x, uint32_t words, uint32_t west)
{
    uint64_t sums = x < words ? mr__l3_sums(mr__l3_row(arena, plane, x / 4, x & 3, 0)) : 0;
    uint32_t own = (uint32_t)(sums >> 56), before = west + mr_scan(lane, own);
    if (x < words)
        mr__l3_store(arena, to + 8 * x, mr__l3_add(sums, MR__L3_EACH(before & 255)));
    return mr_shuffle(lane, before + own, MR_TEAM_LANES - 1);
}

MR_KERNEL(l3_base)
{
    MR_TEAM;
    MR_GLOBAL const mr__order_l3_base *o = MR_ORDER(mr__order_l3_base);
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, MR_ITEM);
    uint32_t level = plane->levels, w = o->w[level], words = (w + 7) / 8, groups = (w + 31) / 32;
    uint32_t to = plane->samples[level], pitch = mr__l3_pitch(w), west = 128;
    for (uint32_t first = 0; first < words; first += MR_TEAM_LANES)
        west = mr__l3_base_first(lane, arena, plane, to, first + lane.id, words, west);
    for (uint32_t x = lane.id; x < words; x += MR_TEAM_LANES) {
        uint64_t word = mr__l3_load(arena, to + 8 * x);
        for (uint32_t y = 1; y < o->h[level]; y++) {
            word = mr__l3_add(word, mr__l3_row(arena, plane, y / 4 * groups + x / 4, x & 3, y & 3));
            mr__l3_store(arena, to + y * pitch + 8 * x, word);
        }
    }
}

/* Groups of D and of B in a row of groups (they are as many), and of all three. */
MR_INLINE uint32_t mr__l3_groups_odd(uint32_t w)
{
    return (w / 2 + 31) / 32;
}

MR_INLINE uint32_t mr__l3_groups_row(uint32_t w)
{
    return 2 * mr__l3_groups_odd(w) + ((w + 1) / 2 + 31) / 32;
}

MR_KERNEL(l3_lift_d)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_l3_lift *o = MR_ORDER(mr__order_l3_lift);
    mr__l3_spot at = mr__l3_spot_of(&o->field, MR_ITEM, lane.id);
    if (!at.inside)
        return;
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, at.number);
    uint32_t even = (o->w + 1) / 2, down = at.y + 1 < (o->h + 1) / 2 ? mr__l3_pitch(even) : 0;
    uint32_t row = plane->samples[o->level + 1] + at.y * mr__l3_pitch(even), below = row + down;
    uint64_t a = mr__l3_word(arena, row, at.x, even), b = mr__l3_word(arena, below, at.x, even);
    uint64_t a_right = mr__l3_word_right(arena, row, at.x, even, a);
    uint64_t b_right = mr__l3_word_right(arena, below, at.x, even, b);
    uint64_t d = mr__l3_average(mr__l3_average(a, b_right), mr__l3_average(a_right, b));
    uint32_t number = plane->first[o->level] + at.y / 4 * mr__l3_groups_row(o->w) + at.x / 4;
    d = mr__l3_add(d, mr__l3_row(arena, plane, number, at.x & 3, at.y & 3));
    mr__l3_store(arena, plane->d + at.y * mr__l3_pitch(o->w / 2) + 8 * at.x, d);
}

MR_INLINE uint64_t mr__l3_choose(uint64_t flat, uint64_t steep, uint32_t selector)
{
    return selector == 1 ? flat : selector == 2 ? steep : mr__l3_average(flat, steep);
}

/* A word of B in row y of A. */
MR_INLINE uint64_t mr__l3_lift_b(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_l3_lift *o,
                                 MR_GLOBAL const mr__l3_plane_at *plane, uint32_t x, uint32_t y, uint64_t a)
{
    uint32_t odd = o->w / 2, even = (o->w + 1) / 2, rows_d = o->h / 2, groups = mr__l3_groups_odd(o->w);
    uint32_t row = plane->samples[o->level + 1] + y * mr__l3_pitch(even), pitch = mr__l3_pitch(odd);
    uint64_t flat = mr__l3_average(a, mr__l3_word_right(arena, row, x, even, a)), steep = flat;
    if (rows_d != 0) {
        uint32_t up = y != 0 ? y - 1 : 0, down = y < rows_d ? y : rows_d - 1;
        steep = mr__l3_average(mr__l3_load(arena, plane->d + up * pitch + 8 * x),
                               mr__l3_load(arena, plane->d + down * pitch + 8 * x));
    }
    uint32_t selectors = plane->selectors[o->level] + y / 4 * (mr__l3_groups_row(o->w) - groups);
    uint32_t before = y / 4 * 4 < rows_d ? groups : 0; // the last row of groups may have none of D
    uint32_t group = plane->first[o->level] + y / 4 * mr__l3_groups_row(o->w) + before + x / 4;
    uint64_t b = mr__l3_choose(flat, steep, mr__l3_selector(arena, selectors, x));
    return mr__l3_add(b, mr__l3_row(arena, plane, group, x & 3, y & 3));
}

/* A word of C between rows y and y + 1 of A; d is that of D. */
MR_INLINE uint64_t mr__l3_lift_c(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_l3_lift *o,
                                 MR_GLOBAL const mr__l3_plane_at *plane, uint32_t x, uint32_t y, uint64_t d)
{
    uint32_t odd = o->w / 2, even = (o->w + 1) / 2, groups = mr__l3_groups_odd(o->w);
    uint32_t down = y + 1 < (o->h + 1) / 2 ? mr__l3_pitch(even) : 0;
    uint32_t row = plane->samples[o->level + 1] + y * mr__l3_pitch(even) + 8 * x;
    uint64_t steep = mr__l3_average(mr__l3_load(arena, row), mr__l3_load(arena, row + down)), flat = steep;
    if (odd != 0)
        flat = mr__l3_average(mr__l3_word_left(arena, plane->d + y * mr__l3_pitch(odd), x, d), d);
    uint32_t selectors = plane->selectors[o->level] + y / 4 * (mr__l3_groups_row(o->w) - groups) + groups;
    uint32_t group = plane->first[o->level] + y / 4 * mr__l3_groups_row(o->w) + 2 * groups + x / 4;
    uint64_t c = mr__l3_choose(flat, steep, mr__l3_selector(arena, selectors, x));
    return mr__l3_add(c, mr__l3_row(arena, plane, group, x & 3, y & 3));
}

MR_KERNEL(l3_lift_bc)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_l3_lift *o = MR_ORDER(mr__order_l3_lift);
    mr__l3_spot at = mr__l3_spot_of(&o->field, MR_ITEM, lane.id);
    if (!at.inside)
        return;
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, at.number);
    uint32_t odd = o->w / 2, even = (o->w + 1) / 2, y = at.y / 2;
    uint64_t first, second = 0; // in columns 0, 2, ... and 1, 3, ...
    if ((at.y & 1) == 0) {
        first = mr__l3_word(arena, plane->samples[o->level + 1] + y * mr__l3_pitch(even), at.x, even);
        if (8 * at.x < odd)
            second = mr__l3_lift_b(arena, o, plane, at.x, y, first);
    } else {
        if (odd != 0)
            second = mr__l3_word(arena, plane->d + y * mr__l3_pitch(odd), at.x, odd);
        first = mr__l3_lift_c(arena, o, plane, at.x, y, second);
    }
    uint32_t to = plane->samples[o->level] + at.y * mr__l3_pitch(o->w) + 16 * at.x;
    mr__l3_store(arena, to, mr__l3_zip(first, second));
    mr__l3_store(arena, to + 8, mr__l3_zip(first >> 32, second >> 32));
}

#endif
