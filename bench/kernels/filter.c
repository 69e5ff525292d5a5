// SPDX-License-Identifier: Apache-2.0
/*
 * Sharpness, blurs and elastic. Of sharpness and of sums down to floats, `nbytes` is a row of the result; of sums
 * across and of elastic, a row of floats that goes in. Elastic looks up pixels of an image that is narrow, to be at its
 * sides now and then.
 */
#include "kernel/filter.h"
#include "kernel/elastic.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { CHANNELS = 3, ROW = 64 * CHANNELS, GROUP_NBYTES = 128, RADII = 4, RADIUS_MAX = 20, SLACK = 32 };

static const size_t radii[RADII] = {1, 2, 4, RADIUS_MAX};
static const float weight[RADIUS_MAX + 1] = {0.3f,   0.2f,   0.1f,   0.03f,  0.02f,  0.01f,  0.009f,
                                             0.008f, 0.007f, 0.006f, 0.005f, 0.004f, 0.003f, 0.002f,
                                             0.001f, 9e-4f,  8e-4f,  7e-4f,  6e-4f,  5e-4f,  4e-4f};

static void call_sharpen(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    if (nbytes > 2 * CHANNELS)
        ((mr__sharpen_row *)function)(in[0] + CHANNELS, in[1] + CHANNELS, in[2] + CHANNELS, CHANNELS,
                                      nbytes - 2 * CHANNELS, 1.7f, out[0]);
}

/* A byte of each sample becomes a number of about its size, with a fraction; or one of this many, and some beyond. */
static void make_floats(uint8_t *bytes, size_t nbytes, float most)
{
    for (size_t i = 0; i + sizeof(float) <= nbytes; i += sizeof(float)) {
        float value = ((float)bytes[i] + (float)bytes[i + 1] / 256.0f) / 256.0f * (most + 4.0f) - 2.0f;
        memcpy(bytes + i, &value, sizeof value);
    }
}

static void prepare_floats(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    make_floats(bytes, nbytes, 255.0f);
}

static void down_u8(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                    size_t radius)
{
    const uint8_t *rows[2 * RADIUS_MAX + 1];
    for (size_t i = 0; i <= 2 * radius; i++)
        rows[i] = in[i % KERNEL_INPUTS];
    ((mr__blur_down_u8 *)function)(rows, weight, radius, nbytes / sizeof(float), (void *)out[0]);
}

static void down_f32(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                     size_t radius)
{
    const float *rows[2 * RADIUS_MAX + 1];
    for (size_t i = 0; i <= 2 * radius; i++)
        rows[i] = (const void *)in[i % KERNEL_INPUTS];
    ((mr__blur_down_f32 *)function)(rows, weight, radius, nbytes / sizeof(float), (void *)out[0]);
}

static void across_u8(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                      size_t radius)
{
    size_t n = nbytes / sizeof(float), before = radius * CHANNELS;
    if (n > 2 * before)
        ((mr__blur_across_u8 *)function)((const float *)(const void *)in[0] + before, CHANNELS, weight, radius,
                                         n - 2 * before, out[0]);
}

static void across_f32(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                       size_t radius)
{
    size_t n = nbytes / sizeof(float);
    if (n > 2 * radius)
        ((mr__blur_across_f32 *)function)((const float *)(const void *)in[0] + radius, 1, weight, radius,
                                          n - 2 * radius, (void *)out[0]);
}

#define CALL(which, number)                                                                                            \
    static void call_##which##number(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],       \
                                     size_t nbytes)                                                                    \
    {                                                                                                                  \
        which(function, out, in, nbytes, radii[number]);                                                               \
    }
#define CALLS(which) CALL(which, 0) CALL(which, 1) CALL(which, 2) CALL(which, 3)

CALLS(down_u8)
CALLS(down_f32)
CALLS(across_u8)
CALLS(across_f32)

static void call_noise(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    uint32_t key[2];
    memcpy(key, in[0], sizeof key);
    ((mr__elastic_noise_row *)function)(key, key[0] % 1000, key[1] % 1000, nbytes / GROUP_NBYTES, (void *)out[0],
                                        (void *)out[1]);
}

static void call_scale(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    memcpy(out[0], in[0], nbytes);
    ((mr__elastic_scale_row *)function)((void *)out[0], nbytes / sizeof(float), 50.0f, 223.0f);
}

static void call_place(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((mr__elastic_place_row *)function)((const void *)in[0], 1, (const void *)in[1], nbytes / sizeof(float), 111.5f,
                                        (void *)out[0]);
}

