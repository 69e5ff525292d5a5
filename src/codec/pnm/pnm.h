// SPDX-License-Identifier: Apache-2.0
/*
 * Netpbm's formats: PBM, PGM, PPM in text (P1 to P3) and binary (P4 to P6), and PAM (P7).
 *
 * What we hold where Netpbm's documents leave room, or differ from its library, which most writers were tried against:
 * - A comment counts as the line end that ends it, so it separates numbers, and can stand where the one white space
 *   before the pixels stands. It is allowed among the pixels of the text formats too.
 * - A maxval below 256 gives 8 bits, round(v * 255 / maxval); a greater one 16 bits, round(v * 65535 / maxval), both
 *   with halves up: Netpbm's own rule for changing the maxval. A sample above the maxval is an error.
 * - Samples are taken as they are: Netpbm's idea of their gamma is left alone, as by everyone else.
 * - In PBM 1 is black and becomes 0; in a PAM of type BLACKANDWHITE 1 is white.
 * - A PAM without TUPLTYPE is read by its depth: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
 * - The last number of P2 and P3 needs white space after it, as each other does: where the data ends with a digit, more
 *   of them may have been cut off. Netpbm's own programs refuse it too; accept_damaged takes it, with a warning. In P1
 *   a digit is a sample, so that nothing need follow it.
 * - Bytes after the image (a second one may follow) are a warning; white space after a text format is not.
 */
#ifndef MR_CODEC_PNM_PNM_H
#define MR_CODEC_PNM_PNM_H

#include "codec/codec.h"

typedef struct mr__pnm_header {
    uint32_t width;
    uint32_t height;
    uint32_t channels;
    uint32_t maxval; /* 1 to 65535; 1 for bits */
    bool text;       /* P1 to P3 */
    bool bits;       /* P1 and P4: 1 is black, and P4 packs eight to a byte */
    size_t raster;   /* where the pixels begin */
} mr__pnm_header;

/* Where we are in the bytes. */
typedef struct mr__pnm_cursor {
    const uint8_t *bytes;
    size_t nbytes;
    size_t at;
    bool cut; /* the last number was ended by the end of the data: more of it may be missing */
} mr__pnm_cursor;

bool mr__pnm_is_space(int c);

/* The next byte, a comment read as its line end; -1 at the end of the data. */
int mr__pnm_next(mr__pnm_cursor *cursor);

/* Of numbers: nothing found but the end; something else than a digit; more than 32 bits. `at` is the byte meant. */
typedef enum mr__pnm_found { MR__PNM_NUMBER, MR__PNM_END, MR__PNM_JUNK, MR__PNM_HUGE } mr__pnm_found;

/* Reads white space, a number, and the one white space (or the end) after it. *at is the number's first byte. */
mr__pnm_found mr__pnm_number(mr__pnm_cursor *cursor, uint32_t *number, size_t *at);

/* Parses the header; failures are told. */
int mr__pnm_parse(mr__call *call, mr__pnm_header *header);

static inline uint32_t mr__pnm_depth(const mr__pnm_header *header)
{
    return header->maxval < 256 ? 8 : 16;
}

/* The codec's holds and decode. */
int mr__pnm_holds(mr__call *call, const mr_info *info);
int mr__pnm_decode(mr__call *call, const mr__request *request, const mr_image *to);

#endif
