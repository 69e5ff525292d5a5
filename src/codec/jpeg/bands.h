// SPDX-License-Identifier: Apache-2.0
/*
 * Scans of a progressive image. Those of AC coefficients have one component and a band of places, first to last; their
 * codes are read by one lookup that gives the symbol, and what of its bits fits in, ready to use.
 */
#ifndef MR_CODEC_JPEG_BANDS_H
#define MR_CODEC_JPEG_BANDS_H

#include "codec/jpeg/scan_read.h"

/*
 * A code's entry has two numbers of 6 bits, flags and a value. The numbers are the bits consumed, those of the value
 * among them, and the places it goes on: run + 1, or where the band ends the bits that follow. What the next step waits
 * for is the low one: the bits in the first scan of a band, the places where it is refined.
 */
enum {
    MR__BAND_LOW = 63,
    MR__BAND_HIGH = 8,        /* the other number's lowest bit */
    MR__BAND_END = 1 << 6,    /* the band ends here */
    MR__BAND_ESCAPE = 1 << 7, /* not for a lookup: see mr__band_find */
    MR__BAND_NEW = 1 << 14,   /* (refining) a coefficient that was zero */
    MR__BAND_VALUE = 16       /* from here on, signed: the coefficient; refining, -1 or 0: whether it is negative */
};

/* Fills the lookup for a scan. */
void mr__band_codes_init(uint32_t codes[1 << MR__BAND_BITS], const mr__huffman *table, const mr__jpeg_scan *scan);

/*
 * The entry of any code at the top of `bits`, of which 48 must be there. It is 0 when there is no such code, and an
 * escape when its value is too large.
 */
uint32_t mr__band_find(const mr__jpeg_reader *reader, uint64_t bits);

/* The readers of AC scans, by instruction set. */
typedef struct mr__jpeg_bands {
    mr__jpeg_read_mcus *first, *more;
} mr__jpeg_bands;

void mr__jpeg_bands_init(mr__jpeg_bands *table, mr__cpu_flags cpu);
void mr__jpeg_bands_init_avx2(mr__jpeg_bands *table, mr__cpu_flags cpu);

#endif
