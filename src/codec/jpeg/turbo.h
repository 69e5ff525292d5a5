// SPDX-License-Identifier: Apache-2.0
/*
 * libjpeg-turbo as the house wants it: no exit(), no stderr, no malloc of its own, no state from one image to the next.
 *
 * Invariants:
 * 1. libjpeg's functions are called inside mr__turbo_run only (but for jpeg_abort and jpeg_destroy, which cannot fail).
 *    Its errors jump there; nothing lies on the stack in between that would have to be freed, and all that outlives a
 *    jump is in structs.
 * 2. What libjpeg allocates comes out of one pool over the call's hooks, and so is held against the memory limit before
 *    it is taken. Only making the libjpeg object itself (once a decoder or encoder) calls malloc. The object, the pool
 *    and the row buffer are kept, so that a second image of the same size allocates nothing.
 * 3. Between images the pool is emptied and every table pointer cleared: an image that comes without tables must not
 *    see those of the image before it.
 */
#ifndef MR_CODEC_JPEG_TURBO_H
#define MR_CODEC_JPEG_TURBO_H

#include "codec/jpeg/direct.h"
#include "codec/jpeg/scan_work.h"

#include <setjmp.h>
#include <stdio.h> // jpeglib.h wants FILE and size_t before it

#include <jpeglib.h>

/* Memory for one image, given back all at once. All zero is the empty one. */
typedef struct mr__pool_block mr__pool_block;
typedef struct mr__pool {
    mr__pool_block *blocks;              /* the newest first */
    struct jvirt_barray_control *arrays; /* asked for; the newest first */
} mr__pool;

/* What decoding and encoding share. libjpeg's client_data points here. */
typedef struct mr__turbo {
    mr__call *call; /* the one that runs */
    jmp_buf jump;
    int result;          /* of mr__turbo_run */
    bool accept_damaged; /* damage is a warning */
    bool done;           /* all pixels are there: whatever comes is a warning */
    bool ended;          /* the data has ended, and libjpeg was given an end marker that is not in it */
    const uint8_t *window_end;
    const uint8_t *end; /* of what libjpeg is given of the data */
    bool is_cut;        /* there: fill bytes in the image data, which are damage */
    mr__pool pool;
    struct jpeg_error_mgr error;
    struct jpeg_source_mgr source;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    mr__scan_work work;                   /* of the scans that libjpeg has come to */
    struct jpeg_memory_mgr memory;        /* ours */
    struct jpeg_memory_mgr *first_memory; /* libjpeg's, which frees what it made */
    j_common_ptr object;                  /* libjpeg's; NULL until it is made whole */
    mr__buffer *out;                      /* what is encoded into */
    size_t out_nbytes;                    /* that libjpeg was given of it */
} mr__turbo;

/* The codec's state: a decoder has the one object, an encoder the other. */
typedef struct mr__jpeg_state {
    mr__turbo turbo;
    struct jpeg_decompress_struct decompress;
    struct jpeg_compress_struct compress;
    mr__buffer rows;
    mr__jpeg_direct direct;
} mr__jpeg_state;

/* Runs `body`; 0, or what it threw. */
int mr__turbo_run(mr__turbo *t, void (*body)(void *job), void *job);
_Noreturn void mr__turbo_throw(mr__turbo *t, int result);

/* The data has ended where `what` should be. */
int mr__turbo_fail_ended(mr__turbo *t, const char *what);

/* libjpeg's error handler, for t->error. */
void mr__turbo_init_errors(mr__turbo *t);

/* Reads call->bytes up to t->end, in small windows or all at once: see turbo_source.c. */
void mr__turbo_init_source(mr__turbo *t);

/* The byte that libjpeg is at, or a little behind it. */
size_t mr__turbo_offset(const mr__turbo *t);

/* Writes to t->out. */
void mr__turbo_init_destination(mr__turbo *t);
size_t mr__turbo_written(const mr__turbo *t);

/* Makes libjpeg take its memory from the pool, from now on. */
void mr__turbo_memory_replace(mr__turbo *t, j_common_ptr cinfo);

/* Ends an image: `cinfo` is reset for the next one, or destroyed when it was not made whole. */
void mr__turbo_reset(mr__turbo *t, j_common_ptr cinfo);
void mr__turbo_fini(mr__turbo *t, const mr_hooks *hooks);

/* CMYK as JPEG files have it, inverted, to RGB as Pillow makes it. */
void mr__jpeg_cmyk_row(const uint8_t *cmyk, uint8_t *rgb, uint32_t count);

/* The codec's decode and encode. */
int mr__turbo_decode(mr__call *call, const mr__request *request, const mr_image *to);
int mr__turbo_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                     size_t *out_nbytes);

#endif
