// SPDX-License-Identifier: Apache-2.0
/* Every allocation of a JPEG's decode and encode refused in turn, libjpeg's own among them. */
#include "test.h"

#include "failing.h"
#include "jpeg_plain.h"

#include <stdlib.h>

typedef struct decode_case {
    picture_file file;
    mr_image whole;
} decode_case;

/* A second decode follows whatever came of the first, and must be good or out of memory in its turn. */
static int decode_twice(const mr_hooks *hooks, void *arg)
{
    decode_case *c = arg;
    mr_decoder_options o = {.struct_size = sizeof o, .hooks = hooks};
    mr_decode_hints h = {.struct_size = sizeof h, .region = {9, 5, 40, 30}};
    mr_decoder *d;
    mr_image out;
    int result = mr_decoder_new(&o, &d), first = 0;
    if (result != 0)
        return result;
    for (int i = 0; i < 2; i++) {
        result = mr_decoder_decode(d, c->file.bytes, c->file.nbytes, &h, &out);
        if (result == 0)
            assert_true(picture_is_part(&c->whole, h.region, &out));
        first = i == 0 ? result : first;
    }
    mr_decoder_free(d);
    return first != 0 ? first : result;
}

static void decoding(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        plain_recipe r = {.width = 61, .height = 51, .space = PLAIN_YCC, .factors = {0x22}, .progressive = i == 1};
        r.arithmetic = i == 2 && plain_has_arithmetic();
        decode_case c = {.file = plain_encode(&r)};
        assert_int_equal(plain_decode(c.file.bytes, c.file.nbytes, 1, 3, &c.whole), 0);
        failing_run(decode_twice, &c);
        mr_image_fini(&c.whole, NULL);
        free(c.file.bytes);
    }
}

static int encode_twice(const mr_hooks *hooks, void *arg)
{
    mr_encoder_options o = {.struct_size = sizeof o, .hooks = hooks};
    mr_encode_options e = {.struct_size = sizeof e, .form = MR_FORM_JPEG, .quality = 95, .orientation = 3};
    e.icc = "profile";
    e.icc_nbytes = 7;
    mr_encoder *encoder;
    const void *bytes;
    size_t nbytes;
    int result = mr_encoder_new(&o, &encoder), first = 0;
    if (result != 0)
        return result;
    for (int i = 0; i < 2; i++) {
        e.progressive = i == 1;
        result = mr_encoder_encode(encoder, arg, &e, &bytes, &nbytes);
        first = i == 0 ? result : first;
    }
    mr_encoder_free(encoder);
    return first != 0 ? first : result;
}

static void encoding(void **state)
{
    (void)state;
    mr_image image;
    uint64_t random = 1;
    assert_int_equal(mr_image_init(&image, 300, 200, 3, 8, NULL), 0);
    for (size_t i = 0; i < 300 * 200 * 3; i++)
        ((uint8_t *)image.pixels)[i] = (uint8_t)picture_random(&random);
    failing_run(encode_twice, &image);
    mr_image_fini(&image, NULL);
}

/* Neither through the hooks nor by malloc inside libjpeg, where that is a static library. */
static void second_decode_allocates_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        plain_recipe r = {.width = 300, .height = 200, .space = PLAIN_YCC, .factors = {0x22}, .progressive = i == 1};
        picture_file file = plain_encode(&r);
        mr_hooks hooks = failing_hooks();
        mr_decoder_options o = {.struct_size = sizeof o, .hooks = &hooks};
        mr_decoder *d;
        mr_image out;
        failing_begin(0, false);
        assert_int_equal(mr_decoder_new(&o, &d), 0);
        assert_int_equal(mr_decoder_decode(d, file.bytes, file.nbytes, NULL, &out), 0);
        size_t before = failing_now().attempts;
        assert_int_equal(mr_decoder_decode(d, file.bytes, file.nbytes, NULL, &out), 0);
        assert_int_equal(failing_now().attempts, before);
        mr_decoder_free(d);
        assert_int_equal(failing_end().live_blocks, 0);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(encoding),
        cmocka_unit_test(second_decode_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
