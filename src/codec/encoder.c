// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

struct mr_encoder {
    mr_hooks hooks;
    mr_limits limits;
    mr__cpu_flags cpu;
    mr__detail detail;
    mr__states states;
    mr__buffer out;
};

int mr_encoder_new(const mr_encoder_options *options, mr_encoder **out)
{
    mr_encoder_options o;
    mr_hooks hooks;
    mr_limits limits;
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options) || mr__hooks_init(&hooks, o.hooks) != 0 ||
        mr__limits_init(&limits, o.limits) != 0)
        return MR_EARGUMENT;
    mr_encoder *encoder = mr__alloc_zero(&hooks, sizeof *encoder);
    if (encoder == NULL)
        return MR_ENOMEM;
    encoder->hooks = hooks;
    encoder->limits = limits;
    encoder->cpu = mr__cpu_detect();
    *out = encoder;
    return 0;
}

void mr_encoder_free(mr_encoder *encoder)
{
    if (encoder == NULL)
        return;
    mr_hooks hooks = encoder->hooks;
    mr__states_fini(&encoder->states, &hooks);
    mr__buffer_fini(&encoder->out, &hooks);
    mr__free(&hooks, encoder);
}

const char *mr_encoder_detail(const mr_encoder *encoder)
{
    return encoder->detail.text;
}

static int check_options(mr__call *call, const mr_encode_options *o)
{
    if (o->quality > 100)
        return mr__call_fail(call, MR_EARGUMENT, "quality is %u; it can be 1 to 100", o->quality);
    if (o->effort > 9)
        return mr__call_fail(call, MR_EARGUMENT, "effort is %u; it can be 1 to 9", o->effort);
    if (o->orientation > 8)
        return mr__call_fail(call, MR_EARGUMENT, "orientation is %u; it can be 1 to 8", o->orientation);
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

int mr_encoder_encode(mr_encoder *e, const mr_image *image, const mr_encode_options *options, const void **out,
                      size_t *out_nbytes)
{
    mr__detail_clear(&e->detail);
    mr__call call = {.hooks = &e->hooks, .limits = &e->limits, .cpu = e->cpu, .detail = &e->detail};
    mr_encode_options o;
    if (options == NULL || !mr__struct_copy(&o, sizeof o, options))
        return mr__call_fail(&call, MR_EARGUMENT, "options: NULL, or struct_size is not set");
    if (image == NULL || !mr_image_is_valid(image))
        return mr__call_fail(&call, MR_EARGUMENT, "the image is not valid: see mr_image_is_valid");
    const mr__codec *codec = mr__codec_of_form(o.form);
    if (codec == NULL || codec->encode == NULL)
        return mr__call_fail(&call, MR_EUNSUPPORTED, "form %d cannot be encoded", (int)o.form);
    int result = check_options(&call, &o);
    if (result == 0)
        result = mr__call_check_pixels(&call, codec->name, image->width, image->height);
    if (result == 0)
        result = mr__states_get(&e->states, codec, &call);
    size_t nbytes = 0;
    if (result == 0) {
        fill_defaults(&o);
        result = codec->encode(&call, image, &o, &e->out, &nbytes);
    }
    if (result == 0) {
        *out = e->out.bytes;
        *out_nbytes = nbytes;
    }
    return result;
}
