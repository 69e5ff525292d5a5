// SPDX-License-Identifier: Apache-2.0
/* Colors: rows of `nbytes` samples, or of a third as many pixels. Sums and ranges are put where a row would be. */
#include "kernel/color.h"
#include "kernels.h"

#include <string.h>

typedef void tables_kernel(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to);
typedef void plain_kernel(const uint8_t *from, size_t n, uint8_t *to);
typedef void amount_kernel(const uint8_t *from, size_t n, float amount, uint8_t *to);
typedef void whole_kernel(const uint8_t *from, size_t n, uint32_t whole, uint8_t *to);
typedef void blend_kernel(const uint8_t *from, const uint8_t *other, size_t n, float alpha, uint8_t *to);
typedef uint64_t sum_kernel(const uint8_t *from, size_t n);
typedef void range_kernel(const uint8_t *from, size_t n, uint8_t (*range)[2]);
typedef void count_kernel(mr__color_counts *counts, const uint8_t *from, size_t n);

/* Tables that are no simpler kind; the parameters of the others suit them. */
static const mr__color_tables *some_tables(void)
{
    static mr__color_tables tables;
    uint8_t table[3][256];
    if (tables.kind != MR__TABLES_NOTHING)
        return &tables;
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t v = 0; v < 256; v++)
            table[c][v] = (uint8_t)(v * v / 7 + c * v);
    mr__color_tables_init(&tables, table, 3);
    tables.keep = 0xf0;
    tables.turn = 0xff;
    tables.first = 100;
    return &tables;
}

#define CALL(name) static void name(kernel_function *f, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)

CALL(call_samples)
{
    ((tables_kernel *)f)(some_tables(), in[0], nbytes, out[0]);
}

CALL(call_three)
{
    ((tables_kernel *)f)(some_tables(), in[0], nbytes / 3, out[0]);
}

CALL(call_grayscale)
{
    ((plain_kernel *)f)(in[0], nbytes / 3, out[0]);
}

CALL(call_saturation)
{
    ((amount_kernel *)f)(in[0], nbytes / 3, 1.37f, out[0]);
}

CALL(call_hue)
{
    ((whole_kernel *)f)(in[0], nbytes / 3, 37, out[0]);
}

CALL(call_permute)
{
    ((whole_kernel *)f)(in[0], nbytes / 3, 2 | 0 << 2 | 1 << 4, out[0]);
}

CALL(call_blend)
{
    ((blend_kernel *)f)(in[0], in[1], nbytes, 0.63f, out[0]);
}

static void put(const void *what, size_t what_nbytes, uint8_t *out, size_t nbytes)
{
    memcpy(out, what, what_nbytes < nbytes ? what_nbytes : nbytes);
}

CALL(call_sum)
{
    uint64_t sum = ((sum_kernel *)f)(in[0], nbytes);
    put(&sum, sizeof sum, out[0], nbytes);
}

CALL(call_sum_gray)
{
    uint64_t sum = ((sum_kernel *)f)(in[0], nbytes / 3);
    put(&sum, sizeof sum, out[0], nbytes);
}

CALL(call_range_1)
{
    uint8_t range[1][2] = {{255, 0}};
    ((range_kernel *)f)(in[0], nbytes, range);
    put(range, sizeof range, out[0], nbytes);
}

CALL(call_range_3)
{
    uint8_t range[3][2] = {{255, 0}, {255, 0}, {255, 0}};
    ((range_kernel *)f)(in[0], nbytes / 3, range);
    put(range, sizeof range, out[0], nbytes);
}

/* There is one for all processors: these are timed alone. */
CALL(call_count_1)
{
    static mr__color_counts counts;
    ((count_kernel *)f)(&counts, in[0], nbytes);
    (void)out;
}

CALL(call_count_3)
{
    static mr__color_counts counts;
    ((count_kernel *)f)(&counts, in[0], nbytes / 3);
    (void)out;
}

static size_t list(mr__cpu_flags cpu, kernel list[KERNEL_LIST_MAX])
{
    mr__color_kernels k;
    mr__color_kernels_init(&k, cpu);
#define KERNEL(title, of, by, step, in)                                                                                \
    {                                                                                                                  \
        .name = "color_" title, .function = (kernel_function *)(of), .call = by, .unit = step, .inputs = in,           \
        .outputs = 1                                                                                                   \
    }
    const kernel all[] = {
        KERNEL("bits", k.bits, call_samples, 1, 1),
        KERNEL("above", k.above, call_samples, 1, 1),
        KERNEL("one", k.one, call_samples, 1, 1),
        KERNEL("three", k.three, call_three, 3, 1),
        KERNEL("grayscale", k.grayscale, call_grayscale, 3, 1),
        KERNEL("saturation", k.saturation, call_saturation, 3, 1),
        KERNEL("hue", k.hue, call_hue, 3, 1),
        KERNEL("permute", k.permute, call_permute, 3, 1),
        KERNEL("blend", k.blend, call_blend, 1, 2),
        KERNEL("sum", k.sum, call_sum, 1, 1),
        KERNEL("sum_gray", k.sum_gray, call_sum_gray, 3, 1),
        KERNEL("range_1", k.range_1, call_range_1, 1, 1),
        KERNEL("range_3", k.range_3, call_range_3, 3, 1),
        KERNEL("count_1", mr__color_count_1, call_count_1, 1, 1),
        KERNEL("count_3", mr__color_count_3, call_count_3, 3, 1),
    };
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

const kernel_table kernels_color = {"color", list};
