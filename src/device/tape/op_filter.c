// SPDX-License-Identifier: Apache-2.0
/* Sharpness and blur: from the part of an image that is there to the part that is wanted. */
#include "device/tape/ops.h"
#include "kernel/lane/filter.h"
#include "step/gauss.h"
#include "step/op_blur.h"

int mr__tape_lay_sharpness(mr__tape_writer *w, const mr__op *op, size_t count, mr__sheet *sheet, size_t *took,
                           mr__detail *detail)
{
    mr__order_sharpen order = {.from = *sheet,
                               .from_x = op->from.x,
                               .from_y = op->from.y,
                               .to_x = op->to.x,
                               .to_y = op->to.y,
                               .width = op->width,
                               .height = op->height,
                               .factor = (float)op->amount};
    (void)count;
    (void)took;
    (void)detail;
    order.to = mr__tape_sheet(w->tape, op->to.width, op->to.height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_sharpen, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width, (uint64_t)order.to.height));
    *sheet = order.to;
    return 0;
}

/* The weights of one side, in the tape. */
static uint32_t put_weights(mr__tape_writer *w, uint32_t kernel, double sigma, uint32_t *radius)
{
    float weight[MR__BLUR_KERNEL_MAX / 2 + 1];
    *radius = (uint32_t)mr__gauss_weights(kernel, sigma, weight);
    return mr__tape_copy(w->tape, weight, (*radius + 1) * sizeof *weight);
}

int mr__tape_lay_blur(mr__tape_writer *w, const mr__op *op, size_t count, mr__sheet *sheet, size_t *took,
                      mr__detail *detail)
{
    const mr__blur *blur = &op->u.blur;
    uint32_t channels = sheet->channels, rows = op->to.height;
    mr__order_blur order = {.from = *sheet,
                            .from_x = op->from.x,
                            .from_y = op->from.y,
                            .to_x = op->to.x,
                            .to_y = op->to.y,
                            .width = op->width,
                            .height = op->height};
    (void)count;
    (void)took;
    (void)detail;
    order.across = put_weights(w, blur->kernel[0], blur->sigma[0], &order.across_radius);
    order.down = put_weights(w, blur->kernel[1], blur->sigma[1], &order.down_radius);
    mr_rect summed = mr__rect_grown(op->to, order.across_radius, 0, op->width, op->height);
    order.first = summed.x;
    order.columns = summed.width;
    mr__sheet sums = mr__tape_sheet(w->tape, order.columns * (uint32_t)sizeof(float), rows, channels);
    order.sums = sums.at;
    order.to = mr__tape_sheet(w->tape, op->to.width, rows, channels);
    mr__tape_call_of(w->tape, MR__KERNEL_blur_down, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.columns * channels, (uint64_t)rows));
    mr__tape_call_of(w->tape, MR__KERNEL_blur_across, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width * channels, (uint64_t)rows));
    mr__tape_leave(w->tape, &sums);
    *sheet = order.to;
    return 0;
}
