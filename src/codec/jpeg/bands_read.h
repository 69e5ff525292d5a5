// SPDX-License-Identifier: Apache-2.0
/*
 * Scans of AC coefficients: the bodies of kernels, which a file gives its instruction set. It can have some things
 * before it includes this:
 *
 *     BAND_TARGET                 an attribute
 *     BAND_HAS_BLOCKS             and its own look_at and change
 *     BAND_DEPOSIT(bits, places)  the lowest bits, each to one of many places
 *
 * In sets of places, place p is bit 63 - p: then bits come in the order in which a file has them.
 */
#ifndef MR_CODEC_JPEG_BANDS_READ_H
#define MR_CODEC_JPEG_BANDS_READ_H

#include "codec/jpeg/bands.h"

#include <string.h>

#ifndef BAND_TARGET
#define BAND_TARGET
#endif
#define BAND_INLINE BAND_TARGET static inline __attribute__((always_inline))

#ifndef BAND_HAS_BLOCKS
/* Which coefficients are not zero, and which are negative. */
BAND_INLINE void look_at(const int16_t *block, uint64_t *nonzero, uint64_t *negative)
{
    *nonzero = *negative = 0;
    for (uint32_t i = 0; i < 64; i += 4) {
        uint64_t four; // most of which are zero
        memcpy(&four, block + i, sizeof four);
        for (uint32_t k = i; four != 0 && k < i + 4; k++) {
            *nonzero |= (uint64_t)(block[k] != 0) << (63 - k);
            *negative |= (uint64_t)(block[k] < 0) << (63 - k);
        }
    }
}

/* Adds one to some, or subtracts it. */
BAND_INLINE void change(int16_t *block, uint64_t which, uint64_t minus, int16_t one)
{
    for (; which != 0; which &= which - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(which);
        block[63 - bit] = (int16_t)(block[63 - bit] + ((minus >> bit & 1) != 0 ? -one : one));
    }
}
#endif

#ifndef BAND_DEPOSIT
#define BAND_DEPOSIT(bits, places) ((bits) & (places)) // which is not called
#endif

/* The n-th of the places that are left, from the top; it has `below` behind it. */
BAND_INLINE uint64_t select_place(bool deposits, uint64_t places, uint64_t left, uint32_t n, uint32_t below)
{
    if (deposits)
        return BAND_DEPOSIT(UINT64_C(1) << below, places);
    for (places &= left; n > 1; n--)
        places &= UINT64_MAX >> 1 >> __builtin_clzll(places);
    return UINT64_C(1) << (63 - __builtin_clzll(places));
}

/* The lowest bits, each to one of many places. */
BAND_INLINE uint64_t spread(bool deposits, uint64_t bits, uint64_t places)
{
    if (deposits)
        return BAND_DEPOSIT(bits, places);
    uint64_t to = 0;
    for (; bits != 0; places &= places - 1, bits >>= 1)
        to |= (places & -places) & -(bits & 1);
    return to;
}

/* How many blocks from this one on have ended: 2^n and n bits more. */
BAND_INLINE uint32_t take_run(mr__bits *b, uint32_t n)
{
    return (UINT32_C(1) << n) + mr__bits_take(b, n);
}

BAND_INLINE bool stop(mr__jpeg_reader *r, const mr__bits *b, mr__jpeg_fault fault)
{
    r->bits = *b;
    r->fault = fault;
    return false;
}

/* One block of which some of the band is coded; 0, or a fault. */
BAND_INLINE mr__jpeg_fault read_band(mr__jpeg_reader *r, mr__bits *b, int16_t *block)
{
    uint32_t k = r->scan->first - 1u, last = r->scan->last;
    for (;;) {
        mr__bits_fill(b);
        // Four lookups and the bits of a run take 54 bits at most.
        for (int i = 0; i < 4; i++) {
            uint32_t code = r->codes[b->bits >> (64 - MR__BAND_BITS)];
            if (__builtin_expect((code & MR__BAND_ESCAPE) != 0, 0)) {
                mr__bits_fill(b);
                code = mr__band_find(r, b->bits);
                if (code == 0 || (code & MR__BAND_ESCAPE) != 0)
                    return code == 0 ? MR__JPEG_BAD_CODE : MR__JPEG_STRANGE;
                i = 4;
            }
            mr__bits_drop(b, code & MR__BAND_LOW);
            if ((code & MR__BAND_END) != 0) {
                r->end_run = take_run(b, code >> MR__BAND_HIGH & MR__BAND_LOW) - 1;
                return 0;
            }
            k += code >> MR__BAND_HIGH & MR__BAND_LOW;
            if (__builtin_expect(k > last, 0))
                return MR__JPEG_STRANGE;
            block[k] = (int16_t)(code >> MR__BAND_VALUE);
            if (k == last)
                return 0;
        }
    }
}

