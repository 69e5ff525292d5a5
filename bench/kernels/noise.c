// SPDX-License-Identifier: Apache-2.0
/* Random numbers by place, group by group: words, normal numbers, and noise on `nbytes` samples. */
#include "kernel/noise.h"
#include "kernels.h"

#include <string.h>

typedef void group_words(const uint32_t key[2], uint32_t row, uint32_t group, uint32_t to[MR__NOISE_GROUP]);
typedef void group_normals(const uint32_t key[2], uint32_t row, uint32_t group, float to[MR__NOISE_GROUP]);
typedef void group_add(const mr__noise *noise, uint32_t row, uint32_t group, uint8_t samples[MR__NOISE_GROUP]);

static const uint32_t key[2] = {123, 456};

enum { WORDS_NBYTES = MR__NOISE_GROUP * 4 };

static void call_words(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    uint32_t words[MR__NOISE_GROUP];
    for (size_t at = 0; at < nbytes; at += WORDS_NBYTES) {
        ((group_words *)function)(key, in[0][at], (uint32_t)at, words);
        memcpy(out[0] + at, words, WORDS_NBYTES);
    }
}

static void call_normals(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    float numbers[MR__NOISE_GROUP];
    for (size_t at = 0; at < nbytes; at += WORDS_NBYTES) {
        ((group_normals *)function)(key, in[0][at], (uint32_t)at, numbers);
        memcpy(out[0] + at, numbers, WORDS_NBYTES);
    }
}

static void add(kernel_function *function, uint8_t *out, const uint8_t *in, size_t nbytes, const mr__noise *noise)
{
    memcpy(out, in, nbytes);
    for (size_t at = 0; at < nbytes; at += MR__NOISE_GROUP)
        ((group_add *)function)(noise, 3, (uint32_t)(at / MR__NOISE_GROUP), out + at);
}

/* Tables are made once, as time for them would be in every call otherwise. */
static void call_add(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static mr__noise noise;
    if (noise.key[0] == 0)
        mr__noise_init(&noise, 0.0, 25.5, false, key);
    add(function, out[0], in[0], nbytes, &noise);
}

static void call_add_wrap(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static mr__noise noise;
    if (noise.key[0] == 0)
        mr__noise_init(&noise, 10.0, 60.0, true, key);
    add(function, out[0], in[0], nbytes, &noise);
}

static kernel entry(const char *name, kernel_function *function, kernel_call *call, size_t unit)
{
    kernel k = {.function = function, .call = call, .unit = unit, .inputs = 1, .outputs = 1};
    memcpy(k.name, name, strlen(name) + 1);
    return k;
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__noise_kernels t;
    mr__noise_kernels_init(&t, cpu);
    k[0] = entry("noise_words", (kernel_function *)t.words, call_words, WORDS_NBYTES);
    k[1] = entry("noise_normals", (kernel_function *)t.normals, call_normals, WORDS_NBYTES);
    k[2] = entry("noise_add", (kernel_function *)t.add, call_add, MR__NOISE_GROUP);
    k[3] = entry("noise_add_wrap", (kernel_function *)t.add, call_add_wrap, MR__NOISE_GROUP);
    return 4;
}

const kernel_table kernels_noise = {"noise", list};
