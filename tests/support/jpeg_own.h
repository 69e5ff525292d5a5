// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder held against two others: plain libjpeg with its defaults, which shares no code with src/, and
 * our own path through libjpeg. Every byte that is asked for, and none beside it.
 */
#ifndef TESTS_SUPPORT_JPEG_OWN_H
#define TESTS_SUPPORT_JPEG_OWN_H

#include "picture.h"

/* One of our own for each instruction set; those that this processor does not have are portable ones. */
enum { OWN_KERNELS = 5, OWN_BEST = OWN_KERNELS - 1 };
extern const char *const own_kernel_names[OWN_KERNELS];
extern mr_decoder *own_decoders[OWN_KERNELS];
extern mr_decoder *own_either, *own_turbo;

/* For cmocka_run_group_tests. */
int own_setup(void **state);
int own_teardown(void **state);

typedef struct own_case {
    const char *what;     /* it is, for a message */
    uint32_t reduce;      /* 1, 2, 4, 8 */
    uint32_t channels;    /* 1 or 3 */
    uint32_t regions;     /* how many beside the whole; the first are odd ones: a pixel, a row, a column, corners */
    bool every_kernel;    /* else the best */
    bool libjpeg_regions; /* our path through libjpeg gives the same regions; the whole it gives always */
    uint64_t *random;
} own_case;

/*
 * Decodes with all of them, into rows with gaps, up or down, and fails the test where they are unlike. Returns what
 * ours said: 0, or MR_EUNSUPPORTED with or without libjpeg decoding it (*plain_takes). For whole files only.
 */
int own_check(const picture_file *file, const own_case *c, bool *plain_takes);

/* The same, and ours must decode it. */
void own_must(const picture_file *file, const own_case *c);

/* One decode into rows with gaps is that part of `whole`, and nothing else is written. */
void own_check_part(mr_decoder *with, const char *who, const picture_file *file, mr_decode_hints hints, mr_rect region,
                    const mr_image *whole, const own_case *c);

/*
 * Skips a test of coefficients that no image has unless libjpeg-turbo runs its x86 kernels: sums beyond 16 bits come
 * out as with those everywhere here, and otherwise in libjpeg-turbo's other kernels.
 */
void own_skip_unless_x86(void);

/* Region number i of a case. */
mr_rect own_region(uint32_t i, uint32_t width, uint32_t height, uint64_t *random);

#endif
