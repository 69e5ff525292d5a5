// SPDX-License-Identifier: Apache-2.0
/* Where a loader stands, as JSON: a handful of whole numbers and fingerprints, the same on all ranks. */
#ifndef MR_LOADER_STATE_H
#define MR_LOADER_STATE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

typedef struct mr__state {
    uint64_t seed;
    uint64_t epoch;
    uint64_t position;     /* in the epoch's global order: all before it were delivered, by all ranks together */
    uint64_t global_batch; /* that was in use: for information */
    uint64_t samples;      /* of the dataset */
    uint64_t dataset;      /* fingerprint */
    uint64_t recipe;       /* hash */
    uint64_t order;        /* mr__order_hash */
} mr__state;

/* {"millrace_state": 1, "seed": ..., "dataset": "0123456789abcdef", ...} in one line. */
void mr__state_write(const mr__state *state, mr__text *text);

/* Any bytes. MR_EARGUMENT with detail: what is missing, unknown, twice, or not of its kind; a later version. */
int mr__state_read(mr__state *state, const char *text, size_t nbytes, mr__detail *detail);

/* Whether a loader of `ours` can go on from `given`. MR_EARGUMENT names what differs and both values. */
int mr__state_compare(const mr__state *given, const mr__state *ours, mr__detail *detail);

#endif
