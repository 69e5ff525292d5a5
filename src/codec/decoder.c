// SPDX-License-Identifier: Apache-2.0
/* The decoder handle: probe, header, limits, plan, stages. What only one form knows is in its folder. */
#include "codec/handle.h"
#include "codec/plan.h"
#include "codec/view.h"

#include "base/size.h"

struct mr_decoder {
    mr__handle handle;
    uint32_t warnings;
    mr__buffer pixels;   /* what mr_decoder_decode gives out */
    mr__buffer stage[2]; /* between stages, in turn */
    mr__buffer icc;
    mr__buffer index;
};

int mr_decoder_new(const mr_decoder_options *options, mr_decoder **out)
{
    mr_decoder_options o;
    mr__handle *handle;
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options) || o.jpeg > MR_JPEG_LIBJPEG)
        return MR_EARGUMENT;
    int result = mr__handle_new(sizeof(mr_decoder), o.hooks, o.limits, &handle);
    if (result != 0)
        return result;
    handle->jpeg = o.jpeg;
    *out = (mr_decoder *)handle;
    return 0;
}

void mr_decoder_trim(mr_decoder *decoder)
{
    if (decoder == NULL)
        return;
    const mr_hooks *hooks = &decoder->handle.hooks;
    mr__handle_trim(&decoder->handle);
    mr__buffer_fini(&decoder->pixels, hooks);
    mr__buffer_fini(&decoder->stage[0], hooks);
    mr__buffer_fini(&decoder->stage[1], hooks);
    mr__buffer_fini(&decoder->icc, hooks);
    mr__buffer_fini(&decoder->index, hooks);
}

void mr_decoder_free(mr_decoder *decoder)
{
    if (decoder == NULL)
        return;
    mr_decoder_trim(decoder);
    mr__handle_free(&decoder->handle);
}

const char *mr_decoder_detail(const mr_decoder *decoder)
{
    return decoder != NULL ? decoder->handle.detail.text : "";
}

uint32_t mr_decoder_warnings(const mr_decoder *decoder)
{
    return decoder != NULL ? decoder->warnings : 0;
}

/* A call without a decoder, or with it but without what it writes to. */
static int refuse_null(mr_decoder *d, const char *name)
{
    if (d == NULL)
        return MR_EARGUMENT;
    d->warnings = 0;
    return mr__fail(&d->handle.detail, MR_EARGUMENT, "%s is NULL", name);
}

/* One call on stored bytes: what is asked, and what has been found out so far. */
typedef struct job {
    const void *bytes;
    size_t nbytes;
    const mr_decode_hints *hints;
    const mr__codec *codec;
    mr_info info;
    mr_decode_hints h; /* the hints, complete */
    mr__plan plan;
    mr_image image;      /* the result, or where it is to go */
    size_t found_nbytes; /* of a profile or an index */
    uint32_t number;     /* of a tile */
    mr_tile tile;
} job;

static int begin(mr_decoder *d, mr__call *call, job *j)
{
    return mr__call_open(call, &d->handle.states, &j->codec, &j->info);
}

/* Header, limits and hints: all that comes before memory. */
static int prepare(mr_decoder *d, mr__call *call, job *j)
{
    int result = begin(d, call, j);
    if (result != 0)
        return result;
    if (!mr__struct_copy(&j->h, sizeof j->h, j->hints))
        return mr__call_fail(call, MR_EARGUMENT,
                             "hints: struct_size is not set, or fields are that this version lacks");
    result = mr__call_check_pixels(call, j->info.width, j->info.height);
    if (result == 0)
        result = mr__plan_init(&j->plan, call, j->codec, &j->info, &j->h);
    return result;
}

typedef int body(mr_decoder *d, mr__call *call, job *j);

/* Runs a call; a second time, after a trim, if what earlier images left stood in its way. */
static int run_call(mr_decoder *d, body *run, job *j)
{
    bool again;
    int result;
    do {
        mr__call call = mr__handle_call(&d->handle, j->bytes, j->nbytes);
        result = run(d, &call, j);
        d->warnings = call.warnings;
        again = mr__handle_end(&d->handle, &call, result);
        if (again)
            mr_decoder_trim(d);
    } while (again);
    return result;
}

int mr_decoder_info(mr_decoder *d, const void *bytes, size_t nbytes, mr_info *out)
{
    if (d == NULL || out == NULL)
        return refuse_null(d, "info");
    job j = {.bytes = bytes, .nbytes = nbytes};
    int result = run_call(d, begin, &j);
    if (result == 0 && !mr__struct_give(out, &j.info, sizeof j.info))
        result = mr__fail(&d->handle.detail, MR_EARGUMENT, "info: struct_size is not set");
    return result;
}

