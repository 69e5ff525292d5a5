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

/* What a file holds. The samples are malloc'ed; icc and origin point into the file, NULL where there is none. */
typedef struct l3_reference {
    unsigned mode, channels, depth, orientation;
    uint32_t width, height, tile_width, tile_height;
    uint16_t *samples; /* pixel mode: rows from the top, channels of a pixel side by side */
    const uint8_t *icc, *origin;
    size_t icc_nbytes, origin_nbytes;
} l3_reference;

/* NULL on success, else why the bytes are refused; then there is nothing to free. */
const char *l3_reference_decode(const uint8_t *bytes, size_t nbytes, l3_reference *to);

/* A tile of pixel mode: w x h pixels, rows side by side, as one array. For l3_reference.c. */
const char *l3_reference_tile(l3_bytes tile, unsigned w, unsigned h, unsigned channels, unsigned depth, uint16_t *to);

#endif
