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

static void write_band(mr__jpeg_writer *w, const int16_t *block)
{
    const mr__jpeg_scan *s = w->scan;
    uint32_t run = 0;
    for (uint32_t k = s->first; k <= s->last; k++) {
        uint32_t magnitude = magnitude_of(block[k], s->low), size = size_of(magnitude);
        if (magnitude == 0) {
            run++;
            continue;
        }
        mr__jpeg_writer_end_run(w);
        for (; run > 15; run -= 16)
            put_ac(w, 15, 0);
        put_ac(w, run, size);
        put_bits(w, block[k] < 0 ? ~magnitude : magnitude, size);
        run = 0;
    }
    w->end_run += run != 0;
    if (w->end_run == RUN_MAX)
        mr__jpeg_writer_end_run(w);
}

/* The last coefficient of the band that becomes one; 0: none. */
static uint32_t find_last_new(const mr__jpeg_scan *s, const int16_t *block)
{
    uint32_t k = s->last;
    while (k >= s->first && magnitude_of(block[k], s->low) != 1)
        k--;
    return k >= s->first ? k : 0;
}

/*
 * Bits that refine are kept until the next symbol, and written behind it: w->keep has those of blocks that have ended,
 * then those of this one.
 */
static void refine_band(mr__jpeg_writer *w, const int16_t *block)
{
    const mr__jpeg_scan *s = w->scan;
    uint32_t run = 0, last_new = find_last_new(s, block), own = 0;
    uint8_t *keep = w->keep + w->kept;
    for (uint32_t k = s->first; k <= s->last; k++) {
        uint32_t magnitude = magnitude_of(block[k], s->low);
        if (magnitude == 0) {
            run++;
            continue;
        }
        bool is_new = magnitude == 1;
        while ((run > 15 && k <= last_new) || is_new) {
            bool is_long = run > 15;
            mr__jpeg_writer_end_run(w);
            put_ac(w, is_long ? 15 : run, is_long ? 0 : 1);
            if (!is_long)
                put_bits(w, block[k] > 0, 1);
            put_kept(w, keep, own);
            keep = w->keep;
            own = 0;
            run = is_long ? run - 16 : 0;
            if (!is_long)
                break;
        }
        if (!is_new)
            keep[own++] = magnitude & 1;
    }
    if (run == 0 && own == 0)
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
