// SPDX-License-Identifier: Apache-2.0
/* The kernels for scans: reading, writing and counting sequential ones, and finding what progressive ones write. */
#ifndef MR_CODEC_JPEG_SCAN_KERNELS_H
#define MR_CODEC_JPEG_SCAN_KERNELS_H

#include "codec/jpeg/scan_read.h"
#include "codec/jpeg/scan_write.h"

typedef struct mr__jpeg_scans {
    mr__jpeg_read_mcus *read;
    mr__jpeg_write_mcus *write, *count;
    mr__jpeg_find *find;           /* for progressive scans */
    mr__jpeg_read_lanes *lanes;    /* all coefficients */
    mr__jpeg_read_lanes *lanes_dc; /* the first only */
    mr__jpeg_read_lanes *skip;     /* none: the lane's block is not looked at */
    mr__jpeg_unstuff *unstuff;
} mr__jpeg_scans;

void mr__jpeg_scans_init(mr__jpeg_scans *table, mr__cpu_flags cpu);
void mr__jpeg_scans_init_avx2(mr__jpeg_scans *table, mr__cpu_flags cpu);
void mr__jpeg_scans_init_bmi2(mr__jpeg_scans *table, mr__cpu_flags cpu);

/* What is left of `from` for mr__jpeg_unstuff once less than 32 bytes remain, or wherever. */
size_t mr__jpeg_unstuff_c(const uint8_t *from, size_t nbytes, uint8_t *to, size_t *to_nbytes);
size_t mr__jpeg_unstuff_avx2(const uint8_t *from, size_t nbytes, uint8_t *to, size_t *to_nbytes);

#endif