BAND_INLINE bool read_bands(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t mcus)
{
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        if (r->end_run != 0) {
            uint32_t n = r->end_run < mcus - m ? r->end_run : mcus - m;
            r->end_run -= n;
            m += n - 1;
            continue;
        }
        mr__jpeg_fault fault = read_band(r, &b, units->block + (size_t)m * units->step);
        if (fault == 0 && mr__jpeg_reader_is_over(r, &b))
            fault = MR__JPEG_OVER;
        if (fault != 0)
            return stop(r, &b, fault);
    }
    r->bits = b;
    return true;
}

/* A block that is being refined. */
typedef struct band {
    uint64_t zeros, nonzero, negative; /* before the scan */
    uint32_t zero_count, more_count;   /* zeros and others that are still to come */
    uint64_t added, minus;             /* of the coefficients that become something: all, and those below zero */
    uint64_t more;                     /* a bit for each coefficient that was not zero, the last one lowest */
} band;

/* A bit for each of the next n coefficients that were not zero. Afterwards there are 32 bits or more. */
BAND_INLINE void take_more(mr__bits *b, band *d, uint32_t n)
{
    mr__bits_fill(b);
    d->more_count -= n;
    while (__builtin_expect(n > 24, 0)) {
        d->more = d->more << 24 | mr__bits_take(b, 24);
        n -= 24;
        mr__bits_fill(b);
    }
    d->more = d->more << n | b->bits >> 1 >> (63 - n);
    mr__bits_drop(b, n);
}

/* The codes of a block, up to its last place or the end of its band. */
BAND_INLINE mr__jpeg_fault refine_codes(mr__jpeg_reader *r, mr__bits *b, band *d, uint64_t last, bool deposits)
{
    uint64_t here = 0;
    mr__bits_fill(b);
    do {
        uint32_t code = r->codes[b->bits >> (64 - MR__BAND_BITS)];
        if (__builtin_expect((code & MR__BAND_ESCAPE) != 0, 0)) {
            code = mr__band_find(r, b->bits);
            if (code == 0)
                return MR__JPEG_BAD_CODE;
        }
        mr__bits_drop(b, code >> MR__BAND_HIGH & MR__BAND_LOW);
        if ((code & MR__BAND_END) != 0) {
            r->end_run = take_run(b, code & MR__BAND_LOW);
            return 0;
        }
        uint32_t places = code & MR__BAND_LOW;
        if (__builtin_expect(places > d->zero_count, 0))
            return MR__JPEG_STRANGE;
        here = select_place(deposits, d->zeros, here - 1, places, (d->zero_count - code) & MR__BAND_LOW);
        d->zero_count -= places;
        d->added |= (code & MR__BAND_NEW) != 0 ? here : 0;
        d->minus |= here & (uint64_t)((int64_t)(int32_t)code >> MR__BAND_VALUE);
        take_more(b, d, d->more_count - (uint32_t)__builtin_popcountll(d->nonzero & (here - 1)));
    } while (here != last);
    return 0;
}

BAND_INLINE mr__jpeg_fault refine_band(mr__jpeg_reader *r, mr__bits *b, int16_t *block, uint64_t places, bool deposits)
{
    band d = {0};
    look_at(block, &d.nonzero, &d.negative);
    d.zeros = ~d.nonzero & places;
    d.nonzero &= places;
    d.zero_count = (uint32_t)__builtin_popcountll(d.zeros);
    d.more_count = (uint32_t)__builtin_popcountll(d.nonzero);
    if (r->end_run == 0) {
        mr__jpeg_fault fault = refine_codes(r, b, &d, places & -places, deposits);
        if (fault != 0)
            return fault;
    }
    if (r->end_run != 0) {
        take_more(b, &d, d.more_count);
        r->end_run--;
    }
    uint64_t grown = spread(deposits, d.more, d.nonzero);
    if ((d.added | grown) != 0)
        change(block, d.added | grown, d.minus | (d.negative & grown), (int16_t)(1 << r->scan->low));
    return 0;
}

BAND_INLINE bool refine_bands(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t mcus, bool deposits)
{
    mr__bits b = r->bits;
    uint64_t places = UINT64_MAX >> r->scan->first & UINT64_MAX << (63 - r->scan->last);
    for (uint32_t m = 0; m < mcus; m++) {
        mr__jpeg_fault fault = refine_band(r, &b, units->block + (size_t)m * units->step, places, deposits);
        if (fault == 0 && mr__jpeg_reader_is_over(r, &b))
            fault = MR__JPEG_OVER;
        if (fault != 0)
            return stop(r, &b, fault);
    }
    r->bits = b;
    return true;
}

#endif
