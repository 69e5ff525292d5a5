// SPDX-License-Identifier: Apache-2.0
/*
 * A plain decoder of L3 in the order of doc/format-l3.md: one sample at a time, nothing clever, nothing of src/. What
 * decodes L3 is compared with it.
 */
#ifndef TESTS_SUPPORT_L3_REFERENCE_H
#define TESTS_SUPPORT_L3_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are read from the front. A read beyond the end gives 0 and is remembered. */
typedef struct l3_bytes {
    const uint8_t *at;
    size_t left;
    bool ended;
} l3_bytes;

/* A number of so many bytes (at most 8), little-endian. */
uint64_t l3_bytes_number(l3_bytes *bytes, unsigned nbytes);

/* The next nbytes as bytes of their own. */
l3_bytes l3_bytes_part(l3_bytes *bytes, uint64_t nbytes);

/* A component of DCT mode. */
typedef struct l3_component {
    unsigned h, v, table;
    uint32_t blocks_w, blocks_h;
    int16_t *blocks; /* rows of blocks from the top, 64 coefficients each, in zigzag order */
} l3_component;

/* What a file holds. Samples and blocks are malloc'ed; icc and origin point into the file, NULL where there is none. */
typedef struct l3_reference {
    unsigned mode, channels, depth, orientation;
    uint32_t width, height, tile_width, tile_height;
    uint16_t *samples; /* pixel mode: rows from the top, channels of a pixel side by side */
    unsigned color;    /* DCT mode */
    bool progressive;
    l3_component component[3];
    uint16_t quant[3][64]; /* zigzag order */
    const uint8_t *icc, *origin;
    size_t icc_nbytes, origin_nbytes;
} l3_reference;

/* NULL on success, else why the bytes are refused; then there is nothing to free. */
const char *l3_reference_decode(const uint8_t *bytes, size_t nbytes, l3_reference *to);

void l3_reference_free(l3_reference *reference);

/* For l3_reference.c: */

/* A tile of pixel mode: w x h pixels, rows side by side, as one array. */
const char *l3_reference_tile(l3_bytes tile, unsigned w, unsigned h, unsigned channels, unsigned depth, uint16_t *to);

/* The mode part of DCT mode; makes room for the blocks. */
const char *l3_reference_mode_part(l3_bytes part, l3_reference *to);

/* The tile in that column and row of tiles. */
const char *l3_reference_units(l3_bytes tile, uint32_t column, uint32_t row, const l3_reference *to);

#endif
