// SPDX-License-Identifier: Apache-2.0
/* The parts of a JPEG's origin: see doc/format-l3-origin.md. */
#ifndef MR_CODEC_JPEG_ORIGIN_H
#define MR_CODEC_JPEG_ORIGIN_H

#include "codec/jpeg/scan_write.h"

/* Bytes that are appended to. */
typedef struct mr__origin_bytes {
    mr__call *call;
    mr__buffer buffer;
    size_t nbytes;
} mr__origin_bytes;

int mr__origin_add(mr__origin_bytes *to, const void *bytes, size_t nbytes);
int mr__origin_add_number(mr__origin_bytes *to, uint64_t number);
int mr__origin_add_signed(mr__origin_bytes *to, int32_t number);

/* Bytes that are taken from; false when they are too few or no number. */
typedef struct mr__origin_span {
    const uint8_t *next, *end;
} mr__origin_span;

bool mr__origin_take_number(mr__origin_span *from, uint64_t *number);
bool mr__origin_take_signed(mr__origin_span *from, int32_t *number);

/* The body, deflated with a dictionary that the image itself gives. */
int mr__origin_deflate(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                       const mr__origin_bytes *body, mr__origin_bytes *to);
int mr__origin_inflate(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                       mr__origin_span from, uint8_t *to, size_t to_nbytes);

/* Padding blocks that are not as usual. */
int mr__origin_blocks_make(const mr__jpeg_coefficients *c, const bool coded[MR__JPEG_PLANE_MAX], mr__origin_bytes *to);
int mr__origin_blocks_fill(mr__call *call, mr__jpeg_coefficients *c, mr__origin_span from);

/*
 * The walk stands at a scan, or at the end. Appends the file's bytes from `from` up to walk->at, with tables that are
 * optimal for the scan replaced by their stand-ins.
 */
int mr__origin_text_make(const mr__jpeg_walk *walk, size_t from, mr__jpeg_counts *counts, mr__origin_bytes *text);

/* The other way: makes the tables that stand-ins stand for, and gives the bytes to the sink. */
int mr__origin_text_write(mr__jpeg_walk *walk, size_t from, mr__jpeg_counts *counts, mr__jpeg_sink *sink);

#endif
