// SPDX-License-Identifier: Apache-2.0
/* The encoder's handle, over a codec made up for it. */
#include "test.h"

#include "fake_codec.h"

#include <millrace/millrace.h>
#include <string.h>

static void options_are_checked_and_filled_in(void **state)
{
    (void)state;
    uint8_t pixels[6] = {0};
    const mr_image image = {3, 2, 1, 8, 3, pixels}, nothing = {0};
    const mr_encode_options good = {.struct_size = sizeof good, .form = MR_FORM_JPEG};
    mr_encode_options bad[8];
    for (size_t i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].struct_size = 0;
    bad[1].form = MR_FORM_NONE;
    bad[2].quality = 101;
    bad[3].effort = 10;
    bad[4].orientation = 9;
    bad[5].icc = pixels;
    bad[6].icc_nbytes = 1;
    bad[7].subsampling = MR_SUBSAMPLING_OTHER;
    mr_encoder *e;
    const void *out = NULL;
    size_t nbytes = 0;
    assert_int_equal(mr_encoder_new(NULL, &e), 0);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(mr_encoder_encode(e, &image, &bad[i], &out, &nbytes), MR_EARGUMENT);
        assert_true(strlen(mr_encoder_detail(e)) > 5);
    }
    assert_int_equal(mr_encoder_encode(NULL, &image, &good, &out, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_encoder_encode(e, NULL, &good, &out, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_encoder_encode(e, &nothing, &good, &out, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_encoder_encode(e, &image, NULL, &out, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_encoder_encode(e, &image, &good, NULL, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_encoder_encode(e, &image, &good, &out, NULL), MR_EARGUMENT);
    mr_encode_options silent = {.struct_size = sizeof silent, .form = MR_FORM_PNG};
    assert_int_equal(mr_encoder_encode(e, &image, &silent, &out, &nbytes), MR_EUNSUPPORTED);
    assert_string_equal(mr_encoder_detail(e), "mute can be decoded, but not encoded");
    assert_null(out);
    assert_int_equal(mr_encoder_encode(e, &image, &good, &out, &nbytes), 0);
    assert_string_equal(mr_encoder_detail(e), "");
    const uint8_t expected[FAKE_NBYTES] = {'F', 'A', 'K', 'E', 3, 2, 1, 8, 1, 90, 6};
    assert_int_equal(nbytes, sizeof expected);
    assert_memory_equal(out, expected, sizeof expected);
    mr_encoder_free(e);
}

static void limits_hold(void **state)
{
    (void)state;
    uint8_t pixels[6] = {0};
    const mr_image image = {3, 2, 1, 8, 3, pixels};
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_JPEG};
    mr_limits limits[] = {{.struct_size = sizeof *limits, .pixels = 5},
                          {.struct_size = sizeof *limits, .memory_nbytes = FAKE_NBYTES - 1}};
    for (size_t i = 0; i < 2; i++) {
        mr_encoder_options with = {.struct_size = sizeof with, .limits = &limits[i]};
        mr_encoder *e;
        const void *out;
        size_t nbytes;
        assert_int_equal(mr_encoder_new(&with, &e), 0);
        assert_int_equal(mr_encoder_encode(e, &image, &options, &out, &nbytes), MR_ELIMIT);
        mr_encoder_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked_and_filled_in),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
