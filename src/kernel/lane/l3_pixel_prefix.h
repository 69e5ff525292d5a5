// SPDX-License-Identifier: Apache-2.0
/*
 * Prefix prediction (doc/format-l3.md): row after row, each a sum along the row that selector 0 begins anew. First
 * all residuals, by lanes that are alone; then a team goes down a channel, with a group of 32 columns a lane (a tile
 * has 1024 at most), so that a row takes one scan. What a lane needs of the row above is its own, and the sample
 * before it, which it was given for that row's sum. Samples take the place of the residuals.
 */
#ifndef MR_KERNEL_LANE_L3_PIXEL_PREFIX_H
#define MR_KERNEL_LANE_L3_PIXEL_PREFIX_H

#include "kernel/lane/l3_pixel.h"

typedef struct mr__order_l3_prefix {
    mr__l3_list list;   /* an item each */
    mr__l3_field field; /* of l3_residuals: whole groups */
    uint32_t w, rows;   /* rows as far as needed */
} mr__order_l3_prefix;

MR_KERNEL(l3_residuals)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_l3_prefix *o = MR_ORDER(mr__order_l3_prefix);
    mr__l3_spot at = mr__l3_spot_of(&o->field, MR_ITEM, lane.id);
    if (!at.inside)
        return;
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, at.number);
    uint32_t pitch = mr__l3_pitch(o->w), number = at.y / 4 * (pitch / 32) + at.x / 4;
    mr__l3_store(arena, plane->samples[0] + at.y * pitch + 8 * at.x,
                 mr__l3_row(arena, plane, number, at.x & 3, at.y & 3));
}

/* Each half of itself, its sign kept. */
MR_INLINE uint64_t mr__l3_halves(uint64_t a)
{
    return (a >> 1 & MR__L3_EACH(0x7f)) | (a & MR__L3_EACH(0x80));
}

/* A row of a lane: four words. */
typedef struct mr__l3_run {
    uint64_t word[4];
} mr__l3_run;

/*
 * The row below `above`, of residuals that begin at `at`; `corner` is the sample before that row's. Words are less what
 * stands before them in the row, but for those from the first of selector 0 on. Returns the last sample.
 */
MR_INLINE uint32_t mr__l3_prefix_run(MR_GLOBAL const uint8_t *arena, uint32_t at, uint32_t selectors, uint32_t corner,
                                     const mr__l3_run *above, mr__l3_run *to)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t north = above->word[i], slope = mr__l3_sub(north, north << 8 | corner);
        uint64_t r = mr__l3_load(arena, at + 8 * i);
        uint32_t selector = selectors >> 2 * i & 3;
        uint64_t step = selector < 2 ? 0 : selector == 2 ? slope : mr__l3_halves(slope);
        uint64_t along = mr__l3_add(mr__l3_sums(mr__l3_add(r, step)), MR__L3_EACH(last));
        to->word[i] = selector == 0 ? mr__l3_add(north, r) : along;
        last = (uint32_t)(to->word[i] >> 56);
        corner = (uint32_t)(north >> 56);
    }
    return last;
}

/* How many words of a lane have their sums begin before it: those before the first of selector 0. */
MR_INLINE uint32_t mr__l3_open_words(uint32_t selectors)
{
    uint32_t i = 0;
    while (i < 4 && (selectors >> 2 * i & 3) != 0)
        i++;
    return i;
}

/* The highest one of a word that is not 0. */
MR_INLINE uint32_t mr__l3_highest(uint32_t word)
{
    for (uint32_t shift = 1; shift < 32; shift *= 2)
        word |= word >> shift;
    return mr_count32(word) - 1;
}

/* What stands before a lane: the sum of all lanes since the last that has begun anew, if there is one. */
MR_INLINE uint32_t mr__l3_prefix_before(mr_lane lane, uint32_t given, uint32_t anew)
{
    uint32_t sum = mr_scan(lane, given), below = anew & ((1u << lane.id) - 1);
    uint32_t since = mr_shuffle(lane, sum, below != 0 ? mr__l3_highest(below) : 0);
    return below != 0 ? sum - since : sum;
}

MR_KERNEL(l3_prefix)
{
    MR_TEAM;
    MR_GLOBAL const mr__order_l3_prefix *o = MR_ORDER(mr__order_l3_prefix);
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, MR_ITEM);
    uint32_t pitch = mr__l3_pitch(o->w), groups = pitch / 32, at = plane->samples[0] + 32 * lane.id;
    uint32_t corner = 128, selectors = 0, open = 0, anew = 0;
    bool there = lane.id < groups;
    mr__l3_run above = {{MR__L3_EACH(128), MR__L3_EACH(128), MR__L3_EACH(128), MR__L3_EACH(128)}}, row;
    for (uint32_t y = 0; y < o->rows; y++, at += pitch) {
        if ((y & 3) == 0) {
            selectors = there ? arena[plane->selectors[0] + y / 4 * groups + lane.id] : 0x55;
            open = mr__l3_open_words(selectors);
            anew = mr_ballot(lane, open < 4);
        }
        uint32_t first = (uint32_t)above.word[0] & 255; // W and NW of the first column are N
        corner = lane.id == 0 ? first : corner;
        uint32_t last = there ? mr__l3_prefix_run(arena, at, selectors, corner, &above, &row) : 0;
        uint32_t before = mr__l3_prefix_before(lane, lane.id == 0 && open == 4 ? first + last : last, anew);
        before = (lane.id == 0 ? first : before) & 255;
        for (uint32_t i = 0; there && i < 4; i++) {
            above.word[i] = i < open ? mr__l3_add(row.word[i], MR__L3_EACH(before)) : row.word[i];
            mr__l3_store(arena, at + 8 * i, above.word[i]);
        }
        corner = before;
    }
}

#endif
