// SPDX-License-Identifier: Apache-2.0
/*
 * `l3-2022` on a device, as it was published: one team a patch, one lane a column (two, where patches are 64 wide), and
 * a barrier a row, since a row is predicted from the one above and begins where that one ends. A guest among our
 * kernels (kernel/lane/kernels.h).
 */
#ifndef BENCH_L3_DEVICE_GUEST_H
#define BENCH_L3_DEVICE_GUEST_H

#include "kernel/lane/lane.h"
#include "l3_2022_pixel.h"

/* One image. An item is a patch of one plane: those of R, then G, then B. */
typedef struct l3_2022_order {
    uint32_t places; /* of items + 1 numbers: where each patch begins, and the last one ends */
    uint32_t status;
    uint32_t side, across, patches;
    mr__sheet to; /* RGB */
} l3_2022_order;

/* The part of the sheet that a patch is. */
typedef struct l3_2022_patch {
    uint32_t channel, x, y, width, height;
} l3_2022_patch;

MR_INLINE l3_2022_patch l3_2022_patch_of(MR_GLOBAL const l3_2022_order *o, uint32_t item)
{
    l3_2022_patch p;
    uint32_t number = item % o->patches;
    p.channel = item / o->patches;
    p.x = number % o->across * o->side;
    p.y = number / o->across * o->side;
    p.width = o->to.width - p.x < o->side ? o->to.width - p.x : o->side;
    p.height = o->to.height - p.y < o->side ? o->to.height - p.y : o->side;
    return p;
}

/* `bits` of them, from bit `from` on, of bytes of which the row has so many. */
MR_INLINE uint32_t l3_2022_delta(MR_GLOBAL const uint8_t *row, uint32_t row_nbytes, uint32_t from, uint32_t bits)
{
    uint32_t at = from / 8, two = at < row_nbytes ? row[at] : 0;
    two |= at + 1 < row_nbytes ? (uint32_t)row[at + 1] << 8 : 0;
    return two >> from % 8 & ((1u << bits) - 1);
}

MR_KERNEL(guest)
{
    MR_TEAM;
    MR_ALLOT(uint8_t, rows, 2 * 66); /* the row above and this one, each with a zero on either side; above all: zeros */
    MR_GLOBAL const l3_2022_order *o = MR_ORDER(l3_2022_order);
    l3_2022_patch p = l3_2022_patch_of(o, MR_ITEM);
    MR_GLOBAL const uint32_t *place = (MR_GLOBAL const uint32_t *)(arena + o->places) + MR_ITEM;
    MR_GLOBAL uint8_t *to = arena + o->to.at + p.y * o->to.stride + p.x * o->to.channels + p.channel;
    uint32_t at = place[0], end = place[1], y = 0;
    for (uint32_t i = lane.id; i < 2 * 66; i += MR_TEAM_LANES)
        rows[i] = 0;
    mr_barrier(lane);
    for (; y < p.height && end - at >= 2; y++, to += o->to.stride) {
        MR_GLOBAL const uint8_t *row = arena + at;
        MR_SHARED const uint8_t *above = rows + (y + 1) % 2 * 66;
        MR_SHARED uint8_t *now = rows + y % 2 * 66;
        uint32_t bits = row[0] & 15, base = row[0] >> 4 | (row[1] & 15) << 4;
        uint32_t row_nbytes = (12 + bits * p.width + 7) / 8;
        if (bits > 8 || row_nbytes > end - at)
            break; /* for all lanes: they look at the same bytes */
        for (uint32_t x = lane.id; x < p.width; x += MR_TEAM_LANES) {
            uint32_t value = base + l3_2022_delta(row, row_nbytes, 12 + x * bits, bits) +
                             l3_2022_predict(above[x], above[x + 1], above[x + 2]);
            now[x + 1] = (uint8_t)value;
            to[x * o->to.channels] = (uint8_t)value;
        }
        at += row_nbytes;
        mr_barrier(lane);
    }
    if (lane.id == 0 && (y != p.height || at != end))
        MR_REFUSE(o->status);
}

#endif
