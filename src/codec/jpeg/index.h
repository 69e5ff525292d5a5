// SPDX-License-Identifier: Apache-2.0
/*
 * The row index of a JPEG (doc/format-jpeg-index.md): where rows of MCUs begin, and what the decoder has to know there,
 * so that a region is read from the middle of the file.
 *
 *     index_make.c      reads over the scan and notes every row
 *     index_format.c    from rows to at most 512 bytes, and back
 *     index_use.c       checks one that came with a request; begins reading at one of its rows
 *
 * It is for JPEGs with one sequential scan that has all components.
 */
#ifndef MR_CODEC_JPEG_INDEX_H
#define MR_CODEC_JPEG_INDEX_H

#include "codec/jpeg/scan_read.h"

enum { MR__JPEG_INDEX_NBYTES_MAX = 512 };

/* How a row of MCUs begins. */
typedef struct mr__jpeg_row {
    uint64_t at;                        /* bits from the beginning of the file */
    int32_t before[MR__JPEG_PLANE_MAX]; /* DC predictors, by the scan's components; 0 for those it does not have */
} mr__jpeg_row;

/* What an index says of the file it belongs to. */
typedef struct mr__jpeg_index_key {
    uint64_t nbytes;
    uint64_t hash; /* XXH3-64 */
} mr__jpeg_index_key;

/* An index, taken apart. Entry number i, from 1 on, is of the row i * step. */
typedef struct mr__jpeg_index {
    mr__jpeg_index_key key;
    uint32_t components, step, count;
    uint8_t delta_bits;                      /* of a position, from the entry before */
    uint8_t before_bits[MR__JPEG_PLANE_MAX]; /* of each predictor */
    const uint8_t *entries;                  /* 8 bytes and more stand behind them */
} mr__jpeg_index;

/*
 * Writes an index with as many entries as fit, of the `count` rows of an image; rows[0].at is where the scan's data
 * begins. Returns its length, or 0 when the format cannot say it: one row, or numbers that no image has.
 */
size_t mr__jpeg_index_write(const mr__jpeg_row *rows, uint32_t count, uint32_t components, mr__jpeg_index_key key,
                            uint8_t bytes[MR__JPEG_INDEX_NBYTES_MAX]);

/* Any bytes, which `index` then points into. NULL, or what is wrong with them, to be put behind "row index: it". */
const char *mr__jpeg_index_read(mr__jpeg_index *index, const uint8_t *bytes, size_t nbytes);

/* Entry number `number`, from 1 on; row->at is that of the entry before and moves on. */
void mr__jpeg_index_next(const mr__jpeg_index *index, uint32_t number, mr__jpeg_row *row);

/* The codec's index. */
int mr__jpeg_index_make(mr__call *call, mr__buffer *buffer, size_t *nbytes);

/*
 * Whether the index of a request is whole and of call->bytes: MR_ECORRUPT if not. Where damage is accepted a bad one is
 * taken out of the request instead, with a warning.
 */
int mr__jpeg_index_check(mr__call *call, mr__request *request);

/* From bytes taken of a reader's interval to where they are in the file, always forward. */
typedef struct mr__jpeg_place {
    size_t from;  /* of the interval that this is about */
    size_t taken; /* bytes of it without stuffing */
    size_t at;    /* in the file */
} mr__jpeg_place;

/* The position of the next bit that the reader reads; false when it has read more than there is. */
bool mr__jpeg_place_move(mr__jpeg_place *place, const mr__jpeg_reader *reader, uint64_t *at);

/* Leads a reader into the middle of a scan, and sees at the rows it passes that index and reader agree. */
typedef struct mr__jpeg_guide {
    mr__jpeg_index index;
    uint32_t row;            /* of MCUs, where reading begins */
    uint32_t left, interval; /* MCUs to the next restart, and the interval's number, there */
    uint32_t next;           /* row to be compared; UINT32_MAX: none is left */
    mr__jpeg_row expected;   /* there */
    mr__jpeg_place place;
} mr__jpeg_guide;

/*
 * Begins a reader (made by mr__jpeg_reader_prepare) so that the rows of MCUs from `first` up to `end` can be read: at
 * the last row before them that the request's index has, or at the beginning of the scan's data, `data_at`.
 */
int mr__jpeg_guide_begin(mr__jpeg_guide *guide, mr__jpeg_reader *reader, const mr__request *request, size_t data_at,
                         uint32_t first, uint32_t end);

/* For mr__jpeg_guide_pass. */
int mr__jpeg_guide_compare(mr__jpeg_guide *guide, const mr__jpeg_reader *reader);

/* Before a row is read. */
static inline int mr__jpeg_guide_pass(mr__jpeg_guide *guide, const mr__jpeg_reader *reader, uint32_t row)
{
    return row == guide->next ? mr__jpeg_guide_compare(guide, reader) : 0;
}

/* After reading has failed: damage that is met only with an index is the index's. */
int mr__jpeg_guide_fail(const mr__jpeg_guide *guide, mr__call *call, int result);

#endif
