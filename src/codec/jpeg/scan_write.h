// SPDX-License-Identifier: Apache-2.0
/*
 * Writing the entropy-coded data of one scan, or counting its symbols, in the way of libjpeg: the only one there is for
 * a sequential scan of coefficients, and the one that everybody uses where a progressive scan leaves a choice.
 */
#ifndef MR_CODEC_JPEG_SCAN_WRITE_H
#define MR_CODEC_JPEG_SCAN_WRITE_H

#include "codec/jpeg/scan.h"
#include "codec/jpeg/sink.h"

/* Of symbols, by class and number of their table; the last is for mr__huffman_optimal. */
typedef struct mr__jpeg_counts {
    uint32_t of[2][4][MR__HUFFMAN_COUNT_MAX + 1];
} mr__jpeg_counts;

typedef struct mr__jpeg_writer mr__jpeg_writer;

/* MCUs that lie side by side, whose units move along. There is a check of the sink's room in it. */
typedef int mr__jpeg_write_mcus(mr__jpeg_writer *writer, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus);

/* libjpeg writes what it has kept when there may not be room for the next block's bits. */
enum { MR__JPEG_KEPT_BITS_MAX = 1000 };

struct mr__jpeg_writer {
    const mr__jpeg_scan *scan;
    const mr__jpeg_coefficients *frame;
    mr__jpeg_write_mcus *write;
    mr__jpeg_find *find;
    mr__jpeg_sink *sink;                                               /* NULL: */
    mr__jpeg_counts *counts;                                           /* count instead */
    mr__huffman_writer dc[MR__JPEG_PLANE_MAX], ac[MR__JPEG_PLANE_MAX]; /* by the scan's components */
    int32_t before[MR__JPEG_PLANE_MAX];
    uint32_t seen;    /* all codes used, or-ed: MR__CODE_NONE among them is a coefficient without one */
    uint32_t end_run; /* progressive: blocks whose band has ended, not written yet, */
    uint32_t kept;    /* and bits that refine coefficients in them */
    uint64_t keep[MR__JPEG_KEPT_BITS_MAX / 64 + 2]; /* the first at the top */
};

/* How the scan's kind of data is written or counted; scan_kernels.h has the same for a sequential one. */
mr__jpeg_write_mcus *mr__jpeg_write_progressive(const mr__jpeg_scan *scan, bool counting);

/* Writes a run of ended blocks that is pending. */
void mr__jpeg_writer_end_run(mr__jpeg_writer *writer);

/* The scan at which the walk stands, with its tables, from its frame's blocks. */
int mr__jpeg_scan_write(const mr__jpeg_walk *walk, mr__jpeg_sink *sink);

/* Counts the symbols of that scan; the counts need not be cleared. */
int mr__jpeg_scan_count(const mr__jpeg_walk *walk, mr__jpeg_counts *counts);

#endif
