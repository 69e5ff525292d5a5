// SPDX-License-Identifier: Apache-2.0
/* The decoder handle: probe, header, limits, plan, stages. What only one form knows is in its folder. */
#include "codec/handle.h"
#include "codec/plan.h"

#include "base/size.h"

#include <stdio.h>

struct mr_decoder {
    mr__handle handle;
    uint32_t warnings;
    mr__buffer pixels;   /* what mr_decoder_decode gives out */
    mr__buffer stage[2]; /* between stages, in turn */
    mr__buffer icc;
};

int mr_decoder_new(const mr_decoder_options *options, mr_decoder **out)
{
    mr_decoder_options o;
    mr__handle handle;
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options) || mr__handle_init(&handle, o.hooks, o.limits) != 0)
        return MR_EARGUMENT;
    mr_decoder *decoder = mr__alloc_zero(&handle.hooks, sizeof *decoder);
    if (decoder == NULL)
        return MR_ENOMEM;
    decoder->handle = handle;
    *out = decoder;
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
}

void mr_decoder_free(mr_decoder *decoder)
{
    if (decoder == NULL)
        return;
    mr_decoder_trim(decoder);
    mr_hooks hooks = decoder->handle.hooks;
    mr__free(&hooks, decoder);
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

/* What the plan counts on, whatever a codec does. */
static bool is_possible(const mr_info *info)
{
    return info->width >= 1 && info->height >= 1 && info->channels >= 1 && info->channels <= 4 &&
           (info->depth == 8 || info->depth == 16) && info->orientation >= 1 && info->orientation <= 8;
}

/* Whoever gave us this will know it by its first bytes. */
static int refuse_unknown(mr__call *call)
{
    char text[8 * 3 + 1] = "";
    for (size_t i = 0; i < 8 && i < call->nbytes; i++)
        snprintf(text + 3 * i, 4, " %02x", call->bytes[i]);
    return mr__call_fail(call, MR_EFORMAT, "not an image in a known format: it begins with%s", text);
}

/* What every call on stored bytes begins with: find the codec, get its state ready, parse the header. */
static int begin(mr_decoder *d, mr__call *call, const void *bytes, size_t nbytes, const mr__codec **codec,
                 mr_info *info)
{
    *call = mr__handle_call(&d->handle, bytes, nbytes);
    d->warnings = 0;
    if (bytes == NULL && nbytes != 0)
        return mr__call_fail(call, MR_EARGUMENT, "bytes is NULL");
    if (nbytes == 0)
        return mr__call_fail(call, MR_EFORMAT, "no data: 0 bytes");
    if (nbytes > call->limits->nbytes)
        return mr__call_fail(call, MR_ELIMIT, "%zu bytes of data: more than %llu, the limit (limits.nbytes)", nbytes,
                             (unsigned long long)call->limits->nbytes);
    *codec = mr__codec_probe(bytes, nbytes);
    if (*codec == NULL)
        return refuse_unknown(call);
    call->name = (*codec)->name;
    int result = mr__states_get(&d->handle.states, *codec, call);
    if (result != 0)
        return result;
    *info = (mr_info){.struct_size = sizeof *info, .form = (*codec)->form, .orientation = 1, .frames = 1};
    result = (*codec)->info(call, info);
    if (result == 0 && !is_possible(info))
        result = mr__call_fail(call, MR_EINTERNAL, "the %s codec read a header that cannot be", (*codec)->name);
    return result;
}

/* What every call ends with. */
static int end(mr_decoder *d, const mr__call *call, int result)
{
    d->warnings = call->warnings;
    return result;
}

int mr_decoder_info(mr_decoder *d, const void *bytes, size_t nbytes, mr_info *out)
{
    mr__call call;
    const mr__codec *codec;
    mr_info info;
    if (d == NULL || out == NULL)
        return refuse_null(d, "info");
    int result = begin(d, &call, bytes, nbytes, &codec, &info);
    if (result == 0 && !mr__struct_give(out, &info, sizeof info))
        result = mr__call_fail(&call, MR_EARGUMENT, "info: struct_size is not set");
    return end(d, &call, result);
}

/* Header, limits and hints: all that comes before memory. `info` is what the plan refers to. */
static int prepare(mr_decoder *d, mr__call *call, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                   const mr__codec **codec, mr_info *info, mr__plan *plan)
{
    mr_decode_hints h;
    int result = begin(d, call, bytes, nbytes, codec, info);
    if (result != 0)
        return result;
    if (!mr__struct_copy(&h, sizeof h, hints))
        return mr__call_fail(call, MR_EARGUMENT,
                             "hints: struct_size is not set, or fields are that this version lacks");
    result = mr__call_check_pixels(call, info->width, info->height);
    if (result == 0)
        result = mr__plan_init(plan, call, *codec, info, &h);
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
static int run(mr_decoder *d, mr__call *call, const mr__codec *codec, mr__plan *plan, const mr_image *to)
{
    mr_image from = {0};
    for (size_t i = 0; i < plan->stage_count; i++) {
        mr_image out = plan->stage[i].out;
        int result = 0;
        if (i + 1 == plan->stage_count)
            out = *to;
        else
            result = place(call, &out, &d->stage[i % 2]);
        if (result == 0)
            result = run_stage(call, codec, plan, plan->stage[i].kind, &from, &out);
        if (result != 0)
            return result;
        from = out;
    }
    return 0;
}

int mr_decoder_shape(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints, mr_image *shape)
{
    mr__call call;
    const mr__codec *codec;
    mr_info info;
    mr__plan plan;
    if (d == NULL || shape == NULL)
        return refuse_null(d, "shape");
    int result = prepare(d, &call, bytes, nbytes, hints, &codec, &info, &plan);
    if (result == 0)
        *shape = *result_shape(&plan);
    return end(d, &call, result);
}

int mr_decoder_decode(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints, mr_image *out)
{
    mr__call call;
    const mr__codec *codec;
    mr_info info;
    mr__plan plan;
    mr_image made = {0};
    if (d == NULL || out == NULL)
        return refuse_null(d, "out");
    int result = prepare(d, &call, bytes, nbytes, hints, &codec, &info, &plan);
    if (result == 0) {
        made = *result_shape(&plan);
        result = place(&call, &made, &d->pixels);
    }
    if (result == 0)
        result = run(d, &call, codec, &plan, &made);
    if (result == 0)
        *out = made;
    return end(d, &call, result);
}

int mr_decoder_decode_into(mr_decoder *d, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                           const mr_image *to)
{
    mr__call call;
    const mr__codec *codec;
    mr_info info;
    mr__plan plan;
    if (d == NULL || to == NULL)
        return refuse_null(d, "to");
    int result = prepare(d, &call, bytes, nbytes, hints, &codec, &info, &plan);
    if (result == 0) {
        const mr_image *shape = result_shape(&plan);
        bool fits = mr_image_is_valid(to) && to->width == shape->width && to->height == shape->height &&
                    to->channels == shape->channels && to->depth == shape->depth;
        if (!fits)
            result = mr__call_fail(&call, MR_EARGUMENT, "the target is not %u x %u with %u channels of %u bits",
                                   shape->width, shape->height, shape->channels, shape->depth);
    }
    if (result == 0)
        result = run(d, &call, codec, &plan, to);
    return end(d, &call, result);
}

int mr_decoder_icc(mr_decoder *d, const void *bytes, size_t nbytes, const void **out, size_t *out_nbytes)
{
    mr__call call;
    const mr__codec *codec;
    mr_info info;
    size_t found = 0;
    if (d == NULL || out == NULL || out_nbytes == NULL)
        return refuse_null(d, "out or out_nbytes");
    int result = begin(d, &call, bytes, nbytes, &codec, &info);
    if (result == 0 && info.has_icc && codec->icc != NULL)
        result = codec->icc(&call, &d->icc, &found);
    if (result == 0) {
        *out = found != 0 ? d->icc.bytes : NULL;
        *out_nbytes = found;
    }
    return end(d, &call, result);
}
