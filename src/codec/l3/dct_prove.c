// SPDX-License-Identifier: Apache-2.0
/*
 * The proof: the pixels of the L3 image that was made, by its ordinary decoder, are those that libjpeg-turbo decodes
 * from the JPEG. libjpeg-turbo's are decoded whole where memory allows, else some rows at a time, each time from the
 * beginning; L3's are decoded in strips that stay in the cache.
 */
#include "codec/l3/dct_recode.h"

#include "base/size.h"

#include <string.h>

/* Pixels of a strip, at least one row of tiles. */
enum { STRIP_NBYTES = 1 << 20 };

enum { TILE_HEIGHT_MAX = 2 * 8 * MR__L3_UNIT_BLOCKS };

/* Rows that are decoded even where memory does not seem to allow it. */
enum { SOURCE_ROWS_MIN = 256 };

static int make_jpeg_state(mr__l3_dct_job *job)
{
    mr__l3_dct_recoder *r = job->recoder;
    if (r->jpeg != NULL)
        return 0;
    r->jpeg = mr__alloc_zero(job->call->hooks, mr__codec_jpeg.state_nbytes);
    return r->jpeg != NULL ? 0 : mr__call_no_memory(job->call);
}

/* The JPEG as its codec sees it. */
static mr__call jpeg_call(const mr__l3_dct_job *job)
{
    mr__call call = *job->call;
    call.name = mr__codec_jpeg.name;
    call.state = job->recoder->jpeg;
    call.jpeg = MR_JPEG_LIBJPEG; // which had no part in the coefficients
    return call;
}

int mr__l3_dct_source_init(mr__l3_dct_job *job)
{
    mr__l3_dct_source *s = &job->source;
    int result = make_jpeg_state(job);
    if (result != 0)
        return result;
    mr__call call = jpeg_call(job);
    s->info = (mr_info){.struct_size = sizeof s->info, .form = MR_FORM_JPEG, .orientation = 1, .frames = 1};
    result = mr__codec_jpeg.info(&call, &s->info);
    if (result == 0)
        result = mr__call_check_pixels(&call, s->info.width, s->info.height);
    s->y = s->info.height;
    return result;
}

/* What the strips take beside the pixels: those of a row of tiles, as high as there are, and its samples. */
static uint64_t strips_nbytes(const mr__l3_dct_job *job, size_t row_nbytes)
{
    uint64_t strip = (uint64_t)row_nbytes * TILE_HEIGHT_MAX;
    return 2 * job->threads * (strip > STRIP_NBYTES ? strip : STRIP_NBYTES);
}

/* Room for as many rows as there can be. */
static int place_source(mr__l3_dct_job *job)
{
    mr__l3_dct_source *s = &job->source;
    s->image = (mr_image){.width = s->info.width, .height = s->info.height, .channels = s->info.channels, .depth = 8};
    size_t row_nbytes = mr_image_row_nbytes(&s->image);
    uint64_t beside = strips_nbytes(job, row_nbytes);
    s->image.stride = (ptrdiff_t)row_nbytes;
    s->rows = s->info.height;
    while (s->rows > SOURCE_ROWS_MIN && job->recoder->pixels.capacity < s->rows * row_nbytes &&
           mr__call_fits(job->call, (uint64_t)s->rows * row_nbytes + beside) != 0)
        s->rows = (s->rows + 1) / 2;
    mr__detail_clear(job->call->detail); // what did not fit is no failure
    int result = mr__call_reserve(job->call, &job->recoder->pixels, s->rows * row_nbytes);
    s->image.pixels = job->recoder->pixels.bytes;
    return result;
}

static void decode_source(mr__l3_dct_part *part, mr__l3_dct_worker *worker)
{
    mr__l3_dct_source *s = &part->job->source;
    uint32_t left = s->info.height - part->number;
    (void)worker;
    s->y = part->number;
    s->image.height = left < s->rows ? left : s->rows;
    mr__request request = {.info = &s->info, .region = {0, s->y, s->image.width, s->image.height}, .reduce = 1};
    part->result = mr__codec_jpeg.decode(&part->call, &request, &s->image);
}

static int start_source(mr__l3_dct_job *job, uint32_t y)
{
    mr__call call = jpeg_call(job);
    return mr__l3_dct_part_start(job, &job->source.part, &call, decode_source, y);
}

