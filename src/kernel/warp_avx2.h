// SPDX-License-Identifier: Apache-2.0
/* What the files of warps with AVX2 share. */
#ifndef MR_KERNEL_WARP_AVX2_H
#define MR_KERNEL_WARP_AVX2_H

#if defined(__x86_64__)

#include "kernel/warp.h"

#include <string.h>

enum { MR__WARP_GROUP = 8 }; /* pixels that go together */

/* Kernels that are in files of their own. */
void mr__warp_samples_init_avx2(mr__warp_kernels *kernels);
void mr__warp_seen_init_avx2(mr__warp_kernels *kernels);

/* Whether 32 bits have every place in the part, and rows go on in memory; 16 bytes can be read of any but the last. */
static inline bool mr__warp_is_plain(const mr__warp_view *from)
{
    return from->stride > 0 && from->stride < INT32_MAX / 2 && from->stride * from->height < INT32_MAX / 2;
}

static inline uint32_t mr__warp_load_4(const uint8_t *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, 4);
    return bytes;
}

#endif

#endif
