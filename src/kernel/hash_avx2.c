// SPDX-License-Identifier: Apache-2.0
/*
 * XXH3 with vectors of 32 bytes, two and a half times as fast as what every x86-64 can do: a fast decoder would
 * otherwise spend a seventh of its time here.
 */
#include "kernel/hash.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define XXH_INLINE_ALL
#define XXH_VECTOR 2 /* its AVX2 */
#include <xxhash.h>

uint64_t mr__hash_avx2(const uint8_t *bytes, size_t nbytes)
{
    return XXH3_64bits(bytes, nbytes);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
uint64_t mr__hash_avx2(const uint8_t *bytes, size_t nbytes)
{
    (void)bytes;
    (void)nbytes;
    return 0; /* never called: there is no AVX2 */
}
#endif
