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
    uint32_t part = lane->part;
    int16_t nothing[64]; // to count places by
    mr__block_ac to = {(uint8_t *)lane->block, MR__JPEG_STRIP * 2, true, r->quant[part]};
    if (keep != MR__LANES_ALL)
        to = (mr__block_ac){.first = (uint8_t *)nothing, .step = 2};
    int32_t *dc = &r->before[part];
    uint8_t *last = to.first;
    int what = MR__BLOCK_BAD;
    mr__bits_fill(b);
    if (mr__block_read_dc(b, r->dc[part], dc))
        what = careful ? mr__block_read_careful(b, r->ac[part], &to, &last)
                       : mr__block_read_ac(b, r->ac[part], &to, &last);
    bool fits = keep == MR__LANES_NONE || (uint32_t)*dc + r->dc_least[part] <= r->dc_range[part];
    if (__builtin_expect(what != MR__BLOCK_ENDS || !fits, 0)) {
        r->fault = what == MR__BLOCK_BAD ? MR__JPEG_BAD_CODE : MR__JPEG_STRANGE;
        return false;
    }
    if (keep != MR__LANES_NONE)
        lane->block[0] = (int16_t)*dc;
    uint32_t k = (uint32_t)(last - to.first) / to.step;
    if (keep == MR__LANES_ALL) {
        uint32_t was = r->last[lane->strip];
        r->last[lane->strip] = (uint8_t)(k > was ? k : was);
    }
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
