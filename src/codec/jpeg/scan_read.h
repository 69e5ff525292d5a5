// SPDX-License-Identifier: Apache-2.0
/* Reading the entropy-coded data of one scan, restart interval by restart interval. */
#ifndef MR_CODEC_JPEG_SCAN_READ_H
#define MR_CODEC_JPEG_SCAN_READ_H

#include "codec/jpeg/bits.h"
#include "codec/jpeg/scan.h"

/*
 * Why reading stopped. Strange is what no encoder writes and libjpeg takes without a word: a run beyond the last
 * coefficient, and coefficients that do not fit 16 bits once they are multiplied by their quantiser. Bad range is the
 * same, of a coefficient by itself.
 */
typedef enum mr__jpeg_fault {
    MR__JPEG_BAD_CODE = 1,
    MR__JPEG_BAD_RANGE,
    MR__JPEG_OVER,
    MR__JPEG_STRANGE
} mr__jpeg_fault;

typedef struct mr__jpeg_reader mr__jpeg_reader;

enum { MR__BAND_BITS = 10 }; /* of a lookup of progressive codes */

/*
 * Reads MCUs that lie side by side into `units`, which move along. False leaves the reason in reader->fault and the
 * bits about where it is.
 */
typedef bool mr__jpeg_read_mcus(mr__jpeg_reader *reader, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus);

/* Where one block goes that is read into a strip (kernel/jpeg_pixels.h). */
typedef struct mr__jpeg_lane {
    int16_t *block; /* its first coefficient; the next ones are MR__JPEG_STRIP numbers apart */
    uint8_t part;   /* which of the scan's components */
    uint8_t strip;  /* of those that are read at once, to keep `last` by */
} mr__jpeg_lane;

enum { MR__JPEG_STRIPS_MAX = 16 };

/*
 * Reads MCUs of a sequential scan that follow each other, of `unit_count` blocks each, into lanes that are zero;
 * `lanes` has one for each block (where nothing is kept, for each of one MCU). reader->last grows by what the strips
 * get. Returns and fails as mr__jpeg_read_mcus does; what is in the strips then is undefined.
 */
typedef bool mr__jpeg_read_lanes(mr__jpeg_reader *reader, const mr__jpeg_lane *lanes, uint32_t unit_count,
                                 uint32_t mcus);

/*
 * Copies bytes up to a marker without the zero that stands behind each ff. Returns how many of them it went over: where
 * a marker begins, or a single ff, or nothing. *to_nbytes is how many it wrote; 32 more behind them may be anything.
 */
typedef size_t mr__jpeg_unstuff(const uint8_t *from, size_t nbytes, uint8_t *to, size_t *to_nbytes);

struct mr__jpeg_reader {
    mr__call *call;
    const mr__jpeg_scan *scan;
    const mr__jpeg_coefficients *frame;
    const mr__huffman_reader *dc[MR__JPEG_PLANE_MAX], *ac[MR__JPEG_PLANE_MAX]; /* by the scan's components */
    mr__jpeg_read_mcus *read;
    const uint32_t *codes; /* of AC scans (progressive): see bands.h */
    mr__jpeg_unstuff *unstuff;
    uint8_t *data;      /* the interval at hand without its stuffing; behind it, MR__BITS_SLACK bytes are readable */
    size_t data_nbytes; /* without those */
    size_t from, end;   /* where it is in the file; at `end` a marker, or the end of the file */
    size_t until;       /* nothing behind this byte of the file is looked at; 0: all is */
    mr__bits bits;
    int32_t before[MR__JPEG_PLANE_MAX]; /* DC of the last block, by the scan's components */
    uint32_t end_run;                   /* blocks whose band has ended already (progressive) */
    mr__jpeg_fault fault;
    /* For strips: */
    const uint16_t *quant[MR__JPEG_PLANE_MAX]; /* in zigzag order, by the scan's components */
    uint32_t dc_least[MR__JPEG_PLANE_MAX];     /* times -1: the DCs that are 16 bits once they are multiplied */
    uint32_t dc_range[MR__JPEG_PLANE_MAX];     /* from the least to the most of them */
    bool careful;                              /* some are so large that every product needs a look */
    uint8_t last[MR__JPEG_STRIPS_MAX];         /* by strip: the last place that may not be zero */
};

/*
 * Begins the reading of the scan at which the walk stands: its tables, and its first interval. `data` has room for what
 * is left of the file and MR__BITS_SLACK more; `tables` are kept between scans and images.
 */
void mr__jpeg_reader_init(mr__jpeg_reader *reader, mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4]);

/* The same in two steps: the tables; and an interval, from byte `from` of the file on. */
void mr__jpeg_reader_prepare(mr__jpeg_reader *reader, mr__jpeg_walk *walk, uint8_t *data,
                             mr__huffman_reader tables[2][4]);
void mr__jpeg_reader_take(mr__jpeg_reader *reader, size_t from);

/* Where the interval's marker has its second byte: behind fill bytes. The length of the file: there is none. */
size_t mr__jpeg_reader_marker(const mr__jpeg_reader *reader);

/* Memory for data and tables, as above; none of it is without a value. */
int mr__jpeg_coefficients_reserve(mr__call *call, mr__jpeg_coefficients_work *work);

/* mr__jpeg_coefficients_read from the first scan on, into the walk's frame. */
int mr__jpeg_coefficients_read_on(mr__jpeg_walk *walk, mr__jpeg_coefficients_work *work);

/* Before interval `number`, from 1 on: the end of the one at hand, the right marker, the next one. */
int mr__jpeg_reader_restart(mr__jpeg_reader *reader, uint32_t number);

/* After the last MCU: what is left of the interval is less than a byte, or *left bytes. */
int mr__jpeg_reader_end(mr__jpeg_reader *reader, size_t *left);

/* What reader->fault means, with the byte. */
int mr__jpeg_reader_fail(mr__jpeg_reader *reader);

/* Where in the file a byte of the interval is. */
size_t mr__jpeg_reader_offset(const mr__jpeg_reader *reader, uint64_t taken);

/* Whether more was taken than there is: a matter of bytes, so that it is cheap; the end of an interval is exact. */
static inline bool mr__jpeg_reader_is_over(const mr__jpeg_reader *r, const mr__bits *b)
{
    return b->next > r->data + r->data_nbytes + 8;
}

/*
 * How the scan's kind of data is read; scan_kernels.h has the same for a sequential one. `codes` are filled for it and
 * stay the caller's.
 */
mr__jpeg_read_mcus *mr__jpeg_read_progressive(mr__jpeg_reader *reader, uint32_t codes[1 << MR__BAND_BITS]);

/*
 * Reads the scan at which the walk stands, into its frame's blocks, and moves the walk behind it. `data` has room for
 * what is left of the file and MR__BITS_SLACK more; `tables` are kept between scans and images.
 */
int mr__jpeg_scan_read(mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4]);

#endif
