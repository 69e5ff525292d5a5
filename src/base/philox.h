// SPDX-License-Identifier: Apache-2.0
/* One block of Philox (base/rng.h), in what C, OpenCL C and CUDA C have in common. */
#ifndef MR_BASE_PHILOX_H
#define MR_BASE_PHILOX_H

#include <stdint.h>

#define MR__PHILOX_ROUNDS 10

/* What kernel/language.h calls MR_INLINE, which is not known here. */
#if defined(__CUDACC__)
#define MR__PHILOX_INLINE static __device__ __forceinline__
#else
#define MR__PHILOX_INLINE static inline
#endif

/* Multipliers the authors chose by search; the key grows by the golden ratio and by sqrt(3) - 1, as 32-bit fractions.
 */
MR__PHILOX_INLINE void mr__philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int32_t round = 0; round < MR__PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xd2511f53u * c0;
        uint64_t p1 = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

#endif
