// SPDX-License-Identifier: Apache-2.0
#define SHIM_OTHER_LANGUAGE
#include "lane_shim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUDA C for a compiler of C: its words, of lane_shim.h. All lanes of a warp take part (the mask). */
typedef struct place {
    uint32_t x;
} place;

#define __CUDACC__
#define __device__
#define __forceinline__                 inline
#define threadIdx                       ((place){shim_id()})
#define blockIdx                        ((place){shim_group()})
#define __popc(n)                       __builtin_popcount(n)
#define __popcll(n)                     __builtin_popcountll(n)
#define atomicOr(at, n)                 __atomic_fetch_or(at, n, __ATOMIC_RELAXED)
#define atomicAdd(at, n)                __atomic_fetch_add(at, n, __ATOMIC_RELAXED)
#define __syncwarp()                    shim_barrier()
#define __ballot_sync(mask, yes)        shim_sum((yes) ? 1u << shim_id() : 0u)
#define __shfl_sync(mask, n, from)      shim_shuffle(n, (unsigned)(from))
#define __shfl_up_sync(mask, n, step)   shim_shuffle(n, shim_id() >= (step) ? shim_id() - (step) : shim_id())
#define __shfl_xor_sync(mask, n, other) shim_shuffle(n, shim_id() ^ (other))

#include "kernel/lane/lane.h"

#undef MR_ALLOT
#undef MR_KERNEL
#define MR_ALLOT(T, v, n) T *v = shim_allot(sizeof(T) * (n))
#define MR_KERNEL(name)   static void mr_##name(uint8_t *arena, uint8_t *out, uint32_t list, unsigned *none)

#include "lane_words.h"

shim_kernel *const shim_cuda[] = SHIM_KERNELS;
