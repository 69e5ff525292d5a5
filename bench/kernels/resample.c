// SPDX-License-Identifier: Apache-2.0
/*
 * Resampling. Across takes two rows of the source, `nbytes` each (half of that to enlarge them), and its time is of the
 * source's bytes, or of the result's where that is more; the copy out of the padded rows is in it. Down takes 2 to 8
 * rows and makes one. Tables are made once for each size.
 */
#include "step/resample.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAX = 16384, TABLES = 8, WAYS = 6 };

/* How sizes go, in twelfths of the source. */
static const struct {
    const char *name;
    mr_filter filter;
    size_t twelfths;
} ways[WAYS] = {
    {"up", MR_FILTER_BILINEAR, 24},   {"bilinear", MR_FILTER_BILINEAR, 10},    {"bicubic", MR_FILTER_BICUBIC, 10},
    {"third", MR_FILTER_BILINEAR, 4}, {"bicubic_third", MR_FILTER_BICUBIC, 4}, {"twelfth", MR_FILTER_LANCZOS, 1},
};

/* All tables that were listed: a function is called with what its own table makes of weights. */
static mr__resample tables[TABLES];
static size_t table_count;

static const mr__resample *table_of(kernel_function *function)
{
    for (size_t i = 0; i < table_count; i++)
        if ((kernel_function *)tables[i].across == function || (kernel_function *)tables[i].down == function)
            return &tables[i];
    abort();
}

/* An axis with its table, as it was made last for this table and size. */
typedef struct made {
    size_t nbytes, channels, way;
    mr__resample_axis axis;
    void *weights, *table;
} made;

static void *room_for(size_t nbytes)
{
    void *room = NULL;
    if (posix_memalign(&room, 64, nbytes + 64) != 0)
        abort();
    return room;
}

static void add_table(const mr__resample *t, made *m, uint32_t channels)
{
    if (t->table_nbytes == NULL)
        return;
    m->table = room_for(t->table_nbytes(&m->axis, channels));
    t->table_init(&m->axis, channels, m->table);
}

static const mr__resample_axis *axis_of(const mr__resample *t, size_t nbytes, size_t channels, size_t way)
{
    static made kept[TABLES];
    made *m = &kept[t - tables];
    if (m->nbytes == nbytes && m->channels == channels && m->way == way)
        return &m->axis;
    free(m->weights);
    free(m->table);
    *m = (made){.nbytes = nbytes, .channels = channels, .way = way};
    size_t in = nbytes / channels, twelfths = ways[way].twelfths, weights_nbytes;
    in = twelfths > 12 ? (in * 12 + twelfths - 1) / twelfths : in;
    size_t out = in * twelfths / 12 < 1 ? 1 : in * twelfths / 12;
    out = out * channels > nbytes ? nbytes / channels : out;
    mr__resample_side side = mr__resample_side_whole((uint32_t)in, (uint32_t)out, ways[way].filter, 8);
    if (!mr__resample_axis_nbytes(&side, &weights_nbytes))
        abort();
    m->weights = room_for(weights_nbytes);
    mr__resample_axis_init(&m->axis, &side, m->weights);
    add_table(t, m, (uint32_t)channels);
    return &m->axis;
}

static void across(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                   size_t channels, size_t way)
{
    static uint8_t rows[2][ROW_MAX + MR__RESAMPLE_SLACK], scratch[4 * ROW_MAX];
    const mr__resample_axis *axis = axis_of(table_of(function), nbytes, channels, way);
    const uint8_t *from[2] = {in[0] + nbytes - axis->in * channels, in[1] + nbytes - axis->in * channels};
    uint8_t *to[2] = {rows[0], rows[1]};
    ((mr__resample_across *)function)(axis, (uint32_t)channels, from, to, scratch);
    for (size_t i = 0; i < 2; i++)
        memcpy(out[i], rows[i], axis->out * channels);
}

#define ACROSS(channels, way)                                                                                          \
    static void across_##channels##_##way(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],  \
                                          size_t nbytes)                                                               \
    {                                                                                                                  \
        across(function, out, in, nbytes, channels, way);                                                              \
    }
