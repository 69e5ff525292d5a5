// SPDX-License-Identifier: Apache-2.0
/*
 * Where the bits of each block are in a plane: what the rest of the kernels stand on, and where a damaged plane is
 * found out. A team has a plane; each of its lanes a run of groups, which it walks once for the headers and once for
 * each layer. Only sums over runs are exchanged.
 *
 * What the host's decoder refuses is refused here for all of the plane, also where a region needs only a part of it.
 */
#ifndef MR_KERNEL_LANE_L3_PIXEL_PLACES_H
#define MR_KERNEL_LANE_L3_PIXEL_PLACES_H

#include "kernel/lane/l3_pixel.h"

typedef struct mr__order_l3_places {
    mr__l3_list list; /* an item each */
} mr__order_l3_places;

/* How many ones layer 1 of each pair has; all of them. */
MR_INLINE uint32_t mr__l3_count_masks(MR_GLOBAL uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane, uint32_t first,
                                      uint32_t end, uint32_t status)
{
    MR_GLOBAL uint32_t *bits = (MR_GLOBAL uint32_t *)(arena + plane->bits);
    uint32_t streams = plane->layers - 1, sum = 0;
    bool crowded = false;
    for (uint32_t group = first; group < end; group++) {
        uint32_t layered = mr__l3_layered(mr__l3_headers(arena, plane, group));
        for (uint32_t upper = 0; upper < 2; upper++) {
            uint32_t start = mr__l3_starts(arena, plane, group)[1];
            uint32_t count = mr_count64(mr__l3_mask(arena, plane, start, layered, upper));
            crowded |= count > MR__L3_ONES_MAX;
            bits[(2 * group + upper) * streams] = count;
            sum += count;
        }
    }
    if (crowded)
        MR_REFUSE(status);
    return sum;
}

/*
 * Layer 2 + j of pairs that begin at bit `at` of it: the counts that stand in the place of theirs become where they
 * begin, and the layer behind gets its counts. Returns their sum.
 */
MR_INLINE uint32_t mr__l3_place_layer(MR_GLOBAL uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane, uint32_t j,
                                      uint32_t first, uint32_t end, uint32_t at)
{
    MR_GLOBAL uint32_t *bits = (MR_GLOBAL uint32_t *)(arena + plane->bits);
    uint32_t streams = plane->layers - 1, limit = plane->limit[j], sum = 0;
    for (uint32_t pair = first; pair < end; pair++) {
        uint32_t count = bits[pair * streams + j], begin = at < limit ? at : limit;
        bits[pair * streams + j] = begin;
        at += count;
        if (j + 1 < streams) {
            uint32_t ones = mr_count64(mr__l3_lowest(mr__l3_bits(arena, plane->layer[j], begin), count));
            bits[pair * streams + j + 1] = ones;
            sum += ones;
        }
    }
    return sum;
}

/* Whether a layer that is used up to here ends here, but for bits that are 0. */
MR_INLINE bool mr__l3_has_ended(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane, uint32_t j,
                                uint32_t at)
{
    uint32_t limit = plane->limit[j];
    return at <= limit && limit - at < 8 && (at == limit || arena[plane->layer[j] + at / 8] >> (at & 7) == 0);
}

MR_KERNEL(l3_places)
{
    MR_TEAM;
    MR_GLOBAL const mr__order_l3_places *o = MR_ORDER(mr__order_l3_places);
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, MR_ITEM);
    MR_GLOBAL uint32_t *starts = (MR_GLOBAL uint32_t *)(arena + plane->starts);
    uint32_t groups = plane->groups, run = (groups + MR_TEAM_LANES - 1) / MR_TEAM_LANES;
    uint32_t first = lane.id * run < groups ? lane.id * run : groups;
    uint32_t end = first + run < groups ? first + run : groups, width = 0, count = 0;
    for (uint32_t g = first; g < end; g++) {
        uint32_t headers = mr__l3_headers(arena, plane, g), layered = mr__l3_layered(headers);
        width += mr__l3_sum_all(mr__l3_widths(headers, layered));
        count += mr__l3_sum_all(layered);
    }
    width = mr_scan(lane, width);
    count = mr_scan(lane, count);
    for (uint32_t g = first; g < end; g++) {
        uint32_t headers = mr__l3_headers(arena, plane, g), layered = mr__l3_layered(headers);
        starts[2 * g] = 4 * width;
        starts[2 * g + 1] = 4 * count;
        width += mr__l3_sum_all(mr__l3_widths(headers, layered));
        count += mr__l3_sum_all(layered);
    }
    if (plane->layers == 0)
        return;
    count = mr__l3_count_masks(arena, plane, first, end, o->list.status);
    for (uint32_t j = 0; j + 1 < plane->layers; j++) {
        uint32_t at = mr_scan(lane, count), behind = at + count;
        count = mr__l3_place_layer(arena, plane, j, 2 * first, 2 * end, at);
        if (lane.id == MR_TEAM_LANES - 1 && !mr__l3_has_ended(arena, plane, j, behind))
            MR_REFUSE(o->list.status);
    }
}

#endif
