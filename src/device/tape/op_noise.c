// SPDX-License-Identifier: Apache-2.0
#include "device/tape/ops.h"
#include "kernel/lane/noise.h"
#include "kernel/noise.h"

int mr__tape_lay_noise(mr__tape_writer *w, const mr__op *op, size_t count, mr__sheet *sheet, size_t *took,
                       mr__detail *detail)
{
    mr__noise noise;
    mr__order_noise order = {.from = *sheet, .wrap = op->whole == 0};
    (void)count;
    (void)took;
    (void)detail;
    mr__noise_init(&noise, op->amount * 255.0, op->more * 255.0, op->whole == 0, op->key);
    order.draws = (mr__draws){.key = {op->key[0], op->key[1]},
                              .row = op->from.y,
                              .first = op->from.x * sheet->channels,
                              .count = sheet->width * sheet->channels};
    order.slots = mr__tape_copy(w->tape, noise.slots, sizeof noise.slots);
    order.to = mr__tape_sheet(w->tape, sheet->width, sheet->height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_add_noise, &order, sizeof order,
                     (uint64_t)MR__DRAW_GROUPS(order.draws.first, order.draws.count) * sheet->height);
    *sheet = order.to;
    return 0;
}
