// SPDX-License-Identifier: Apache-2.0
/* mr_encoder_recode and mr_decoder_verify over all forms: what goes along, what is refused. */
#include "test.h"

#include "check.h"
#include "form_file.h"
#include "jpeg_plain.h"

#include <stdlib.h>
#include <string.h>

static int recode(mr_encoder *with, const picture_file *file, const mr_encode_options *options, picture_file *out,
                  mr_recode_report *report)
{
    const void *bytes = NULL;
    size_t nbytes = 0;
    int result = mr_encoder_recode(with, file->bytes, file->nbytes, options, &bytes, &nbytes, report);
    if (result == 0) {
        assert_string_equal(mr_encoder_detail(with), "");
        *out = picture_copy(bytes, nbytes);
    } else {
        assert_string_not_equal(mr_encoder_detail(with), "");
        assert_null(bytes);
    }
    return result;
}

static const uint8_t profile[140] = {0, 0, 0, 140, 't', 'e', 's', 't', [16] = 'R', 'G', 'B', ' '};

static picture_file make(mr_form form, uint32_t channels, uint32_t depth, uint32_t orientation)
{
    mr_image image = picture_make(41, 23, channels, depth, 3);
    mr_encode_options options = {.struct_size = sizeof options, .form = form, .orientation = orientation};
    options.lossless = form == MR_FORM_WEBP;
    options.icc = profile;
    options.icc_nbytes = sizeof profile;
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    return file;
}

static const mr_form with_metadata[] = {MR_FORM_PNG, MR_FORM_WEBP, MR_FORM_RAW, MR_FORM_L3};

/* Pixels, orientation and profile go from each lossless form to each. */
static void everything_goes_along(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            picture_file from = make(with_metadata[i], 3, 8, 5), to = {0};
            mr_image pixels = picture_decode(from.bytes, from.nbytes, NULL);
            mr_encode_options options = {.struct_size = sizeof options, .form = with_metadata[j], .lossless = true};
            mr_recode_report report = {.struct_size = sizeof report};
            assert_int_equal(recode(encoder, &from, &options, &to, &report), 0);
            assert_true(!report.exact && !report.has_origin && report.origin_nbytes == 0);
            if (with_metadata[i] != MR_FORM_L3 || with_metadata[j] != MR_FORM_L3)
                assert_string_equal(report.why, "");
            check_decode(&to, NULL, &pixels, "recoded");
            check_metadata(&to, 5, profile, sizeof profile);
            mr_image_fini(&pixels, NULL);
            free(from.bytes);
            free(to.bytes);
        }
}

static void options_can_give_others(void **state)
{
    (void)state;
    picture_file from = make(MR_FORM_PNG, 3, 16, 5), to = {0};
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW, .orientation = 1};
    options.icc = "other";
    options.icc_nbytes = 5;
    assert_int_equal(recode(encoder, &from, &options, &to, NULL), 0);
    check_metadata(&to, 1, "other", 5);
    free(from.bytes);
    free(to.bytes);
}

/* A JPEG with a profile behind its first marker. */
static picture_file add_profile(picture_file plain)
{
    size_t segment = 2 + 2 + 14 + sizeof profile;
    picture_file file = {malloc(plain.nbytes + segment), plain.nbytes + segment};
    memcpy(file.bytes, plain.bytes, 2);
    memcpy(file.bytes + 2, (uint8_t[]){0xff, 0xe2, 0, 16 + sizeof profile}, 4);
    memcpy(file.bytes + 6, "ICC_PROFILE\0\1\1", 14);
    memcpy(file.bytes + 20, profile, sizeof profile);
    memcpy(file.bytes + 2 + segment, plain.bytes + 2, plain.nbytes - 2);
    free(plain.bytes);
    return file;
}

