// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels that say what the words of kernel/lane/lane.h give, for tests: whoever runs kernels runs these. For OpenCL
 * they stand behind the library's own text, without the includes.
 */
#ifndef TESTS_SUPPORT_LANE_WORDS_H
#define TESTS_SUPPORT_LANE_WORDS_H

#include "kernel/lane/lane.h"

/* Of every kernel here: each item has 32 words at `in`, and gives `each` times 32 words at `to`. */
typedef struct words_order {
    uint32_t in, to, each;
    uint32_t status, sum, bits; /* words that all items share */
} words_order;

#define WORDS_IN ((MR_GLOBAL const uint32_t *)(arena + o->in) + MR_ITEM * 32)
#define WORDS_TO ((MR_GLOBAL uint32_t *)(arena + o->to) + MR_ITEM * o->each * 32)

enum { WORDS_COLLECTIVE = 8, WORDS_SHARED = 3, WORDS_AGAIN = 1, WORDS_ALONE = 2, WORDS_PASSED = 1 };

/* Each word once, in a row. */
MR_KERNEL(words_collective)
{
    MR_TEAM;
    MR_GLOBAL const words_order *o = MR_ORDER(words_order);
    MR_GLOBAL uint32_t *to = WORDS_TO + lane.id;
    uint32_t n = WORDS_IN[lane.id];
    uint32_t odd = mr_ballot(lane, (n & 1) != 0);
    to[0] = odd;
    to[32] = mr_rank(lane, odd);
    to[64] = mr_scan(lane, n);
    to[96] = mr_sum(lane, n);
    to[128] = mr_shuffle(lane, n, n >> 7);
    to[160] = mr_shuffle(lane, n, 31 - lane.id);
    to[192] = mr_count32(n);
    to[224] = mr_count64((uint64_t)n << 32 | ~n);
}

/* What a word gave goes into the next one: a word that begins before all have left the one before it would show. */
MR_KERNEL(words_again)
{
    MR_TEAM;
    MR_GLOBAL const words_order *o = MR_ORDER(words_order);
    uint32_t n = WORDS_IN[lane.id];
    for (uint32_t i = 0; i < 20; i++) {
        n += mr_scan(lane, n);
        n ^= mr_shuffle(lane, n, lane.id + i);
        n += mr_sum(lane, n >> 3);
        n ^= mr_ballot(lane, (n >> i & 1) != 0);
    }
    WORDS_TO[lane.id] = n;
}

/* Shared memory, and the arena, from lane to lane. */
MR_KERNEL(words_shared)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32);
    MR_ALLOT(uint32_t, counts, 4);
    MR_GLOBAL const words_order *o = MR_ORDER(words_order);
    MR_GLOBAL uint32_t *to = WORDS_TO;
    uint32_t n = WORDS_IN[lane.id];
    if (lane.id < 4)
        counts[lane.id] = 0;
    row[lane.id] = n;
    to[64 + lane.id] = n;
    mr_barrier(lane);
    to[lane.id] = row[31 - lane.id];
    (void)mr_atomic_add_shared(&counts[n & 3], 1u);
    uint32_t before = to[64 + (lane.id + 31) % 32];
    mr_barrier(lane);
    to[32 + lane.id] = counts[lane.id & 3];
    to[64 + lane.id] = before;
}

/* Shared memory that goes to a function by its place: of this group, not of another that runs at the same time. */
MR_INLINE uint32_t words_mixed(mr_lane lane, MR_SHARED uint32_t *row, uint32_t n)
{
    row[lane.id] = n;
    mr_barrier(lane);
    for (uint32_t i = 0; i < 32; i++)
        n = n * 5u + row[(lane.id + i) % 32];
    mr_barrier(lane);
    return n;
}

MR_KERNEL(words_passed)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32);
    MR_GLOBAL const words_order *o = MR_ORDER(words_order);
    uint32_t n = WORDS_IN[lane.id];
    for (uint32_t i = 0; i < 50; i++)
        n = words_mixed(lane, row, n);
    WORDS_TO[lane.id] = words_mixed(lane, row, n ^ lane.id);
}

/* Lanes that are alone: 64, two for each word. */
MR_KERNEL(words_alone)
{
    MR_ALONE;
    MR_GLOBAL const words_order *o = MR_ORDER(words_order);
    uint32_t n = WORDS_IN[lane.id & 31];
    (void)mr_atomic_add(arena + o->sum, n);
    (void)mr_atomic_or(arena + o->bits, 1u << (n & 31));
    if (n % 1000 == 999)
        MR_REFUSE(o->status);
    WORDS_TO[lane.id] = n + lane.id;
}

#endif
