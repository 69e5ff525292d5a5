// SPDX-License-Identifier: Apache-2.0
/* One decode of one picture by libwebp: what it gets, what it may take, what is asked of it, and what it answers. */
#ifndef MR_CODEC_WEBP_JOB_H
#define MR_CODEC_WEBP_JOB_H

#include "codec/webp/webp.h"

#include <webp/decode.h>

typedef struct mr__webp_job {
    mr__call *call;
    const mr__webp_picture *picture;
    const uint8_t *bytes; /* what libwebp gets, as far as there is data */
    size_t nbytes;
    bool alpha; /* ALPH is among it */
} mr__webp_job;

/* Without alpha, libwebp does not see the ALPH chunk; where RGBA is asked for it is opaque then. */
mr__webp_job mr__webp_job_make(mr__call *call, const mr__webp_picture *picture, bool alpha);

/* Charges what libwebp takes. */
int mr__webp_job_charge(const mr__webp_job *j);

/* What libwebp has to decode so that `region` is what the whole has there. */
mr_rect mr__webp_job_part(const mr__webp_job *j, mr_rect region);

/* Asks for `part` of the picture, into `to`. */
void mr__webp_job_ask(const mr__webp_job *j, mr_rect part, const mr_image *to, WebPDecoderConfig *config);

/* Whether libwebp means missing data or wrong data. */
bool mr__webp_job_is_damage(VP8StatusCode status);

/* Whether "damaged" may mean that libwebp ran out of memory: it says so of VP8L, in which alpha is stored too. */
bool mr__webp_job_hides_shortage(const mr__webp_job *j);

/* Whether what was charged is to be had now; MR_ENOMEM if not. Before damage is believed. */
int mr__webp_job_check_memory(const mr__webp_job *j);

/* Fails the call for what libwebp said. */
int mr__webp_job_fail(const mr__webp_job *j, VP8StatusCode status);

/* An image in the scratch buffer. */
int mr__webp_scratch(mr__call *call, uint32_t width, uint32_t height, uint32_t channels, mr_image *out);

/* What a damaged picture still has: see damage.c. */
int mr__webp_decode_damaged(const mr__webp_job *j, mr_rect region, const mr_image *to);

#endif
