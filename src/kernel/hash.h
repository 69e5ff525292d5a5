// SPDX-License-Identifier: Apache-2.0
/* XXH3-64 as mr__hash gives it (base/hash.h), with the processor's vectors: for what is hashed with each decode. */
#ifndef MR_KERNEL_HASH_H
#define MR_KERNEL_HASH_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

uint64_t mr__hash_by(const uint8_t *bytes, size_t nbytes, mr__cpu_flags cpu);

/* For mr__hash_by alone. */
uint64_t mr__hash_avx2(const uint8_t *bytes, size_t nbytes);

#endif