/* Only where its pixels leave room for the coefficients: otherwise later, when it is known what is left. */
int mr__l3_dct_source_start(mr__l3_dct_job *job)
{
    const mr_info *info = &job->source.info;
    uint64_t nbytes = (uint64_t)info->width * info->height * info->channels * (1 + sizeof(int16_t));
    if (mr__call_fits(job->call, nbytes * 2) != 0) {
        mr__detail_clear(job->call->detail);
        return 0;
    }
    int result = place_source(job);
    return result != 0 ? result : start_source(job, 0);
}

/* The rows from y on, whether they are there already, on their way, or not. */
static int wait_source(mr__l3_dct_job *job, uint32_t y)
{
    int result = 0;
    if (job->source.part.job == NULL)
        result = place_source(job);
    if (result == 0 && (job->source.part.job == NULL || y != 0))
        result = start_source(job, y);
    mr__l3_dct_work_wait(job);
    return result != 0 ? result : mr__l3_dct_part_end(job, &job->source.part);
}

/* Rows of a strip: whole rows of tiles. */
static uint32_t strip_rows(const mr__l3_dct_job *job)
{
    size_t tile_row_nbytes = mr_image_row_nbytes(&job->source.image) * job->head.tile_height;
    uint32_t count = (uint32_t)(STRIP_NBYTES / tile_row_nbytes);
    return job->head.tile_height * (count > 1 ? count : 1);
}

static int compare_strip(mr__l3_dct_part *part, const mr_image *got, uint32_t y)
{
    const mr__l3_dct_source *s = &part->job->source;
    size_t row_nbytes = mr_image_row_nbytes(got);
    const uint8_t *wanted = (const uint8_t *)s->image.pixels + (y - s->y) * row_nbytes;
    for (uint32_t i = 0; i < got->height; i++)
        if (memcmp((const uint8_t *)got->pixels + i * row_nbytes, wanted + i * row_nbytes, row_nbytes) != 0)
            return mr__call_fail(&part->call, MR_EUNSUPPORTED,
                                 "in L3's DCT mode row %u would have other pixels than libjpeg-turbo decodes from this "
                                 "JPEG",
                                 y + i);
    return 0;
}

static void prove_strip(mr__l3_dct_part *part, mr__l3_dct_worker *worker)
{
    mr__l3_dct_job *job = part->job;
    const mr__l3_dct_source *s = &job->source;
    uint32_t rows = strip_rows(job), y = s->y + part->number * rows, left = s->y + s->image.height - y;
    mr_image strip = s->image;
    strip.height = left < rows ? left : rows;
    size_t nbytes = mr_image_row_nbytes(&strip) * strip.height;
    part->result = mr__call_reserve(&part->call, &worker->pixels, nbytes);
    if (part->result != 0)
        return;
    strip.pixels = worker->pixels.bytes;
    mr__request request = {.info = &s->info, .region = {0, y, strip.width, strip.height}, .reduce = 1};
    part->result =
        mr__l3_dct_decode_with(&part->call, &worker->decoder, &job->made_head, job->offsets, &request, &strip);
    if (part->result == 0)
        part->result = compare_strip(part, &strip, y);
}

/* Reads the head of what was made, as a decoder does. */
static int open_made(mr__l3_dct_job *job, const uint8_t *bytes, size_t nbytes)
{
    mr__l3_dct_recoder *r = job->recoder;
    job->made = *job->call;
    job->made.name = mr__codec_l3.name;
    job->made.bytes = bytes;
    job->made.nbytes = nbytes;
    int result = mr__l3_head_read(&job->made, &job->made_head);
    if (result == 0)
        result = mr__l3_head_check_length(&job->made, &job->made_head, false);
    if (result == 0)
        result =
            mr__call_reserve(job->call, &r->offsets, (mr__l3_tile_count(&job->made_head) + 1) * sizeof *job->offsets);
    if (result != 0)
        return result;
    mr__l3_head_offsets(&job->made_head, (uint64_t *)r->offsets.bytes);
    job->offsets = (const uint64_t *)r->offsets.bytes;
    return 0;
}

int mr__l3_dct_prove(mr__l3_dct_job *job, const uint8_t *bytes, size_t nbytes)
{
    mr__l3_dct_source *s = &job->source;
    int result = open_made(job, bytes, nbytes);
    for (uint32_t y = 0; result == 0 && y < s->info.height; y += s->rows) {
        result = wait_source(job, y);
        if (result == 0)
            result = mr__l3_dct_parts_run(job, &job->made, prove_strip, mr__ceil_div(s->image.height, strip_rows(job)));
    }
    return result;
}
