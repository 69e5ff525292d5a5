// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of levels that depend on the image (step/op_table.h): contrast, equalize, autocontrast. What they want to know
 * of it is worked out by many teams, each for some pieces of it, and what these find is put together by the one team
 * that makes the tables of a channel:
 *
 *     count_levels    how often each level stands in a channel, of the image as it is
 *     sum_levels      the sum of Pillow's L, of the image as tables make it
 *     make_tables     one rule after the other on top of the tables before
 *
 * All are sums of whole numbers: who adds what first does not matter.
 */
#ifndef MR_KERNEL_LANE_LEVELS_H
#define MR_KERNEL_LANE_LEVELS_H

#include "kernel/bits_pixel.h"
#include "kernel/color_pixel.h"
#include "kernel/lane/lane.h"
#include "kernel/levels_pixel.h"

/* A piece of an image has so many pixels, whatever its rows: a lane sees no more of it than a byte can count. */
enum { MR__PIECE = MR_TEAM_LANES * 255, MR__LEVELS_PARTS = 64 };

/* Tables of 256 levels, one for each channel, `pitch` bytes apart; pitch 0: one for all. At 0: levels stay. */
typedef struct mr__tables_at {
    uint32_t at, pitch;
} mr__tables_at;

/* Of count_levels and sum_levels: item `c * parts + p` takes pieces p, p + parts, ... of channel c (all: c = 0). */
typedef struct mr__order_levels {
    mr__sheet from;
    uint32_t pieces, parts;
    mr__tables_at before; /* sum_levels */
    uint32_t to;          /* for each item 256 counts; one sum */
} mr__order_levels;

enum { MR__RULE_TABLE, MR__RULE_CONTRAST, MR__RULE_EQUALIZE, MR__RULE_AUTOCONTRAST };

typedef struct mr__rule {
    uint32_t kind;
    uint32_t table; /* TABLE: one for all channels */
    float factor;   /* CONTRAST */
} mr__rule;

/* An item is a channel. */
typedef struct mr__order_tables {
    mr__tables_at before;
    uint32_t to;            /* 256 for each channel */
    uint32_t counts, sums;  /* what count_levels and sum_levels found, `parts` of each */
    uint32_t parts, pixels; /* */
    uint32_t rules, rule_count;
} mr__order_tables;

/* A lane's way through a piece: every 32nd pixel. */
typedef struct mr__walk {
    uint32_t x, at;           /* of the pixel */
    uint32_t step_x, step_at; /* from it to the next, */
    uint32_t width, next_row; /* and where that is beyond the row's end */
} mr__walk;

MR_INLINE mr__walk mr__walk_from(MR_GLOBAL const mr__sheet *from, uint32_t pixel)
{
    uint32_t row = from->width * from->channels, x = pixel % from->width, step = MR_TEAM_LANES % from->width;
    mr__walk walk = {x,           from->at + pixel / from->width * from->stride + x * from->channels,
                     step,        MR_TEAM_LANES / from->width * from->stride + step * from->channels,
                     from->width, from->stride - row};
    return walk;
}

MR_INLINE mr__walk mr__walk_on(mr__walk walk)
{
    walk.x += walk.step_x;
    walk.at += walk.step_at;
    if (walk.x >= walk.width) {
        walk.x -= walk.width;
        walk.at += walk.next_row;
    }
    return walk;
}

/* The pixels of a piece: MR__PIECE, or what is left. */
MR_INLINE uint32_t mr__piece_pixels(MR_GLOBAL const mr__sheet *from, uint32_t piece)
{
    uint32_t left = from->width * from->height - piece * MR__PIECE;
    return left < MR__PIECE ? left : MR__PIECE;
}

/*
 * Every lane has a byte for each level, so that nobody waits for another; 8 words have a level's 32 bytes. Lanes that
 * add up different levels begin at different words of theirs: so they are in different banks.
 */
