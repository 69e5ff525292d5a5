// SPDX-License-Identifier: Apache-2.0
/* The CRC instructions of ARMv8.0, an extension there and part of every core since ARMv8.1. */
#if defined(__aarch64__)

#include "base/bytes.h"
#include "cpu/crc32c.h"

#if defined(__clang__)
#define CRC     __attribute__((target("crc")))
#define CRC_U64 __builtin_arm_crc32cd
#define CRC_U8  __builtin_arm_crc32cb
#else
#define CRC     __attribute__((target("+crc")))
#define CRC_U64 __builtin_aarch64_crc32cx
#define CRC_U8  __builtin_aarch64_crc32cb
#endif

CRC static uint32_t crc32c_arm(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
    crc = ~crc;
    for (; nbytes >= 8; nbytes -= 8, bytes += 8)
        crc = CRC_U64(crc, mr__load_le64(bytes));
    for (; nbytes != 0; nbytes--, bytes++)
        crc = CRC_U8(crc, *bytes);
    return ~crc;
}

void mr__crc32c_init_arm(mr__crc32c *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_CRC32C) != 0)
        table->add = crc32c_arm;
}

#else
typedef int mr__no_arm_here; /* ISO C wants a declaration in every file */
#endif
