// SPDX-License-Identifier: Apache-2.0
#include "codec/png/unfilter.h"
#include "kernels.h"

#include <stdio.h>

static void call_row(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__unfilter_row *)function)(out[0], in[0], in[1], nbytes);
}

static void call_pair(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__unfilter_rows *)function)(out, in, in[2], nbytes);
}

static void call_quad(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__unfilter_rows *)function)(out, in, in[4], nbytes);
}

static kernel row(const char *name, size_t pixel, mr__unfilter_row *function)
{
    kernel k = {.function = (kernel_function *)function, .call = call_row, .unit = pixel, .inputs = 2, .outputs = 1};
    snprintf(k.name, sizeof k.name, "png_%s%zu", name, pixel);
    return k;
}

static kernel rows(const char *name, size_t pixel, mr__unfilter_rows *function, size_t count)
{
    kernel k = {.function = (kernel_function *)function, .unit = pixel, .inputs = count + 1, .outputs = count};
    k.call = count == 2 ? call_pair : call_quad;
    snprintf(k.name, sizeof k.name, "png_%s%zu", name, pixel);
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    mr__unfilter table;
    size_t n = 0;
    mr__unfilter_init(&table, cpu);
    k[n++] = row("up", 1, table.up);
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++) {
        size_t pixel = pixels[i];
        k[n++] = row("sub", pixel, table.sub[pixel]);
        k[n++] = row("average", pixel, table.average[pixel]);
        k[n++] = row("paeth", pixel, table.paeth[pixel]);
        k[n++] = rows("paeth_pair", pixel, table.paeth_pair[pixel], 2);
        k[n++] = rows("paeth_quad", pixel, table.paeth_quad[pixel], 4);
    }
    return n;
}

const kernel_table kernels_png_unfilter = {"png unfilter", list};
