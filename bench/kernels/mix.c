// SPDX-License-Identifier: Apache-2.0
/* Mixing two samples: `nbytes` bytes of numbers of each. */
#include "kernel/mix.h"
#include "kernel/half.h"
#include "kernels.h"

#include <string.h>

/* A weight that is no round number in any type. */
static void run(kernel_function *function, uint8_t *to, const uint8_t *const in[], size_t nbytes, size_t number)
{
    mr__mix_weights w = mr__mix_weights_of(0.2999);
    memcpy(to, in[0], nbytes);
    ((mr__mix_kernel *)function)(to, in[1], nbytes / number, &w);
}

#define CALL(number)                                                                                                   \
    static void call_##number(kernel_function *function, uint8_t *const out[], const uint8_t *const in[],              \
                              size_t nbytes)                                                                           \
    {                                                                                                                  \
        run(function, out[0], in, nbytes, number);                                                                     \
    }

CALL(1)
CALL(2)
CALL(4)

/* Noise as finite numbers of some size. */
static float number_of(const uint8_t *bytes)
{
    int16_t noise;
    memcpy(&noise, bytes, sizeof noise);
    return (float)noise / 4096.0f;
}

static void prepare_f32(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    for (size_t i = 0; i + 4 <= nbytes; i += 4) {
        float number = number_of(bytes + i);
        memcpy(bytes + i, &number, sizeof number);
    }
}

static void prepare_f16(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    for (size_t i = 0; i + 2 <= nbytes; i += 2) {
        uint16_t number = mr__f16_from_f32(number_of(bytes + i));
        memcpy(bytes + i, &number, sizeof number);
    }
}

static void prepare_bf16(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    for (size_t i = 0; i + 2 <= nbytes; i += 2) {
        uint16_t number = mr__bf16_from_f32(number_of(bytes + i));
        memcpy(bytes + i, &number, sizeof number);
    }
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__mix_kernels kernels;
    mr__mix_kernels_init(&kernels, cpu);
    k[0] = (kernel){"mix_u8", (kernel_function *)kernels.u8, .call = call_1, .unit = 1};
    k[1] = (kernel){"mix_f32", (kernel_function *)kernels.f32, .call = call_4, .prepare = prepare_f32, .unit = 4};
    k[2] = (kernel){"mix_f16", (kernel_function *)kernels.f16, .call = call_2, .prepare = prepare_f16, .unit = 2};
    k[3] = (kernel){"mix_bf16", (kernel_function *)kernels.bf16, .call = call_2, .prepare = prepare_bf16, .unit = 2};
    for (size_t i = 0; i < 4; i++) {
        k[i].inputs = 2;
        k[i].outputs = 1;
        k[i].align = k[i].unit;
    }
    return 4;
}

const kernel_table kernels_mix = {"mix", list};