MR_INLINE uint32_t mr__own_counts(MR_SHARED const uint32_t *words, mr_lane lane, uint32_t level)
{
    uint32_t pairs = 0;
    for (uint32_t j = 0; j < 8; j++) {
        uint32_t word = words[level * 8 + ((j + lane.id / 4) & 7)];
        pairs += (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
    }
    return (pairs & 0xffff) + (pairs >> 16);
}

MR_KERNEL(count_levels)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, words, 8 * 256);
    MR_GLOBAL const mr__order_levels *o = MR_ORDER(mr__order_levels);
    MR_SHARED uint8_t *own = (MR_SHARED uint8_t *)words;
    uint32_t item = MR_ITEM, c = item / o->parts, counts[8];
    for (uint32_t k = 0; k < 8; k++)
        counts[k] = 0;
    for (uint32_t piece = item % o->parts; piece < o->pieces; piece += o->parts) {
        uint32_t n = mr__piece_pixels(&o->from, piece);
        mr__walk walk = mr__walk_from(&o->from, piece * MR__PIECE + lane.id);
        for (uint32_t i = lane.id; i < 8 * 256; i += MR_TEAM_LANES)
            words[i] = 0;
        mr_barrier(lane);
        for (uint32_t i = lane.id; i < n; i += MR_TEAM_LANES, walk = mr__walk_on(walk))
            own[arena[walk.at + c] * MR_TEAM_LANES + lane.id]++;
        mr_barrier(lane);
        for (uint32_t k = 0; k < 8; k++)
            counts[k] += mr__own_counts(words, lane, k * MR_TEAM_LANES + lane.id);
        mr_barrier(lane);
    }
    MR_GLOBAL uint32_t *to = (MR_GLOBAL uint32_t *)(arena + o->to) + item * 256;
    for (uint32_t k = 0; k < 8; k++)
        to[k * MR_TEAM_LANES + lane.id] = counts[k];
}

/* A sample of a channel as tables make it. */
MR_INLINE uint32_t mr__tabled(MR_GLOBAL const uint8_t *arena, mr__tables_at tables, uint32_t c, uint32_t v)
{
    return tables.at != 0 ? arena[tables.at + c * tables.pitch + v] : v;
}

MR_KERNEL(sum_levels)
{
    MR_TEAM;
    MR_GLOBAL const mr__order_levels *o = MR_ORDER(mr__order_levels);
    mr__tables_at before = o->before;
    uint32_t sum = 0;
    for (uint32_t piece = MR_ITEM; piece < o->pieces; piece += o->parts) {
        uint32_t n = mr__piece_pixels(&o->from, piece);
        mr__walk walk = mr__walk_from(&o->from, piece * MR__PIECE + lane.id);
        for (uint32_t i = lane.id; i < n; i += MR_TEAM_LANES, walk = mr__walk_on(walk)) {
            uint32_t v = mr__tabled(arena, before, 0, arena[walk.at]);
            if (o->from.channels == 3)
                v = mr__gray(v, mr__tabled(arena, before, 1, arena[walk.at + 1]),
                             mr__tabled(arena, before, 2, arena[walk.at + 2]));
            sum += v;
        }
    }
    sum = mr_sum(lane, sum);
    if (lane.id == 0)
        ((MR_GLOBAL uint32_t *)(arena + o->to))[MR_ITEM] = sum;
}

/* The mean that contrast turns around. A part's sum has 32 bits, that of all has more. */
MR_INLINE uint32_t mr__mean_of(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_tables *o, mr_lane lane)
{
    MR_GLOBAL const uint32_t *sums = (MR_GLOBAL const uint32_t *)(arena + o->sums);
    uint64_t sum = 0;
    for (uint32_t p = lane.id; p < o->parts; p += MR_TEAM_LANES)
        sum += sums[p];
    uint32_t low = mr_sum(lane, (uint32_t)sum & 0xffff), high = mr_sum(lane, (uint32_t)(sum >> 16));
    return mr__mean_level(((uint64_t)high << 16) + low, o->pixels);
}

/*
 * Levels k 32 + lane are a lane's own, each with the level that it has become and how often it stands in the image:
 * shared[v] becomes how often level v stands there now.
 */
MR_INLINE void mr__count_made(MR_SHARED uint32_t *shared, mr_lane lane, const uint32_t level[8],
                              const uint32_t counts[8])
{
    for (uint32_t k = 0; k < 8; k++)
        shared[k * MR_TEAM_LANES + lane.id] = 0;
    mr_barrier(lane);
    for (uint32_t k = 0; k < 8; k++)
        (void)mr_atomic_add_shared(&shared[level[k]], counts[k]);
    mr_barrier(lane);
}

