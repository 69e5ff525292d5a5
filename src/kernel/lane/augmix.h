// SPDX-License-Identifier: Apache-2.0
/* What the branches of augmix have come to, by their weights: one lane a sample, all branches at once. */
#ifndef MR_KERNEL_LANE_AUGMIX_H
#define MR_KERNEL_LANE_AUGMIX_H

#include "kernel/augmix_pixel.h"
#include "kernel/lane/pass.h"

#define MR__MIXED_MAX 10

typedef struct mr__order_augmix {
    mr__sheet from, to; /* of one size, as are the branches */
    float original;
    uint32_t count; /* at least 1 */
    uint32_t at[MR__MIXED_MAX], stride[MR__MIXED_MAX];
    float weight[MR__MIXED_MAX];
} mr__order_augmix;

MR_KERNEL(augmix)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_augmix *o = MR_ORDER(mr__order_augmix);
    uint32_t n = o->to.width * o->to.channels, groups = MR__ROW_GROUPS(n), y = MR_ITEM / groups;
    uint32_t i = MR_ITEM % groups * MR_LANES + lane.id;
    if (i >= n)
        return;
    float sum = mr__augmix_part(arena[o->from.at + y * o->from.stride + i], o->original);
    for (uint32_t k = 0; k < o->count; k++)
        sum += mr__augmix_part(arena[o->at[k] + y * o->stride[k] + i], o->weight[k]);
    arena[o->to.at + y * o->to.stride + i] = mr__augmix_whole(sum);
}

#endif
