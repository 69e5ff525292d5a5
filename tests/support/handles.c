// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include "test.h"

mr_decoder *decoder;
mr_encoder *encoder;

int handles_setup(void **state)
{
    (void)state;
    return mr_decoder_new(NULL, &decoder) != 0 || mr_encoder_new(NULL, &encoder) != 0;
}

int handles_teardown(void **state)
{
    (void)state;
    mr_decoder_free(decoder);
    mr_encoder_free(encoder);
    return 0;
}

static mr_limits sized(const mr_limits *limits)
{
    mr_limits copy = limits != NULL ? *limits : (mr_limits){0};
    copy.struct_size = sizeof copy;
    return copy;
}

mr_decoder *handles_decoder(const mr_hooks *hooks, const mr_limits *limits)
{
    mr_decoder *made;
    mr_limits all = sized(limits);
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks, .limits = &all};
    assert_int_equal(mr_decoder_new(&options, &made), 0);
    return made;
}

mr_encoder *handles_encoder(const mr_hooks *hooks, const mr_limits *limits)
{
    mr_encoder *made;
    mr_limits all = sized(limits);
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks, .limits = &all};
    assert_int_equal(mr_encoder_new(&options, &made), 0);
    return made;
}

mr_info info_of(const picture_file *file)
{
    mr_info info = {.struct_size = sizeof info};
    int result = mr_decoder_info(decoder, file->bytes, file->nbytes, &info);
    if (result != 0)
        fail_msg("info: %s: %s", mr_error_name(result), mr_decoder_detail(decoder));
    return info;
}
