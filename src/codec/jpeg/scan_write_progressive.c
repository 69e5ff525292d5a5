// SPDX-License-Identifier: Apache-2.0
/*
 * The four kinds of scan of a progressive image, written or counted. Blocks whose band has ended make a run, which is
 * written when a block has something to say, when it is 32,767 long, and when there are too many bits to keep with it.
 */
#include "codec/jpeg/scan_write.h"

#define INLINE static inline __attribute__((always_inline))

enum { RUN_MAX = 0x7fff };

/* Where `counting` is a constant, so is the choice in all that follows. */
INLINE void put_bits(mr__jpeg_writer *w, uint32_t value, uint32_t n, bool counting)
{
    if (!counting && n != 0)
        mr__sink_put(w->sink, value & (uint32_t)((UINT64_C(1) << n) - 1), n);
}

INLINE void put_code(mr__jpeg_writer *w, uint32_t code)
{
    w->seen |= code;
    if ((code & MR__CODE_NONE) == 0)
        mr__sink_put(w->sink, code >> 8, code & 31);
}

INLINE void put_ac(mr__jpeg_writer *w, uint32_t run, uint32_t size, bool counting)
{
    if (counting)
        w->counts->of[1][w->scan->ac[0]][run << 4 | size]++;
    else
        put_code(w, w->ac[0].code[run << 5 | size]);
}

INLINE uint32_t size_of(uint32_t magnitude)
{
    return magnitude == 0 ? 0 : 32 - (uint32_t)__builtin_clz(magnitude);
}

INLINE uint32_t magnitude_of(int32_t value, uint32_t low)
{
    return (uint32_t)(value < 0 ? -value : value) >> low;
}

/* Bits that refine, the first at the top, until a symbol has been written before them. */
typedef struct own_bits {
    uint64_t bits;
    uint32_t count; /* at most 63 */
} own_bits;

INLINE void put_own(mr__jpeg_writer *w, own_bits *own, bool counting)
{
    put_bits(w, (uint32_t)(own->bits >> 32), own->count < 32 ? 0 : 32, counting);
    uint64_t rest = own->count < 32 ? own->bits : own->bits << 32;
    uint32_t n = own->count % 32;
    put_bits(w, (uint32_t)(rest >> 32 >> (32 - n)), n, counting);
    *own = (own_bits){0, 0};
}

/* Those of a block that has ended wait for the run to be written. */
static void keep_own(mr__jpeg_writer *w, const own_bits *own)
{
    uint32_t word = w->kept / 64, at = w->kept % 64;
    w->keep[word] = (at == 0 ? 0 : w->keep[word]) | own->bits >> at;
    if (at + own->count > 64)
        w->keep[word + 1] = own->bits << (64 - at);
    w->kept += own->count;
}

static void put_kept(mr__jpeg_writer *w)
{
    for (uint32_t i = 0; i < w->kept; i += 32) {
        uint32_t n = w->kept - i < 32 ? w->kept - i : 32, bits = (uint32_t)(w->keep[i / 64] << i % 64 >> 32);
        mr__sink_put(w->sink, bits >> (32 - n), n);
    }
}

INLINE void end_run(mr__jpeg_writer *w, bool counting)
{
    if (w->end_run == 0)
        return;
    uint32_t size = size_of(w->end_run) - 1;
    put_ac(w, size, 0, counting);
    put_bits(w, w->end_run, size, counting);
    if (!counting)
        put_kept(w);
    w->end_run = w->kept = 0;
}

void mr__jpeg_writer_end_run(mr__jpeg_writer *w)
{
    end_run(w, w->sink == NULL);
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
            w->before[u->part] = dc;
            u->block += u->step;
            if (w->sink == NULL) {
                w->counts->of[0][w->scan->dc[u->part]][size]++;
                continue;
            }
            put_code(w, w->dc[u->part].code[size]);
            put_bits(w, (uint32_t)(difference + (difference >> 31)), size, false);
        }
    }
    return 0;
}

static int write_dc_more(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    for (uint32_t m = 0; m < mcus && w->sink != NULL; m++) { // without a sink there are no symbols to count
        int result = mr__jpeg_sink_room(w->sink);
        if (result != 0)
            return result;
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            put_bits(w, (uint32_t)(u->block[0] >> w->scan->low), 1, false);
            u->block += u->step;
        }
    }
    return 0;
}

/* A bit for each coefficient of the scan's band whose magnitude is at least 1 << low. */
INLINE uint64_t find(const mr__jpeg_writer *w, const int16_t *block, uint32_t low)
{
    const mr__jpeg_scan *s = w->scan;
    return w->find(block, low) & (UINT64_MAX << s->first & UINT64_MAX >> (63 - s->last));
}

INLINE void write_band(mr__jpeg_writer *w, const int16_t *block, bool counting)
{
    const mr__jpeg_scan *s = w->scan;
    uint32_t next = s->first;
    for (uint64_t left = find(w, block, s->low); left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left), run = k - next;
        uint32_t magnitude = magnitude_of(block[k], s->low), size = size_of(magnitude);
        end_run(w, counting);
        for (; run > 15; run -= 16)
            put_ac(w, 15, 0, counting);
        put_ac(w, run, size, counting);
        put_bits(w, block[k] < 0 ? ~magnitude : magnitude, size, counting);
        next = k + 1;
    }
    w->end_run += next <= s->last;
    if (w->end_run == RUN_MAX)
        end_run(w, counting);
}

/* Zeros are counted on over coefficients that are refined. */
INLINE void refine_band(mr__jpeg_writer *w, const int16_t *block, bool counting)
{
    const mr__jpeg_scan *s = w->scan;
    uint64_t all = find(w, block, s->low), old = find(w, block, s->low + 1u), new = all & ~old;
    uint32_t run = 0, next = s->first, last_new = new == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(new);
    own_bits own = {0, 0};
    for (; all != 0; all &= all - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(all);
        run += k - next;
        next = k + 1;
        for (; run > 15 && k <= last_new; run -= 16) {
            end_run(w, counting);
            put_ac(w, 15, 0, counting);
            put_own(w, &own, counting);
        }
        if (old >> k & 1) {
            own.bits |= (uint64_t)(magnitude_of(block[k], s->low) & 1) << (63 - own.count++);
            continue;
        }
        end_run(w, counting);
        put_ac(w, run, 1, counting);
        put_bits(w, block[k] > 0, 1, counting);
        put_own(w, &own, counting);
        run = 0;
    }
    if (run == 0 && own.count == 0 && next > s->last)
        return;
    w->end_run++;
    keep_own(w, &own);
    if (w->end_run == RUN_MAX || w->kept > MR__JPEG_KEPT_BITS_MAX - 64 + 1)
        end_run(w, counting);
}

/* AC coefficients: one unit an MCU. */
static int write_ac(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count;
    for (uint32_t m = 0; m < mcus; m++, units->block += units->step) {
        int result = mr__jpeg_sink_room(w->sink);
        if (result != 0)
            return result;
        if (w->scan->high == 0)
            write_band(w, units->block, false);
        else
            refine_band(w, units->block, false);
    }
    return 0;
}

static int count_ac(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count;
    for (uint32_t m = 0; m < mcus; m++, units->block += units->step) {
        if (w->scan->high == 0)
            write_band(w, units->block, true);
        else
            refine_band(w, units->block, true);
    }
    return 0;
}

mr__jpeg_write_mcus *mr__jpeg_write_progressive(const mr__jpeg_scan *scan, bool counting)
{
    if (scan->first != 0)
        return counting ? count_ac : write_ac;
    return scan->high == 0 ? write_dc_first : write_dc_more;
}
