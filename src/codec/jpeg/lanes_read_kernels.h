// SPDX-License-Identifier: Apache-2.0
/* Blocks of a sequential scan into lanes of strips: the body of a kernel, which a file gives its instruction set. */
#ifndef MR_CODEC_JPEG_LANES_READ_KERNELS_H
#define MR_CODEC_JPEG_LANES_READ_KERNELS_H

#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_read.h"
#include "kernel/jpeg_pixels.h"

/* What is kept of a block. */
enum { MR__LANES_ALL, MR__LANES_DC, MR__LANES_NONE };

/* One block; false leaves the reason in r->fault. */
MR__BLOCK_INLINE bool mr__read_lane(mr__jpeg_reader *r, mr__bits *b, const mr__jpeg_lane *lane, int keep, bool careful)
{
    uint32_t part = lane->part, last;
    int16_t scratch[64], *block = keep == MR__LANES_ALL ? lane->block : scratch;
    uint32_t step = keep == MR__LANES_ALL ? MR__JPEG_STRIP : 1;
    int32_t *dc = &r->before[part];
    int what = MR__BLOCK_BAD;
    if (mr__block_read_dc(b, r->dc[part], dc))
        what = mr__block_read_ac(b, r->ac[part], block, step, keep == MR__LANES_ALL ? r->quant[part] : NULL, careful,
                                 &last);
    bool fits =
        keep == MR__LANES_NONE || (*dc >= INT16_MIN && *dc <= INT16_MAX && mr__block_fits(*dc, r->quant[part][0]));
    if (__builtin_expect(what != MR__BLOCK_ENDS || !fits, 0)) {
        r->fault = what == MR__BLOCK_BAD ? MR__JPEG_BAD_CODE : MR__JPEG_STRANGE;
        return false;
    }
    if (keep != MR__LANES_NONE)
        lane->block[0] = (int16_t)*dc;
    if (keep == MR__LANES_ALL && last > r->last[lane->strip])
        r->last[lane->strip] = (uint8_t)last;
    return true;
}

MR__BLOCK_INLINE bool mr__read_lanes_as(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count,
                                        uint32_t mcus, int keep, bool careful)
{
    mr__bits b = r->bits;
    bool is_well = true;
    for (uint32_t m = 0; is_well && m < mcus; m++) {
        for (uint32_t u = 0; is_well && u < unit_count; u++)
            is_well = mr__read_lane(r, &b, &lanes[u], keep, careful);
        lanes += keep == MR__LANES_NONE ? 0 : unit_count;
        if (is_well && mr__jpeg_reader_is_over(r, &b)) {
            r->fault = MR__JPEG_OVER;
            is_well = false;
        }
    }
    r->bits = b;
    return is_well;
}

MR__BLOCK_INLINE bool mr__read_lanes(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus,
                                     int keep)
{
    if (keep == MR__LANES_ALL && __builtin_expect(r->careful, 0))
        return mr__read_lanes_as(r, lanes, unit_count, mcus, MR__LANES_ALL, true);
    return mr__read_lanes_as(r, lanes, unit_count, mcus, keep, false);
}

#endif
