// SPDX-License-Identifier: Apache-2.0
#include "kernel/augmix.h"

#include "kernels.h"

#include <string.h>

typedef void add_kernel(float *sum, const uint8_t *from, size_t n, float weight);
typedef void end_kernel(uint8_t *to, const float *sum, const uint8_t *from, size_t n, float weight);

static void call_begin(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((add_kernel *)function)((float *)(void *)out[0], in[0], nbytes / 4, 0.3f);
}

/* The sum is both read and written. */
static void call_add(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    memcpy(out[0], in[0], nbytes);
    ((add_kernel *)function)((float *)(void *)out[0], in[1], nbytes / 4, 0.3f);
}

static void call_end(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    ((end_kernel *)function)(out[0], (const float *)(const void *)in[0], in[1], nbytes / 4, 0.3f);
}

/* The first input is a sum that has room for more. */
static void prepare_sum(uint8_t *bytes, size_t input, size_t nbytes)
{
    for (size_t i = 0; input == 0 && i + 4 <= nbytes; i += 4) {
        float sum = (float)(bytes[i] | (unsigned)bytes[i + 1] << 8) * (170.0f / 65536.0f);
        memcpy(bytes + i, &sum, sizeof sum);
    }
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__augmix_kernels table;
    mr__augmix_kernels_init(&table, cpu);
    k[0] = (kernel){.name = "augmix_begin_f32",
                    .function = (kernel_function *)table.begin,
                    .call = call_begin,
                    .unit = 4,
                    .inputs = 1,
                    .outputs = 1,
                    .in_slack = 32,
                    .out_slack = 32}; /* floats are aligned */
    k[1] = (kernel){.name = "augmix_add_f32",
                    .function = (kernel_function *)table.add,
                    .call = call_add,
                    .prepare = prepare_sum,
                    .unit = 4,
                    .inputs = 2,
                    .outputs = 1,
                    .in_slack = 32,
                    .out_slack = 32}; /* floats are aligned */
    k[2] = (kernel){.name = "augmix_end_f32",
                    .function = (kernel_function *)table.end,
                    .call = call_end,
                    .prepare = prepare_sum,
                    .unit = 4,
                    .inputs = 2,
                    .outputs = 1,
                    .in_slack = 32,
                    .out_slack = 32}; /* floats are aligned */
    return 3;
}

const kernel_table kernels_augmix = {"augmix", list};
