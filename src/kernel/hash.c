// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash.h"

uint64_t mr__hash_by(const void *bytes, size_t nbytes, mr__cpu_flags cpu)
{
    return (cpu & MR__CPU_AVX2) != 0 ? mr__hash_avx2(bytes, nbytes) : mr__hash(bytes, nbytes);
}

uint64_t mr__hash_seeded_by(const void *bytes, size_t nbytes, uint64_t seed, mr__cpu_flags cpu)
{
    return (cpu & MR__CPU_AVX2) != 0 ? mr__hash_seeded_avx2(bytes, nbytes, seed) : mr__hash_seeded(bytes, nbytes, seed);
}

void mr__hasher_add_by(mr__hasher *hasher, const void *bytes, size_t nbytes, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        mr__hasher_add_avx2(hasher, bytes, nbytes);
    else
        mr__hasher_add(hasher, bytes, nbytes);
}
