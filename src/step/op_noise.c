// SPDX-License-Identifier: Apache-2.0
/* Gaussian noise, by place. */
#include "kernel/noise.h"
#include "step/ops.h"

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    const mr_image *image = &w->to;
    mr__noise_kernels kernels;
    mr__noise noise;
    size_t first = (size_t)op->from.x * image->channels, n = (size_t)image->width * image->channels;
    mr__noise_kernels_init(&kernels, mr__op_cpu(w->tools));
    mr__noise_init(&noise, op->amount * 255.0, op->more * 255.0, op->whole == 0, op->key);
    for (uint32_t y = 0; y < image->height; y++)
        mr__noise_add(&kernels, &noise, op->from.y + y, first, n,
                      (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride);
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "noise of sigma %g", op->more);
}

const mr__op_type mr__op_noise = {.name = "noise", .run = run, .in_place = true, .tell = tell};
