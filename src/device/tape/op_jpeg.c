// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode_dct.h"
#include "device/tape/ops.h"
#include "kernel/jpeg_again.h"
#include "kernel/lane/jpeg_again.h"

#include <string.h>

enum { BLOCK = 8 };

/* Calls for the components: the first one after what was before, the others beside it. */
static void call(mr__tape_writer *w, uint32_t k, mr__kernel kernel, const void *order, size_t nbytes, uint64_t items)
{
    if (k == 0)
        mr__tape_call_of(w->tape, kernel, order, nbytes, items);
    else
        mr__tape_call_beside(w->tape, kernel, order, nbytes, items);
}

/* Samples of a component's blocks, from pixels. */
static mr__sheet lay_samples(mr__tape_writer *w, const mr__op *op, const mr__sheet *from, uint32_t k, mr_rect blocks)
{
    mr__order_jpeg_split order = {.from = *from,
                                  .from_x = op->from.x,
                                  .from_y = op->from.y,
                                  .width = op->width,
                                  .height = op->height,
                                  .what = from->channels == 1 ? MR__AGAIN_GRAY : MR__AGAIN_Y + k,
                                  .x = blocks.x * BLOCK,
                                  .y = blocks.y * BLOCK};
    order.to = mr__tape_sheet(w->tape, blocks.width * BLOCK, blocks.height * BLOCK, 1);
    call(w, k, MR__KERNEL_jpeg_split, &order, sizeof order, mr__tape_groups(&order.to));
    return order.to;
}

/* There and back. */
static void lay_blocks(mr__tape_writer *w, uint32_t k, mr__sheet samples, uint32_t quality)
{
    mr__order_jpeg_again order = {.samples = samples};
    mr__jpeg_quant quant;
    mr__jpeg_quant_init(&quant, quality, k != 0);
    memcpy(order.by, quant.by, sizeof order.by);
    memcpy(order.reciprocal, quant.reciprocal, sizeof order.reciprocal);
    memcpy(order.shift, quant.shift, sizeof order.shift);
    uint64_t blocks = (uint64_t)(samples.width / BLOCK) * (samples.height / BLOCK);
    call(w, k, MR__KERNEL_jpeg_again, &order, sizeof order, (blocks + MR_LANES - 1) / MR_LANES);
}

int mr__tape_lay_jpeg(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                      mr__detail *detail)
{
    mr__jpeg_layout layout;
    mr_rect to = ops->to, blocks[MR__JPEG_PARTS_MAX];
    mr__sheet samples[MR__JPEG_PARTS_MAX];
    (void)count;
    (void)took;
    if (!mr__jpeg_again_layout(ops->width, ops->height, sheet->channels, &layout))
        return mr__fail(detail, MR_EUNSUPPORTED, "no JPEG has %u x %u pixels", ops->width, ops->height);
    for (uint32_t k = 0; k < layout.parts; k++) {
        blocks[k] = mr__jpeg_layout_blocks(&layout, k, to);
        samples[k] = lay_samples(w, ops, sheet, k, blocks[k]);
    }
    for (uint32_t k = 0; k < layout.parts; k++)
        lay_blocks(w, k, samples[k], ops->whole);
    if (layout.parts == 3) {
        *sheet = mr__tape_dct_pixels(w->tape, &layout, 3, to, blocks, samples);
        return 0;
    }
    *sheet = samples[0]; // they are pixels
    sheet->at += (to.y - BLOCK * blocks[0].y) * sheet->stride + to.x - BLOCK * blocks[0].x;
    sheet->width = to.width;
    sheet->height = to.height;
    return 0;
}
