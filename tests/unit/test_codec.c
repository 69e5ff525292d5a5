// SPDX-License-Identifier: Apache-2.0
/* What holds for every form alike, through public calls alone. */
#include "test.h"

#include "check.h"
#include "failing.h"
#include "form_file.h"

#include <stdlib.h>
#include <string.h>

static mr_decoder *other;

static int make_decoders(void **state)
{
    return handles_setup(state) != 0 || mr_decoder_new(NULL, &other) != 0;
}

static int free_decoders(void **state)
{
    mr_decoder_free(other);
    return handles_teardown(state);
}

/* Calls `each` with every file. */
static void each_file(void (*each)(mr_form form, const picture_file *file))
{
    for (size_t i = 0; i < form_file_count(); i++) {
        mr_form form;
        picture_file file = form_file_make(i, &form);
        each(form, &file);
        free(file.bytes);
    }
}

static void check_probe(mr_form form, const picture_file *file)
{
    assert_int_equal(mr_form_probe(file->bytes, file->nbytes), form);
    assert_int_equal(mr_form_probe(file->bytes, 32), form);
    assert_int_equal(mr_form_probe(file->bytes, 0), MR_FORM_NONE);
    assert_int_equal(mr_form_from_name(mr_form_name(form)), form);
    mr_info info = info_of(file);
    assert_int_equal(info.form, form);
    assert_int_equal(info.width, 21);
    assert_int_equal(info.height, 13);
}

static void content_tells_the_form(void **state)
{
    (void)state;
    each_file(check_probe);
}

/* A decode has the shape that was foretold, and is the part of the turned whole that was asked for. */
static void check_hints(const picture_file *file, const mr_decode_hints *hints, const mr_image *turned)
{
    mr_image shape, out, view = *turned;
    if (hints->region.width != 0)
        assert_int_equal(mr_image_crop(turned, hints->region, &view), 0);
    assert_int_equal(mr_decoder_shape(decoder, file->bytes, file->nbytes, hints, &shape), 0);
    assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, hints, &out), 0);
    picture_compare(&out, &view, "decode");
    assert_int_equal(shape.width, out.width);
    assert_int_equal(shape.height, out.height);
    assert_int_equal(shape.channels, out.channels);
    assert_int_equal(shape.depth, out.depth);
    assert_int_equal(shape.stride, out.stride);
    assert_null(shape.pixels);
    mr_image kept;
    assert_int_equal(mr_image_init(&kept, out.width, out.height, out.channels, out.depth, NULL), 0);
    assert_int_equal(mr_image_copy(&out, &kept), 0);
    check_target(file, hints, &kept);
    mr_image_fini(&kept, NULL);
}

/* Regions of one image: all, a middle part, each corner's pixel. */
static void check_regions(const picture_file *file, mr_decode_hints hints, const mr_image *turned)
{
    uint32_t w = turned->width, h = turned->height;
    mr_rect regions[] = {{0}, {w / 3, h / 4, w - w / 2, h - h / 2}, {0, h - 1, 1, 1}, {w - 1, 0, 1, 1}};
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        hints.region = regions[i];
        check_hints(file, &hints, turned);
    }
}

/* The reference is the form's own decode without region and orientation, turned and cut by the functions on images. */
static void check_combination(const picture_file *file, uint32_t orientation, mr_decode_hints hints)
{
    mr_image plain, turned;
    assert_int_equal(mr_decoder_decode(other, file->bytes, file->nbytes, &hints, &plain), 0);
    check_regions(file, hints, &plain);
    bool turns = orientation >= 5;
    assert_int_equal(mr_image_init(&turned, turns ? plain.height : plain.width, turns ? plain.width : plain.height,
                                   plain.channels, plain.depth, NULL),
                     0);
    assert_int_equal(mr_image_orient(&plain, orientation, &turned), 0);
    hints.orient = true;
    check_regions(file, hints, &turned);
    mr_image_fini(&turned, NULL);
}

static void check_combinations(mr_form form, const picture_file *file)
{
    (void)form;
    mr_info info = {.struct_size = sizeof info};
    assert_int_equal(mr_decoder_info(decoder, file->bytes, file->nbytes, &info), 0);
    for (uint32_t reduce = 1; reduce <= 8; reduce *= 2)
        for (uint32_t channels = 0; channels <= 4; channels++)
            for (uint32_t depth = 0; depth <= 16; depth += 8) {
                mr_decode_hints hints = {
                    .struct_size = sizeof hints, .reduce = reduce, .channels = channels, .depth = depth};
                check_combination(file, info.orientation, hints);
            }
}

static void every_combination_of_hints(void **state)
{
    (void)state;
    each_file(check_combinations);
}

