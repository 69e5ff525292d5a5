// SPDX-License-Identifier: Apache-2.0
/* Finishing: from a row of 8-bit pixels to the numbers of a batch, of which there are `nbytes` bytes. */
#include "step/finish.h"
#include "kernels.h"

#include <stdio.h>

/* ImageNet's. */
static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};

static mr__finisher make(mr_dtype dtype, mr_batch_layout layout, uint32_t channels)
{
    mr__finisher f;
    mr__finish finish = {.depth = 8, .normalize = dtype != MR_U8};
    finish.output.dtype = dtype;
    finish.output.layout = layout;
    finish.output.channels = channels;
    for (size_t c = 0; c < 4; c++) {
        finish.mean[c] = mean[c % 3];
        finish.std[c] = std[c % 3];
    }
    mr__finisher_init(&f, &finish, 0);
    return f;
}

static void run(kernel_function *function, uint8_t *out, const uint8_t *row, size_t nbytes, mr__finisher *f,
                const uint32_t shape[4])
{
    if (f->run == NULL)
        *f = make((mr_dtype)shape[0], (mr_batch_layout)shape[1], shape[2]);
    size_t n = nbytes / f->number_nbytes / f->channels;
    ((mr__finish_kernel *)function)(f, row, n, shape[3] != 0, out, n * f->number_nbytes);
}

#define CALL(dtype, layout, channels, flip)                                                                            \
    static void call_##dtype##layout##channels##flip(kernel_function *function, uint8_t *const out[],                  \
                                                     const uint8_t *const in[], size_t nbytes)                         \
    {                                                                                                                  \
        static mr__finisher f;                                                                                         \
        run(function, out[0], in[0], nbytes, &f, (const uint32_t[4]){dtype, layout, channels, flip});                  \
    }
#define CALLS(dtype, layout)                                                                                           \
    CALL(dtype, layout, 1, 0)                                                                                          \
    CALL(dtype, layout, 1, 1)                                                                                          \
    CALL(dtype, layout, 3, 0) CALL(dtype, layout, 3, 1) CALL(dtype, layout, 4, 0) CALL(dtype, layout, 4, 1)
#define NAME(dtype, layout, channels, flip)                                                                            \
    {                                                                                                                  \
        dtype, layout, channels, flip, call_##dtype##layout##channels##flip                                            \
    }
#define NAMES(dtype, layout)                                                                                           \
    NAME(dtype, layout, 1, 0), NAME(dtype, layout, 1, 1), NAME(dtype, layout, 3, 0), NAME(dtype, layout, 3, 1),        \
        NAME(dtype, layout, 4, 0), NAME(dtype, layout, 4, 1)

CALLS(MR_U8, MR_NCHW)
CALLS(MR_U8, MR_NHWC)
CALLS(MR_F32, MR_NCHW)
CALLS(MR_F32, MR_NHWC)
CALLS(MR_F16, MR_NCHW)
CALLS(MR_F16, MR_NHWC)
CALLS(MR_BF16, MR_NCHW)
CALLS(MR_BF16, MR_NHWC)

static const struct {
    mr_dtype dtype;
    mr_batch_layout layout;
    uint32_t channels, flip;
    kernel_call *call;
} cases[] = {NAMES(MR_U8, MR_NCHW),  NAMES(MR_U8, MR_NHWC),  NAMES(MR_F32, MR_NCHW),  NAMES(MR_F32, MR_NHWC),
             NAMES(MR_F16, MR_NCHW), NAMES(MR_F16, MR_NHWC), NAMES(MR_BF16, MR_NCHW), NAMES(MR_BF16, MR_NHWC)};

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    static const char *const names[] = {[MR_U8] = "u8", [MR_F32] = "f32", [MR_F16] = "f16", [MR_BF16] = "bf16"};
    static const size_t numbers[] = {[MR_U8] = 1, [MR_F32] = 4, [MR_F16] = 2, [MR_BF16] = 2};
    size_t count = sizeof cases / sizeof *cases;
    mr__finish_kernels kernels;
    mr__finish_kernels_init(&kernels, cpu);
    for (size_t i = 0; i < count; i++) {
        mr__finish_kernel *of = kernels.of[cases[i].dtype][cases[i].layout];
        k[i] = (kernel){.function = (kernel_function *)of, .call = cases[i].call, .inputs = 1, .outputs = 1};
        k[i].unit = cases[i].channels * numbers[cases[i].dtype];
        snprintf(k[i].name, sizeof k[i].name, "finish_%s_%s%u%s", cases[i].layout == MR_NCHW ? "planes" : "pixels",
                 names[cases[i].dtype], cases[i].channels, cases[i].flip != 0 ? "_flip" : "");
    }
    return count;
}

const kernel_table kernels_finish = {"finish", list};
