// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode_dct.h"

#include "base/size.h"
#include "kernel/lane/jpeg_pixels.h"

#include <string.h>

void mr__tape_dct_init(mr__tape_dct *d, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region)
{
    *d = (mr__tape_dct){.layout = layout, .region = region, .parts = parts};
    for (uint32_t i = 0; i < parts; i++)
        d->part[i].blocks = mr__jpeg_layout_blocks(layout, i, region);
}

void mr__tape_dct_grid(mr__tape_dct *d, uint32_t part, uint32_t wide, uint32_t high, uint32_t left, uint32_t top)
{
    mr__tape_dct_part *p = &d->part[part];
    p->left = left;
    p->top = top;
    p->wide = wide;
    p->high = high;
    p->across = mr__ceil_div(p->blocks.x + p->blocks.width - left, wide);
    p->count = p->across * mr__ceil_div(p->blocks.y + p->blocks.height - top, high);
}

/* The samples of a component. */
static mr__sheet lay_samples(mr__tape *tape, const mr__tape_dct *d, uint32_t part)
{
    const mr__tape_dct_part *p = &d->part[part];
    uint32_t size = d->layout->part[part].size;
    mr__sheet samples = mr__tape_sheet(tape, p->blocks.width * size, p->blocks.height * size, 1);
    mr__order_idct order = {.strips = p->strips,
                            .count = p->count,
                            .across = p->across,
                            .wide = p->wide,
                            .high = p->high,
                            .skip_x = p->blocks.x - p->left,
                            .skip_y = p->blocks.y - p->top,
                            .columns = p->blocks.width,
                            .rows = p->blocks.height,
                            .size = size,
                            .to = samples.at,
                            .stride = samples.stride};
    uint64_t groups = MR__IDCT_GROUPS(p->count, p->wide, p->high);
    memcpy(order.quant, p->quant, sizeof order.quant);
    if (part == 0)
        mr__tape_call_of(tape, MR__KERNEL_idct, &order, sizeof order, groups);
    else
        mr__tape_call_beside(tape, MR__KERNEL_idct, &order, sizeof order, groups);
    return samples;
}

static mr__plane plane_of(const mr__jpeg_part *shape, const mr_rect *blocks, const mr__sheet *samples)
{
    bool blends_across = shape->rise == MR__JPEG_RISE_H2V1 || shape->rise == MR__JPEG_RISE_H2V2;
    bool blends_down = shape->rise == MR__JPEG_RISE_H1V2 || shape->rise == MR__JPEG_RISE_H2V2;
    return (mr__plane){.at = samples->at,
                       .stride = samples->stride,
                       .left = blocks->x * shape->size,
                       .top = blocks->y * shape->size,
                       .width = shape->width,
                       .height = shape->height,
                       .across = shape->across,
                       .down = shape->down,
                       .blends = (uint32_t)blends_across | (uint32_t)blends_down << 1};
}

mr__sheet mr__tape_dct_pixels(mr__tape *tape, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region,
                              const mr_rect blocks[MR__JPEG_PARTS_MAX], const mr__sheet samples[MR__JPEG_PARTS_MAX])
{
    mr__order_jpeg_pixels order = {.x = region.x, .y = region.y, .rgb = layout->rgb};
    for (uint32_t i = 0; i < parts; i++)
        order.plane[i] = plane_of(&layout->part[i], &blocks[i], &samples[i]);
    order.to = mr__tape_sheet(tape, region.width, region.height, parts);
    mr__tape_call_of(tape, MR__KERNEL_jpeg_pixels, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width, (uint64_t)order.to.height));
    for (uint32_t i = 0; i < parts; i++)
        mr__tape_leave(tape, &samples[i]);
    return order.to;
}

mr__sheet mr__tape_dct_lay(mr__tape *tape, const mr__tape_dct *d, const mr__sheet *coef)
{
    mr_rect blocks[MR__JPEG_PARTS_MAX];
    mr__sheet samples[MR__JPEG_PARTS_MAX];
    for (uint32_t i = 0; i < d->parts; i++) {
        blocks[i] = d->part[i].blocks;
        samples[i] = lay_samples(tape, d, i);
    }
    if (coef != NULL)
        mr__tape_leave(tape, coef);
    return mr__tape_dct_pixels(tape, d->layout, d->parts, d->region, blocks, samples);
}
