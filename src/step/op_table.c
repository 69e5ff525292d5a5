// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of the ops are put one on top of the other, and what they make of all 256 values is applied to the image
 * once. An op that looks at the image would see it as the tables before it make it: what it wants to know is worked out
 * from the image as it is and these tables.
 */
#include "step/op_table.h"

#include "kernel/levels_pixel.h"

#include <string.h>

/* Rows that follow each other without a gap are one. */
typedef struct rows {
    uint8_t *first;
    ptrdiff_t stride;
    uint32_t count;
    size_t pixels; /* of each */
} rows;

static rows rows_of(const mr_image *image)
{
    rows r = {image->pixels, image->stride, image->height, image->width};
    if (image->stride == (ptrdiff_t)mr_image_row_nbytes(image)) {
        r.pixels *= image->height;
        r.count = 1;
    }
    return r;
}

static uint8_t *row_of(const rows *r, uint32_t y)
{
    return r->first + (ptrdiff_t)y * r->stride;
}

void mr__tables_put(mr__table_work *work, uint32_t channel, const uint8_t own[256])
{
    uint8_t *table = work->table[channel];
    for (size_t v = 0; v < 256; v++)
        table[v] = own[table[v]];
}

void mr__tables_put_all(mr__table_work *work, const uint8_t own[256])
{
    for (uint32_t c = 0; c < work->image->channels; c++)
        mr__tables_put(work, c, own);
}

void mr__tables_count(mr__table_work *work)
{
    const mr_image *image = work->image;
    rows r = rows_of(image);
    mr__color_counts counts;
    if (work->has_histogram)
        return;
    work->has_histogram = true;
    memset(&counts, 0, sizeof counts);
    for (uint32_t y = 0; y < r.count; y++) {
        if (image->channels == 3)
            mr__color_count_3(&counts, row_of(&r, y), r.pixels);
        else
            mr__color_count_1(&counts, row_of(&r, y), r.pixels);
    }
    mr__color_count_sum(&counts, image->channels, work->histogram);
}

void mr__tables_histogram(mr__table_work *work, uint32_t channel, uint32_t histogram[256])
{
    mr__tables_count(work);
    memset(histogram, 0, 256 * sizeof *histogram);
    for (size_t v = 0; v < 256; v++)
        histogram[work->table[channel][v]] += work->histogram[channel][v];
}

/* Whether a table goes up all the way, or down. */
static bool is_steady(const uint8_t table[256])
{
    bool up = true, down = true;
    for (size_t v = 1; v < 256; v++) {
        up = up && table[v - 1] <= table[v];
        down = down && table[v - 1] >= table[v];
    }
    return up || down;
}

static void count_range(mr__table_work *work, uint8_t range[3][2])
{
    uint32_t histogram[256];
    for (uint32_t c = 0; c < work->image->channels; c++) {
        size_t low = 0, high = 255;
        mr__tables_histogram(work, c, histogram);
        while (low < 255 && histogram[low] == 0)
            low++;
        while (high > 0 && histogram[high] == 0)
            high--;
        range[c][0] = (uint8_t)low;
        range[c][1] = (uint8_t)high;
    }
}

/* Through a table that is steady the ends of a range stay its ends; else all values have to be looked at. */
void mr__tables_range(mr__table_work *work, uint8_t range[3][2])
{
    uint32_t channels = work->image->channels;
    bool steady = !work->has_histogram;
    for (uint32_t c = 0; c < channels; c++) {
        range[c][0] = 255;
        range[c][1] = 0;
        steady = steady && is_steady(work->table[c]);
    }
    if (!steady) {
        count_range(work, range);
        return;
    }
    mr__color_kernels kernels;
    rows r = rows_of(work->image);
    mr__color_kernels_init(&kernels, mr__op_cpu(work->tools));
    for (uint32_t y = 0; y < r.count; y++)
        (channels == 3 ? kernels.range_3 : kernels.range_1)(row_of(&r, y), r.pixels, range);
    for (uint32_t c = 0; c < channels; c++) {
        uint8_t a = work->table[c][range[c][0]], b = work->table[c][range[c][1]];
        range[c][0] = a < b ? a : b;
        range[c][1] = a < b ? b : a;
    }
}

