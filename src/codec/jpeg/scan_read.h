// SPDX-License-Identifier: Apache-2.0
/* Reading the entropy-coded data of one scan, restart interval by restart interval. */
#ifndef MR_CODEC_JPEG_SCAN_READ_H
#define MR_CODEC_JPEG_SCAN_READ_H

#include "codec/jpeg/bits.h"
#include "codec/jpeg/scan.h"

/* Why reading stopped. */
typedef enum mr__jpeg_fault { MR__JPEG_BAD_CODE = 1, MR__JPEG_BAD_RANGE, MR__JPEG_OVER } mr__jpeg_fault;

typedef struct mr__jpeg_reader mr__jpeg_reader;

/*
 * Reads MCUs that lie side by side into `units`, which move along. False leaves the reason in reader->fault and the
 * bits about where it is.
 */
typedef bool mr__jpeg_read_mcus(mr__jpeg_reader *reader, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus);

struct mr__jpeg_reader {
    mr__call *call;
    const mr__jpeg_scan *scan;
    const mr__jpeg_coefficients *frame;
    const mr__huffman_reader *dc[MR__JPEG_PLANE_MAX], *ac[MR__JPEG_PLANE_MAX]; /* by the scan's components */
    mr__jpeg_read_mcus *read;
    mr__jpeg_find *find;
    uint8_t *data;      /* the interval at hand without its stuffing, then MR__BITS_SLACK zeros */
    size_t data_nbytes; /* without the zeros */
    size_t from, end;   /* where it is in the file; at `end` a marker */
    mr__bits bits;
    int32_t before[MR__JPEG_PLANE_MAX]; /* DC of the last block, by the scan's components */
    uint32_t end_run;                   /* blocks whose band has ended already (progressive) */
    mr__jpeg_fault fault;
};

/* Whether more was taken than there is: a matter of bytes, so that it is cheap; the end of an interval is exact. */
static inline bool mr__jpeg_reader_is_over(const mr__jpeg_reader *r, const mr__bits *b)
{
    return b->next > r->data + r->data_nbytes + 8;
}

/* How the scan's kind of data is read; scan_kernels.h has the same for a sequential one. */
mr__jpeg_read_mcus *mr__jpeg_read_progressive(const mr__jpeg_scan *scan);

/*
 * Reads the scan at which the walk stands, into its frame's blocks, and moves the walk behind it. `data` has room for
 * what is left of the file and MR__BITS_SLACK more; `tables` are kept between scans and images.
 */
int mr__jpeg_scan_read(mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4]);

#endif
