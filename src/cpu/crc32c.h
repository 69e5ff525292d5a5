// SPDX-License-Identifier: Apache-2.0
/*
 * CRC-32C (Castagnoli; RFC 3720, appendix B.4): the sum that TFRecord files and our own frames carry. A kernel table
 * like the others. It stands here, and not in src/kernel, because src/wire needs it too and may not look in there.
 */
#ifndef MR_CPU_CRC32C_H
#define MR_CPU_CRC32C_H

#include "cpu/cpu.h"

/* The sum of what came before (0: nothing did) and these bytes, which may be none. Reads exactly nbytes. */
typedef uint32_t mr__crc32c_function(uint32_t crc, const uint8_t *bytes, size_t nbytes);

typedef struct mr__crc32c {
    mr__crc32c_function *add;
} mr__crc32c;

void mr__crc32c_init(mr__crc32c *table, mr__cpu_flags cpu);

/* What mr__crc32c_init is made of: the portable kernel, then the processor's over it. */
void mr__crc32c_init_c(mr__crc32c *table);
void mr__crc32c_init_x86(mr__crc32c *table, mr__cpu_flags cpu);
void mr__crc32c_init_arm(mr__crc32c *table, mr__cpu_flags cpu);

#endif
