// SPDX-License-Identifier: Apache-2.0
/* Branches begin with the same sheet, and are launched side by side (mr__tape_fork). */
#include "device/tape/ops.h"
#include "kernel/lane/augmix.h"

_Static_assert(MR__MIXED_MAX == MR__BRANCHES_MAX, "orders have room for every branch");

/* Nothing of it is left but what it comes to; the sheet that it begins with is not its own. */
static int lay_branch(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, mr__detail *detail)
{
    const mr__sheet source = *sheet;
    int result = 0;
    for (size_t i = 0, took = 0; i < count && result == 0; i += took) {
        mr__sheet before = *sheet;
        result = mr__tape_op(w, ops + i, count - i, sheet, &took, detail);
        if (result == 0 && sheet->at != before.at && before.at != source.at)
            mr__tape_leave(w->tape, &before);
    }
    if (result == 0 && (sheet->width != source.width || sheet->height != source.height))
        return mr__fail(detail, MR_EINTERNAL, "a branch of augmix came to %u x %u, and not to %u x %u", sheet->width,
                        sheet->height, source.width, source.height);
    return result;
}

/* What all branches come to; how many ops they took. */
static int lay_branches(mr__tape_writer *w, const mr__op *ops, size_t count, const mr__sheet *source,
                        mr__sheet branches[MR__BRANCHES_MAX], size_t *took, mr__detail *detail)
{
    const mr__mix *mix = &ops->u.mix;
    mr__tape_fork fork = mr__tape_fork_begin(w->tape);
    int result = 0;
    size_t at = 1;
    for (uint32_t i = 0; i < mix->branches && result == 0; i++) {
        branches[i] = *source;
        result = at + mix->depth[i] <= count ? lay_branch(w, ops + at, mix->depth[i], &branches[i], detail)
                                             : mr__fail(detail, MR_EINTERNAL, "augmix has more ops than there are");
        mr__tape_fork_next(w->tape, &fork);
        at += mix->depth[i];
    }
    mr__tape_fork_end(w->tape, &fork);
    *took = at;
    return result;
}

int mr__tape_lay_augmix(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                        mr__detail *detail)
{
    const mr__mix *mix = &ops->u.mix;
    mr__order_augmix order = {.from = *sheet, .original = mix->original, .count = mix->branches};
    mr__sheet branches[MR__BRANCHES_MAX];
    int result = lay_branches(w, ops, count, sheet, branches, took, detail);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < mix->branches; i++) {
        order.at[i] = branches[i].at;
        order.stride[i] = branches[i].stride;
        order.weight[i] = mix->weight[i];
    }
    order.to = mr__tape_sheet(w->tape, sheet->width, sheet->height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_augmix, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width * order.to.channels, (uint64_t)order.to.height));
    for (uint32_t i = 0; i < mix->branches; i++)
        if (branches[i].at != sheet->at)
            mr__tape_leave(w->tape, &branches[i]);
    *sheet = order.to;
    return 0;
}