static void look(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes,
                 uint32_t channels)
{
    mr__elastic_view view = {.pixels = in[0],
                             .stride = ROW,
                             .right = (int32_t)(ROW / channels),
                             .width = (int32_t)(ROW / channels),
                             .height = (int32_t)(nbytes / ROW),
                             .channels = channels,
                             .fill = {1, 100, 255}};
    ((mr__elastic_look_row *)function)(&view, (const void *)in[1], (const void *)in[2], nbytes / sizeof(float), out[0]);
}

static void call_look1(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    look(function, out, in, nbytes, 1);
}

static void call_look3(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    look(function, out, in, nbytes, CHANNELS);
}

/* The image; places along x, which go from the left to the right; places along y, which go down. */
static void prepare_look(uint8_t *bytes, size_t input, size_t nbytes)
{
    size_t rows = nbytes / ROW, columns = ROW / CHANNELS;
    for (size_t i = 0; i < nbytes / sizeof(float) && input != 0; i++) {
        size_t whole = input == 1 ? i * 3 / 4 % (columns + 3) : i / 64 * 3 / 4 % (rows + 3);
        float place = (float)whole + (float)bytes[i * sizeof(float)] / 256.0f - 2.0f;
        memcpy(bytes + i * sizeof(float), &place, sizeof place);
    }
}

static void add_blurs(const mr__filters *f, kernel *k)
{
    static kernel_call *const calls[4][RADII] = {
        {call_down_u80, call_down_u81, call_down_u82, call_down_u83},
        {call_down_f320, call_down_f321, call_down_f322, call_down_f323},
        {call_across_u80, call_across_u81, call_across_u82, call_across_u83},
        {call_across_f320, call_across_f321, call_across_f322, call_across_f323},
    };
    static const char *const names[4] = {"blur_down_u8", "blur_down_f32", "blur_across_u8", "blur_across_f32"};
    kernel_function *const functions[4] = {(kernel_function *)f->down_u8, (kernel_function *)f->down_f32,
                                           (kernel_function *)f->across_u8, (kernel_function *)f->across_f32};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < RADII; j++, k++) {
            *k = (kernel){.function = functions[i], .call = calls[i][j], .unit = sizeof(float), .outputs = 1};
            k->inputs = i < 2 ? KERNEL_INPUTS : 1;
            k->prepare = i == 0 ? NULL : prepare_floats;
            k->in_slack = k->out_slack = SLACK;
            snprintf(k->name, sizeof k->name, "%s_%zu", names[i], 2 * radii[j] + 1);
        }
}

/* One that looks an image up at places, in three inputs. */
static void add_look(kernel *k, const char *name, mr__elastic_look_row *function, kernel_call *call)
{
    *k = (kernel){.function = (kernel_function *)function, .call = call, .prepare = prepare_look, .unit = ROW};
    snprintf(k->name, sizeof k->name, "elastic_%s", name);
    k->inputs = 3;
    k->outputs = 1;
    k->in_slack = SLACK;
}

static void add_elastics(const mr__elastics *e, kernel *k)
{
    k[0] = (kernel){"elastic_noise", (kernel_function *)e->noise, .call = call_noise, .unit = GROUP_NBYTES};
    k[1] = (kernel){"elastic_scale", (kernel_function *)e->scale, .call = call_scale, prepare_floats, .unit = 4};
    k[2] = (kernel){"elastic_place", (kernel_function *)e->place, .call = call_place, prepare_floats, .unit = 4};
    for (size_t i = 0; i < 3; i++) {
        k[i].inputs = i == 2 ? 2 : 1;
        k[i].outputs = i == 0 ? 2 : 1;
        k[i].in_slack = k[i].out_slack = SLACK;
    }
    add_look(&k[3], "bilinear_1", e->bilinear, call_look1);
    add_look(&k[4], "bilinear_3", e->bilinear, call_look3);
    add_look(&k[5], "nearest_3", e->nearest, call_look3);
    add_look(&k[6], "bicubic_3", e->bicubic, call_look3);
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__filters filters;
    mr__elastics elastics;
    mr__filters_init(&filters, cpu);
    mr__elastics_init(&elastics, cpu);
    k[0] = (kernel){"sharpen", (kernel_function *)filters.sharpen, call_sharpen, .unit = 1, .inputs = 3, .outputs = 1};
    add_blurs(&filters, k + 1);
    add_elastics(&elastics, k + 1 + 4 * RADII);
    return 1 + 4 * RADII + 7;
}

const kernel_table kernels_filter = {"filter", list};
