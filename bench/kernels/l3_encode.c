// SPDX-License-Identifier: Apache-2.0
/*
 * What pixel mode is written with. Inputs are taken as residuals, or as a channel 128 samples wide; outputs are folded
 * to as many bytes as there is room for, as blocks are more than the samples they come from.
 */
#include "codec/l3/pixel.h"
#include "codec/l3/pixel_forward.h"
#include "codec/l3/pixel_split.h"
#include "kernels.h"

#include <string.h>

enum { SIDE = 128, GROUP_NBYTES = 128, GROUPS = 128, PITCH = SIDE + 2 * MR__L3_FORWARD_MARGIN, WORK = 1 << 20 };

typedef uint64_t choose_headers(const uint64_t *blocks, size_t groups, unsigned layers, uint8_t *headers);
typedef unsigned cost_block(const uint64_t block[4], unsigned layers);
typedef size_t write_plane(const uint64_t *blocks, size_t groups, unsigned layers, const uint8_t *headers,
                           const uint8_t *selectors, size_t selected, uint8_t *to, uint8_t *scratch);
typedef void lift_channel(const mr__l3_samples *channel, unsigned levels, const mr__l3_forward_choice *choice,
                          void *work, mr__l3_residuals *out);

static void fold(uint8_t *to, size_t room, const void *from, size_t nbytes)
{
    for (size_t i = 0; i < nbytes && room > 0; i++)
        to[i % room] = (uint8_t)(to[i % room] * 3 + ((const uint8_t *)from)[i]);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Residuals as images have them: most of them small. */
static void shrink(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)((int8_t)bytes[i] / (1 << (bytes[i / 32 * 32] % 7)));
}

/* Each of the three numbers of layers. */
static void call_choose(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static uint64_t blocks[GROUPS * MR__L3_GROUP_WORDS];
    uint8_t headers[GROUPS * 2];
    memset(out[0], 0, nbytes);
    for (size_t at = 0; at < nbytes; at += sizeof blocks) {
        size_t n = smaller(nbytes - at, sizeof blocks) / GROUP_NBYTES;
        memcpy(blocks, in[0] + at, n * GROUP_NBYTES);
        for (unsigned layers = 0; layers <= 6; layers += 3) {
            uint64_t bits = ((choose_headers *)function)(blocks, n, layers, headers);
            fold(out[0] + at, n * GROUP_NBYTES, headers, 2 * n);
            fold(out[0] + at, n * GROUP_NBYTES, &bits, sizeof bits);
        }
    }
}

static void call_cost(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    memset(out[0], 0, nbytes);
    for (size_t at = 0; at < nbytes; at += 32) {
        uint64_t block[4];
        memcpy(block, in[0] + at, sizeof block);
        unsigned bits = ((cost_block *)function)(block, 3) + 512 * ((cost_block *)function)(block, 6);
        memcpy(out[0] + at, &bits, sizeof bits);
    }
}

/* With the headers that the portable kernel chooses. */
static void call_write(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static uint64_t blocks[GROUPS * MR__L3_GROUP_WORDS];
    static uint8_t plane[MR__L3_PLANE_NBYTES_MAX(GROUPS)], scratch[MR__L3_PLANE_SCRATCH_MAX(GROUPS)];
    uint8_t headers[GROUPS * 2];
    mr__l3_block_kernels portable;
    mr__l3_block_kernels_init(&portable, 0);
    memset(out[0], 0, nbytes);
    for (size_t at = 0; at < nbytes; at += sizeof blocks) {
        size_t n = smaller(nbytes - at, sizeof blocks) / GROUP_NBYTES;
        memcpy(blocks, in[0] + at, n * GROUP_NBYTES);
        for (unsigned layers = 0; layers <= 6; layers += 3) {
            portable.choose(blocks, n, layers, headers);
            size_t written =
                ((write_plane *)function)(blocks, n, layers, headers, (const uint8_t *)blocks, n, plane, scratch);
            fold(out[0] + at, n * GROUP_NBYTES, plane, written);
        }
    }
}

