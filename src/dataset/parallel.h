// SPDX-License-Identifier: Apache-2.0
/* A loop over numbers on several threads, while the caller's tells how far it is. */
#ifndef MR_DATASET_PARALLEL_H
#define MR_DATASET_PARALLEL_H

#include <millrace/hooks.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mr__parallel {
    const mr_hooks *hooks;
    unsigned threads; /* 0: mr_threads_default */
    size_t count;
    /* Does one number; 0, or an error, after which no more are begun. */
    int (*work)(void *arg, size_t number, size_t worker);
    void *arg;
    /* Called by the caller's thread a few times a second, and once at the end; false: stop. NULL: nothing to tell. */
    bool (*tick)(void *arg);
    atomic_bool *stop; /* set when work is to end early */
} mr__parallel;

/* How many threads it will use: worker is below that. */
size_t mr__parallel_threads(const mr__parallel *p);

/* The error of the lowest number that has one; MR_ECLOSED when tick stopped it before there was any. */
int mr__parallel_run(const mr__parallel *p);

#endif
