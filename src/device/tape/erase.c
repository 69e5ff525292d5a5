// SPDX-License-Identifier: Apache-2.0
/* Rectangles that are filled: in pixels, and behind normalize in the numbers of a batch. */
#include "step/erase.h"

#include "device/tape/ops.h"
#include "kernel/lane/noise.h"
#include "kernel/normal.h"

/* A call that fills the rectangle r on its ground, as numbers of a batch; `beside` the last one. */
static void lay_fill(mr__tape_writer *w, const mr__erase *erase, mr_rect r, mr__ground ground, mr_dtype dtype,
                     bool beside)
{
    mr__order_fill order = {.ground = ground, .number_nbytes = (uint32_t)mr_dtype_nbytes(dtype)};
    uint64_t items = MR__CANVAS_GROUPS(r.width, (uint64_t)r.height);
    for (uint32_t c = 0; c < ground.channels; c++)
        order.bits[c] = mr__erase_bits(dtype, erase->value[c]);
    if (beside)
        mr__tape_call_beside(w->tape, MR__KERNEL_fill, &order, sizeof order, items);
    else
        mr__tape_call_of(w->tape, MR__KERNEL_fill, &order, sizeof order, items);
}

static void lay_random(mr__tape_writer *w, const mr__erase *erase, mr_rect r, mr__ground ground, mr_dtype dtype,
                       bool beside)
{
    mr__order_random order = {.ground = ground};
    order.draws = (mr__draws){.key = {erase->key[0], erase->key[1]},
                              .row = r.y,
                              .first = r.x * ground.channels,
                              .count = r.width * ground.channels};
    order.kind = dtype == MR_U8    ? MR__RANDOM_BYTES
                 : dtype == MR_F32 ? MR__RANDOM_F32
                 : dtype == MR_F16 ? MR__RANDOM_F16
                                   : MR__RANDOM_BF16;
    if (dtype != MR_U8)
        order.cubics = mr__tape_copy(w->tape, mr__normal_cubics, sizeof mr__normal_cubics);
    uint64_t items = (uint64_t)MR__DRAW_GROUPS(order.draws.first, order.draws.count) * r.height;
    if (beside)
        mr__tape_call_beside(w->tape, MR__KERNEL_randomize, &order, sizeof order, items);
    else
        mr__tape_call_of(w->tape, MR__KERNEL_randomize, &order, sizeof order, items);
}

/* The rest of the sheet is copied at the same time: what a sheet had stays, for others may look at it. */
int mr__tape_lay_erase(mr__tape_writer *w, const mr__op *op, size_t count, mr__sheet *sheet, size_t *took,
                       mr__detail *detail)
{
    const mr__erase *erase = &op->u.erase;
    mr_rect r;
    (void)count;
    (void)took;
    (void)detail;
    if (!mr__erase_common(erase->rect, op->from, &r))
        return 0;
    mr__order_around order = {
        .from = *sheet, .x = r.x - op->from.x, .y = r.y - op->from.y, .width = r.width, .height = r.height};
    order.to = mr__tape_sheet(w->tape, sheet->width, sheet->height, sheet->channels);
    mr__ground ground = {.to = (uint64_t)order.to.at + order.y * order.to.stride + order.x * order.to.channels,
                         .to_plane = 1,
                         .to_row = order.to.stride,
                         .to_pixel = order.to.channels,
                         .in_arena = 1,
                         .width = r.width,
                         .height = r.height,
                         .channels = order.to.channels};
    mr__tape_call_of(w->tape, MR__KERNEL_copy_around, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width, (uint64_t)order.to.height));
    if (erase->noise)
        lay_random(w, erase, r, ground, MR_U8, true);
    else
        lay_fill(w, erase, r, ground, MR_U8, true);
    *sheet = order.to;
    return 0;
}

int mr__tape_erase_finished(mr__tape_writer *w, const mr__erase *erase, mr__detail *detail)
{
    const mr_output *output = &w->finish.output;
    const mr__finisher *f = &w->finisher;
    uint32_t number = (uint32_t)f->number_nbytes;
    bool planes = f->layout == MR_NCHW;
    mr_rect r;
    (void)detail;
    if (!mr__erase_common(erase->rect, (mr_rect){0, 0, output->width, output->height}, &r))
        return 0;
    mr__ground ground = {.width = r.width, .height = r.height, .channels = f->channels};
    ground.to_pixel = planes ? number : number * f->channels;
    ground.to_row = ground.to_pixel * output->width;
    ground.to_plane = planes ? (uint64_t)ground.to_row * output->height : number;
    ground.to = w->out + (uint64_t)r.y * ground.to_row + (uint64_t)r.x * ground.to_pixel;
    if (erase->noise)
        lay_random(w, erase, r, ground, f->dtype, false);
    else
        lay_fill(w, erase, r, ground, f->dtype, false);
    return 0;
}
