// SPDX-License-Identifier: Apache-2.0
/* Blocks of a sequential scan into lanes of strips: the body of a kernel, which a file gives its instruction set. */
#ifndef MR_CODEC_JPEG_LANES_READ_KERNELS_H
#define MR_CODEC_JPEG_LANES_READ_KERNELS_H

#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_read.h"
#include "kernel/jpeg_pixels.h"

/* What is kept of a block. */
enum { MR__LANES_ALL, MR__LANES_DC, MR__LANES_NONE };

/* Thin path: block by block through a scratch block. To be replaced. */
MR__BLOCK_INLINE bool mr__read_lanes(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus,
                                     int keep)
{
    mr__bits b = r->bits;
    r->fault = MR__JPEG_BAD_CODE;
    for (uint32_t m = 0; m < mcus; m++) {
        for (uint32_t u = 0; u < unit_count; u++, lanes++) {
            int16_t block[64] = {0};
            int32_t *dc = &r->before[lanes->part];
            if (!mr__block_read_dc(&b, r->dc[lanes->part], dc) ||
                !mr__block_read_ac(&b, r->ac[lanes->part], block, 1)) {
                r->bits = b;
                return false;
            }
            block[0] = (int16_t)*dc;
            for (uint32_t k = 0; k < (keep == MR__LANES_ALL ? 64u : keep == MR__LANES_DC ? 1u : 0u); k++) {
                lanes->block[k * MR__JPEG_STRIP] = block[k];
                if (block[k] != 0 && k > r->last[lanes->strip])
                    r->last[lanes->strip] = (uint8_t)k;
            }
        }
        lanes -= keep == MR__LANES_NONE ? unit_count : 0;
        if (mr__jpeg_reader_is_over(r, &b)) {
            r->fault = MR__JPEG_OVER;
            r->bits = b;
            return false;
        }
    }
    r->bits = b;
    return true;
}

#endif