/* JPEG to L3 and back: the coefficients, the profile, and the very file. */
static void a_jpeg_comes_back(void **state)
{
    (void)state;
    picture_file from = add_profile(plain_encode(&(plain_recipe){.width = 90, .height = 70, .space = PLAIN_YCC}));
    picture_file l3 = {0}, back = {0}, turned = {0};
    mr_encode_options to_l3 = {.struct_size = sizeof to_l3, .form = MR_FORM_L3};
    mr_encode_options to_jpeg = {.struct_size = sizeof to_jpeg, .form = MR_FORM_JPEG};
    mr_recode_report report = {.struct_size = sizeof report};
    assert_int_equal(recode(encoder, &from, &to_l3, &l3, &report), 0);
    assert_true(report.exact && report.has_origin && report.origin_nbytes > 0 && report.origin_nbytes < l3.nbytes);
    assert_string_equal(report.why, "");
    check_metadata(&l3, 1, profile, sizeof profile);
    mr_info info = info_of(&l3);
    assert_true(info.has_origin && !info.lossless && info.tiles != 0 && info.extra_nbytes > report.origin_nbytes);
    assert_int_equal(recode(encoder, &l3, &to_jpeg, &back, &report), 0);
    assert_true(report.exact && report.has_origin);
    assert_int_equal(back.nbytes, from.nbytes);
    assert_memory_equal(back.bytes, from.bytes, from.nbytes);
    to_l3.orientation = 6;
    assert_int_equal(recode(encoder, &from, &to_l3, &turned, &report), 0);
    check_metadata(&turned, 6, profile, sizeof profile);
    free(back.bytes);
    to_jpeg.quality = 50;
    assert_int_equal(recode(encoder, &l3, &to_jpeg, &back, &report), 0);
    assert_true(!report.exact && !report.has_origin);
    assert_contains(report.why, "quality");
    free(from.bytes);
    free(l3.bytes);
    free(back.bytes);
    free(turned.bytes);
}

/* What has no DCT mode goes through pixels, and the report says why. */
static void what_is_no_jpeg_of_ours_goes_through_pixels(void **state)
{
    (void)state;
    const plain_recipe recipes[] = {{.width = 50, .height = 40, .space = PLAIN_CMYK},
                                    {.width = 50, .height = 40, .space = PLAIN_YCC, .arithmetic = true}};
    static const char *const words[] = {"CMYK", "rithmetic"};
    for (size_t i = 0; i < 2; i++) {
        picture_file from = add_profile(plain_encode(&recipes[i])), to = {0};
        mr_image pixels = picture_decode(from.bytes, from.nbytes, NULL);
        mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3};
        mr_recode_report report = {.struct_size = sizeof report};
        assert_int_equal(recode(encoder, &from, &options, &to, &report), 0);
        assert_true(!report.exact && !report.has_origin && report.origin_nbytes == 0);
        assert_contains(report.why, words[i]);
        check_decode(&to, NULL, &pixels, "through pixels");
        if (i == 0)
            check_metadata(&to, 1, NULL, 0);
        else
            check_metadata(&to, 1, profile, sizeof profile);
        mr_image_fini(&pixels, NULL);
        free(from.bytes);
        free(to.bytes);
    }
}

