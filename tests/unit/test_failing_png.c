// SPDX-License-Identifier: Apache-2.0
/* PNG with every allocation refused in turn, libdeflate's and zlib's too. */
#include "test.h"

#include "failing.h"
#include "png_reference.h"

#include <millrace/millrace.h>
#include <stdlib.h>
#include <string.h>

/* What is decoded, made before anything is refused. */
typedef struct scene {
    picture_file file;
    mr_decode_hints hints;
} scene;

static int decode(const mr_hooks *hooks, void *arg)
{
    const scene *s = arg;
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_decoder *decoder;
    mr_image image;
    int result = mr_decoder_new(&options, &decoder);
    if (result != 0)
        return result;
    result = mr_decoder_decode(decoder, s->file.bytes, s->file.nbytes, &s->hints, &image);
    if (result != 0)
        assert_string_not_equal(mr_decoder_detail(decoder), "");
    if (mr_decoder_decode(decoder, s->file.bytes, s->file.nbytes, &s->hints, &image) == 0 && result == 0)
        assert_true(mr_image_is_valid(&image));
    mr_decoder_free(decoder);
    return result;
}

static void decoding(void **state)
{
    (void)state;
    static const png_spec specs[] = {
        {.width = 30, .height = 20, .bit_depth = 8, .color_type = 2, .idat_nbytes = 200},
        {.width = 30, .height = 20, .bit_depth = 16, .color_type = 6, .interlaced = true},
        {.width = 30, .height = 20, .bit_depth = 4, .color_type = 3, .transparent = true},
    };
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++) {
        scene s = {.file = png_make(&specs[i / 2]),
                   .hints = {.struct_size = sizeof s.hints, .channels = 3, .depth = 8}};
        if (i % 2 == 1) { // cut, so that zlib has to look at it
            s.file.nbytes = png_find(&s.file, "IEND", 0) - 8;
            s.hints.accept_damaged = true;
        }
        failing_run(decode, &s);
        free(s.file.bytes);
    }
}

static int encode(const mr_hooks *hooks, void *arg)
{
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    static const uint8_t profile[128] = {0, 0, 0, 128};
    mr_encode_options how = {
        .struct_size = sizeof how, .form = MR_FORM_PNG, .icc = profile, .icc_nbytes = sizeof profile};
    mr_encoder *encoder = NULL;
    const void *bytes;
    size_t nbytes;
    int result = mr_encoder_new(&options, &encoder);
    for (uint32_t effort = 1; result == 0 && effort <= 9; effort += 4) {
        how.effort = effort;
        result = mr_encoder_encode(encoder, arg, &how, &bytes, &nbytes);
        if (result != 0)
            assert_string_not_equal(mr_encoder_detail(encoder), "");
    }
    if (encoder != NULL)
        mr_encoder_free(encoder);
    return result;
}

static void encoding(void **state)
{
    (void)state;
    uint16_t pixels[20 * 10 * 3] = {1, 2, 3};
    mr_image image = {20, 10, 3, 16, 20 * 6, pixels};
    failing_run(encode, &image);
}

static int read_profile(const mr_hooks *hooks, void *arg)
{
    const picture_file *file = arg;
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_decoder *decoder;
    const void *icc;
    size_t nbytes;
    int result = mr_decoder_new(&options, &decoder);
    if (result != 0)
        return result;
    result = mr_decoder_icc(decoder, file->bytes, file->nbytes, &icc, &nbytes);
    if (result == 0)
        assert_int_equal(nbytes, 256);
    mr_decoder_free(decoder);
    return result;
}

static void profiles(void **state)
{
    (void)state;
    const uint8_t profile[256] = {0, 0, 1, 0};
    uint32_t pixel = 0;
    mr_image image = {1, 1, 4, 8, 4, &pixel};
    mr_encode_options how = {.struct_size = sizeof how, .form = MR_FORM_PNG, .icc = profile, .icc_nbytes = 256};
    mr_encoder *encoder;
    const void *bytes;
    size_t nbytes;
    picture_file file = {0};
    assert_int_equal(mr_encoder_new(NULL, &encoder), 0);
    assert_int_equal(mr_encoder_encode(encoder, &image, &how, &bytes, &nbytes), 0);
    png_append(&file, bytes, nbytes);
    mr_encoder_free(encoder);
    failing_run(read_profile, &file);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(encoding),
        cmocka_unit_test(profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
