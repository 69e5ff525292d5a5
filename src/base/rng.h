// SPDX-License-Identifier: Apache-2.0
/*
 * Random numbers without state to pass on: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). Block number b of a stream is a pure function of the key and b, so any thread, device or
 * restart draws the same numbers.
 *
 * The schedule. The 64-bit seed is the key, low word first. The 128-bit counter says what is drawn for, each field in
 * its own bits, so that no two streams share a block:
 *
 *     word 0   block of this stream, from 0; each gives four draws of 32 bits
 *     word 1   sample, bits 0 to 31
 *     word 2   sample, bits 32 to 47 (low half); step (high half)
 *     word 3   epoch
 *
 * So: 2^48 samples, 2^16 steps, 2^32 epochs, 2^34 draws in each stream. A recipe's steps are numbered from 0; the
 * numbers from MR__RNG_STEP_HOUSE on are for the house itself (the epoch's order, substitutes, ...).
 */
#ifndef MR_BASE_RNG_H
#define MR_BASE_RNG_H

#include <stdint.h>

#define MR__RNG_SAMPLE_MAX ((UINT64_C(1) << 48) - 1)
#define MR__RNG_STEP_HOUSE 0xff00u
#define MR__RNG_STEP_MAX   0xffffu

/* One block. */
void mr__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* A stream of draws. A value: a copy goes on by itself. */
typedef struct mr__rng {
    uint32_t key[2];
    uint32_t counter[4]; /* of the next block */
    uint32_t block[4];
    uint32_t left; /* draws left in it */
} mr__rng;

/* `sample` is at most MR__RNG_SAMPLE_MAX and `step` at most MR__RNG_STEP_MAX; the caller has seen to it. */
void mr__rng_init(mr__rng *rng, uint64_t seed, uint32_t epoch, uint64_t sample, uint32_t step);

/* 32 random bits; one draw. */
uint32_t mr__rng_u32(mr__rng *rng);

/*
 * A whole number in [0, n), n at least 1; always two draws, so that what follows never depends on the value.
 * The first draw is the high word of a 64-bit x; the result is floor(x n / 2^64). Each value is given by floor or ceil
 * of 2^64 / n of the x, so its probability is 1/n to within 2^-64. (No bounded number of bits can do it exactly, unless
 * n is a power of two.)
 */
uint32_t mr__rng_below(mr__rng *rng, uint32_t n);

/* A multiple of 2^-24 in [0, 1), every one as likely: the upper 24 bits of one draw. */
float mr__rng_float(mr__rng *rng);

#endif
