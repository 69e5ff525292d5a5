// SPDX-License-Identifier: Apache-2.0
/*
 * The language of the kernels in this folder: what C, OpenCL C 1.2 and CUDA C have in common, and a few words for what
 * they have not. A kernel is written once, for one lane; whoever runs it has one of four backends:
 *
 *     CUDA               a team is a warp
 *     OpenCL sub-groups  a team is a sub-group of 32 (MR_SUBGROUPS, where the device reports them)
 *     OpenCL 1.2         a team is a work-group of 32: local memory and barriers
 *     C                  emulate.c: lanes in lockstep, for sanitizers and tests
 *
 * A *group* is lanes that are started together. The groups of a launch come in any order and know nothing of each
 * other. Kernels are of two kinds:
 *
 *     MR_ALONE    64 lanes, each on its own: no words below but mr_atomic_...
 *     MR_TEAM     32 lanes that work together. Every lane of a team comes to the same collective words (mr_barrier,
 *                 mr_ballot, mr_scan, mr_shuffle, mr_sum) in the same order: they stand where all lanes go or none do
 *
 * A kernel is told what to do by an *order*, a struct of plain numbers in the *arena*, which is all the memory there is
 * beside the batch: places are numbers of bytes in it. A launch has a list of *turns*, one for each group: which order,
 * and which item of it.
 *
 *     MR_KERNEL(invert)
 *     {
 *         MR_ALONE;
 *         MR_GLOBAL const mr__order_invert *o = MR_ORDER(mr__order_invert);
 *         uint32_t i = MR_ITEM * MR_LANES + lane.id;
 *         if (i < o->nbytes)
 *             arena[o->at + i] = (uint8_t)~arena[o->at + i];
 *     }
 *
 * Rules: numbers as in stdint.h. Pointers say where they point (MR_GLOBAL, MR_SHARED; none: the lane's own variables).
 * Tables are MR_TABLE. A kernel that meets what cannot be (a file may hold anything) sets its sample's status by
 * MR_REFUSE and goes on without reading or writing outside of its places. Floats are not contracted; every division
 * and conversion is IEEE's. No recursion, no pointers to functions, no writable globals.
 */
#ifndef MR_KERNEL_LANE_LANE_H
#define MR_KERNEL_LANE_LANE_H

#include "kernel/language.h"

#if defined(__OPENCL_VERSION__)

#if defined(MR_SUBGROUPS)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define MR_ALLOT(T, v, n) local T v[n]
/*
 * A team's words are an argument: those that a kernel declares itself PoCL 3.1 leaves to be one for all groups where
 * their address has come to a function that is called, and groups on two cores then write over each other's.
 */
#define MR_KERNEL(name)                                                                                                \
    kernel void mr_##name(global uint8_t *arena, global uint8_t *out, uint32_t list, local uint32_t *mr_words)

typedef struct mr_lane {
    uint32_t id;
    local uint32_t *words; /* two for each lane of a team */
} mr_lane;

#define MR_ALONE                                                                                                       \
    const mr_lane lane = {(uint32_t)get_local_id(0), 0};                                                               \
    const uint32_t group = (uint32_t)get_group_id(0);                                                                  \
    (void)lane;                                                                                                        \
    (void)group
#define MR_TEAM                                                                                                        \
    const mr_lane lane = {(uint32_t)get_local_id(0), mr_words};                                                        \
    const uint32_t group = (uint32_t)get_group_id(0);                                                                  \
    (void)lane;                                                                                                        \
    (void)group

#define mr_count32(x)               popcount((uint32_t)(x))
#define mr_count64(x)               ((uint32_t)popcount((uint64_t)(x)))
#define mr_atomic_or(at, bits)      atomic_or((volatile global uint32_t *)(at), bits)
#define mr_atomic_add(at, n)        atomic_add((volatile global uint32_t *)(at), n)
#define mr_atomic_add_shared(at, n) atomic_add((volatile local uint32_t *)(at), n)
#define mr_barrier(lane)            mr_lane_barrier()

