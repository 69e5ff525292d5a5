// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/pixel_kernels.h"
#include "kernels.h"

#include <stdio.h>

enum { SIDE = 1024, GROUP_NBYTES = 128, GROUPS = 48, ROW_SLACK = 192, GROUP_SLACK = 32 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The groups of one output: four rows in it, one behind the other. */
static void call_groups(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    mr__l3_stream s = {.headers = in[0], .low = in[1], .masks = in[2]};
    for (unsigned j = 2; j <= MR__L3_LAYER_MAX; j++)
        s.layer[j] = in[j + 1];
    for (size_t at = 0; at < nbytes; at += GROUPS * GROUP_NBYTES) {
        size_t count = smaller(GROUPS, (nbytes - at) / GROUP_NBYTES);
        ((mr__l3_groups *)function)(&s, (unsigned)count, out[0] + at, count * MR__L3_GROUP_W);
    }
}

/* Pieces of a tile's width, from the left: what one writes behind its end the next one writes over. */
static void lift(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes, size_t size)
{
    static uint8_t d[4][SIDE * 2 + 2 * ROW_SLACK];
    for (size_t at = 0; at < nbytes; at += SIDE * size) {
        unsigned w = (unsigned)(smaller(nbytes - at, SIDE * size) / size);
        mr__l3_lift l = {.we = (w + 1) / 2, .wo = w / 2, .rows_b = 4, .rows_d = 4, .pitch = 32};
        l.rd = l.hb = in[5] + at;
        l.rb = l.hc = in[6] + at;
        l.rc = l.hd = in[7] + at;
        l.sb = l.sc = in[6];
        l.d[0] = (void *)(in[3] + at);
        for (unsigned i = 0; i < 5; i++)
            l.a[i] = in[i] + at;
        for (unsigned i = 0; i < 4; i++)
            l.d[i + 1] = d[i] + ROW_SLACK;
        for (unsigned i = 0; i < 8; i++)
            l.to[i] = out[i] + at;
        ((mr__l3_lift_rows *)function)(&l);
    }
}

static void call_lift8(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    lift(function, out, in, nbytes, 1);
}

static void call_lift16(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    lift(function, out, in, nbytes, 2);
}

static void prefix(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                   size_t size)
{
    for (size_t at = 0; at < nbytes; at += SIDE * size) {
        unsigned w = (unsigned)(smaller(nbytes - at, SIDE * size) / size);
        mr__l3_prefix p = {.w = w, .rows = 4, .pitch = 32, .above = in[0] + at, .r = in[1] + at, .h = in[2] + at};
        p.s = in[3];
        for (unsigned i = 0; i < 4; i++)
            p.to[i] = out[i] + at;
        ((mr__l3_prefix_rows *)function)(&p);
    }
}

static void call_prefix8(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    prefix(function, out, in, nbytes, 1);
}

static void call_prefix16(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    prefix(function, out, in, nbytes, 2);
}

static void call_pack(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                      size_t pixel)
{
    const void *channel[4] = {in[0], in[1], in[2], in[3]};
    ((mr__l3_pack_row *)function)(channel, (unsigned)(nbytes / pixel), out[0]);
}

#define CALL_PACK(pixel)                                                                                               \
    static void call_pack##pixel(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],           \
                                 size_t nbytes)                                                                        \
    {                                                                                                                  \
        call_pack(function, out, in, nbytes, pixel);                                                                   \
    }
CALL_PACK(1)
CALL_PACK(2)
CALL_PACK(3)
CALL_PACK(4)
CALL_PACK(6)
CALL_PACK(8)

static kernel_call *const call_packs[9] = {NULL, call_pack1, call_pack2, call_pack3, call_pack4,
                                           NULL, call_pack6, NULL,       call_pack8};

static kernel groups_of(unsigned kind, mr__l3_groups *function)
{
    kernel k = {.function = (kernel_function *)function,
                .call = call_groups,
                .unit = GROUP_NBYTES,
                .inputs = 8,
                .outputs = 1,
                .in_slack = MR__L3_STREAM_SLACK,
                .out_slack = GROUP_SLACK};
    snprintf(k.name, sizeof k.name, "l3_groups_%u_layers", 3 * kind);
    return k;
}

static kernel rows_of(const char *name, unsigned depth, kernel_function *function, kernel_call *call, size_t outputs)
{
    kernel k = {.function = function,
                .call = call,
                .unit = depth + 1,
                .inputs = 8,
                .outputs = outputs,
                .in_slack = ROW_SLACK,
                .out_slack = ROW_SLACK};
    snprintf(k.name, sizeof k.name, "l3_%s_u%u", name, 8 * (depth + 1));
    return k;
}

static kernel pack_of(unsigned depth, unsigned channels, unsigned green, mr__l3_pack_row *function)
{
    size_t pixel = channels * (depth + 1);
    kernel k = {.function = (kernel_function *)function,
                .call = call_packs[pixel],
                .unit = pixel,
                .inputs = 4,
                .outputs = 1,
                .in_slack = ROW_SLACK};
    snprintf(k.name, sizeof k.name, "l3_pack%u%s_u%u", channels, green ? "_green" : "", 8 * (depth + 1));
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__l3_pixel_kernels table;
    size_t n = 0;
    mr__l3_pixel_kernels_init(&table, cpu);
    for (unsigned i = 0; i < 3; i++)
        k[n++] = groups_of(i, table.groups[i]);
    for (unsigned depth = 0; depth < 2; depth++) {
        kernel_function *lift_rows = (kernel_function *)table.lift[depth];
        kernel_function *prefix_rows = (kernel_function *)table.prefix[depth];
        k[n++] = rows_of("lift", depth, lift_rows, depth ? call_lift16 : call_lift8, 8);
        k[n++] = rows_of("prefix", depth, prefix_rows, depth ? call_prefix16 : call_prefix8, 4);
        for (unsigned channels = 1; channels <= 4; channels++)
            for (unsigned green = 0; green <= (channels >= 3); green++)
                k[n++] = pack_of(depth, channels, green, table.pack[depth][channels][green]);
    }
    return n;
}

const kernel_table kernels_l3_pixel = {"l3 pixel mode", list};
