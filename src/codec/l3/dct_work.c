// SPDX-License-Identifier: Apache-2.0
/* The work of recoding in parts. Without a pool each part runs where it is started. */
#include "codec/l3/dct_recode.h"

#include "base/pool.h"
#include "base/size.h"

static void fini_workers(mr__l3_dct_recoder *r, const mr_hooks *hooks)
{
    for (size_t i = 0; i < r->workers; i++) {
        mr__l3_dct_decoder_fini(&r->worker[i].decoder, hooks);
        mr__buffer_fini(&r->worker[i].tiles, hooks);
        mr__buffer_fini(&r->worker[i].pixels, hooks);
    }
    mr__free(hooks, r->worker);
    r->worker = NULL;
    r->workers = 0;
}

void mr__l3_dct_recoder_fini(mr__l3_dct_recoder *r, const mr_hooks *hooks)
{
    mr__jpeg_coefficients_fini(&r->work, hooks);
    fini_workers(r, hooks);
    mr__buffer *const buffers[] = {&r->parts, &r->index, &r->offsets, &r->pixels, &r->icc, &r->origin, &r->very};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        mr__buffer_fini(buffers[i], hooks);
    if (r->jpeg != NULL)
        mr__codec_jpeg.state_fini(r->jpeg, hooks);
    mr__free(hooks, r->jpeg);
    r->jpeg = NULL;
}

static int make_workers(mr__l3_dct_job *job)
{
    mr__l3_dct_recoder *r = job->recoder;
    size_t count = job->threads;
    if (count <= r->workers)
        return 0;
    fini_workers(r, job->call->hooks);
    r->worker = mr__alloc_array(job->call->hooks, count, sizeof *r->worker);
    if (r->worker == NULL)
        return mr__call_no_memory(job->call);
    r->workers = count;
    for (size_t i = 0; i < count; i++)
        mr__l3_dct_decoder_init(&r->worker[i].decoder, job->call->cpu);
    return 0;
}

int mr__l3_dct_work_init(mr__l3_dct_job *job)
{
    mr__call *call = job->call;
    // rows of tiles: there may be fewer, never more
    uint32_t parts = mr__ceil_div(job->source.info.height, 8 * MR__L3_UNIT_BLOCKS), threads = job->options->threads;
    job->threads = threads < 1 ? 1 : threads < parts ? threads : parts;
    int result = make_workers(job);
    if (result == 0)
        result = mr__call_reserve(call, &job->recoder->parts, parts * sizeof *job->parts);
    if (result != 0)
        return result;
    job->parts = (mr__l3_dct_part *)job->recoder->parts.bytes;
    // where the system has no threads to give, this one does the work
    if (job->threads > 1 && mr__pool_new(call->hooks, "millrace-l3", job->threads, parts, &job->pool) == MR_ENOMEM)
        return mr__call_no_memory(call);
    return 0;
}

/* What a part has counted becomes the job's, once. */
static void gather(mr__l3_dct_job *job, mr__l3_dct_part *part)
{
    job->call->warnings += part->call.warnings;
    job->call->library_nbytes += part->call.library_nbytes;
    part->call.warnings = 0;
    part->call.library_nbytes = 0;
}

void mr__l3_dct_work_fini(mr__l3_dct_job *job)
{
    mr__pool_free(job->pool);
    job->pool = NULL;
    gather(job, &job->source.part); // which may have been on their way when something else failed
    gather(job, &job->origin);
}

void mr__l3_dct_work_wait(mr__l3_dct_job *job)
{
    if (job->pool != NULL)
        mr__pool_wait(job->pool);
}

static void run_part(void *opaque, size_t worker)
{
    mr__l3_dct_part *part = opaque;
    part->worker = worker;
    part->run(part, &part->job->recoder->worker[worker]);
}

int mr__l3_dct_part_start(mr__l3_dct_job *job, mr__l3_dct_part *part, const mr__call *call, mr__l3_dct_run *run,
                          uint32_t number)
{
    *part = (mr__l3_dct_part){.job = job, .run = run, .number = number, .call = *call};
    part->call.detail = &part->detail;
    part->call.warnings = 0;
    part->call.library_nbytes = 0;
    int result = 0;
    if (job->pool != NULL)
        result = mr__pool_add(job->pool, run_part, part);
    else
        run_part(part, 0);
    return result == 0 ? 0 : mr__call_fail(job->call, result, "the threads that recode this JPEG have ended");
}

int mr__l3_dct_part_end(mr__l3_dct_job *job, mr__l3_dct_part *part)
{
    gather(job, part);
    return part->result == 0 ? 0 : mr__call_fail(job->call, part->result, "%s", part->detail.text);
}

int mr__l3_dct_parts_run(mr__l3_dct_job *job, const mr__call *call, mr__l3_dct_run *run, uint32_t count)
{
    int result = 0;
    uint32_t started = 0;
    while (result == 0 && started < count) {
        result = mr__l3_dct_part_start(job, &job->parts[started], call, run, started);
        started += result == 0;
    }
    mr__l3_dct_work_wait(job);
    for (uint32_t i = started; i-- > 0;) {
        int ended = mr__l3_dct_part_end(job, &job->parts[i]);
        result = ended != 0 ? ended : result;
    }
    return result;
}
