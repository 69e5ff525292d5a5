// SPDX-License-Identifier: Apache-2.0
/* Brightness and contrast: Pillow's ImageEnhance, blends of a constant and the image. */
#include "kernel/color_pixel.h"
#include "step/op_table.h"
#include "step/ops.h"

static void blend_from(mr__table_work *work, uint8_t constant)
{
    uint8_t own[256];
    for (uint32_t v = 0; v < 256; v++)
        own[v] = mr__blend(constant, v, (float)work->op->amount);
    mr__tables_put_all(work, own);
}

static void make_brightness(mr__table_work *work)
{
    blend_from(work, 0);
}

static void make_contrast(mr__table_work *work)
{
    blend_from(work, mr__tables_mean(work));
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