static const mr_image *result_shape(const mr__plan *plan)
{
    return &plan->stage[plan->stage_count - 1].out;
}

/* Gives a shape its pixels out of a buffer. */
static int place(mr__call *call, mr_image *shape, mr__buffer *buffer)
{
    size_t nbytes;
    if (!mr__size_mul(mr_image_row_nbytes(shape), shape->height, &nbytes) || nbytes > PTRDIFF_MAX)
        return mr__call_fail(call, MR_ELIMIT, "the image does not fit the address space");
    int result = mr__call_reserve(call, buffer, nbytes);
    if (result == 0)
        shape->pixels = buffer->bytes;
    return result;
}

static int run_stage(mr__call *call, const mr__codec *codec, const mr__plan *plan, mr__stage_kind kind,
                     const mr_image *from, const mr_image *to)
{
    int result = MR_EINTERNAL;
    switch (kind) {
    case MR__STAGE_DECODE:
        return codec->decode(call, &plan->request, to);
    case MR__STAGE_REDUCE:
        result = mr_image_reduce(from, plan->reduce, to);
        break;
    case MR__STAGE_CONVERT:
        result = mr_image_convert(from, to);
        break;
    case MR__STAGE_ORIENT:
        result = mr_image_orient(from, plan->orientation, to);
        break;
    }
    if (result != 0) // the plan fits them to each other
        result = mr__call_fail(call, MR_EINTERNAL, "a stage after the %s decoder did not fit", codec->name);
    return result;
}

/* Runs the stages, each into the next buffer in turn, the last into `to`. */
static int run_stages(mr_decoder *d, mr__call *call, const job *j, const mr_image *to)
{
    mr_image from = {0};
    for (size_t i = 0; i < j->plan.stage_count; i++) {
        mr_image out = j->plan.stage[i].out;
        int result = 0;
        if (i + 1 == j->plan.stage_count)
            out = *to;
        else
            result = place(call, &out, &d->stage[i % 2]);
        if (result == 0)
            result = run_stage(call, j->codec, &j->plan, j->plan.stage[i].kind, &from, &out);
        if (result != 0)
            return result;
        from = out;
    }
    return 0;
}

/* Forms without an index take none: whoever gives one has mixed up two images. */
static int refuse_index(mr__call *call, const job *j)
{
    if (j->plan.request.index_nbytes == 0 || j->codec->index != NULL)
        return 0;
    if (!j->h.accept_damaged)
        return mr__call_fail(call, MR_ECORRUPT, "a row index was given with this %s: only JPEGs have one", call->name);
    mr__call_warn(call, "a row index was given with this %s: it is not used", call->name);
    return 0;
}

/* The last word before memory is taken: can these bytes be that image? */
static int check_held(mr__call *call, const job *j)
{
    int result = refuse_index(call, j);
    if (result != 0)
        return result;
    return j->codec->holds != NULL && !j->h.accept_damaged ? j->codec->holds(call, &j->info) : 0;
}

static int decode(mr_decoder *d, mr__call *call, job *j)
{
    int result = prepare(d, call, j);
    if (result == 0)
        result = check_held(call, j);
    if (result == 0) {
        j->image = *result_shape(&j->plan);
        result = place(call, &j->image, &d->pixels);
    }
    if (result == 0)
        result = run_stages(d, call, j, &j->image);
    if (result != 0) // what a header claimed is not kept
        mr__buffer_fini(&d->pixels, call->hooks);
    return result;
}

static int decode_or_view(mr_decoder *d, mr__call *call, job *j)
{
    int result = prepare(d, call, j);
    if (result == 0)
        result = check_held(call, j);
    if (result != 0)
        return result;
    j->image = *result_shape(&j->plan);
    if (j->plan.stage_count == 1 && j->codec->view != NULL && j->codec->view(call, &j->plan.request, &j->image))
        return 0;
    return decode(d, call, j);
}

static int decode_into(mr_decoder *d, mr__call *call, job *j)
{
    int result = prepare(d, call, j);
    if (result == 0)
        result = check_held(call, j);
    if (result != 0)
        return result;
    const mr_image *shape = result_shape(&j->plan), *to = &j->image;
    bool fits = mr_image_is_valid(to) && to->width == shape->width && to->height == shape->height &&
                to->channels == shape->channels && to->depth == shape->depth;
    if (!fits)
        return mr__call_fail(call, MR_EARGUMENT, "the target is not %u x %u with %u channels of %u bits", shape->width,
                             shape->height, shape->channels, shape->depth);
    return run_stages(d, call, j, to);
}

static int read_icc(mr_decoder *d, mr__call *call, job *j)
{
    int result = begin(d, call, j);
    if (result == 0 && j->info.has_icc && j->codec->icc != NULL)
        result = j->codec->icc(call, &d->icc, &j->found_nbytes);
    return result;
}

