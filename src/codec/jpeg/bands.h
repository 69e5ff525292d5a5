// SPDX-License-Identifier: Apache-2.0
/*
 * Scans of a progressive image. Those of AC coefficients have one component and a band of places, first to last; their
 * codes are read by one lookup that gives the symbol, and what of its bits fits in, ready to use.
 */
#ifndef MR_CODEC_JPEG_BANDS_H
#define MR_CODEC_JPEG_BANDS_H

#include "codec/jpeg/scan_read.h"

/* A code's entry. */
enum {
    MR__BAND_LENGTH = 31,     /* bits consumed, its value's among them */
    MR__BAND_END = 1 << 5,    /* the band ends here, and 4 bits from MR__BAND_RUN on say how many bits follow */
    MR__BAND_ESCAPE = 1 << 6, /* not for a lookup: see mr__band_find */
    MR__BAND_NEW = 1 << 7,    /* (refining) a coefficient that was zero */
    MR__BAND_RUN = 8,         /* from here on, 4 bits: zeros before the coefficient */
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
