// SPDX-License-Identifier: Apache-2.0
/* Brightness and contrast: Pillow's ImageEnhance, blends of a constant and the image. */
#include "step/op_table.h"
#include "step/ops.h"

#include <string.h>

static void blend_from(mr__table_work *work, uint8_t constant)
{
    uint8_t values[256], own[256];
    mr__color_kernels kernels;
    mr__color_kernels_init(&kernels, mr__op_cpu(work->tools));
    for (size_t v = 0; v < 256; v++)
        values[v] = (uint8_t)v;
    memset(own, constant, sizeof own);
    kernels.blend(own, values, 256, (float)work->op->amount, own);
    mr__tables_put_all(work, own);
}

static void make_brightness(mr__table_work *work)
{
    blend_from(work, 0);
}

static void make_contrast(mr__table_work *work)
{
    blend_from(work, (uint8_t)(mr__tables_mean(work) + 0.5));
}

static int tell_brightness(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "brightness times %.4g", op->amount);
}

static int tell_contrast(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "contrast times %.4g", op->amount);
}

const mr__op_type mr__op_brightness = {.name = "brightness", .table = make_brightness, .tell = tell_brightness};
const mr__op_type mr__op_contrast = {
    .name = "contrast", .table = make_contrast, .need = mr__op_need_all, .tell = tell_contrast};
