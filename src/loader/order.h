// SPDX-License-Identifier: Apache-2.0
/*
 * The order of an epoch: a pure function from positions to samples, in O(1) memory (a table of weights apart) and O(1)
 * time, so that any rank, thread or restart begins anywhere at once. It does not depend on the world size.
 * doc/order.md has it in full.
 *
 * Threads: any number may ask.
 * Ownership: mr__order_fini frees the table of weights.
 * Limits: 2^48 - 1 samples and positions.
 */
#ifndef MR_LOADER_ORDER_H
#define MR_LOADER_ORDER_H

#include "base/error.h"
#include "base/memory.h"
#include "loader/permute.h"
#include <millrace/loader.h>

typedef struct mr__order {
    mr_hooks hooks;
    mr_order_kind kind;
    uint64_t seed;
    uint64_t samples;
    uint64_t positions; /* of an epoch */
    uint64_t block, window;
    uint32_t repeats;
    /* Of weights: Walker's aliases; a draw is two numbers. */
    uint64_t *accept; /* of 2^64 */
    uint64_t *other;
} mr__order;

/* What stands at a position. */
typedef struct mr__order_place {
    uint64_t ordinal;
    uint64_t key; /* that random numbers are keyed by: the ordinal where a sample comes once in an epoch */
} mr__order_place;

/* From the options, whose zeros are defaults. MR_EARGUMENT, MR_ENOMEM with detail. */
int mr__order_init(mr__order *order, const mr_hooks *hooks, const mr_loader_options *options, uint64_t samples,
                   mr__detail *detail);
void mr__order_fini(mr__order *order);

/*
 * The order of one epoch (below 2^32), with the keys that belong to it: made once in an epoch, then asked for each
 * position. A value; `order` must stay.
 */
typedef struct mr__epoch_order {
    const mr__order *order;
    uint32_t epoch;
    mr__shuffle all;           /* of samples, or of blocks */
    mr__shuffle inside;        /* of a whole window */
    mr__shuffle inside_last;   /* of the last one */
    uint64_t last_window;      /* its number */
    uint64_t short_at, behind; /* positions where the short block begins, and where what follows it does */
    uint64_t missing;          /* that the short block lacks */
} mr__epoch_order;

void mr__epoch_order_init(mr__epoch_order *of, const mr__order *order, uint64_t epoch);

/* `position` is below order->positions. */
mr__order_place mr__order_at(const mr__epoch_order *of, uint64_t position);

/* The key of the repeat'th appearance of a sample. */
uint64_t mr__order_key(uint64_t samples, uint64_t ordinal, uint32_t repeat);

/* The sample that takes the place of a bad one: drawn for (seed, epoch, position, attempt), attempt from 1. */
uint64_t mr__order_substitute(uint64_t seed, uint64_t epoch, uint64_t position, uint32_t attempt, uint64_t samples);

/* XXH3 of what the order is a function of, the epoch apart: a part of a state's fingerprint. */
uint64_t mr__order_hash(const mr__order *order);

#endif
