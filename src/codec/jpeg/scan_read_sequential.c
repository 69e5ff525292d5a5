// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/scan_read_kernels.h"

static bool sequential_s16_c(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return mr__read_sequential(r, units, unit_count, mcus);
}

mr__jpeg_read_mcus *mr__jpeg_read_sequential(mr__cpu_flags cpu)
{
    (void)cpu;
    return sequential_s16_c;
}
