// SPDX-License-Identifier: Apache-2.0
/* XXH3-64, from xxHash. */
#ifndef MR_BASE_HASH_H
#define MR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t mr__hash(const void *bytes, size_t nbytes);
uint64_t mr__hash_seeded(const void *bytes, size_t nbytes, uint64_t seed);

/* The same hash of bytes that come in pieces. On the stack; no allocation. */
typedef struct mr__hasher {
    _Alignas(64) unsigned char state[640];
} mr__hasher;

void mr__hasher_init(mr__hasher *hasher);
void mr__hasher_init_seeded(mr__hasher *hasher, uint64_t seed);
void mr__hasher_add(mr__hasher *hasher, const void *bytes, size_t nbytes);
uint64_t mr__hasher_value(const mr__hasher *hasher);

#endif
