// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder: the same pixels as libjpeg-turbo's default decode, in about half the time (doc/jpeg.md).
 *
 *     header.c, scan.c            markers, frame, tables, scans
 *     scan_read.c, lanes_*        entropy-coded data of a sequential scan, 16 blocks side by side
 *     coefficients.c              of several scans: all coefficients of the image first
 *     kernel/jpeg_rows.h          transform, upsampling, colour, a row of MCUs at a time
 *
 * It is for what coefficients.h can read. All else, and what libjpeg-turbo alone has a rule for, is MR_EUNSUPPORTED:
 * jpeg.c hands that over. Damage is an error and names the byte.
 */
#ifndef MR_CODEC_JPEG_DIRECT_H
#define MR_CODEC_JPEG_DIRECT_H

#include "codec/jpeg/scan_kernels.h"
#include "kernel/jpeg_rows.h"

/* What is kept between images; it comes cleared. */
typedef struct mr__jpeg_direct {
    bool is_ready;
    mr__jpeg_pixels pixels;
    mr__jpeg_scans scans;
    mr__jpeg_coefficients_work work;
    mr__buffer strips; /* zero whenever nothing is being read */
    mr__buffer samples;
} mr__jpeg_direct;

/* Up to 16 blocks side by side as they were read, for those who go on from there by themselves. */
typedef struct mr__direct_strip {
    uint32_t part;
    uint32_t x, y;       /* of the first block, in its component */
    const int16_t *coef; /* [place in zigzag order][block], of MR__JPEG_STRIP blocks: quantised */
    uint32_t last;       /* places behind it are zero */
} mr__direct_strip;

typedef struct mr__direct_job mr__direct_job;

/* Who takes strips where pixels are not wanted. A failure, with detail, ends the decode. */
typedef struct mr__direct_sink {
    /* Once, before any strip: frame and quantisers are known, and what the region needs (rows, mcus). */
    int (*begin)(void *user, const mr__direct_job *job);
    /* In any order, each once: all strips that have a block the region needs, and some beside them. */
    int (*strip)(void *user, const mr__direct_strip *strip);
    void *user;
} mr__direct_sink;

/* One image being decoded. */
struct mr__direct_job {
    mr__call *call;
    mr__jpeg_direct *direct;
    const mr__request *request;
    const mr__direct_sink *sink; /* NULL: pixels are wanted */
    mr__jpeg_coefficients frame;
    mr__jpeg_rows rows;
    mr_rect mcus; /* that the region needs: columns, and bands as rows */
};

int mr__direct_decode(mr__call *call, mr__jpeg_direct *direct, const mr__request *request, const mr_image *to);

/* The same, up to the coefficients: `channels` are those of the pixels that will be made of them. */
int mr__direct_give(mr__call *call, mr__jpeg_direct *direct, const mr__request *request, uint32_t channels,
                    const mr__direct_sink *sink);
void mr__direct_fini(mr__jpeg_direct *direct, const mr_hooks *hooks);

/*
 * The codec's decode, by our decoder alone and up to the coefficients; the call has been opened. MR_EUNSUPPORTED: it
 * is libjpeg-turbo's to decode.
 */
int mr__jpeg_give(mr__call *call, const mr__request *request, uint32_t channels, const mr__direct_sink *sink);

/* Once the frame is known: what the region needs, MCUs of `h` x `v` blocks of each component; memory for samples. */
int mr__direct_prepare(mr__direct_job *job, const mr_image *to);

/* The two ways to go on from there: one scan that has everything, and several. The walk stands at the first scan. */
int mr__direct_one_scan(mr__direct_job *job, mr__jpeg_walk *walk);
int mr__direct_all_scans(mr__direct_job *job, mr__jpeg_walk *walk);

/*
 * A coefficient that is multiplied by 0 is zero for our transform, and not for libjpeg-turbo's, which takes a short cut
 * by the coefficients: MR_EUNSUPPORTED where there is such a quantiser. All scans have begun.
 */
int mr__direct_check_quantisers(mr__direct_job *job);

/* Whether the region needs the row `y` of blocks of a part. */
static inline bool mr__direct_needs_row(const mr__direct_job *job, uint32_t part, uint32_t y)
{
    const mr_rect *blocks = &job->rows.part[part].blocks;
    return y >= blocks->y && y < blocks->y + blocks->height;
}

/* To the sink, where there is one. */
static inline int mr__direct_begin(const mr__direct_job *job)
{
    return job->sink != NULL ? job->sink->begin(job->sink->user, job) : 0;
}

/* And a strip, which is zero afterwards. */
int mr__direct_give_strip(const mr__direct_job *job, uint32_t part, uint32_t x, uint32_t y, int16_t *coef,
                          uint32_t last);

/* A row of MCUs is there. */
int mr__direct_finish_band(mr__direct_job *job, uint32_t band);

#endif
