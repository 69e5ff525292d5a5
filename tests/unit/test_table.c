// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "codec/codec.h"

#include <ctype.h>
#include <millrace/millrace.h>
#include <string.h>

static void every_codec_is_whole(void **state)
{
    (void)state;
    assert_in_range(mr__codec_count, 1, MR__CODEC_MAX);
    for (size_t i = 0; i < mr__codec_count; i++) {
        const mr__codec *c = mr__codecs[i];
        assert_true(c->form != MR_FORM_NONE && c->name != NULL && c->endings != NULL && c->probe != NULL);
        assert_ptr_equal(mr__codec_of_form(c->form), c);
        assert_string_equal(mr_form_name(c->form), c->name);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(c->name, mr__codecs[j]->name);
    }
}

static void names_and_endings_lead_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr__codec_count; i++) {
        const mr__codec *c = mr__codecs[i];
        assert_int_equal(mr_form_from_name(c->name), c->form);
        char list[128];
        assert_true(strlen(c->endings) < sizeof list);
        memcpy(list, c->endings, strlen(c->endings) + 1);
        assert_true(list[0] != '\0');
        for (char *rest = NULL, *word = strtok_r(list, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
            assert_int_equal(mr_form_from_name(word), c->form);
            for (char *p = word; *p != '\0'; p++)
                *p = (char)toupper((unsigned char)*p);
            assert_int_equal(mr_form_from_name(word), c->form);
        }
    }
    assert_int_equal(mr_form_from_name("JPEG"), MR_FORM_JPEG);
}

static void what_has_no_form(void **state)
{
    (void)state;
    static const char *const unknown[] = {"", " ", ".png", "pn", "pngs", "jpg jpeg", "none", "txt"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(mr_form_from_name(unknown[i]), MR_FORM_NONE);
    assert_int_equal(mr_form_from_name(NULL), MR_FORM_NONE);
    assert_string_equal(mr_form_name(MR_FORM_NONE), "none");
    assert_string_equal(mr_form_name((mr_form)1000), "none");
    assert_int_equal(mr_form_probe(NULL, 0), MR_FORM_NONE);
    assert_int_equal(mr_form_probe("", 0), MR_FORM_NONE);
    assert_int_equal(mr_form_probe("Once upon a time there was no image", 35), MR_FORM_NONE);
}

static void names_of_colors_and_subsamplings(void **state)
{
    (void)state;
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_NONE), "none");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_444), "4:4:4");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_422), "4:2:2");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_420), "4:2:0");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_440), "4:4:0");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_411), "4:1:1");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_410), "4:1:0");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_441), "4:4:1");
    assert_string_equal(mr_subsampling_name(MR_SUBSAMPLING_OTHER), "other");
    assert_string_equal(mr_subsampling_name((mr_subsampling)-1), "other");
    assert_string_equal(mr_subsampling_name((mr_subsampling)99), "other");
    assert_string_equal(mr_color_name(MR_COLOR_GRAY), "gray");
    assert_string_equal(mr_color_name(MR_COLOR_RGB), "rgb");
    assert_string_equal(mr_color_name(MR_COLOR_YCBCR), "ycbcr");
    assert_string_equal(mr_color_name(MR_COLOR_CMYK), "cmyk");
    assert_string_equal(mr_color_name(MR_COLOR_YCCK), "ycck");
    assert_string_equal(mr_color_name(MR_COLOR_PALETTE), "palette");
    assert_string_equal(mr_color_name((mr_color)0), "none");
    assert_string_equal(mr_color_name((mr_color)99), "none");
}

static void the_version_is_the_headers(void **state)
{
    (void)state;
    assert_int_equal(mr_version(), MR_VERSION);
    assert_non_null(strchr(mr_version_text(), '.'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_is_whole),       cmocka_unit_test(names_and_endings_lead_back),
        cmocka_unit_test(what_has_no_form),           cmocka_unit_test(names_of_colors_and_subsamplings),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