/* The lane of the lowest bit that is set; 0 if none is. */
MR_INLINE uint32_t mr__lowest_lane(uint32_t ballot)
{
    return ballot != 0 ? mr_count32((ballot & (0u - ballot)) - 1u) : 0;
}

/* Each lane has eight levels that follow each other: how many samples they have, and which is the last with some. */
MR_INLINE void mr__equalize(MR_SHARED uint32_t *shared, mr_lane lane, uint32_t level[8])
{
    uint32_t sum = 0, last = 0;
    for (uint32_t v = lane.id * 8; v < lane.id * 8 + 8; v++) {
        sum += shared[v];
        last = shared[v] != 0 ? shared[v] : last;
    }
    uint32_t before = mr_scan(lane, sum), all = mr_sum(lane, sum);
    last = mr_shuffle(lane, last, mr__highest_bit(mr_ballot(lane, last != 0)));
    uint32_t step = (all - last) / 255, below = before + step / 2;
    if (step == 0)
        return;
    for (uint32_t v = lane.id * 8; v < lane.id * 8 + 8; v++) {
        uint32_t count = shared[v];
        shared[v] = mr__equalized(below, step);
        below += count;
    }
    mr_barrier(lane);
    for (uint32_t k = 0; k < 8; k++)
        level[k] = shared[level[k]];
}

MR_INLINE void mr__autocontrast(MR_SHARED uint32_t *shared, mr_lane lane, uint32_t level[8])
{
    uint32_t low = 255, high = 0;
    for (uint32_t v = lane.id * 8; v < lane.id * 8 + 8; v++)
        if (shared[v] != 0) {
            low = low < v ? low : v;
            high = v;
        }
    uint32_t some = mr_ballot(lane, low <= high);
    low = mr_shuffle(lane, low, mr__lowest_lane(some));
    high = mr_shuffle(lane, high, mr__highest_bit(some));
    for (uint32_t k = 0; k < 8 && low < high; k++)
        level[k] = mr__stretched(level[k], low, high);
}

/* The lane's levels of channel c: as tables before make them, and how often they stand in the image. */
MR_INLINE void mr__levels_begin(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_tables *o, mr_lane lane,
                                uint32_t c, uint32_t level[8], uint32_t counts[8])
{
    MR_GLOBAL const uint32_t *found = (MR_GLOBAL const uint32_t *)(arena + o->counts) + c * o->parts * 256;
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t v = k * MR_TEAM_LANES + lane.id;
        level[k] = mr__tabled(arena, o->before, c, v);
        counts[k] = 0;
        for (uint32_t p = 0; p < o->parts && o->counts != 0; p++)
            counts[k] += found[p * 256 + v];
    }
}

MR_KERNEL(make_tables)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, shared, 256);
    MR_GLOBAL const mr__order_tables *o = MR_ORDER(mr__order_tables);
    MR_GLOBAL const mr__rule *rule = (MR_GLOBAL const mr__rule *)(arena + o->rules);
    uint32_t c = MR_ITEM, level[8], counts[8];
    mr__levels_begin(arena, o, lane, c, level, counts);
    for (uint32_t i = 0; i < o->rule_count; i++, rule++) {
        if (rule->kind == MR__RULE_TABLE) {
            for (uint32_t k = 0; k < 8; k++)
                level[k] = arena[rule->table + level[k]];
        } else if (rule->kind == MR__RULE_CONTRAST) {
            uint32_t mean = mr__mean_of(arena, o, lane);
            for (uint32_t k = 0; k < 8; k++)
                level[k] = mr__blend(mean, level[k], rule->factor);
        } else {
            mr__count_made(shared, lane, level, counts);
            if (rule->kind == MR__RULE_EQUALIZE)
                mr__equalize(shared, lane, level);
            else
                mr__autocontrast(shared, lane, level);
            mr_barrier(lane);
        }
    }
    for (uint32_t k = 0; k < 8; k++)
        arena[o->to + c * 256 + k * MR_TEAM_LANES + lane.id] = (uint8_t)level[k];
}

#endif
