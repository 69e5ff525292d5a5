// SPDX-License-Identifier: Apache-2.0
/*
 * The JPEG back end. Transforms take 2048 bytes, 16 blocks, a call; they are copied first, as the kernel may write to
 * them, and the time has that in it. Row kernels leave
 * the last bytes of each input as the slack that they may read.
 */
#include "kernel/jpeg_pixels.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { STRIP = 64 * 16 * 2, GROUPS = 2 };

typedef void row_sum(const uint8_t *near, const uint8_t *far, int16_t *to, size_t n);
typedef void row_widen(const int16_t *sums, mr__jpeg_bias bias, size_t odd, uint8_t *to, size_t n);
typedef void row_color(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *to, size_t n);
typedef void row_color_widen(const uint8_t *y, const int16_t *cb, const int16_t *cr, mr__jpeg_bias bias, size_t odd,
                             uint8_t *to, size_t n);

static void transform(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                      uint64_t bands, size_t size)
{
    _Alignas(64) int16_t coef[STRIP / 2];
    for (size_t at = 0; at < nbytes; at += STRIP) {
        memcpy(coef, in[0] + at, STRIP);
        ((mr__jpeg_idct *)function)(coef, 16, bands, GROUPS, out[0] + at, (ptrdiff_t)(16 * size),
                                    (ptrdiff_t)(8 * size));
    }
}

#define TRANSFORM(size)                                                                                                \
    static void call_idct##size(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],            \
                                size_t nbytes)                                                                         \
    {                                                                                                                  \
        transform(function, out, in, nbytes, UINT64_MAX, size);                                                        \
    }

TRANSFORM(8)
TRANSFORM(4)
TRANSFORM(2)
TRANSFORM(1)

/* With the upper quarter of the frequencies only, as most blocks are. */
static void call_idct8_short(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    transform(function, out, in, nbytes, UINT64_C(0x0f0f0f0f), 8);
}

/* Strips of which only the places up to `last` are taken. */
static void transform_strip(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                            uint32_t last, size_t size)
{
    _Alignas(64) int16_t coef[STRIP / 2] = {0};
    uint16_t quant[64];
    for (size_t k = 0; k < 64; k++)
        quant[k] = (uint16_t)(1 + k % 5);
    for (size_t at = 0; at < nbytes; at += STRIP) {
        memcpy(coef, in[0] + at, (last + 1) * sizeof(int16_t[MR__JPEG_STRIP]));
        ((mr__jpeg_idct_strip *)function)(coef, quant, last, GROUPS, out[0] + at, (ptrdiff_t)(16 * size),
                                          (ptrdiff_t)(8 * size));
    }
}

#define STRIPS(name, last, size)                                                                                       \
    static void call_##name(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes) \
    {                                                                                                                  \
        transform_strip(function, out, in, nbytes, last, size);                                                        \
    }

STRIPS(strip8, 63, 8)
STRIPS(strip8_short, 12, 8)
STRIPS(strip4, 63, 4)
STRIPS(strip2, 63, 2)
STRIPS(strip1, 63, 1)

/* 16 blocks to a strip, which is cleared first as a transform would have done it. */
/* Half of the blocks are held against what they are themselves, which they are within. */
static void call_within(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    int16_t blocks[STRIP / 2];
    uint16_t most[64];
    for (size_t at = 0; at < nbytes; at += STRIP) {
        memcpy(blocks, in[0] + at, STRIP);
        for (size_t i = 0; i < 64; i++) {
            blocks[i] = blocks[i] == INT16_MIN && at % 4096 == 0 ? 0 : blocks[i];
            most[i] = (uint16_t)(blocks[i] == INT16_MIN ? INT16_MAX : blocks[i] < 0 ? -blocks[i] : blocks[i]);
        }
        memset(out[0] + at, 0, STRIP);
        out[0][at] = ((mr__jpeg_within *)function)(blocks, 1, most);
        out[0][at + 1] = ((mr__jpeg_within *)function)(blocks, MR__JPEG_STRIP, most);
    }
}

static void call_lay(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    _Alignas(64) int16_t coef[STRIP / 2], blocks[STRIP / 2];
    for (size_t at = 0; at < nbytes; at += STRIP) {
        memcpy(blocks, in[0] + at, STRIP);
        memset(coef, 0, STRIP);
        uint32_t last = ((mr__jpeg_lay *)function)(blocks, MR__JPEG_STRIP, coef);
        memcpy(out[0] + at, coef, STRIP);
        out[0][at] ^= (uint8_t)last;
    }
}

static void shrink(uint8_t *bytes, size_t nbytes, unsigned shifts)
{
    for (size_t i = 0; i + 1 < nbytes; i += 2) {
        int16_t x = (int16_t)((bytes[i] - 128) * (1 << bytes[i + 1] % shifts));
        memcpy(bytes + i, &x, sizeof x);
    }
}

/* Coefficients as images have them, by their 16 bits; what is beyond that goes another way. */
static void tame(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    shrink(bytes, nbytes, 6);
}

/* Likewise before they are multiplied. */
static void tame_quantised(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    shrink(bytes, nbytes, 3);
}

