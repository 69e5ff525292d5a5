// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(mr__hasher), "mr__hasher has to hold xxHash's state");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(mr__hasher), "and to be aligned like it");

uint64_t mr__hash(const void *bytes, size_t nbytes)
{
    return XXH3_64bits(bytes, nbytes);
}

uint64_t mr__hash_seeded(const void *bytes, size_t nbytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, nbytes, seed);
}

void mr__hasher_init(mr__hasher *hasher)
{
    XXH3_64bits_reset((void *)hasher->state);
}

void mr__hasher_init_seeded(mr__hasher *hasher, uint64_t seed)
{
    XXH3_64bits_reset_withSeed((void *)hasher->state, seed);
}

void mr__hasher_add(mr__hasher *hasher, const void *bytes, size_t nbytes)
{
    XXH3_64bits_update((void *)hasher->state, bytes, nbytes);
}

uint64_t mr__hasher_value(const mr__hasher *hasher)
{
    return XXH3_64bits_digest((const void *)hasher->state);
}
