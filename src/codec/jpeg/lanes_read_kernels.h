// SPDX-License-Identifier: Apache-2.0
/* Blocks of a sequential scan into lanes of strips: the body of a kernel, which a file gives its instruction set. */
#ifndef MR_CODEC_JPEG_LANES_READ_KERNELS_H
#define MR_CODEC_JPEG_LANES_READ_KERNELS_H

#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_read.h"
#include "kernel/jpeg_pixels.h"

/* What is kept of a block. */
enum { MR__LANES_ALL, MR__LANES_DC, MR__LANES_NONE };

/*
 * One block; what mr__block_read_ac says. All that does not need the last symbol is done before the first is read:
 * behind the end of a block, which no processor guesses, the next block's DC should come at once. So a DC that does not
 * fit is only noted, in *strange.
 */
MR__BLOCK_INLINE int mr__read_lane(mr__jpeg_reader *r, mr__bits *b, const mr__jpeg_lane *lane, int keep, bool careful,
                                   uint32_t *strange)
{
    uint32_t part = lane->part;
    int16_t nothing[64]; // to count places by
    mr__block_ac to = {(uint8_t *)lane->block, MR__JPEG_STRIP * 2, true, r->quant[part]};
    if (keep != MR__LANES_ALL)
        to = (mr__block_ac){.first = (uint8_t *)nothing, .step = 2};
    mr__bits_fill(b);
    int32_t dc = r->before[part];
    if (__builtin_expect(!mr__block_read_dc(b, r->dc[part], &dc), 0))
        return MR__BLOCK_BAD;
    r->before[part] = dc;
    if (keep != MR__LANES_NONE) {
        lane->block[0] = (int16_t)dc;
        *strange |= (uint32_t)dc + r->dc_least[part] > r->dc_range[part];
    }
    uint8_t *last;
    int what =
        careful ? mr__block_read_careful(b, r->ac[part], &to, &last) : mr__block_read_ac(b, r->ac[part], &to, &last);
    uint32_t k = (uint32_t)(last - to.first) / to.step;
    if (keep == MR__LANES_ALL && k > r->last[lane->strip])
        r->last[lane->strip] = (uint8_t)k;
    return what;
}

MR__BLOCK_INLINE bool mr__read_lanes_as(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count,
                                        uint32_t mcus, int keep, bool careful)
{
    mr__bits b = r->bits;
    uint32_t strange = 0;
    int what = MR__BLOCK_ENDS;
    for (uint32_t m = 0; m < mcus; m++) {
        for (const mr__jpeg_lane *lane = lanes; lane < lanes + unit_count; lane++) {
            what = mr__read_lane(r, &b, lane, keep, careful, &strange);
            if (__builtin_expect(what != MR__BLOCK_ENDS, 0))
                goto stop;
        }
        lanes += keep == MR__LANES_NONE ? 0 : unit_count;
        if (__builtin_expect(strange != 0 || mr__jpeg_reader_is_over(r, &b), 0))
            goto stop;
    }
    r->bits = b;
    return true;
stop:
    r->bits = b;
    r->fault = strange != 0 || what == MR__BLOCK_STRANGE ? MR__JPEG_STRANGE
               : what == MR__BLOCK_BAD                   ? MR__JPEG_BAD_CODE
                                                         : MR__JPEG_OVER;
    return false;
}

MR__BLOCK_INLINE bool mr__read_lanes(mr__jpeg_reader *r, const mr__jpeg_lane *lanes, uint32_t unit_count, uint32_t mcus,
                                     int keep)
{
    if (keep == MR__LANES_ALL && __builtin_expect(r->careful, 0))
        return mr__read_lanes_as(r, lanes, unit_count, mcus, MR__LANES_ALL, true);
    return mr__read_lanes_as(r, lanes, unit_count, mcus, keep, false);
}

#endif
