// SPDX-License-Identifier: Apache-2.0
/* Warps: `nbytes` bytes of a result, from as many of a picture. */
#include "kernel/warp.h"
#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 256 };

/* A square picture, as large as there are bytes for. */
static mr__warp_view view_of(const uint8_t *bytes, size_t nbytes, uint32_t channels)
{
    int32_t side = (int32_t)sqrt((double)(nbytes / channels));
    return (mr__warp_view){.pixels = bytes,
                           .stride = (ptrdiff_t)side * (ptrdiff_t)channels,
                           .width = side,
                           .height = side,
                           .whole_width = side,
                           .whole_height = side,
                           .channels = channels,
                           .fill = {1, 2, 3, 0}};
}

/* Turned by 30 degrees around the middle, row after row; those that are left over, from the first row. */
static void sample(kernel_function *function, uint8_t *out, const uint8_t *in, size_t nbytes, uint32_t channels)
{
    mr__warp_view view = view_of(in, nbytes, channels);
    double xs[CHUNK], ys[CHUNK], middle = view.width * 0.5;
    const double c[8] = {0.866, 0.5, middle * -0.366, -0.5, 0.866, middle * 0.634, 0.0, 0.0};
    size_t side = (size_t)view.width, pixels = nbytes / channels;
    for (size_t i = 0, n; i < pixels; i += n) {
        n = side - i % side < CHUNK ? side - i % side : CHUNK;
        n = n < pixels - i ? n : pixels - i;
        mr__warp_place_affine_c(c, (uint32_t)(i % side), (uint32_t)(i / side % side), n, xs, ys);
        ((mr__warp_sample *)function)(&view, xs, ys, n, out + i * channels);
    }
}

static void call_sample_1(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    sample(function, out[0], in[0], nbytes, 1);
}

static void call_sample_3(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    sample(function, out[0], in[0], nbytes, 3);
}

/* Down to the right, from the rows of the upper half: so they stay inside. */
static void walk(kernel_function *function, uint8_t *out, const uint8_t *in, size_t nbytes, uint32_t channels)
{
    mr__warp_view view = view_of(in, nbytes, channels);
    size_t side = (size_t)view.width, pixels = nbytes / channels;
    for (size_t i = 0, n; i < pixels; i += n) {
        mr__warp_walk_of way = {0, (int32_t)(i / side % (side / 2 + 1)) << 16, 56756, 32768};
        n = side < pixels - i ? side : pixels - i;
        ((mr__warp_walk *)function)(&view, way, n, out + i * channels);
    }
}

static void call_walk_1(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    walk(function, out[0], in[0], nbytes, 1);
}

static void call_walk_3(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    walk(function, out[0], in[0], nbytes, 3);
}

/* Seen from aside, row after row, with some of it beyond the picture's edges. */
static void seen(kernel_function *function, uint8_t *out, const uint8_t *in, size_t nbytes, uint32_t channels)
{
    static const double aside[8] = {1.11, 0.153, -7.2, 0.107, 1.21, -5.3, 1.03e-3, 5.1e-4};
    mr__warp_view view = view_of(in, nbytes, channels);
    size_t side = (size_t)view.width, pixels = nbytes / channels;
    for (size_t i = 0, n; i < pixels; i += n) {
        n = side < pixels - i ? side : pixels - i;
        ((mr__warp_seen *)function)(&view, aside, 0, (uint32_t)(i / side), n, out + i * channels);
    }
}

static void call_seen_1(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    seen(function, out[0], in[0], nbytes, 1);
}

static void call_seen_3(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    seen(function, out[0], in[0], nbytes, 3);
}

/* Places are doubles: half of the bytes along x, half of them along y. */
static void call_place(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static const double turned[8] = {0.866, 0.5, -46.85, -0.5, 0.866, 81.15, 1e-4, 2e-4};
    double xs[CHUNK], ys[CHUNK];
    for (size_t i = 0, n; i < nbytes / 16; i += n) {
        n = nbytes / 16 - i < CHUNK ? nbytes / 16 - i : CHUNK;
        ((mr__warp_place *)function)(turned, in[0][i], (uint32_t)i, n, xs, ys);
        memcpy(out[0] + 16 * i, xs, 8 * n);
        memcpy(out[0] + 16 * i + 8 * n, ys, 8 * n);
    }
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    static const char *const names[MR__WARP_KINDS] = {"nearest", "bilinear", "bicubic"};
    mr__warp_kernels kernels;
    size_t count = 0;
    mr__warp_kernels_init(&kernels, cpu);
    for (size_t three = 0; three < 2; three++) {
        size_t channels = three ? 3 : 1;
        for (size_t i = 0; i < MR__WARP_KINDS; i++) {
            k[count] = (kernel){.function = (kernel_function *)kernels.sample[i][three],
                                .call = three ? call_sample_3 : call_sample_1,
                                .unit = channels,
                                .inputs = 1,
                                .outputs = 1};
            snprintf(k[count].name, sizeof k[count].name, "warp_%s%zu", names[i], channels);
            count++;
        }
        k[count] = (kernel){.function = (kernel_function *)kernels.walk[three],
                            .call = three ? call_walk_3 : call_walk_1,
                            .unit = channels,
                            .inputs = 1,
                            .outputs = 1};
        snprintf(k[count].name, sizeof k[count].name, "warp_walk%zu", channels);
        count++;
        k[count] = (kernel){.function = (kernel_function *)kernels.seen[three],
                            .call = three ? call_seen_3 : call_seen_1,
                            .unit = channels,
                            .inputs = 1,
                            .outputs = 1};
        snprintf(k[count].name, sizeof k[count].name, "warp_seen%zu", channels);
        count++;
    }
    k[count++] = (kernel){.name = "warp_place_affine",
                          .function = (kernel_function *)kernels.place_affine,
                          .call = call_place,
                          .unit = 16,
                          .inputs = 1,
                          .outputs = 1};
    k[count++] = (kernel){.name = "warp_place_perspective",
                          .function = (kernel_function *)kernels.place_perspective,
                          .call = call_place,
                          .unit = 16,
                          .inputs = 1,
                          .outputs = 1};
    return count;
}

const kernel_table kernels_warp = {"warp", list};
