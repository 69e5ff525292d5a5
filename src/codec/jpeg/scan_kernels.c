// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>

/* Four numbers at a time: the top bit of each tells, and a multiplication gathers them. */
static inline uint64_t find_nonzero(const int16_t *block)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i += 4) {
        uint64_t four;
        memcpy(&four, block + i, sizeof four);
        four |= (four & UINT64_C(0x7fff7fff7fff7fff)) + UINT64_C(0x7fff7fff7fff7fff);
        four = four >> 15 & UINT64_C(0x0001000100010001);
        mask |= (four * UINT64_C(0x0001000200040008) >> 48 & 15) << i;
    }
    return mask;
}

#define WRITE_TARGET
#include "codec/jpeg/scan_read_kernels.h"
#include "codec/jpeg/scan_write_kernels.h"

static bool read_s16_c(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return mr__read_sequential(r, units, unit_count, mcus);
}

static int write_s16_c(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return write_sequential(w, units, unit_count, mcus);
}

static int count_s16_c(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return count_sequential(w, units, unit_count, mcus);
}

void mr__jpeg_scans_init(mr__jpeg_scans *table, mr__cpu_flags cpu)
{
    *table = (mr__jpeg_scans){read_s16_c, write_s16_c, count_s16_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_scans_init_avx2(table, cpu);
    mr__jpeg_scans_init_bmi2(table, cpu);
#endif
}
