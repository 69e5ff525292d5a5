// SPDX-License-Identifier: Apache-2.0
/*
 * coop [OPTION...] DATASET: host and accelerator prepare one batch together. The host's threads are on core 0, and an
 * OpenCL processor with all that belongs to it on core 1, so that what each can do alone is known, and what both could
 * do together: the sum. Everyone takes a turn in each round, each time in a process of its own, in an order that turns
 * from round to round.
 */
#ifndef BENCH_COOP_RUN_H
#define BENCH_COOP_RUN_H

#include "common.h"

#define PATH_NBYTES 4096

/* Who takes a turn. */
typedef enum who {
    HOST_ALONE,
    DEVICE_ALONE,
    APART, /* both at once, each with batches of its own: what this machine can do at all */
    AUTO,  /* from here on together, by this policy */
    NAIVE_DEVICE,
    INTRABATCH,
    INTERBATCH,
    FUSION,
    WHO_COUNT
} who;

extern const char *const who_names[WHO_COUNT]; /* from AUTO on, a policy's */

typedef struct options {
    const char *dataset;
    const char *device;        /* "opencl:0" */
    const char *form, *recipe; /* NULL: all of ours */
    unsigned rounds, batch, warm;
    double seconds; /* of a turn, at least */
    uint64_t seed;
    bool quick;
} options;

typedef struct contest {
    const char *form, *recipe;
    double rate[WHO_COUNT][ROUNDS_MAX];  /* samples a second */
    double share[WHO_COUNT][ROUNDS_MAX]; /* that the device prepared */
    double sum;                          /* predicted, before */
    uint64_t aside[WHO_COUNT];           /* so often the device was set aside, in all rounds */
    char mishap[WHO_COUNT][100];
} contest;

/* What a turn came to. */
typedef struct turn_result {
    double rate, share;
    unsigned on_host, on_device; /* threads that are kept on core 0, and on core 1 */
    bool absent;                 /* there is no such device */
    uint64_t aside;              /* so often the device was set aside, */
    char mishap[100];            /* because it was this; "": it was not */
    char failed[300];            /* why; "": it did not */
} turn_result;

/* In a process of its own, or two. */
turn_result turn_run(const options *o, const contest *c, who w);

void contest_run(const options *o, contest *c);
bool contest_report(const options *o, contest *c); /* false: less than was aimed at */

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
