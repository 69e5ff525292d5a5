// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/dct_recode.h"
#include "codec/l3/state.h"

#include <string.h>

/* The profile to be kept: the options', else the JPEG's if it is whole. */
static int find_icc(mr__l3_dct_job *job)
{
    mr__l3_tail *tail = &job->tail;
    if (job->options->icc != NULL) {
        tail->icc = job->options->icc;
        tail->icc_nbytes = job->options->icc_nbytes;
    }
    if (job->options->icc != NULL || !job->source.info.has_icc)
        return 0;
    int result = mr__codec_jpeg.icc(job->call, &job->recoder->icc, &tail->icc_nbytes);
    if (result == MR_ECORRUPT) { // in pieces that do not fit: it does not touch the pixels
        mr__call_warn(job->call, "%s", job->call->detail->text);
        mr__detail_clear(job->call->detail);
        return 0;
    }
    if (result == 0 && tail->icc_nbytes != 0)
        tail->icc = job->recoder->icc.bytes;
    return result;
}

/* In front of the origin: what the head's sampling factors are to be multiplied by to be the JPEG's. */
static int prefix_origin(mr__l3_dct_job *job, size_t *nbytes)
{
    mr__buffer *origin = &job->recoder->origin;
    const mr__jpeg_plane *last = &job->coefficients.plane[job->coefficients.components - 1]; // 1 x 1 in the head
    if (mr__buffer_grow(origin, job->call->hooks, *nbytes, *nbytes + 1) != 0)
        return mr__call_no_memory(job->call);
    memmove(origin->bytes + 1, origin->bytes, *nbytes);
    origin->bytes[0] = (uint8_t)(last->h | last->v << 4);
    *nbytes += 1;
    return 0;
}

static void make_origin(mr__l3_dct_part *part, mr__l3_dct_worker *worker)
{
    mr__l3_dct_job *job = part->job;
    (void)worker;
    part->result = mr__jpeg_origin_make(&part->call, &job->coefficients, job->tail.icc, job->tail.icc_nbytes,
                                        &job->recoder->origin, &part->nbytes);
}

/* What it takes to write the very file again, beside other work. */
static int start_origin(mr__l3_dct_job *job)
{
    mr__detail_clear(&job->recoder->why);
    return job->options->without_origin ? 0 : mr__l3_dct_part_start(job, &job->origin, job->call, make_origin, 0);
}

/* Without it where that does not work, and the report says why. */
static int take_origin(mr__l3_dct_job *job)
{
    if (job->options->without_origin)
        return 0;
    size_t nbytes = job->origin.nbytes;
    int result = mr__l3_dct_part_end(job, &job->origin);
    if (result == MR_EUNSUPPORTED) {
        job->recoder->why = *job->call->detail;
        mr__detail_clear(job->call->detail);
        return 0;
    }
    if (result == 0)
        result = prefix_origin(job, &nbytes);
    job->tail.origin = job->recoder->origin.bytes;
    job->tail.origin_nbytes = nbytes;
    return result;
}

/* The rows of tiles in their order, whoever encoded them. */
static int write_tiles(mr__l3_dct_job *job, mr__buffer *out, size_t *out_nbytes)
{
    size_t nbytes = 0;
    uint8_t *to = NULL;
    for (uint32_t i = 0; i < job->head.tiles_y; i++)
        nbytes += job->parts[i].nbytes;
    int result = mr__l3_append(job->call, out, out_nbytes, nbytes, &to);
    for (uint32_t i = 0; result == 0 && i < job->head.tiles_y; i++) {
        const mr__l3_dct_part *part = &job->parts[i];
        memcpy(to, job->recoder->worker[part->worker].tiles.bytes + part->at, part->nbytes);
        to += part->nbytes;
    }
    return result;
}

static int write_file(mr__l3_dct_job *job, mr__buffer *out, size_t *out_nbytes)
{
    const mr__l3_tail *tail = &job->tail;
    *out_nbytes = 0;
    job->head.has_icc = tail->icc != NULL;
    job->head.has_origin = tail->origin != NULL;
    if (job->options->orientation != 0)
        job->head.orientation = job->options->orientation;
    int result =
        mr__l3_head_write(job->call, &job->head, job->lengths, job->hashes, mr__l3_tail_nbytes(tail), out, out_nbytes);
    if (result == 0)
        result = write_tiles(job, out, out_nbytes);
    if (result == 0)
        result = mr__l3_tail_write(job->call, tail, out, out_nbytes);
    return result;
}

static int recode(mr__l3_dct_job *job, mr__buffer *out, size_t *out_nbytes)
{
    int result = 0;
    if (job->pool != NULL) // libjpeg-turbo beside our own reader
        result = mr__l3_dct_source_start(job);
    if (result == 0)
        result = mr__jpeg_coefficients_read(job->call, &job->recoder->work, &job->coefficients);
    if (result == 0)
        result = mr__l3_dct_frame(job);
    if (result == 0)
        result = find_icc(job);
    if (result == 0)
        result = start_origin(job);
    if (result == 0)
        result = mr__l3_dct_encode(job); // and waits for all that was started
    if (result == 0)
        result = take_origin(job);
    if (result == 0)
        result = write_file(job, out, out_nbytes);
    if (result == 0)
        result = mr__l3_dct_prove(job, out->bytes, *out_nbytes);
    return result;
}

int mr__l3_dct_recode(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out,
                      size_t *out_nbytes, mr_recode_report *report)
{
    if (from != MR_FORM_JPEG)
        return mr__call_fail(call, MR_EUNSUPPORTED, "only a JPEG has coefficients for L3's DCT mode");
    mr__l3_dct_job job = {.call = call, .options = options, .recoder = &mr__l3_state_of(call)->dct.recoder};
    int result = mr__l3_dct_source_init(&job);
    if (result == 0)
        result = mr__l3_dct_work_init(&job);
    if (result == 0)
        result = recode(&job, out, out_nbytes);
    mr__l3_dct_work_fini(&job);
    if (result != 0 || report == NULL)
        return result;
    report->exact = true;
    report->has_origin = job.tail.origin != NULL;
    job.tail.icc = NULL;
    report->origin_nbytes = mr__l3_tail_nbytes(&job.tail);
    report->why = job.recoder->why.text;
    return 0;
}
