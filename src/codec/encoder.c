// SPDX-License-Identifier: Apache-2.0
#include "codec/handle.h"

struct mr_encoder {
    mr__handle handle;
    mr__buffer out;
};

int mr_encoder_new(const mr_encoder_options *options, mr_encoder **out)
{
    mr_encoder_options o;
    mr__handle *handle;
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options))
        return MR_EARGUMENT;
    int result = mr__handle_new(sizeof(mr_encoder), o.hooks, o.limits, &handle);
    if (result == 0)
        *out = (mr_encoder *)handle;
    return result;
}

static void trim(mr_encoder *encoder)
{
    mr__handle_trim(&encoder->handle);
    mr__buffer_fini(&encoder->out, &encoder->handle.hooks);
}

void mr_encoder_free(mr_encoder *encoder)
{
    if (encoder == NULL)
        return;
    trim(encoder);
    mr__handle_free(&encoder->handle);
}

const char *mr_encoder_detail(const mr_encoder *encoder)
{
    return encoder != NULL ? encoder->handle.detail.text : "";
}

static int check_options(mr__call *call, const mr_encode_options *o)
{
    if (o->quality > 100)
        return mr__call_fail(call, MR_EARGUMENT, "quality is %u; it can be 1 to 100", o->quality);
    if (o->effort > 9)
        return mr__call_fail(call, MR_EARGUMENT, "effort is %u; it can be 1 to 9", o->effort);
    if (o->orientation > 8)
        return mr__call_fail(call, MR_EARGUMENT, "orientation is %u; it can be 1 to 8", o->orientation);
    if ((unsigned)o->subsampling >= MR_SUBSAMPLING_OTHER)
        return mr__call_fail(call, MR_EARGUMENT, "subsampling is %d, which cannot be asked for", (int)o->subsampling);
    if ((o->icc == NULL) != (o->icc_nbytes == 0))
        return mr__call_fail(call, MR_EARGUMENT, "icc and icc_nbytes are given together or not at all");
    return 0;
}

static void fill_defaults(mr_encode_options *o)
{
    if (o->quality == 0)
        o->quality = 90;
    if (o->effort == 0)
        o->effort = 6;
    if (o->orientation == 0)
        o->orientation = 1;
}

/* What is asked: everything checked before any memory is taken. */
static int check_all(mr__call *call, const mr_image *image, const mr_encode_options *options, mr_encode_options *o,
                     const mr__codec **codec)
{
    if (options == NULL || !mr__struct_copy(o, sizeof *o, options))
        return mr__call_fail(call, MR_EARGUMENT,
                             "options: NULL, struct_size is not set, or fields are that this version lacks");
    if (image == NULL || !mr_image_is_valid(image))
        return mr__call_fail(call, MR_EARGUMENT, "the image is not valid: see mr_image_is_valid");
    *codec = mr__codec_of_form(o->form);
    if (*codec == NULL)
        return mr__call_fail(call, MR_EARGUMENT, "form is %d, which is none", (int)o->form);
    call->name = (*codec)->name;
    if ((*codec)->encode == NULL)
        return mr__call_fail(call, MR_EUNSUPPORTED, "%s can be decoded, but not encoded", call->name);
    int result = check_options(call, o);
    if (result == 0)
        result = mr__call_check_pixels(call, image->width, image->height);
    if (result == 0)
        fill_defaults(o);
    return result;
}

/* One try; *again tells that another may fare better, once what earlier images left has been trimmed. */
static int encode(mr_encoder *e, const mr_image *image, const mr_encode_options *options, size_t *nbytes, bool *again)
{
    mr__call call = mr__handle_call(&e->handle, NULL, 0);
    const mr__codec *codec = NULL;
    mr_encode_options o;
    int result = check_all(&call, image, options, &o, &codec);
    if (result == 0)
        result = mr__states_get(&e->handle.states, codec, &call);
    if (result == 0)
        result = codec->encode(&call, image, &o, &e->out, nbytes);
    *again = mr__handle_end(&e->handle, &call, result);
    return result;
}

int mr_encoder_encode(mr_encoder *e, const mr_image *image, const mr_encode_options *options, const void **out,
                      size_t *out_nbytes)
{
    if (e == NULL)
        return MR_EARGUMENT;
    if (out == NULL || out_nbytes == NULL)
        return mr__fail(&e->handle.detail, MR_EARGUMENT, "out or out_nbytes is NULL");
    size_t nbytes;
    bool again;
    int result = encode(e, image, options, &nbytes, &again);
    if (again) {
        trim(e);
        result = encode(e, image, options, &nbytes, &again);
    }
    if (result == 0) {
        *out = e->out.bytes;
        *out_nbytes = nbytes;
    }
    return result;
}
