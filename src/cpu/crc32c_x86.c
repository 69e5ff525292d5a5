// SPDX-License-Identifier: Apache-2.0
/* SSE4.2's crc32: eight bytes every three cycles, which is faster than a file comes out of the page cache. */
#if defined(__x86_64__)

#include "base/bytes.h"
#include "cpu/crc32c.h"

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
    uint64_t wide = ~crc;
    for (; nbytes >= 8; nbytes -= 8, bytes += 8)
        wide = _mm_crc32_u64(wide, mr__load_le64(bytes));
    uint32_t narrow = (uint32_t)wide;
    for (; nbytes != 0; nbytes--, bytes++)
        narrow = _mm_crc32_u8(narrow, *bytes);
    return ~narrow;
}

void mr__crc32c_init_x86(mr__crc32c *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_CRC32C) != 0)
        table->add = crc32c_sse42;
}

#else
typedef int mr__no_sse42_here; /* ISO C wants a declaration in every file */
#endif
