// SPDX-License-Identifier: Apache-2.0
/*
 * Checks kernels against their portable version and times them, by the same call.
 *
 * A kernel table is one file here: it lists its kernels as mr__cpu_flags would choose them, each with a function that
 * calls it, and stands in the list in kernels.c. The harness does the rest: it asks for the list of every instruction
 * set this processor has, and compares whatever differs from the portable one.
 *
 * (bench/ uses public headers only; this folder is the exception, as kernels are not public.)
 */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include "cpu/cpu.h"

enum { KERNEL_INPUTS = 8, KERNEL_OUTPUTS = 8, KERNEL_LIST_MAX = 64 };

/* Any kernel; cast back by its `call`. */
typedef void kernel_function(void);

/* Calls it on `nbytes` bytes of each input and output. */
typedef void kernel_call(kernel_function *function, uint8_t *const out[KERNEL_OUTPUTS],
                         const uint8_t *const in[KERNEL_INPUTS], size_t nbytes);

/* Brings noise into the values that the kernel takes as input number `input`. */
typedef void kernel_prepare(uint8_t *bytes, size_t input, size_t nbytes);

typedef struct kernel {
    char name[32]; /* without its instruction set */
    kernel_function *function;
    kernel_call *call;
    kernel_prepare *prepare; /* NULL: it takes any */
    size_t unit;             /* nbytes is a multiple of this */
    size_t inputs;
    size_t outputs;
    size_t in_slack;  /* bytes around each input that may be read; it then starts at a multiple of 32 */
    size_t out_slack; /* likewise of outputs, and written at will */
    size_t align;     /* where inputs and outputs start without slack: a multiple of this; 0: anywhere */
} kernel;

typedef struct kernel_table {
    const char *name;
    /* The same kernels in the same order, whatever the flags; returns how many. */
    size_t (*list)(mr__cpu_flags cpu, kernel list[KERNEL_LIST_MAX]);
} kernel_table;

extern const kernel_table kernels_crc32c;
extern const kernel_table kernels_jpeg_bands;
extern const kernel_table kernels_jpeg_scans;
extern const kernel_table kernels_png_unfilter;
extern const kernel_table kernels_jpeg_pixels;
extern const kernel_table kernels_l3_pixel;
extern const kernel_table kernels_l3_unit;
extern const kernel_table kernels_l3_encode;
extern const kernel_table kernels_resample;
extern const kernel_table kernels_finish;
extern const kernel_table kernels_augmix;
extern const kernel_table kernels_color;
extern const kernel_table kernels_warp;
extern const kernel_table kernels_filter;
extern const kernel_table kernels_jpeg_forward;
extern const kernel_table kernels_noise;
extern const kernel_table kernels_mix;

/* One kernel beside the portable one. False, with a word on stderr, when they differ. */
bool kernel_check(const kernel *portable, const kernel *variant, const char *isa, uint64_t seed);

/* Bytes per nanosecond: the best of many short runs. */
double kernel_time(const kernel *k);

/* Not a kernel, but what those of resampling and finishing are for: prints what a whole image takes. */
void augment_time(void);

#endif
