// SPDX-License-Identifier: Apache-2.0
/* Pillow's Sharpness: a blend of the image with a smoothed one, in which the outermost pixels are as they were. */
#include "kernel/filter.h"
#include "step/ops.h"

#include <string.h>

/* A pixel more on all sides, as far as there is one. */
static mr_rect need(const mr__op *op, mr_rect part)
{
    uint32_t left = part.x > 0, top = part.y > 0;
    uint32_t right = part.x + part.width < op->width, bottom = part.y + part.height < op->height;
    return (mr_rect){part.x - left, part.y - top, part.width + left + right, part.height + top + bottom};
}

/* One row of the part. `at` is its first pixel in the source. */
static void run_row(const mr__op_work *w, const mr__filters *filters, const uint8_t *at, bool edge, uint8_t *to)
{
    const mr__op *op = w->op;
    size_t channels = w->from.channels, n = op->to.width;
    if (edge) {
        memcpy(to, at, n * channels);
        return;
    }
    if (op->to.x == 0) {
        memcpy(to, at, channels);
        at += channels;
        to += channels;
        n--;
    }
    if (n != 0 && op->to.x + op->to.width == op->width) {
        n--;
        memcpy(to + n * channels, at + n * channels, channels);
    }
    if (n != 0)
        filters->sharpen(at - w->from.stride, at, at + w->from.stride, channels, n * channels, (float)op->amount, to);
}

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    mr__filters filters;
    mr__filters_init(&filters, mr__op_cpu(w->tools));
    const uint8_t *from = (const uint8_t *)w->from.pixels + (size_t)(op->to.x - op->from.x) * w->from.channels;
    for (uint32_t i = 0; i < op->to.height; i++) {
        uint32_t y = op->to.y + i;
        const uint8_t *at = from + (ptrdiff_t)(y - op->from.y) * w->from.stride;
        uint8_t *to = (uint8_t *)w->to.pixels + (ptrdiff_t)i * w->to.stride;
        run_row(w, &filters, at, y == 0 || y + 1 == op->height, to);
    }
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "sharpness by %g", op->amount);
}

const mr__op_type mr__op_sharpness = {.name = "sharpness", .run = run, .need = need, .tell = tell};
