// SPDX-License-Identifier: Apache-2.0
#include "step/op_warp.h"
#include "device/tape/decode.h"
#include "device/tape/ops.h"
#include "kernel/lane/warp.h"
#include "kernel/turn.h"

/* Counterclockwise, as orientations that show the same. */
static int lay_quarters(mr__tape_writer *w, const mr__op *op, mr__sheet *sheet, mr__detail *detail)
{
    static const uint32_t orientations[4] = {1, 8, 3, 6};
    mr_rect part = mr__turn_need(op->u.warp.quarter, op->width, op->height, op->to);
    sheet->at += (part.y - op->from.y) * sheet->stride + (part.x - op->from.x) * sheet->channels;
    sheet->width = part.width;
    sheet->height = part.height;
    return mr__tape_convert(w, sheet, orientations[op->u.warp.quarter & 3], sheet->channels, detail);
}

static void lay_scale(mr__tape_writer *w, const mr__op *op, mr__sheet from, mr__sheet to)
{
    mr__order_warp_pick order = {.from = from, .to = to, .fill = mr__tape_fill(op->u.warp.fill)};
    void *columns, *rows;
    order.columns = mr__tape_put(w->tape, op->to.width * sizeof(int32_t), &columns);
    order.rows = mr__tape_put(w->tape, op->to.height * sizeof(int32_t), &rows);
    if (columns == NULL || rows == NULL)
        return;
    mr__warp_list(op, 0, columns);
    mr__warp_list(op, 1, rows);
    mr__tape_call_of(w->tape, MR__KERNEL_warp_pick, &order, sizeof order, mr__tape_groups(&to));
}

static void lay_walks(mr__tape_writer *w, const mr__op *op, mr__sheet from, mr__sheet to)
{
    mr__warp_walks at = mr__warp_walks_of(op);
    mr__order_warp_walk order = {.x = at.x,
                                 .y = at.y,
                                 .step_x = at.step_x,
                                 .step_y = at.step_y,
                                 .down_x = at.down_x,
                                 .down_y = at.down_y,
                                 .limit_x = at.limit_x,
                                 .limit_y = at.limit_y,
                                 .from = from,
                                 .to = to,
                                 .fill = mr__tape_fill(op->u.warp.fill)};
    mr__tape_call_of(w->tape, MR__KERNEL_warp_walk, &order, sizeof order, mr__tape_groups(&to));
}

/* In double: every place by itself, or added up along rows, a lane each. */
static void lay_doubles(mr__tape_writer *w, const mr__op *op, bool sums, mr__sheet from, mr__sheet to)
{
    const mr__warp *warp = &op->u.warp;
    mr__order_warp order = {.from = from,
                            .to = to,
                            .from_x = (int32_t)op->from.x,
                            .from_y = (int32_t)op->from.y,
                            .whole_width = (int32_t)op->width,
                            .whole_height = (int32_t)op->height,
                            .to_x = op->to.x,
                            .to_y = op->to.y,
                            .perspective = warp->perspective,
                            .look = (uint32_t)(warp->sampling - MR_SAMPLING_NEAREST),
                            .fill = mr__tape_fill(warp->fill)};
    for (size_t i = 0; i < 8; i++)
        order.c[i] = warp->c[i];
    if (sums)
        mr__tape_call_of(w->tape, MR__KERNEL_warp_sum, &order, sizeof order, MR__ROW_GROUPS(to.height));
    else
        mr__tape_call_of(w->tape, MR__KERNEL_warp, &order, sizeof order, mr__tape_groups(&to));
}

int mr__tape_lay_warp(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                      mr__detail *detail)
{
    mr__warp_way way = mr__warp_way_of(ops);
    (void)count;
    (void)took;
    if (way == MR__WARP_QUARTERS)
        return lay_quarters(w, ops, sheet, detail);
    mr__sheet to = mr__tape_sheet(w->tape, ops->to.width, ops->to.height, sheet->channels);
    if (way == MR__WARP_SCALE)
        lay_scale(w, ops, *sheet, to);
    else if (way == MR__WARP_WALKS)
        lay_walks(w, ops, *sheet, to);
    else
        lay_doubles(w, ops, way == MR__WARP_SUMS, *sheet, to);
    *sheet = to;
    return 0;
}
