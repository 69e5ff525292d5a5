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

/*
 * gcc 12 forgets to clear the upper halves of the registers where xxHash ends by a call of a function of its own; until
 * somebody does, everything that is built for every x86-64 runs at a third of its speed.
 */
static uint64_t leave(uint64_t hash)
{
    _mm256_zeroupper();
    return hash;
}

uint64_t mr__hash_avx2(const void *bytes, size_t nbytes)
{
    return leave(XXH3_64bits(bytes, nbytes));
}

uint64_t mr__hash_seeded_avx2(const void *bytes, size_t nbytes, uint64_t seed)
{
    return leave(XXH3_64bits_withSeed(bytes, nbytes, seed));
}

/* The state is the same for all vectors: base/hash.c makes it, and gives its value. */
void mr__hasher_add_avx2(mr__hasher *hasher, const void *bytes, size_t nbytes)
{
    XXH3_64bits_update((void *)hasher->state, bytes, nbytes);
    leave(0);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
/* Never called: there is no AVX2. */
uint64_t mr__hash_avx2(const void *bytes, size_t nbytes)
{
    return mr__hash(bytes, nbytes);
}

uint64_t mr__hash_seeded_avx2(const void *bytes, size_t nbytes, uint64_t seed)
{
    return mr__hash_seeded(bytes, nbytes, seed);
}

void mr__hasher_add_avx2(mr__hasher *hasher, const void *bytes, size_t nbytes)
{
    mr__hasher_add(hasher, bytes, nbytes);
}
#endif
