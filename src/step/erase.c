// SPDX-License-Identifier: Apache-2.0
#include "step/erase.h"

#include "kernel/noise.h"
#include "step/finish.h"

#include <string.h>

int mr__chain_erase(mr__chain *chain, const mr__erase *erase, mr__detail *detail)
{
    if (!chain->finished) {
        mr__op op = {.kind = MR__OP_ERASE, .key = {erase->key[0], erase->key[1]}, .u.erase = *erase};
        return mr__chain_op(chain, op, detail);
    }
    if (chain->erased_count == MR__ERASED_MAX)
        return mr__fail(detail, MR_ELIMIT, "more than %d rectangles are erased behind normalize", MR__ERASED_MAX);
    chain->erased[chain->erased_count++] = *erase;
    return 0;
}

uint8_t mr__erase_level(float value)
{
    return (uint8_t)(value > 0.0F ? value < 255.0F ? value : 255.0F : 0.0F);
}

/* Of [a, a + n) and [b, b + m). */
static bool common(uint32_t a, uint32_t n, uint32_t b, uint32_t m, uint32_t *first, uint32_t *count)
{
    uint64_t from = a > b ? a : b, end = (uint64_t)a + n, other = (uint64_t)b + m;
    end = end < other ? end : other;
    if (end <= from)
        return false;
    *first = (uint32_t)from;
    *count = (uint32_t)(end - from);
    return true;
}

bool mr__erase_common(mr_rect a, mr_rect b, mr_rect *to)
{
    mr_rect r;
    if (!common(a.x, a.width, b.x, b.width, &r.x, &r.width) || !common(a.y, a.height, b.y, b.height, &r.y, &r.height))
        return false;
    *to = r;
    return true;
}

uint32_t mr__erase_bits(mr_dtype dtype, float number)
{
    uint32_t bits;
    switch (dtype) {
    case MR_U8:
        return mr__erase_level(number);
    case MR_F32:
        memcpy(&bits, &number, sizeof bits);
        return bits;
    default:
        return dtype == MR_F16 ? mr__f16_from_f32(number) : mr__bf16_from_f32(number);
    }
}

static void put(mr_dtype dtype, float number, uint8_t *to)
{
    uint32_t bits = mr__erase_bits(dtype, number);
    uint16_t half = (uint16_t)bits;
    if (dtype == MR_U8)
        *to = (uint8_t)bits;
    else if (dtype == MR_F32)
        memcpy(to, &bits, sizeof bits);
    else
        memcpy(to, &half, sizeof half);
}

/* Where numbers lie: that of pixel x, y and channel c. */
typedef struct ground {
    const mr_output *output;
    uint8_t *slot;
    size_t nbytes; /* of a number */
} ground;

static uint8_t *place(const ground *g, size_t x, size_t y, size_t c)
{
    const mr_output *o = g->output;
    size_t pixel = y * o->width + x;
    size_t at = o->layout == MR_NCHW ? c * o->width * o->height + pixel : pixel * o->channels + c;
    return g->slot + at * g->nbytes;
}

static size_t step_of(const ground *g)
{
    return g->output->layout == MR_NCHW ? g->nbytes : g->nbytes * g->output->channels;
}

/* One channel of all of it. */
static void put_value(const ground *g, float value, mr_rect r, size_t c)
{
    size_t step = step_of(g);
    uint8_t number[sizeof(float)];
    put(g->output->dtype, value, number);
    for (uint32_t y = r.y; y < r.y + r.height; y++) {
        uint8_t *to = place(g, r.x, y, c);
        for (uint32_t i = 0; i < r.width; i++, to += step)
            memcpy(to, number, g->nbytes);
    }
}

enum { CHUNK = 64 };

/* `n` pixels of a row, at most CHUNK. */
static void put_noise(const ground *g, const mr__noise_kernels *kernels, const uint32_t key[2], uint32_t x, uint32_t y,
                      uint32_t n)
{
    float normals[4 * CHUNK];
    uint8_t bytes[4 * CHUNK];
    size_t channels = g->output->channels, first = x * channels, step = step_of(g);
    bool levels = g->output->dtype == MR_U8;
    if (levels)
        mr__noise_bytes(kernels, key, y, first, n * channels, bytes);
    else
        mr__noise_normals(kernels, key, y, first, n * channels, normals);
    for (size_t c = 0; c < channels; c++) {
        uint8_t *to = place(g, x, y, c);
        for (size_t i = 0; i < n; i++, to += step)
            if (levels)
                *to = bytes[i * channels + c];
            else
                put(g->output->dtype, normals[i * channels + c], to);
    }
}

void mr__erase_finished(const mr__erase *erase, const mr_output *output, mr__cpu_flags cpu, void *slot)
{
    ground g = {output, slot, mr_dtype_nbytes(output->dtype)};
    mr__noise_kernels kernels;
    mr_rect r;
    if (!mr__erase_common(erase->rect, (mr_rect){0, 0, output->width, output->height}, &r))
        return;
    for (uint32_t c = 0; !erase->noise && c < output->channels; c++)
        put_value(&g, erase->value[c], r, c);
    if (!erase->noise)
        return;
    mr__noise_kernels_init(&kernels, cpu);
    for (uint32_t y = r.y; y < r.y + r.height; y++)
        for (uint32_t i = 0; i < r.width; i += CHUNK)
            put_noise(&g, &kernels, erase->key, r.x + i, y, r.width - i < CHUNK ? r.width - i : CHUNK);
}
