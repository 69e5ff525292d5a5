// SPDX-License-Identifier: Apache-2.0
/*
 * torchvision's gaussian_blur: a Gaussian of a kernel's size, borders mirrored without the outermost pixel. There it is
 * one sum in two dimensions, here two sums, first down, then across; both are of floats, and differ by some 2^-17 of a
 * grey level before they are rounded.
 */
#include "step/op_blur.h"
#include "kernel/filter.h"
#include "kernel/filter_pixel.h"
#include "step/gauss.h"
#include "step/ops.h"

#include <string.h>

enum { RADIUS_MAX = MR__BLUR_KERNEL_MAX / 2 };

/* What the rows have in common. */
typedef struct blur {
    mr__filters filters;
    float across[RADIUS_MAX + 1], down[RADIUS_MAX + 1];
    size_t across_radius, down_radius;
    uint32_t first, count; /* the columns of the image that are summed down */
    float *sums;           /* of these, with room for across_radius mirrored pixels on both sides */
} blur;

mr_rect mr__rect_grown(mr_rect part, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    uint32_t left = part.x < x ? part.x : x, top = part.y < y ? part.y : y;
    uint32_t right = width - part.x - part.width, bottom = height - part.y - part.height;
    return (mr_rect){part.x - left, part.y - top, part.width + left + (right < x ? right : x),
                     part.height + top + (bottom < y ? bottom : y)};
}

static mr_rect need(const mr__op *op, mr_rect part)
{
    return mr__rect_grown(part, op->u.blur.kernel[0] / 2, op->u.blur.kernel[1] / 2, op->width, op->height);
}

static void sum_down(const mr__op_work *w, const blur *b, uint32_t y)
{
    const uint8_t *rows[2 * RADIUS_MAX + 1];
    const mr__op *op = w->op;
    size_t channels = w->from.channels, radius = b->down_radius;
    const uint8_t *from = (const uint8_t *)w->from.pixels + (size_t)(b->first - op->from.x) * channels;
    for (size_t i = 0; i <= 2 * radius; i++) {
        int32_t at = mr__mirrored((int32_t)y + (int32_t)i - (int32_t)radius, (int32_t)op->height);
        rows[i] = from + (ptrdiff_t)(at - (int32_t)op->from.y) * w->from.stride;
    }
    b->filters.down_u8(rows, b->down, radius, b->count * channels, b->sums + b->across_radius * channels);
}

/* Columns that the image does not have, where the part comes so near to its side. */
static void mirror(const mr__op_work *w, const blur *b)
{
    const mr__op *op = w->op;
    size_t channels = w->from.channels;
    int32_t first = (int32_t)op->to.x - (int32_t)b->across_radius, width = (int32_t)op->width;
    int32_t end = (int32_t)(op->to.x + op->to.width) + (int32_t)b->across_radius;
    float *sums = b->sums + b->across_radius * channels;
    for (int32_t x = first; x < 0; x++)
        memcpy(sums + x * (ptrdiff_t)channels, sums - x * (ptrdiff_t)channels, channels * sizeof *sums);
    for (int32_t x = width; x < end; x++)
        memcpy(sums + (x - (int32_t)b->first) * (ptrdiff_t)channels,
               sums + (mr__mirrored(x, width) - (int32_t)b->first) * (ptrdiff_t)channels, channels * sizeof *sums);
}

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    size_t channels = w->from.channels;
    blur b;
    mr__filters_init(&b.filters, mr__op_cpu(w->tools));
    b.across_radius = mr__gauss_weights(op->u.blur.kernel[0], op->u.blur.sigma[0], b.across);
    b.down_radius = mr__gauss_weights(op->u.blur.kernel[1], op->u.blur.sigma[1], b.down);
    mr_rect summed = mr__rect_grown(op->to, (uint32_t)b.across_radius, 0, op->width, op->height);
    b.first = summed.x;
    b.count = summed.width;
    b.sums = mr__op_scratch(w->tools, 0, (b.count + 2 * b.across_radius) * channels * sizeof *b.sums);
    if (b.sums == NULL)
        return mr__fail(w->detail, MR_ENOMEM, "out of memory: there was too little to blur %u columns", b.count);
    for (uint32_t i = 0; i < op->to.height; i++) {
        sum_down(w, &b, op->to.y + i);
        mirror(w, &b);
        const float *sums = b.sums + (b.across_radius + op->to.x - b.first) * channels;
        b.filters.across_u8(sums, channels, b.across, b.across_radius, op->to.width * channels,
                            (uint8_t *)w->to.pixels + (ptrdiff_t)i * w->to.stride);
    }
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "blurred over %u x %u pixels with sigma %g", op->u.blur.kernel[0],
                    op->u.blur.kernel[1], op->u.blur.sigma[0]);
}

const mr__op_type mr__op_blur = {.name = "blur", .run = run, .need = need, .tell = tell};