#if defined(MR_SUBGROUPS)

MR_INLINE void mr_lane_barrier(void)
{
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

MR_INLINE uint32_t mr_ballot(mr_lane lane, bool yes)
{
    return sub_group_reduce_add(yes ? 1u << lane.id : 0u);
}

MR_INLINE uint32_t mr_scan(mr_lane lane, uint32_t n)
{
    return sub_group_scan_exclusive_add(n);
}

MR_INLINE uint32_t mr_sum(mr_lane lane, uint32_t n)
{
    return sub_group_reduce_add(n);
}

#else

MR_INLINE void mr_lane_barrier(void)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Sums of all lanes up to this one; its last step leaves words[31] the sum of all. */
MR_INLINE uint32_t mr_lane_add_up(mr_lane lane, uint32_t n)
{
    uint32_t now = 0;
    lane.words[lane.id] = n;
    mr_lane_barrier();
    for (uint32_t step = 1; step < 32; step *= 2, now = 32 - now) {
        uint32_t sum = lane.words[now + lane.id] + (lane.id >= step ? lane.words[now + lane.id - step] : 0);
        lane.words[32 - now + lane.id] = sum;
        mr_lane_barrier();
    }
    return lane.words[now + lane.id]; /* five steps: the second half */
}

MR_INLINE uint32_t mr_scan(mr_lane lane, uint32_t n)
{
    uint32_t sum = mr_lane_add_up(lane, n);
    mr_lane_barrier();
    return sum - n;
}

MR_INLINE uint32_t mr_sum(mr_lane lane, uint32_t n)
{
    (void)mr_lane_add_up(lane, n);
    uint32_t sum = lane.words[63];
    mr_lane_barrier();
    return sum;
}

MR_INLINE uint32_t mr_ballot(mr_lane lane, bool yes)
{
    return mr_sum(lane, yes ? 1u << lane.id : 0u);
}

#endif

MR_INLINE uint32_t mr_shuffle(mr_lane lane, uint32_t n, uint32_t from)
{
    lane.words[lane.id] = n;
    mr_lane_barrier();
    uint32_t got = lane.words[from & 31];
    mr_lane_barrier();
    return got;
}

#elif defined(__CUDACC__)

#define MR_ALLOT(T, v, n) __shared__ T v[n]
#define MR_KERNEL(name)   extern "C" __global__ void mr_##name(uint8_t *arena, uint8_t *out, uint32_t list)

typedef struct mr_lane {
    uint32_t id;
} mr_lane;

#define MR_ALONE                                                                                                       \
    const mr_lane lane = {threadIdx.x};                                                                                \
    const uint32_t group = blockIdx.x;                                                                                 \
    (void)lane;                                                                                                        \
    (void)group
#define MR_TEAM MR_ALONE

#define mr_count32(x)               ((uint32_t)__popc(x))
#define mr_count64(x)               ((uint32_t)__popcll(x))
#define mr_atomic_or(at, bits)      atomicOr((uint32_t *)(at), bits)
#define mr_atomic_add(at, n)        atomicAdd((uint32_t *)(at), n)
#define mr_atomic_add_shared(at, n) atomicAdd((uint32_t *)(at), n)
#define mr_barrier(lane)            __syncwarp()
#define mr_ballot(lane, yes)        __ballot_sync(0xffffffffu, yes)
#define mr_shuffle(lane, n, from)   __shfl_sync(0xffffffffu, (uint32_t)(n), (int)(from))

MR_INLINE uint32_t mr_scan(mr_lane lane, uint32_t n)
{
    uint32_t sum = n;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t before = __shfl_up_sync(0xffffffffu, sum, step);
        sum += lane.id >= step ? before : 0;
    }
    return sum - n;
}

