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

size_t mr__jpeg_unstuff_c(const uint8_t *from, size_t nbytes, uint8_t *to, size_t *to_nbytes)
{
    const uint8_t *p = from, *end = from + nbytes;
    uint8_t *q = to;
    for (;;) {
        const uint8_t *ff = p < end ? memchr(p, 0xff, (size_t)(end - p)) : NULL;
        size_t plain = (size_t)((ff != NULL ? ff : end) - p);
        memcpy(q, p, plain);
        q += plain;
        p += plain;
        if (end - p < 2 || p[1] != 0)
            break;
        *q++ = 0xff;
        p += 2;
    }
    *to_nbytes = (size_t)(q - to);
    return (size_t)(p - from);
}

void mr__jpeg_scans_init(mr__jpeg_scans *table, mr__cpu_flags cpu)
{
    *table = (mr__jpeg_scans){read_s16_c,  write_s16_c,    count_s16_c, find_s16_c,
                              lanes_s16_c, lanes_dc_s16_c, skip_s16_c,  mr__jpeg_unstuff_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_scans_init_avx2(table, cpu);
    mr__jpeg_scans_init_bmi2(table, cpu);
#endif
}
