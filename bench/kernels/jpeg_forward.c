// SPDX-License-Identifier: Apache-2.0
/*
 * The way to JPEG's coefficients. Transforms take 1024 samples, 16 blocks, for 2048 bytes of coefficients; colors two
 * rows of `nbytes` bytes of pixels, and what they make is copied from where they may write more than that.
 */
#include "kernel/jpeg_forward.h"
#include "kernels.h"

#include <string.h>

enum { STRIP = 64 * 16 * 2, PIXELS_MAX = 4096 };

static void call_fdct(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    _Alignas(64) int16_t coef[STRIP / 2];
    mr__jpeg_quant quant;
    mr__jpeg_quant_init(&quant, 75, false);
    for (size_t at = 0; at < nbytes; at += STRIP) {
        uint64_t bands = ((mr__jpeg_fdct *)function)(in[0] + at / 2, 64, 512, &quant, coef);
        memcpy(out[0] + at, coef, STRIP);
        memcpy(out[1] + at / STRIP * sizeof bands, &bands, sizeof bands);
    }
}

static void call_halve(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    uint8_t y[2][PIXELS_MAX + 32], c[2][PIXELS_MAX / 2 + 16];
    size_t pairs = nbytes / 6;
    ((mr__jpeg_halve *)function)(in[0], in[1], pairs, y[0], y[1], c[0], c[1]);
    for (size_t i = 0; i < 2; i++) {
        memcpy(out[i], y[i], 2 * pairs);
        memcpy(out[2 + i], c[i], pairs);
    }
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__jpeg_forward t;
    mr__jpeg_forward_init(&t, cpu);
    k[0] = (kernel){"fdct8", (kernel_function *)t.fdct, call_fdct, .unit = STRIP, .inputs = 1, .outputs = 2};
    k[1] = (kernel){"halve", (kernel_function *)t.halve, call_halve, .unit = 6, .inputs = 2, .outputs = 4};
    return 2;
}

const kernel_table kernels_jpeg_forward = {"jpeg forward", list};
