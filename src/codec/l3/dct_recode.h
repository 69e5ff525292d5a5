// SPDX-License-Identifier: Apache-2.0
/*
 * A JPEG to an L3 image in DCT mode, and the proof that both have the same pixels.
 *
 *     dct_recode.c   the order of things
 *     dct_work.c     the work in parts, for threads
 *     dct_frame.c    the frame header
 *     dct_encode.c   coefficients to tiles
 *     dct_prove.c    the pixels of both, compared
 *
 * Invariants:
 * 1. The bytes do not depend on the number of threads: a part writes what only depends on its number, and the parts
 *    are put together in their order.
 * 2. Nothing that has not been proven leaves: the tiles are decoded by the decoder that everybody uses, and compared
 *    with libjpeg-turbo's decode of the JPEG; the origin is proven by whoever makes it.
 */
#ifndef MR_CODEC_L3_DCT_RECODE_H
#define MR_CODEC_L3_DCT_RECODE_H

#include "codec/l3/dct.h"

typedef struct mr__l3_dct_job mr__l3_dct_job;
typedef struct mr__l3_dct_part mr__l3_dct_part;

/* Does a part of the work, and leaves its result in it. */
typedef void mr__l3_dct_run(mr__l3_dct_part *part, mr__l3_dct_worker *worker);

/* What a thread does by itself, with a call of its own. */
struct mr__l3_dct_part {
    mr__l3_dct_job *job;
    mr__l3_dct_run *run;
    uint32_t number;
    size_t worker; /* that did it */
    mr__call call;
    mr__detail detail;
    int result;
    size_t at, nbytes; /* what it made, in the worker's tiles */
};

/* libjpeg-turbo's pixels, as many rows at a time as memory allows. */
typedef struct mr__l3_dct_source {
    mr__l3_dct_part part;
    mr_info info;
    mr_image image; /* all columns, and `rows` rows at most */
    uint32_t rows;
    uint32_t y; /* the first of them; the image's height: none yet */
} mr__l3_dct_source;

struct mr__l3_dct_job {
    mr__call *call; /* bytes: the JPEG */
    const mr_encode_options *options;
    mr__l3_dct_recoder *recoder;
    struct mr__pool *pool; /* NULL: no threads */
    size_t threads;
    mr__l3_dct_part *parts;
    mr__l3_dct_source source;
    mr__jpeg_coefficients coefficients;
    mr__l3_head head;
    mr__l3_dct_part origin;
    mr__l3_tail tail;
    uint32_t *lengths, *hashes; /* of the tiles */
    mr__call made;              /* bytes: the L3 image */
    mr__l3_head made_head;
    const uint64_t *offsets;
};

/* Makes ready for as many threads as the options and the image allow. */
int mr__l3_dct_work_init(mr__l3_dct_job *job);
void mr__l3_dct_work_fini(mr__l3_dct_job *job);

/* Waits for all parts that were started. */
void mr__l3_dct_work_wait(mr__l3_dct_job *job);

/* Starts a part; the call it gets is a copy of `call`. Ends it: 0 or its failure, which is then the job's. */
int mr__l3_dct_part_start(mr__l3_dct_job *job, mr__l3_dct_part *part, const mr__call *call, mr__l3_dct_run *run,
                          uint32_t number);
int mr__l3_dct_part_end(mr__l3_dct_job *job, mr__l3_dct_part *part);

/* Runs parts 0 to count - 1, and waits for them and all others. The failure is that of the first that failed. */
int mr__l3_dct_parts_run(mr__l3_dct_job *job, const mr__call *call, mr__l3_dct_run *run, uint32_t count);

/* Fills in job->head from job->coefficients. MR_EUNSUPPORTED with detail when DCT mode has no such frame. */
int mr__l3_dct_frame(mr__l3_dct_job *job);

/* Encodes all tiles: lengths, hashes, and their bytes with the workers. */
int mr__l3_dct_encode(mr__l3_dct_job *job);

/* Looks at the JPEG's header, and makes room for its pixels. */
int mr__l3_dct_source_init(mr__l3_dct_job *job);

/* Begins to decode the JPEG beside other work, if there is room. */
int mr__l3_dct_source_start(mr__l3_dct_job *job);

/* Whether the image that was made has the pixels of the JPEG. */
int mr__l3_dct_prove(mr__l3_dct_job *job, const uint8_t *bytes, size_t nbytes);

#endif
