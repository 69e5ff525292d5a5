// SPDX-License-Identifier: Apache-2.0
/*
 * A keyed permutation of [0, n) without a table: doc/order.md has it in full, so that others can make the same one.
 *
 * Threads: any number may ask.
 * Ownership: a value.
 * Limits: n from 1 to 2^48 - 1.
 */
#ifndef MR_LOADER_PERMUTE_H
#define MR_LOADER_PERMUTE_H

#include <stdint.h>

/* The house's numbers of the generator (base/rng.h) that an order draws with. */
enum {
    MR__RNG_STEP_SHUFFLE = 0xff00,
    MR__RNG_STEP_SUBSTITUTE = 0xff01,
    MR__RNG_STEP_WEIGHTED = 0xff02,
    MR__RNG_STEP_MIX = 0xff03, /* loader/mix.h */
};

enum { MR__SHUFFLE_ROUNDS_MAX = 16 };

typedef struct mr__shuffle {
    uint64_t n;
    uint32_t high, low; /* the walk is over [0, high) x [0, low) */
    uint32_t rounds;
    uint64_t lane_key;
    uint64_t keys[MR__SHUFFLE_ROUNDS_MAX];
} mr__shuffle;

void mr__shuffle_init(mr__shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch, uint32_t stream);

/* Where `index`, below n, goes. Each lane is a permutation of its own. */
uint64_t mr__shuffle_at(const mr__shuffle *shuffle, uint64_t index, uint64_t lane);

/* The way back: mr__shuffle_find(mr__shuffle_at(index)) is index. */
uint64_t mr__shuffle_find(const mr__shuffle *shuffle, uint64_t value, uint64_t lane);

/* floor(x n / 2^64): a whole number in [0, n) from 64 random bits. */
uint64_t mr__scale_u64(uint64_t x, uint64_t n);

#endif