/* A channel from the input and its residuals to the output: by lifting (3 levels) or by prefix (every row). */
static void forward(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                    size_t size, unsigned how)
{
    static uint16_t samples[PITCH * SIDE], work[WORK];
    static uint64_t low[2 * GROUPS * MR__L3_GROUP_WORDS], high[2 * GROUPS * MR__L3_GROUP_WORDS];
    static uint8_t selectors[2 * GROUPS];
    memset(out[0], 0, nbytes);
    for (size_t at = 0; at < nbytes; at += SIDE * SIDE * size) {
        size_t n = smaller(nbytes - at, SIDE * SIDE * size), rows = n / (SIDE * size);
        uint8_t *first = (uint8_t *)samples + MR__L3_FORWARD_MARGIN * size;
        for (size_t y = 0; y < rows; y++)
            memcpy(first + y * PITCH * size, in[0] + at + y * SIDE * size, SIDE * size);
        const mr__l3_samples channel = {first, PITCH, SIDE, (unsigned)rows};
        const mr__l3_forward_choice choice = {NULL, 0};
        mr__l3_residuals r = {low, high, selectors, 0, 0};
        ((lift_channel *)function)(&channel, how, &choice, work, &r);
        fold(out[0] + at, n, low, r.groups * GROUP_NBYTES);
        fold(out[0] + at, n, high, size == 2 ? r.groups * GROUP_NBYTES : 0);
        fold(out[0] + at, n, selectors, r.selected);
    }
}

#define FORWARD(name, size, how)                                                                                       \
    static void call_##name(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes) \
    {                                                                                                                  \
        forward(function, out, in, nbytes, size, how);                                                                 \
    }

FORWARD(lift8, 1, 3)
FORWARD(lift16, 2, 3)
FORWARD(prefix8, 1, 1)
FORWARD(prefix16, 2, 1)

/* A third of the bytes are pixels: each output takes as many. */
static void call_split3(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    void *const channel[4] = {out[0], out[1], out[2], NULL};
    for (unsigned c = 0; c < 3; c++)
        memset(out[c], 0, nbytes);
    ((mr__l3_split_row *)function)(in[0], nbytes / 3, channel);
}

static kernel entry(const char *name, kernel_function *function, kernel_call *call, size_t unit)
{
    kernel k = {.function = function, .call = call, .unit = unit, .inputs = 1, .outputs = 1};
    strncpy(k.name, name, sizeof k.name - 1);
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__l3_block_kernels blocks;
    mr__l3_forward table;
    mr__l3_block_kernels_init(&blocks, cpu);
    mr__l3_forward_init(&table, cpu);
    size_t n = 0;
    k[n++] = entry("choose", (kernel_function *)blocks.choose, call_choose, GROUP_NBYTES);
    k[n++] = entry("cost", (kernel_function *)blocks.cost, call_cost, 32);
    k[n++] = entry("write", (kernel_function *)blocks.write, call_write, GROUP_NBYTES);
    for (size_t i = 0; i < n; i++)
        k[i].prepare = shrink;
    k[n++] = entry("forward_lift8", (kernel_function *)table.lift[0], call_lift8, SIDE);
    k[n++] = entry("forward_lift16", (kernel_function *)table.lift[1], call_lift16, 2 * SIDE);
    k[n++] = entry("forward_prefix8", (kernel_function *)table.prefix[0], call_prefix8, SIDE);
    k[n++] = entry("forward_prefix16", (kernel_function *)table.prefix[1], call_prefix16, 2 * SIDE);
    mr__l3_split split;
    mr__l3_split_init(&split, cpu);
    k[n] = entry("split3", (kernel_function *)split.row[0][3], call_split3, 3);
    k[n++].outputs = 3;
    return n;
}

const kernel_table kernels_l3_encode = {"l3 encode", list};
