// SPDX-License-Identifier: Apache-2.0
#include "codec/handle.h"

#include "base/size.h"

struct mr_encoder {
    mr__handle handle;
    mr__buffer out;
    /* of mr_encoder_recode */
    mr__states sources; /* a state decodes or encodes, never both */
    mr__buffer pixels;  /* between the forms */
    mr__buffer icc;     /* of the source */
    mr__detail why;     /* what the report says */
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
    const mr_hooks *hooks = &encoder->handle.hooks;
    mr__handle_trim(&encoder->handle);
    mr__states_fini(&encoder->sources, hooks);
    mr__buffer_fini(&encoder->out, hooks);
    mr__buffer_fini(&encoder->pixels, hooks);
    mr__buffer_fini(&encoder->icc, hooks);
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
    if ((unsigned)o->preset > MR_L3_SMALL)
        return mr__call_fail(call, MR_EARGUMENT, "preset is %d; it can be 0 to %d", (int)o->preset, MR_L3_SMALL);
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

/* The options, complete and possible, and their codec: everything checked before any memory is taken. */
static int check_asked(mr__call *call, const mr_encode_options *options, mr_encode_options *o, const mr__codec **codec)
{
    if (options == NULL || !mr__struct_copy(o, sizeof *o, options))
        return mr__call_fail(call, MR_EARGUMENT,
                             "options: NULL, struct_size is not set, or fields are that this version lacks");
    *codec = mr__codec_of_form(o->form);
    if (*codec == NULL)
        return mr__call_fail(call, MR_EARGUMENT, "form is %d, which is none", (int)o->form);
    call->name = (*codec)->name;
    if ((*codec)->encode == NULL)
        return mr__call_fail(call, MR_EUNSUPPORTED, "%s can be decoded, but not encoded", call->name);
    return check_options(call, o);
}

/* One try; *again tells that another may fare better, once what earlier images left has been trimmed. */
static int encode(mr_encoder *e, const mr_image *image, const mr_encode_options *options, size_t *nbytes, bool *again)
{
    mr__call call = mr__handle_call(&e->handle, NULL, 0);
    const mr__codec *codec = NULL;
    mr_encode_options o;
    int result = check_asked(&call, options, &o, &codec);
    if (result == 0 && (image == NULL || !mr_image_is_valid(image)))
        result = mr__call_fail(&call, MR_EARGUMENT, "the image is not valid: see mr_image_is_valid");
    if (result == 0)
        result = mr__call_check_pixels(&call, image->width, image->height);
    if (result == 0)
        fill_defaults(&o);
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

/* One call of mr_encoder_recode: what is asked, and what has been found out so far. */
typedef struct job {
    const void *bytes;
    size_t nbytes;
    const mr_encode_options *options;
    mr_encode_options o;
    const mr__codec *from, *to;
    mr_info info; /* of the source */
    mr_image image;
    size_t out_nbytes;
    mr_recode_report report;
} job;

/* By the codec that knows both; MR_EUNSUPPORTED with the reason in the detail, which may be "". */
static int recode_directly(mr_encoder *e, mr__call *call, job *j)
{
    const mr__codec *codec = j->to->recode != NULL ? j->to : j->from;
    if (codec->recode == NULL)
        return MR_EUNSUPPORTED;
    int result = mr__states_get(&e->handle.states, codec, call);
    if (result == 0)
        result = codec->recode(call, j->info.form, &j->o, &e->out, &j->out_nbytes, &j->report);
    return result;
}

/* The whole source as it is stored. */
static int decode_source(mr_encoder *e, mr__call *call, job *j)
{
    const mr_info *i = &j->info;
    j->image = (mr_image){.width = i->width, .height = i->height, .channels = i->channels, .depth = i->depth};
    size_t row_nbytes = mr_image_row_nbytes(&j->image), nbytes;
    int result = mr__states_get(&e->sources, j->from, call);
    if (result == 0 && j->from->holds != NULL)
        result = j->from->holds(call, i);
    if (result != 0)
        return result;
    if (!mr__size_mul(row_nbytes, i->height, &nbytes) || nbytes > PTRDIFF_MAX)
        return mr__call_fail(call, MR_ELIMIT, "the image does not fit the address space");
    result = mr__call_reserve(call, &e->pixels, nbytes);
    if (result != 0)
        return result;
    j->image.stride = (ptrdiff_t)row_nbytes;
    j->image.pixels = e->pixels.bytes;
    mr__request request = {.info = i, .region = {0, 0, i->width, i->height}, .reduce = 1};
    return j->from->decode(call, &request, &j->image);
}

/* What goes along unless the options give others. */
static int carry_metadata(mr_encoder *e, mr__call *call, job *j)
{
    if (j->o.orientation == 0)
        j->o.orientation = j->info.orientation;
    // a profile of CMYK says nothing about the RGB that a decode makes of it
    bool fits = j->info.color != MR_COLOR_CMYK && j->info.color != MR_COLOR_YCCK;
    if (j->o.icc != NULL || !j->info.has_icc || j->from->icc == NULL || !fits)
        return 0;
    int result = j->from->icc(call, &e->icc, &j->o.icc_nbytes);
    if (result == 0 && j->o.icc_nbytes != 0)
        j->o.icc = e->icc.bytes;
    return result;
}

static int recode_through_pixels(mr_encoder *e, mr__call *call, job *j)
{
    e->why = *call->detail;
    mr__detail_clear(call->detail);
    j->report = (mr_recode_report){.struct_size = sizeof j->report, .why = e->why.text};
    call->name = j->from->name;
    int result = decode_source(e, call, j);
    if (result == 0)
        result = carry_metadata(e, call, j);
    call->name = j->to->name;
    if (result == 0)
        result = mr__states_get(&e->handle.states, j->to, call);
    if (result != 0)
        return result;
    fill_defaults(&j->o);
    return j->to->encode(call, &j->image, &j->o, &e->out, &j->out_nbytes);
}

static int recode(mr_encoder *e, mr__call *call, job *j)
{
    int result = check_asked(call, j->options, &j->o, &j->to);
    if (result == 0)
        result = mr__call_open(call, &e->sources, &j->from, &j->info);
    if (result == 0)
        result = mr__call_check_pixels(call, j->info.width, j->info.height);
    if (result != 0)
        return result;
    mr__detail_clear(&e->why);
    j->report = (mr_recode_report){.struct_size = sizeof j->report, .why = ""};
    result = recode_directly(e, call, j);
    return result == MR_EUNSUPPORTED ? recode_through_pixels(e, call, j) : result;
}

int mr_encoder_recode(mr_encoder *e, const void *bytes, size_t nbytes, const mr_encode_options *options,
                      const void **out, size_t *out_nbytes, mr_recode_report *report)
{
    if (e == NULL)
        return MR_EARGUMENT;
    if (out == NULL || out_nbytes == NULL)
        return mr__fail(&e->handle.detail, MR_EARGUMENT, "out or out_nbytes is NULL");
    job j = {.bytes = bytes, .nbytes = nbytes, .options = options};
    bool again;
    int result;
    do {
        mr__call call = mr__handle_call(&e->handle, bytes, nbytes);
        result = recode(e, &call, &j);
        again = mr__handle_end(&e->handle, &call, result);
        if (again)
            trim(e);
    } while (again);
    if (result == 0 && report != NULL && !mr__struct_give(report, &j.report, sizeof j.report))
        result = mr__fail(&e->handle.detail, MR_EARGUMENT, "report: struct_size is not set");
    if (result == 0) {
        *out = e->out.bytes;
        *out_nbytes = j.out_nbytes;
    }
    return result;
}
