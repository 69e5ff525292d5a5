// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash.h"

#include "base/hash.h"

uint64_t mr__hash_by(const uint8_t *bytes, size_t nbytes, mr__cpu_flags cpu)
{
    return (cpu & MR__CPU_AVX2) != 0 ? mr__hash_avx2(bytes, nbytes) : mr__hash(bytes, nbytes);
}