static void check_bad_hints(mr_form form, const picture_file *file)
{
    (void)form;
    const mr_decode_hints bad[] = {
        {.struct_size = 0},
        {.struct_size = sizeof bad[0], .reduce = 3},
        {.struct_size = sizeof bad[0], .reduce = 16},
        {.struct_size = sizeof bad[0], .channels = 5},
        {.struct_size = sizeof bad[0], .depth = 12},
        {.struct_size = sizeof bad[0], .region = {0, 0, 22, 1}},
        {.struct_size = sizeof bad[0], .region = {21, 0, 1, 1}},
        {.struct_size = sizeof bad[0], .region = {1, 1, 0, 1}},
        {.struct_size = sizeof bad[0], .region = {UINT32_MAX, 0, 2, 1}},
        {.struct_size = sizeof bad[0], .region = {0, 0, 12, 1}, .reduce = 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mr_image out = {.stride = 77}, kept = out;
        assert_int_equal(mr_decoder_shape(decoder, file->bytes, file->nbytes, &bad[i], &out), MR_EARGUMENT);
        assert_true(mr_decoder_detail(decoder)[0] != '\0');
        assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, &bad[i], &out), MR_EARGUMENT);
        assert_true(mr_decoder_detail(decoder)[0] != '\0');
        assert_memory_equal(&out, &kept, sizeof out);
        assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, NULL, &out), 0);
        assert_string_equal(mr_decoder_detail(decoder), "");
    }
}

static void hints_without_sense_are_refused_with_a_word(void **state)
{
    (void)state;
    each_file(check_bad_hints);
}

/* A file cut in its header: every call fails with a word, and writes nothing. */
static void check_outputs(mr_form form, const picture_file *file)
{
    (void)form;
    picture_file cut = picture_copy(file->bytes, 10);
    mr_info info, info_before;
    mr_image image, image_before;
    const void *icc = &info, *icc_before = icc;
    size_t nbytes = 77;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = sizeof info;
    memset(&image, 0x5a, sizeof image);
    info_before = info;
    image_before = image;
    assert_true(mr_decoder_info(decoder, cut.bytes, cut.nbytes, &info) < 0);
    assert_true(mr_decoder_shape(decoder, cut.bytes, cut.nbytes, NULL, &image) < 0);
    assert_true(mr_decoder_decode(decoder, cut.bytes, cut.nbytes, NULL, &image) < 0);
    assert_true(mr_decoder_icc(decoder, cut.bytes, cut.nbytes, &icc, &nbytes) < 0);
    assert_true(mr_decoder_detail(decoder)[0] != '\0');
    assert_memory_equal(&info, &info_before, sizeof info);
    assert_memory_equal(&image, &image_before, sizeof image);
    assert_ptr_equal(icc, icc_before);
    assert_int_equal(nbytes, 77);
    free(cut.bytes);
}

static void a_failure_writes_nothing(void **state)
{
    (void)state;
    each_file(check_outputs);
}

/* An enormous header costs an error: no memory but the handle's and the codec's state, and none the second time. */
static void check_huge(mr_form form)
{
    picture_file file = form_file_huge(form);
    if (file.bytes == NULL)
        return;
    mr_hooks hooks = failing_hooks();
    mr_image out;
    failing_begin(0, false);
    mr_decoder *own = handles_decoder(&hooks, NULL);
    int first = mr_decoder_decode(own, file.bytes, file.nbytes, NULL, &out);
    failing_counts between = failing_now();
    int second = mr_decoder_decode(own, file.bytes, file.nbytes, NULL, &out);
    failing_counts after = failing_now();
    assert_int_equal(mr_decoder_shape(own, file.bytes, file.nbytes, NULL, &out), MR_ELIMIT);
    assert_contains(mr_decoder_detail(own), "limits.pixels");
    mr_decoder_free(own);
    failing_end();
    assert_int_equal(first, MR_ELIMIT);
    assert_int_equal(second, MR_ELIMIT);
    assert_true(between.peak_nbytes < 100 << 10);
    assert_int_equal(after.attempts, between.attempts);
    mr_info info = info_of(&file);
    assert_true((uint64_t)info.width * info.height > UINT64_C(1) << 31);
    free(file.bytes);
}

static void an_enormous_header_costs_nothing(void **state)
{
    (void)state;
    for (int form = MR_FORM_NONE + 1; form <= MR_FORM_L3; form++)
        check_huge((mr_form)form);
}

/* Limits on the stored bytes and on memory hold for every form, and are named. */
static void check_limits(mr_form form, const picture_file *file)
{
    (void)form;
    const mr_limits cases[] = {{.nbytes = file->nbytes - 1}, {.pixels = 21 * 13 - 1}, {.memory_nbytes = 21 * 13 - 1}};
    static const char *const names[] = {"limits.nbytes", "limits.pixels", "limits.memory_nbytes"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_decoder *own = handles_decoder(NULL, &cases[i]);
        assert_int_equal(picture_try(own, file->bytes, file->nbytes, NULL), MR_ELIMIT);
        assert_contains(mr_decoder_detail(own), names[i]);
        mr_decoder_free(own);
    }
}

static void limits_hold_and_are_named(void **state)
{
    (void)state;
    each_file(check_limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_tells_the_form),
        cmocka_unit_test(every_combination_of_hints),
        cmocka_unit_test(hints_without_sense_are_refused_with_a_word),
        cmocka_unit_test(a_failure_writes_nothing),
        cmocka_unit_test(an_enormous_header_costs_nothing),
        cmocka_unit_test(limits_hold_and_are_named),
    };
    return cmocka_run_group_tests(tests, make_decoders, free_decoders);
}
