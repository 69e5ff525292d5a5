// SPDX-License-Identifier: Apache-2.0
/* What looks at all channels of a pixel: saturation, hue, grayscale, permute. Gray images stay as they are. */
#include "kernel/color.h"
#include "step/ops.h"

static void do_row(const mr__op *op, const mr__color_kernels *kernels, const uint8_t *from, size_t n, uint8_t *to)
{
    if (op->kind == MR__OP_SATURATION)
        kernels->saturation(from, n, (float)op->amount, to);
    else if (op->kind == MR__OP_HUE)
        kernels->hue(from, n, op->whole, to);
    else if (op->kind == MR__OP_GRAYSCALE)
        kernels->grayscale(from, n, to);
    else
        kernels->permute(from, n, op->whole, to);
}

static bool has_no_gaps(const mr_image *image)
{
    return image->stride == (ptrdiff_t)mr_image_row_nbytes(image);
}

static int run(mr__op_work *w)
{
    mr__color_kernels kernels;
    size_t n = w->to.width;
    uint32_t count = w->to.height;
    if (w->to.channels != 3)
        return w->from.pixels != w->to.pixels ? mr_image_copy(&w->from, &w->to) : 0;
    mr__color_kernels_init(&kernels, mr__op_cpu(w->tools));
    if (has_no_gaps(&w->from) && has_no_gaps(&w->to)) {
        n *= count;
        count = 1;
    }
    for (uint32_t y = 0; y < count; y++)
        do_row(w->op, &kernels, (const uint8_t *)w->from.pixels + (ptrdiff_t)y * w->from.stride, n,
               (uint8_t *)w->to.pixels + (ptrdiff_t)y * w->to.stride);
    return 0;
}

static int tell_saturation(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "saturation times %.4g", op->amount);
}

static int tell_hue(const mr__op *op, char *text, size_t nbytes)
{
    int turn = (int)(op->whole & 255u);
    return snprintf(text, nbytes, "hue turned by %d of 255", turn < 128 ? turn : turn - 256);
}

static int tell_permute(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "channels %u, %u, %u", op->whole & 3u, op->whole >> 2 & 3u, op->whole >> 4 & 3u);
}

const mr__op_type mr__op_saturation = {
    .name = "saturation", .run = run, .in_place = true, .either = true, .tell = tell_saturation};
const mr__op_type mr__op_hue = {.name = "hue", .run = run, .in_place = true, .either = true, .tell = tell_hue};
const mr__op_type mr__op_grayscale = {.name = "grayscale", .run = run, .in_place = true, .either = true};
const mr__op_type mr__op_permute = {
    .name = "permute", .run = run, .in_place = true, .either = true, .tell = tell_permute};
