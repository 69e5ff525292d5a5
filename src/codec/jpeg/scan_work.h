// SPDX-License-Identifier: Apache-2.0
/*
 * How much work the scans of a JPEG may be. A scan that says of all blocks that nothing more comes takes some 15 bits
 * for 32,767 of them, so that 100 scans of a few kB each would keep a processor busy for a long time. The rule, the
 * same whoever decodes: scans may visit
 *
 * - each block of the image as often as an encoder has reason to (a usual progressive file does so 5 times): 12 times,
 *   or limits.scans / 8 times where that is more;
 * - 64 blocks more for each byte of the file: what is coded pays for itself;
 * - 2^22 blocks more, which take no time to speak of.
 *
 * It is applied before each scan is read, with all scans so far.
 */
#ifndef MR_CODEC_JPEG_SCAN_WORK_H
#define MR_CODEC_JPEG_SCAN_WORK_H

#include "codec/codec.h"

typedef struct mr__scan_work {
    uint64_t image;   /* blocks of all components, without padding */
    uint64_t visited; /* by the scans so far */
    uint64_t scans;   /* so far */
} mr__scan_work;

/* One more scan of so many blocks, near byte `at`: 0, or MR_ELIMIT with detail. */
int mr__scan_work_add(mr__call *call, mr__scan_work *work, uint64_t blocks, size_t at);

#endif
