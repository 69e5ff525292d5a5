// SPDX-License-Identifier: Apache-2.0
/* BMI2 shifts by any register. */
#if defined(__x86_64__)

#include "codec/jpeg/lanes_read_kernels.h"
#include "codec/jpeg/scan_kernels.h"
#include "codec/jpeg/scan_read_kernels.h"

__attribute__((target("bmi,bmi2"))) static bool read_s16_bmi2(mr__jpeg_reader *r, mr__jpeg_unit *units,
                                                              uint32_t unit_count, uint32_t mcus)
{
    return mr__read_sequential(r, units, unit_count, mcus);
}

__attribute__((target("bmi,bmi2"))) static bool lanes_s16_bmi2(mr__jpeg_reader *r, const mr__jpeg_lane *lanes,
                                                               uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_ALL);
}

__attribute__((target("bmi,bmi2"))) static bool lanes_dc_s16_bmi2(mr__jpeg_reader *r, const mr__jpeg_lane *lanes,
                                                                  uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_DC);
}

__attribute__((target("bmi,bmi2"))) static bool skip_s16_bmi2(mr__jpeg_reader *r, const mr__jpeg_lane *lanes,
                                                              uint32_t unit_count, uint32_t mcus)
{
    return mr__read_lanes(r, lanes, unit_count, mcus, MR__LANES_NONE);
}

void mr__jpeg_scans_init_bmi2(mr__jpeg_scans *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_BMI2) == 0)
        return;
    table->read = read_s16_bmi2;
    table->lanes = lanes_s16_bmi2;
    table->lanes_dc = lanes_dc_s16_bmi2;
    table->skip = skip_s16_bmi2;
}

#endif
