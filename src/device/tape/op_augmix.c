// SPDX-License-Identifier: Apache-2.0
/*
 * Branches begin with the same sheet and do not wait for each other: each begins at the level that the sample has come
 * to, so that what they have in common is launched together.
 */
#include "device/tape/ops.h"
#include "kernel/lane/augmix.h"

_Static_assert(MR__MIXED_MAX == MR__BRANCHES_MAX, "orders have room for every branch");

static int lay_branch(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, mr__detail *detail)
{
    uint32_t width = sheet->width, height = sheet->height;
    int result = 0;
    for (size_t i = 0, took = 0; i < count && result == 0; i += took)
        result = mr__tape_op(w, ops + i, count - i, sheet, &took, detail);
    if (result == 0 && (sheet->width != width || sheet->height != height))
        return mr__fail(detail, MR_EINTERNAL, "a branch of augmix came to %u x %u, and not to %u x %u", sheet->width,
                        sheet->height, width, height);
    return result;
}

int mr__tape_lay_augmix(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                        mr__detail *detail)
{
    const mr__mix *mix = &ops->u.mix;
    mr__order_augmix order = {.from = *sheet, .original = mix->original, .count = mix->branches};
    uint32_t first = w->tape->level, last = first;
    size_t at = 1;
    for (uint32_t i = 0; i < mix->branches; i++) {
        mr__sheet branch = *sheet;
        w->tape->level = first;
        int result = at + mix->depth[i] <= count ? lay_branch(w, ops + at, mix->depth[i], &branch, detail)
                                                 : mr__fail(detail, MR_EINTERNAL, "augmix has more ops than there are");
        if (result != 0)
            return result;
        w->tape->spare_count = 0; // what a branch has left is not another's: they are done at the same time
        last = w->tape->level > last ? w->tape->level : last;
        at += mix->depth[i];
        order.at[i] = branch.at;
        order.stride[i] = branch.stride;
        order.weight[i] = mix->weight[i];
    }
    w->tape->level = last;
    order.to = mr__tape_sheet(w->tape, sheet->width, sheet->height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_augmix, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width * order.to.channels, (uint64_t)order.to.height));
    *sheet = order.to;
    *took = at;
    return 0;
}