MR_INLINE uint32_t mr_sum(mr_lane lane, uint32_t n)
{
    (void)lane;
    for (uint32_t step = 16; step != 0; step /= 2)
        n += __shfl_xor_sync(0xffffffffu, n, step);
    return n;
}

#else

#define MR_ALLOT(T, v, n) T *v = mr__gang_allot(lane, sizeof(T) * (n), __LINE__)
#define MR_KERNEL(name)                                                                                                \
    static inline void mr__kernel_##name(mr_lane lane, uint32_t group, uint8_t *arena, uint8_t *out, uint32_t list)

/* Who runs lanes: emulate.c. */
typedef struct mr__gang mr__gang;
typedef struct mr_lane {
    uint32_t id;
    mr__gang *gang;
} mr_lane;

#define MR_ALONE                                                                                                       \
    (void)lane;                                                                                                        \
    (void)group;                                                                                                       \
    (void)out
#define MR_TEAM MR_ALONE

#define mr_count32(x)               ((uint32_t)__builtin_popcount((uint32_t)(x)))
#define mr_count64(x)               ((uint32_t)__builtin_popcountll((uint64_t)(x)))
#define mr_atomic_or(at, bits)      __atomic_fetch_or((uint32_t *)(at), (uint32_t)(bits), __ATOMIC_RELAXED)
#define mr_atomic_add(at, n)        __atomic_fetch_add((uint32_t *)(at), (uint32_t)(n), __ATOMIC_RELAXED)
#define mr_atomic_add_shared(at, n) mr_atomic_add(at, n)
#define mr_barrier(lane)            mr__gang_barrier(lane, __LINE__)
#define mr_ballot(lane, yes)        mr__gang_ballot(lane, yes, __LINE__)
#define mr_scan(lane, n)            mr__gang_scan(lane, n, __LINE__)
#define mr_sum(lane, n)             mr__gang_sum(lane, n, __LINE__)
#define mr_shuffle(lane, n, from)   mr__gang_shuffle(lane, n, from, __LINE__)

/* `line` is where the lane is: lanes that meet at different ones have diverged. */
void *mr__gang_allot(mr_lane lane, size_t nbytes, int line);
void mr__gang_barrier(mr_lane lane, int line);
uint32_t mr__gang_ballot(mr_lane lane, bool yes, int line);
uint32_t mr__gang_scan(mr_lane lane, uint32_t n, int line);
uint32_t mr__gang_sum(mr_lane lane, uint32_t n, int line);
uint32_t mr__gang_shuffle(mr_lane lane, uint32_t n, uint32_t from, int line);

#endif

/*
 * The collective words, whatever the backend:
 *     mr_barrier(lane)            what lanes wrote before it, others read after it
 *     mr_ballot(lane, yes)        bit i: what lane i said
 *     mr_scan(lane, n)            the sum of what lanes below this one gave
 *     mr_sum(lane, n)             the sum of what all gave
 *     mr_shuffle(lane, n, from)   what lane `from` gave
 */

enum { MR_LANES = 64, MR_TEAM_LANES = 32 };

/* How many of a ballot's lanes are below this one. */
MR_INLINE uint32_t mr_rank(mr_lane lane, uint32_t ballot)
{
    return mr_count32(ballot & ((1u << lane.id) - 1u));
}

typedef struct mr__lane_turn {
    uint32_t order; /* place in the arena */
    uint32_t item;
} mr__lane_turn;

#define MR_TURN        ((MR_GLOBAL const mr__lane_turn *)(arena + list))[group]
#define MR_ORDER(type) ((MR_GLOBAL const type *)(arena + MR_TURN.order))
#define MR_ITEM        (MR_TURN.item)

/* This sample cannot be done: `status` is the place of its word. The host finds out why. */
#define MR_REFUSE(status) ((void)mr_atomic_or(arena + (status), 1u))

/* Pixels of 8 bits in the arena, one row after the other. */
typedef struct mr__sheet {
    uint32_t at, stride, width, height, channels;
} mr__sheet;

#endif
