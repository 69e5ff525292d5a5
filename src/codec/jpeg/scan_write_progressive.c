// SPDX-License-Identifier: Apache-2.0
/*
 * The four kinds of scan of a progressive image, written or counted. Blocks whose band has ended make a run, which is
 * written when a block has something to say, when it is 32,767 long, and when there are too many bits to keep with it.
 */
#include "codec/jpeg/scan_write.h"

enum { RUN_MAX = 0x7fff };

static void put_bits(mr__jpeg_writer *w, uint32_t value, uint32_t n)
{
    if (w->sink != NULL && n != 0)
        mr__sink_put(w->sink, value & ((UINT32_C(1) << n) - 1), n);
}

static void put_code(mr__jpeg_writer *w, uint32_t code)
{
    w->seen |= code;
    if ((code & MR__CODE_NONE) == 0)
        put_bits(w, code >> 8, code & 31);
}

static void put_ac(mr__jpeg_writer *w, uint32_t run, uint32_t size)
{
    if (w->sink == NULL)
        w->counts->of[1][w->scan->ac[0]][run << 4 | size]++;
    else
        put_code(w, w->ac[0].code[run << 5 | size]);
}

static void put_dc(mr__jpeg_writer *w, uint32_t part, uint32_t size)
{
    if (w->sink == NULL)
        w->counts->of[0][w->scan->dc[part]][size]++;
    else
        put_code(w, w->dc[part].code[size]);
}

static void put_kept(mr__jpeg_writer *w, const uint8_t *bits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_bits(w, bits[i], 1);
}

static uint32_t size_of(uint32_t magnitude)
{
    return magnitude == 0 ? 0 : 32 - (uint32_t)__builtin_clz(magnitude);
}

static uint32_t magnitude_of(int32_t value, uint32_t low)
{
    return (uint32_t)(value < 0 ? -value : value) >> low;
}

void mr__jpeg_writer_end_run(mr__jpeg_writer *w)
{
    if (w->end_run == 0)
        return;
    uint32_t size = size_of(w->end_run) - 1;
    put_ac(w, size, 0);
    put_bits(w, w->end_run, size);
    put_kept(w, w->keep, w->kept);
    w->end_run = w->kept = 0;
}

static int write_dc_first(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    for (uint32_t m = 0; m < mcus; m++) {
        int result = w->sink != NULL ? mr__jpeg_sink_room(w->sink) : 0;
        if (result != 0)
            return result;
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            int32_t dc = u->block[0] >> w->scan->low, difference = dc - w->before[u->part];
            uint32_t size = size_of(magnitude_of(difference, 0));
            put_dc(w, u->part, size);
            put_bits(w, (uint32_t)(difference + (difference >> 31)), size);
            w->before[u->part] = dc;
            u->block += u->step;
        }
    }
    return 0;
}

static int write_dc_more(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    for (uint32_t m = 0; m < mcus; m++) {
        int result = w->sink != NULL ? mr__jpeg_sink_room(w->sink) : 0;
        if (result != 0)
            return result;
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++, u[-1].block += u[-1].step)
            put_bits(w, (uint32_t)(u->block[0] >> w->scan->low), 1);
    }
    return 0;
}

/* A bit for each coefficient of the scan's band whose magnitude is at least 1 << low. */
static uint64_t find(const mr__jpeg_writer *w, const int16_t *block, uint32_t low)
{
    const mr__jpeg_scan *s = w->scan;
    return w->find(block, low) & (UINT64_MAX << s->first & UINT64_MAX >> (63 - s->last));
}

static void write_band(mr__jpeg_writer *w, const int16_t *block)
{
    const mr__jpeg_scan *s = w->scan;
    uint32_t next = s->first;
    for (uint64_t left = find(w, block, s->low); left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left), run = k - next;
        uint32_t magnitude = magnitude_of(block[k], s->low), size = size_of(magnitude);
        mr__jpeg_writer_end_run(w);
        for (; run > 15; run -= 16)
            put_ac(w, 15, 0);
        put_ac(w, run, size);
        put_bits(w, block[k] < 0 ? ~magnitude : magnitude, size);
        next = k + 1;
    }
    w->end_run += next <= s->last;
    if (w->end_run == RUN_MAX)
        mr__jpeg_writer_end_run(w);
}

/* A coefficient that becomes 1 or -1 (size 1), or 16 zeros (size 0); then the bits kept of this block. */
static void put_new(mr__jpeg_writer *w, uint32_t run, uint32_t size, bool positive, const uint8_t *keep, uint32_t own)
{
    mr__jpeg_writer_end_run(w);
    put_ac(w, run, size);
    put_bits(w, positive, size);
    put_kept(w, keep, own);
}

/*
 * Bits that refine are kept until the next symbol, and written behind it: w->keep has those of blocks that have ended,
 * then those of this one. Zeros are counted on over coefficients that are refined.
 */
static void refine_band(mr__jpeg_writer *w, const int16_t *block)
{
    const mr__jpeg_scan *s = w->scan;
    uint64_t all = find(w, block, s->low), old = find(w, block, s->low + 1u), new = all & ~old;
    uint32_t run = 0, own = 0, next = s->first, last_new = new == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(new);
    uint8_t *keep = w->keep + w->kept;
    for (; all != 0; all &= all - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(all);
        run += k - next;
        next = k + 1;
        for (; run > 15 && k <= last_new; run -= 16, own = 0, keep = w->keep)
            put_new(w, 15, 0, false, keep, own);
        if (old >> k & 1) {
            keep[own++] = magnitude_of(block[k], s->low) & 1;
            continue;
        }
        put_new(w, run, 1, block[k] > 0, keep, own);
        keep = w->keep;
        run = own = 0;
    }
    if (run == 0 && own == 0 && next > s->last)
        return;
    w->end_run++;
    w->kept += own;
    if (w->end_run == RUN_MAX || w->kept > MR__JPEG_KEPT_BITS_MAX - 64 + 1)
        mr__jpeg_writer_end_run(w);
}

static int write_ac(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    for (uint32_t m = 0; m < mcus; m++, units->block += units->step) {
        int result = w->sink != NULL ? mr__jpeg_sink_room(w->sink) : 0;
        if (result != 0)
            return result;
        if (w->scan->high == 0)
            write_band(w, units->block);
        else
            refine_band(w, units->block);
    }
    return 0;
}

mr__jpeg_write_mcus *mr__jpeg_write_progressive(const mr__jpeg_scan *scan)
{
    if (scan->first != 0)
        return write_ac;
    return scan->high == 0 ? write_dc_first : write_dc_more;
}