static void misuse_is_refused(void **state)
{
    (void)state;
    picture_file from = make(MR_FORM_PNG, 3, 8, 1), to = {0}, none = {0}, text = {(uint8_t *)"no image", 8};
    const mr_encode_options good = {.struct_size = sizeof good, .form = MR_FORM_RAW};
    mr_encode_options bad[5] = {good, good, good, good, good};
    const void *out = NULL;
    size_t nbytes = 0;
    bad[0].struct_size = 0;
    bad[1].form = (mr_form)99;
    bad[2].orientation = 9;
    bad[3].preset = (mr_l3_preset)3;
    bad[4].icc_nbytes = 1;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(recode(encoder, &from, &bad[i], &to, NULL), MR_EARGUMENT);
    assert_int_equal(recode(encoder, &from, NULL, &to, NULL), MR_EARGUMENT);
    assert_int_equal(recode(encoder, &none, &good, &to, NULL), MR_EFORMAT);
    assert_int_equal(recode(encoder, &text, &good, &to, NULL), MR_EFORMAT);
    assert_int_equal(mr_encoder_recode(NULL, from.bytes, from.nbytes, &good, &out, &nbytes, NULL), MR_EARGUMENT);
    assert_int_equal(mr_encoder_recode(encoder, NULL, 5, &good, &out, &nbytes, NULL), MR_EARGUMENT);
    assert_int_equal(mr_encoder_recode(encoder, from.bytes, from.nbytes, &good, NULL, &nbytes, NULL), MR_EARGUMENT);
    assert_int_equal(mr_encoder_recode(encoder, from.bytes, from.nbytes, &good, &out, NULL, NULL), MR_EARGUMENT);
    mr_recode_report report = {.struct_size = 0};
    assert_int_equal(recode(encoder, &from, &good, &to, &report), MR_EARGUMENT);
    assert_contains(mr_encoder_detail(encoder), "report: struct_size");
    free(from.bytes);
}

static void what_the_new_form_lacks_is_refused(void **state)
{
    (void)state;
    picture_file from = make(MR_FORM_PNG, 4, 16, 1), to = {0};
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_JPEG};
    assert_int_equal(recode(encoder, &from, &options, &to, NULL), MR_EUNSUPPORTED);
    free(from.bytes);
}

static void limits_hold(void **state)
{
    (void)state;
    picture_file from = make(MR_FORM_PNG, 3, 8, 1), to = {0};
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    const mr_limits all[] = {{.pixels = 41 * 23 - 1}, {.nbytes = from.nbytes - 1}, {.memory_nbytes = 2000}};
    for (size_t i = 0; i < 3; i++) {
        mr_limits limits = all[i];
        limits.struct_size = sizeof limits;
        mr_encoder *small = handles_encoder(NULL, &limits);
        assert_int_equal(recode(small, &from, &options, &to, NULL), MR_ELIMIT);
        mr_encoder_free(small);
    }
    free(from.bytes);
}

/* A cut or changed file is an error, whatever it would become. */
static void damage_is_an_error(void **state)
{
    (void)state;
    picture_file from = make(MR_FORM_PNG, 3, 8, 1), to = {0};
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    from.bytes[from.nbytes / 2] ^= 1;
    assert_int_equal(recode(encoder, &from, &options, &to, NULL), MR_ECORRUPT);
    from.bytes[from.nbytes / 2] ^= 1;
    from.nbytes -= 20;
    assert_int_equal(recode(encoder, &from, &options, &to, NULL), MR_ETRUNCATED);
    free(from.bytes);
}

static void every_form_can_be_verified(void **state)
{
    (void)state;
    for (size_t i = 0; i < form_file_count(); i++) {
        mr_form form;
        picture_file file = form_file_make(i, &form);
        assert_int_equal(mr_decoder_verify(decoder, file.bytes, file.nbytes), 0);
        assert_string_equal(mr_decoder_detail(decoder), "");
        assert_int_not_equal(mr_decoder_verify(decoder, file.bytes, file.nbytes / 2), 0);
        assert_string_not_equal(mr_decoder_detail(decoder), "");
        free(file.bytes);
    }
    assert_int_equal(mr_decoder_verify(NULL, "P5", 2), MR_EARGUMENT);
    assert_int_equal(mr_decoder_verify(decoder, NULL, 2), MR_EARGUMENT);
    assert_int_equal(mr_decoder_verify(decoder, "", 0), MR_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_goes_along),
        cmocka_unit_test(options_can_give_others),
        cmocka_unit_test(a_jpeg_comes_back),
        cmocka_unit_test(what_is_no_jpeg_of_ours_goes_through_pixels),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(what_the_new_form_lacks_is_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(every_form_can_be_verified),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
