// SPDX-License-Identifier: Apache-2.0
/* Loaders in tests: made, run to their end, and summed up. */
#ifndef TESTS_SUPPORT_LOADING_H
#define TESTS_SUPPORT_LOADING_H

#include <millrace/millrace.h>
#include <stdatomic.h>

/* A recipe of this text, which must parse. */
mr_recipe *loading_recipe(const char *text);

/* A loader, which must come to be. */
mr_loader *loading_new(mr_dataset *dataset, const char *recipe, const mr_loader_options *options);

/* What came out of a loader. */
typedef struct loading_sum {
    int result;    /* of the last next */
    uint64_t hash; /* of all epochs */
    uint64_t batches, samples, pads, skipped, replaced;
} loading_sum;

/* Takes batches until there are no more, or `most` of them. Each is checked for what every batch keeps. */
loading_sum loading_run(mr_loader *loader, uint64_t most);

/* All of it: made, run, freed. */
loading_sum loading_all(mr_dataset *dataset, const char *recipe, const mr_loader_options *options);

/* Hooks that count what is allocated through them. */
typedef struct loading_counter {
    atomic_uint allocated;
} loading_counter;

mr_hooks loading_hooks(loading_counter *counter);

#endif
