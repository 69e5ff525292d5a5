// SPDX-License-Identifier: Apache-2.0
/* MCUs of a sequential scan: the body of a kernel, which a file gives its instruction set. */
#ifndef MR_CODEC_JPEG_SCAN_READ_KERNELS_H
#define MR_CODEC_JPEG_SCAN_READ_KERNELS_H

#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_read.h"

MR__BLOCK_INLINE bool mr__read_sequential(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    mr__bits b = r->bits;
    uint32_t range = 0;
    for (uint32_t m = 0; m < mcus; m++) {
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            int16_t *block = u->block;
            u->block = block + u->step;
            memset(block, 0, 64 * sizeof *block);
            int32_t *dc = &r->before[u->part];
            uint8_t *last;
            mr__block_ac to = {.first = (uint8_t *)block, .step = sizeof *block, .keeps = true};
            mr__bits_fill(&b);
            int what = MR__BLOCK_BAD;
            if (!mr__block_read_dc(&b, r->dc[u->part], dc) ||
                (what = mr__block_read_ac(&b, r->ac[u->part], &to, &last)) != MR__BLOCK_ENDS) {
                r->fault = what == MR__BLOCK_STRANGE ? MR__JPEG_STRANGE : MR__JPEG_BAD_CODE;
                r->bits = b;
                return false;
            }
            block[0] = (int16_t)*dc;
            range |= (uint32_t)(*dc + 32768);
        }
        if (mr__jpeg_reader_is_over(r, &b) || range > 65535) {
            r->fault = range > 65535 ? MR__JPEG_BAD_RANGE : MR__JPEG_OVER;
            r->bits = b;
            return false;
        }
    }
    r->bits = b;
    return true;
}

#endif