#define ACROSS_ALL(channels)                                                                                           \
    ACROSS(channels, 0)                                                                                                \
    ACROSS(channels, 1) ACROSS(channels, 2) ACROSS(channels, 3) ACROSS(channels, 4) ACROSS(channels, 5)
#define ACROSS_NAMES(c)                                                                                                \
    {                                                                                                                  \
        across_##c##_0, across_##c##_1, across_##c##_2, across_##c##_3, across_##c##_4, across_##c##_5                 \
    }

ACROSS_ALL(1)
ACROSS_ALL(2)
ACROSS_ALL(3)
ACROSS_ALL(4)

static kernel_call *const across_calls[4][WAYS] = {ACROSS_NAMES(1), ACROSS_NAMES(2), ACROSS_NAMES(3), ACROSS_NAMES(4)};

/* Weights whose sum is 1, some of them negative. */
static void down(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                 size_t count)
{
    static made kept[TABLES][9];
    static int32_t weights[9][8];
    static uint32_t first, counts[9];
    const mr__resample *t = table_of(function);
    made *m = &kept[t - tables][count];
    if (m->nbytes == 0) {
        int32_t left = 1 << MR__RESAMPLE_BITS;
        for (size_t i = 0; i + 1 < count; i++)
            left -= weights[count][i] = i % 3 == 2 ? -300001 : 701234 + (int32_t)i;
        weights[count][count - 1] = left;
        counts[count] = (uint32_t)count;
        m->nbytes = 1;
        m->axis = (mr__resample_axis){.in = (uint32_t)count, .out = 1, .taps = (uint32_t)count, .pitch = count};
        m->axis.first = &first;
        m->axis.count = &counts[count];
        m->axis.weights = weights[count];
        add_table(t, m, 0);
    }
    ((mr__resample_down *)function)(&m->axis, 0, in, out[0], nbytes);
}

#define DOWN(count)                                                                                                    \
    static void down_##count(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],               \
                             size_t nbytes)                                                                            \
    {                                                                                                                  \
        down(function, out, in, nbytes, count);                                                                        \
    }

DOWN(1)
DOWN(2)
DOWN(3)
DOWN(4)
DOWN(7)
DOWN(8)

static kernel down_kernel(const mr__resample *t, kernel_call *call, size_t count)
{
    kernel k = {.function = (kernel_function *)t->down, .call = call, .unit = 1, .inputs = count, .outputs = 1};
    snprintf(k.name, sizeof k.name, "resample_down_%zu", count);
    return k;
}

static void call_alpha2(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__resample_alpha *)function)(in[0], 2, out[0], nbytes / 2);
}

static void call_alpha4(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__resample_alpha *)function)(in[0], 4, out[0], nbytes / 4);
}

static kernel alpha_kernel(const char *name, mr__resample_alpha *function, size_t channels)
{
    kernel k = {.function = (kernel_function *)function, .unit = channels, .inputs = 1, .outputs = 1};
    k.call = channels == 2 ? call_alpha2 : call_alpha4;
    snprintf(k.name, sizeof k.name, "resample_%s%zu", name, channels);
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    size_t n = 0;
    if (table_count == TABLES)
        abort();
    mr__resample *t = &tables[table_count++];
    mr__resample_init(t, cpu);
    for (size_t channels = 1; channels <= 4; channels++)
        for (size_t way = 0; way < WAYS; way++, n++) {
            k[n] = (kernel){.function = (kernel_function *)t->across, .call = across_calls[channels - 1][way]};
            k[n].unit = channels;
            k[n].inputs = k[n].outputs = 2;
            snprintf(k[n].name, sizeof k[n].name, "resample_%s%zu", ways[way].name, channels);
        }
    k[n++] = down_kernel(t, down_1, 1);
    k[n++] = down_kernel(t, down_2, 2);
    k[n++] = down_kernel(t, down_3, 3);
    k[n++] = down_kernel(t, down_4, 4);
    k[n++] = down_kernel(t, down_7, 7);
    k[n++] = down_kernel(t, down_8, 8);
    for (size_t channels = 2; channels <= 4; channels += 2) {
        k[n++] = alpha_kernel("premultiply", t->premultiply, channels);
        k[n++] = alpha_kernel("unpremultiply", t->unpremultiply, channels);
    }
    return n;
}

const kernel_table kernels_resample = {"resample", list};
