// SPDX-License-Identifier: Apache-2.0
/* The four kinds of scan of a progressive image: DC and AC coefficients, their upper bits and then one bit more. */
#include "codec/jpeg/scan_read.h"

static bool give_up(mr__jpeg_reader *r, const mr__bits *b, mr__jpeg_fault fault)
{
    r->bits = *b;
    r->fault = fault;
    return false;
}

static bool fits(int32_t value)
{
    return value >= -INT16_MAX && value <= INT16_MAX;
}

static bool read_dc_first(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            uint32_t length;
            mr__bits_fill(&b);
            uint32_t size = mr__bits_take_symbol(&b, r->dc[u->part], &length);
            if (length == 0)
                return give_up(r, &b, MR__JPEG_BAD_CODE);
            int32_t dc = r->before[u->part] + mr__bits_take_value(&b, size);
            if (!fits(dc) || !fits(dc * (1 << r->scan->low)))
                return give_up(r, &b, MR__JPEG_BAD_RANGE);
            r->before[u->part] = dc;
            u->block[0] = (int16_t)(dc * (1 << r->scan->low));
            u->block += u->step;
        }
        if (mr__jpeg_reader_is_over(r, &b))
            return give_up(r, &b, MR__JPEG_OVER);
    }
    r->bits = b;
    return true;
}

static bool read_dc_more(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            mr__bits_fill(&b);
            // The bit was 0, also in a negative number's two's complement.
            u->block[0] = (int16_t)(u->block[0] + (int32_t)(mr__bits_take(&b, 1) << r->scan->low));
            u->block += u->step;
        }
        if (mr__jpeg_reader_is_over(r, &b))
            return give_up(r, &b, MR__JPEG_OVER);
    }
    r->bits = b;
    return true;
}

/* How many blocks from this one on have ended: 2^n and n bits more. */
static uint32_t take_run(mr__bits *b, uint32_t n)
{
    return (UINT32_C(1) << n) + mr__bits_take(b, n);
}

/* One block of which some of the band is coded; 0, or a fault. */
static mr__jpeg_fault read_band(mr__jpeg_reader *r, mr__bits *b, int16_t *block)
{
    const mr__jpeg_scan *s = r->scan;
    for (uint32_t k = s->first; k <= s->last; k++) {
        uint32_t length;
        mr__bits_fill(b);
        uint32_t symbol = mr__bits_take_symbol(b, r->ac[0], &length), run = symbol >> 4, size = symbol & 15;
        if (length == 0)
            return MR__JPEG_BAD_CODE;
        if (size == 0 && run != 15) {
            r->end_run = take_run(b, run) - 1;
            return 0;
        }
        k += run;
        if (k > s->last)
            return MR__JPEG_STRANGE;
        int32_t value = mr__bits_take_value(b, size) * (1 << s->low);
        if (!fits(value))
            return MR__JPEG_BAD_RANGE;
        block[k] = (int16_t)value;
    }
    return 0;
}

static bool read_ac_first(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus;) {
        if (r->end_run != 0) {
            uint32_t n = r->end_run < mcus - m ? r->end_run : mcus - m;
            r->end_run -= n;
            m += n;
            units->block += (size_t)n * units->step;
            continue;
        }
        mr__jpeg_fault fault = read_band(r, &b, units->block);
        if (fault == 0 && mr__jpeg_reader_is_over(r, &b))
            fault = MR__JPEG_OVER;
        if (fault != 0)
            return give_up(r, &b, fault);
        units->block += units->step;
        m++;
    }
    r->bits = b;
    return true;
}

/* One bit more of a coefficient that is not zero. */
static inline void refine(mr__bits *b, int16_t *coefficient, int32_t one)
{
    if (b->count == 0)
        mr__bits_fill(b);
    if (mr__bits_take(b, 1) != 0)
        *coefficient = (int16_t)(*coefficient + (*coefficient > 0 ? one : -one));
}

/*
 * Passes over `run` zeros from k on and stops at the next one, refining all else; returns where, or behind the band.
 * `nonzero` has a bit for each coefficient that was not zero before the scan.
 */
static uint32_t refine_run(mr__bits *b, int16_t *block, uint64_t nonzero, uint32_t k, uint32_t last, uint32_t run,
                           int32_t one)
{
    while (k <= last) {
        uint64_t ahead = nonzero >> k;
        uint32_t zeros = ahead != 0 ? (uint32_t)__builtin_ctzll(ahead) : 64;
        if (zeros > run)
            return k + run;
        run -= zeros;
        k += zeros;
        if (k <= last)
            refine(b, &block[k++], one);
    }
    return last + 1;
}

static mr__jpeg_fault refine_band(mr__jpeg_reader *r, mr__bits *b, int16_t *block)
{
    const mr__jpeg_scan *s = r->scan;
    int32_t one = 1 << s->low;
    uint32_t k = s->first;
    uint64_t nonzero = r->find(block, 0);
    while (r->end_run == 0 && k <= s->last) {
        uint32_t length;
        mr__bits_fill(b);
        uint32_t symbol = mr__bits_take_symbol(b, r->ac[0], &length), run = symbol >> 4, size = symbol & 15;
        if (length == 0 || size > 1)
            return MR__JPEG_BAD_CODE;
        if (size == 0 && run != 15) {
            r->end_run = take_run(b, run);
            break;
        }
        int32_t value = size == 0 ? 0 : mr__bits_take(b, 1) != 0 ? one : -one;
        k = refine_run(b, block, nonzero, k, s->last, run, one);
        if (k > s->last)
            return MR__JPEG_STRANGE;
        block[k++] = (int16_t)value;
    }
    if (r->end_run != 0) {
        refine_run(b, block, nonzero, k, s->last, 64, one);
        r->end_run--;
    }
    return 0;
}

static bool read_ac_more(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        mr__jpeg_fault fault = refine_band(r, &b, units->block);
        if (fault == 0 && mr__jpeg_reader_is_over(r, &b))
            fault = MR__JPEG_OVER;
        if (fault != 0)
            return give_up(r, &b, fault);
        units->block += units->step;
    }
    r->bits = b;
    return true;
}

mr__jpeg_read_mcus *mr__jpeg_read_progressive(const mr__jpeg_scan *scan)
{
    if (scan->first == 0)
        return scan->high == 0 ? read_dc_first : read_dc_more;
    return scan->high == 0 ? read_ac_first : read_ac_more;
}
