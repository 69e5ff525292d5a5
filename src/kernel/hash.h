// SPDX-License-Identifier: Apache-2.0
/* XXH3-64 as base/hash.h gives it, with the processor's vectors: for what is hashed by the megabyte. */
#ifndef MR_KERNEL_HASH_H
#define MR_KERNEL_HASH_H

#include "base/hash.h"
#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

uint64_t mr__hash_by(const void *bytes, size_t nbytes, mr__cpu_flags cpu);
uint64_t mr__hash_seeded_by(const void *bytes, size_t nbytes, uint64_t seed, mr__cpu_flags cpu);

/* One hasher may be given bytes by this and by mr__hasher_add in turn. */
void mr__hasher_add_by(mr__hasher *hasher, const void *bytes, size_t nbytes, mr__cpu_flags cpu);

/* For those above alone. */
uint64_t mr__hash_avx2(const void *bytes, size_t nbytes);
uint64_t mr__hash_seeded_avx2(const void *bytes, size_t nbytes, uint64_t seed);
void mr__hasher_add_avx2(mr__hasher *hasher, const void *bytes, size_t nbytes);

#endif