/* The sum of a row as the tables make it, which are applied to a copy, some pixels at a time. */
static uint64_t sum_row(const mr__color_kernels *kernels, const mr__color_tables *tables, const uint8_t *row, size_t n,
                        uint32_t channels)
{
    enum { SOME = 1024 };
    uint8_t copy[3 * SOME];
    uint64_t sum = 0;
    if (tables->kind == MR__TABLES_NOTHING)
        return channels == 3 ? kernels->sum_gray(row, n) : kernels->sum(row, n);
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < SOME ? n - done : SOME;
        mr__color_apply(kernels, tables, row + done * channels, some, channels, copy);
        sum += channels == 3 ? kernels->sum_gray(copy, some) : kernels->sum(copy, some);
    }
    return sum;
}

uint8_t mr__tables_mean(mr__table_work *work)
{
    const mr_image *image = work->image;
    mr__color_kernels kernels;
    mr__color_tables tables;
    rows r = rows_of(image);
    uint64_t sum = 0;
    mr__color_kernels_init(&kernels, mr__op_cpu(work->tools));
    mr__color_tables_init(&tables, work->table, image->channels);
    for (uint32_t y = 0; y < r.count; y++)
        sum += sum_row(&kernels, &tables, row_of(&r, y), r.pixels, image->channels);
    return mr__mean_level(sum, (uint64_t)image->width * image->height);
}

static void begin_tables(uint8_t (*table)[256], size_t count)
{
    for (size_t c = 0; c < count; c++)
        for (size_t v = 0; v < 256; v++)
            table[c][v] = (uint8_t)v;
}

/* Those that look at no part of the image are given none. */
size_t mr__tables_known(const mr__op *ops, size_t count, uint8_t table[256])
{
    const mr_image none = {.channels = 1};
    mr__table_work work = {.image = &none, .table = (uint8_t(*)[256])table};
    size_t known = 0;
    begin_tables(work.table, 1);
    for (; known < count; known++) {
        const mr__op_type *type = mr__op_types[ops[known].kind];
        if (type->table == NULL || type->need != NULL)
            break;
        work.op = &ops[known];
        type->table(&work);
    }
    return known;
}

static void apply(mr__op_tools *tools, uint8_t (*table)[256], const mr_image *from, const mr_image *to)
{
    mr__color_kernels kernels;
    mr__color_tables tables;
    rows r = rows_of(from), s = rows_of(to);
    if (r.count != s.count) // one has gaps between its rows
        r = s = (rows){NULL, 0, from->height, from->width};
    r.first = from->pixels;
    r.stride = from->stride;
    s.first = to->pixels;
    s.stride = to->stride;
    mr__color_kernels_init(&kernels, mr__op_cpu(tools));
    mr__color_tables_init(&tables, table, from->channels);
    for (uint32_t y = 0; y < r.count; y++)
        if (tables.kind != MR__TABLES_NOTHING)
            mr__color_apply(&kernels, &tables, row_of(&r, y), r.pixels, from->channels, row_of(&s, y));
        else if (r.first != s.first)
            memcpy(row_of(&s, y), row_of(&r, y), r.pixels * from->channels);
}

void mr__tables_run(mr__op_tools *tools, const mr__op *ops, size_t count, const mr_image *from, const mr_image *to)
{
    uint8_t table[4][256];
    mr__table_work work = {.tools = tools, .image = from, .table = table};
    begin_tables(table, 4);
    for (size_t i = 0; i < count; i++) {
        work.op = &ops[i];
        mr__op_types[ops[i].kind]->table(&work);
    }
    apply(tools, table, from, to);
}
