// SPDX-License-Identifier: Apache-2.0
/* The kernels for scans: reading, writing and counting sequential ones, and finding what progressive ones write. */
#ifndef MR_CODEC_JPEG_SCAN_KERNELS_H
#define MR_CODEC_JPEG_SCAN_KERNELS_H

#include "codec/jpeg/scan_read.h"
#include "codec/jpeg/scan_write.h"

typedef struct mr__jpeg_scans {
    mr__jpeg_read_mcus *read;
    mr__jpeg_write_mcus *write, *count;
    mr__jpeg_find *find; /* for progressive scans */
    mr__jpeg_read_lanes *lanes, *lanes_dc,
        *skip; /* all coefficients; the first only; none: the block is not looked at */
} mr__jpeg_scans;

void mr__jpeg_scans_init(mr__jpeg_scans *table, mr__cpu_flags cpu);
void mr__jpeg_scans_init_avx2(mr__jpeg_scans *table, mr__cpu_flags cpu);
void mr__jpeg_scans_init_bmi2(mr__jpeg_scans *table, mr__cpu_flags cpu);

#endif
