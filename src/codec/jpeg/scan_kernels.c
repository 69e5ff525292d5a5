// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/lanes_read_kernels.h"
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

static uint64_t find_s16_c(const int16_t *block, uint32_t low)
{
    uint64_t mask = 0;
    if (low == 0)
        return find_nonzero(block);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t magnitude = (uint32_t)(block[i] < 0 ? -block[i] : block[i]);
        mask |= (uint64_t)(magnitude >> low != 0) << i;
    }
    return mask;
}

static bool lanes_s16_c(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_ALL);
}

static bool lanes_dc_s16_c(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_DC);
}

static bool skip_s16_c(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_NONE);
}

void mr__jpeg_scans_init(mr__jpeg_scans *table, mr__cpu_flags cpu)
{
    *table =
        (mr__jpeg_scans){read_s16_c, write_s16_c, count_s16_c, find_s16_c, lanes_s16_c, lanes_dc_s16_c, skip_s16_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_scans_init_avx2(table, cpu);
    mr__jpeg_scans_init_bmi2(table, cpu);
#endif
}