/* Samples of a row whose every input and output, `scale` times as long, fit with the slack behind. */
static size_t row_length(size_t nbytes, size_t scale)
{
    size_t n = nbytes / scale;
    return nbytes < MR__JPEG_SLACK ? 0 : n < nbytes - MR__JPEG_SLACK ? n : nbytes - MR__JPEG_SLACK;
}

/* Lines of sums are copied to and fro, as rooms are at any address. */
enum { LINE = 4096 + MR__JPEG_SLACK };

static void call_sum(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    size_t n = row_length(nbytes, 2);
    int16_t line[LINE];
    ((row_sum *)function)(in[0], in[1], line, n);
    memcpy(out[0], line, 2 * n);
}

static void call_color(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    size_t n = row_length(nbytes, 3);
    ((row_color *)function)(in[0], in[1], in[2], out[0] + nbytes - 3 * n, n);
}

/* Inputs 1 and 2 are sums. */
static void make_sums(uint8_t *bytes, size_t input, size_t nbytes)
{
    for (size_t i = 0; input != 0 && i + 1 < nbytes; i += 2) {
        int16_t x = (int16_t)((bytes[i] | bytes[i + 1] << 8) % 1021);
        memcpy(bytes + i, &x, sizeof x);
    }
}

static void call_color_widen(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    size_t n = row_length(nbytes, 3), sums_nbytes = n + 6;
    int16_t cb[LINE], cr[LINE];
    if (n == 0)
        return;
    memcpy(cb, in[1], sums_nbytes);
    memcpy(cr, in[2], sums_nbytes);
    ((row_color_widen *)function)(in[0], cb + 1, cr + 1, MR__JPEG_BIAS_H2V2, nbytes % 2, out[0] + nbytes - 3 * n, n);
}

static void call_widen(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    size_t n = row_length(nbytes, 1);
    int16_t sums[LINE];
    uint8_t line[2 * LINE];
    if (n == 0)
        return;
    memcpy(sums, in[1], n + 6);
    ((row_widen *)function)(sums + 1, MR__JPEG_BIAS_H2V1, nbytes % 2, line, n);
    memcpy(out[0], line, n);
}

static kernel entry(const char *name, void (*function)(void), kernel_call *call, kernel_prepare *prepare, size_t unit,
                    size_t inputs)
{
    kernel k = {.function = function, .call = call, .prepare = prepare, .unit = unit, .inputs = inputs, .outputs = 1};
    snprintf(k.name, sizeof k.name, "jpeg_%s", name);
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__jpeg_pixels t;
    size_t n = 0;
    mr__jpeg_pixels_init(&t, cpu);
    k[n++] = entry("idct8", (kernel_function *)t.idct[0], call_idct8, tame, STRIP, 1);
    k[n++] = entry("idct8_short", (kernel_function *)t.idct[0], call_idct8_short, tame, STRIP, 1);
    k[n++] = entry("idct8_wild", (kernel_function *)t.idct[0], call_idct8, NULL, STRIP, 1);
    k[n++] = entry("idct4", (kernel_function *)t.idct[1], call_idct4, tame, STRIP, 1);
    k[n++] = entry("idct4_wild", (kernel_function *)t.idct[1], call_idct4, NULL, STRIP, 1);
    k[n++] = entry("idct2", (kernel_function *)t.idct[2], call_idct2, NULL, STRIP, 1);
    k[n++] = entry("idct1", (kernel_function *)t.idct[3], call_idct1, NULL, STRIP, 1);
    k[n++] = entry("strip8", (kernel_function *)t.strip[0], call_strip8, tame_quantised, STRIP, 1);
    k[n++] = entry("strip8_short", (kernel_function *)t.strip[0], call_strip8_short, tame_quantised, STRIP, 1);
    k[n++] = entry("strip8_wild", (kernel_function *)t.strip[0], call_strip8, NULL, STRIP, 1);
    k[n++] = entry("strip4", (kernel_function *)t.strip[1], call_strip4, tame_quantised, STRIP, 1);
    k[n++] = entry("strip2", (kernel_function *)t.strip[2], call_strip2, tame_quantised, STRIP, 1);
    k[n++] = entry("strip1", (kernel_function *)t.strip[3], call_strip1, tame_quantised, STRIP, 1);
    k[n++] = entry("within", (kernel_function *)t.within, call_within, NULL, STRIP, 1);
    k[n++] = entry("lay", (kernel_function *)t.lay, call_lay, NULL, STRIP, 1);
    k[n++] = entry("sum", (kernel_function *)t.sum, call_sum, NULL, 1, 2);
    k[n++] = entry("widen", (kernel_function *)t.widen, call_widen, make_sums, 1, 2);
    k[n++] = entry("ycc", (kernel_function *)t.ycc, call_color, NULL, 1, 3);
    k[n++] = entry("ycc_widen", (kernel_function *)t.ycc_widen, call_color_widen, make_sums, 1, 3);
    k[n++] = entry("interleave", (kernel_function *)t.interleave, call_color, NULL, 1, 3);
    return n;
}

const kernel_table kernels_jpeg_pixels = {"jpeg pixels", list};