static int make_index(mr_decoder *d, mr__call *call, job *j)
{
    int result = begin(d, call, j);
    if (result == 0)
        result = mr__call_check_pixels(call, j->info.width, j->info.height);
    if (result == 0 && j->codec->index != NULL)
        result = j->codec->index(call, &d->index, &j->found_nbytes);
    return result;
}

/* What a decode does not look at, then a decode, then the profile. */
static int verify(mr_decoder *d, mr__call *call, job *j)
{
    int result = begin(d, call, j);
    if (result == 0 && j->codec->verify != NULL)
        result = j->codec->verify(call);
    if (result == 0)
        result = decode(d, call, j);
    if (result == 0 && j->info.has_icc && j->codec->icc != NULL)
        result = j->codec->icc(call, &d->icc, &j->found_nbytes);
    return result;
}

static int read_tile(mr_decoder *d, mr__call *call, job *j)
{
    int result = begin(d, call, j);
    if (result != 0)
        return result;
    if (j->codec->tile == NULL)
        return mr__call_fail(call, MR_EUNSUPPORTED, "%s is not stored in tiles", call->name);
    if (j->number >= j->info.tiles)
        return mr__call_fail(call, MR_EARGUMENT, "tile %u: the image has %u, counted from 0", j->number, j->info.tiles);
    j->tile = (mr_tile){.struct_size = sizeof j->tile};
    return j->codec->tile(call, j->number, &j->tile);
}

int mr_decoder_shape(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints, mr_image *shape)
{
    if (d == NULL || shape == NULL)
        return refuse_null(d, "shape");
    job j = {.bytes = bytes, .nbytes = nbytes, .hints = hints};
    int result = run_call(d, prepare, &j);
    if (result == 0)
        *shape = *result_shape(&j.plan);
    return result;
}

int mr_decoder_decode(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints, mr_image *out)
{
    if (d == NULL || out == NULL)
        return refuse_null(d, "out");
    job j = {.bytes = bytes, .nbytes = nbytes, .hints = hints};
    int result = run_call(d, decode, &j);
    if (result == 0)
        *out = j.image;
    return result;
}

int mr__decoder_view(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints, mr_image *out)
{
    job j = {.bytes = bytes, .nbytes = nbytes, .hints = hints};
    int result = run_call(d, decode_or_view, &j);
    if (result == 0)
        *out = j.image;
    return result;
}

bool mr__decoder_refused(const mr_decoder *d)
{
    return mr__meter_refused(&d->handle.meter);
}

int mr_decoder_decode_into(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                           const mr_image *to)
{
    if (d == NULL || to == NULL)
        return refuse_null(d, "to");
    job j = {.bytes = bytes, .nbytes = nbytes, .hints = hints, .image = *to};
    return run_call(d, decode_into, &j);
}

int mr_decoder_icc(mr_decoder *d, const void *bytes, size_t nbytes, const void **out, size_t *out_nbytes)
{
    if (d == NULL || out == NULL || out_nbytes == NULL)
        return refuse_null(d, "out or out_nbytes");
    job j = {.bytes = bytes, .nbytes = nbytes};
    int result = run_call(d, read_icc, &j);
    if (result == 0) {
        *out = j.found_nbytes != 0 ? d->icc.bytes : NULL;
        *out_nbytes = j.found_nbytes;
    }
    return result;
}

int mr_decoder_index(mr_decoder *d, const void *bytes, size_t nbytes, const void **out, size_t *out_nbytes)
{
    if (d == NULL || out == NULL || out_nbytes == NULL)
        return refuse_null(d, "out or out_nbytes");
    job j = {.bytes = bytes, .nbytes = nbytes};
    int result = run_call(d, make_index, &j);
    if (result == 0) {
        *out = j.found_nbytes != 0 ? d->index.bytes : NULL;
        *out_nbytes = j.found_nbytes;
    }
    return result;
}

int mr_decoder_verify(mr_decoder *d, const void *bytes, size_t nbytes)
{
    if (d == NULL)
        return MR_EARGUMENT;
    job j = {.bytes = bytes, .nbytes = nbytes};
    return run_call(d, verify, &j);
}

int mr_decoder_tile(mr_decoder *d, const void *bytes, size_t nbytes, uint32_t number, mr_tile *tile)
{
    if (d == NULL || tile == NULL)
        return refuse_null(d, "tile");
    job j = {.bytes = bytes, .nbytes = nbytes, .number = number};
    int result = run_call(d, read_tile, &j);
    if (result == 0 && !mr__struct_give(tile, &j.tile, sizeof j.tile))
        result = mr__fail(&d->handle.detail, MR_EARGUMENT, "tile: struct_size is not set");
    return result;
}
