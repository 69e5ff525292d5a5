// SPDX-License-Identifier: Apache-2.0
/* Equalize and autocontrast, as Pillow's ImageOps: a table for each channel, from the values that it has. */
#include "kernel/levels_pixel.h"
#include "step/op_table.h"
#include "step/ops.h"

/*
 * Each value goes to how many samples are below it, in steps of a 255th of those that are not of the largest value,
 * rounded. Where there are fewer than 255 of these it stays as it is.
 */
static void make_equalize(mr__table_work *work)
{
    uint32_t histogram[256];
    uint8_t own[256];
    for (uint32_t c = 0; c < work->image->channels; c++) {
        uint32_t all = 0, last = 0;
        mr__tables_histogram(work, c, histogram);
        for (size_t v = 0; v < 256; v++) {
            all += histogram[v];
            last = histogram[v] != 0 ? histogram[v] : last;
        }
        uint32_t step = (all - last) / 255, below = step / 2;
        if (step == 0)
            continue;
        for (size_t v = 0; v < 256; v++) {
            own[v] = mr__equalized(below, step);
            below += histogram[v];
        }
        mr__tables_put(work, c, own);
    }
}

/* From the least value to the largest: from 0 to 255, truncated. */
static void make_autocontrast(mr__table_work *work)
{
    uint8_t range[3][2], own[256];
    mr__tables_range(work, range);
    for (uint32_t c = 0; c < work->image->channels; c++) {
        if (range[c][1] <= range[c][0])
            continue;
        for (uint32_t v = 0; v < 256; v++)
            own[v] = mr__stretched(v, range[c][0], range[c][1]);
        mr__tables_put(work, c, own);
    }
}

const mr__op_type mr__op_equalize = {.name = "equalized", .table = make_equalize, .need = mr__op_need_all};
const mr__op_type mr__op_autocontrast = {.name = "autocontrast", .table = make_autocontrast, .need = mr__op_need_all};
