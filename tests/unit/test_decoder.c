// SPDX-License-Identifier: Apache-2.0
/* The decoder's handle, over a codec made up for it. */
#include "test.h"

#include "failing.h"
#include "fake_codec.h"
#include "picture.h"
#include "reference.h"

#include <millrace/millrace.h>
#include <string.h>

static mr_decoder *new_decoder(const mr_limits *limits)
{
    mr_decoder *decoder;
    mr_decoder_options options = {.struct_size = sizeof options, .limits = limits};
    assert_int_equal(mr_decoder_new(&options, &decoder), 0);
    return decoder;
}

static void options_are_checked(void **state)
{
    (void)state;
    mr_decoder *decoder = NULL;
    mr_encoder *encoder = NULL;
    mr_hooks half = {.struct_size = sizeof half, .alloc = failing_hooks().alloc};
    mr_limits no_size = {.pixels = 1};
    const mr_decoder_options bad[] = {
        {0},
        {.struct_size = 4},
        {.struct_size = SIZE_MAX},
        {.struct_size = sizeof *bad, .hooks = &half},
        {.struct_size = sizeof *bad, .limits = &no_size},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mr_encoder_options same = {bad[i].struct_size, bad[i].hooks, bad[i].limits};
        if (same.struct_size == sizeof *bad)
            same.struct_size = sizeof same;
        assert_int_equal(mr_decoder_new(&bad[i], &decoder), MR_EARGUMENT);
        assert_int_equal(mr_encoder_new(&same, &encoder), MR_EARGUMENT);
    }
    assert_int_equal(mr_decoder_new(NULL, NULL), MR_EARGUMENT);
    assert_int_equal(mr_encoder_new(NULL, NULL), MR_EARGUMENT);
    assert_null(decoder);
    assert_null(encoder);
}

static void null_is_an_error_not_a_crash(void **state)
{
    (void)state;
    stored s = make(3, 2, 1, 8, 1, GOOD);
    mr_decoder *d = new_decoder(NULL);
    mr_image image;
    mr_info info = {.struct_size = sizeof info};
    const void *out;
    size_t nbytes;
    assert_int_equal(mr_decoder_info(NULL, &s, sizeof s, &info), MR_EARGUMENT);
    assert_int_equal(mr_decoder_shape(NULL, &s, sizeof s, NULL, &image), MR_EARGUMENT);
    assert_int_equal(mr_decoder_decode(NULL, &s, sizeof s, NULL, &image), MR_EARGUMENT);
    assert_int_equal(mr_decoder_decode_into(NULL, &s, sizeof s, NULL, &image), MR_EARGUMENT);
    assert_int_equal(mr_decoder_icc(NULL, &s, sizeof s, &out, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_decoder_info(d, &s, sizeof s, NULL), MR_EARGUMENT);
    assert_string_equal(mr_decoder_detail(d), "info is NULL");
    assert_int_equal(mr_decoder_shape(d, &s, sizeof s, NULL, NULL), MR_EARGUMENT);
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, NULL, NULL), MR_EARGUMENT);
    assert_int_equal(mr_decoder_decode_into(d, &s, sizeof s, NULL, NULL), MR_EARGUMENT);
    assert_int_equal(mr_decoder_icc(d, &s, sizeof s, NULL, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_decoder_icc(d, &s, sizeof s, &out, NULL), MR_EARGUMENT);
    assert_int_equal(mr_decoder_info(d, NULL, 5, &info), MR_EARGUMENT);
    assert_string_equal(mr_decoder_detail(d), "bytes is NULL");
    assert_int_equal(mr_decoder_info(d, NULL, 0, &info), MR_EFORMAT);
    assert_string_equal(mr_decoder_detail(NULL), "");
    assert_string_equal(mr_encoder_detail(NULL), "");
    assert_int_equal(mr_decoder_warnings(NULL), 0);
    mr_decoder_trim(NULL);
    mr_decoder_free(NULL);
    mr_encoder_free(NULL);
    mr_decoder_free(d);
}

static void info_fits_older_and_newer_programs(void **state)
{
    (void)state;
    stored s = make(3, 2, 1, 16, 6, GOOD);
    mr_decoder *d = new_decoder(NULL);
    struct {
        mr_info info;
        uint64_t more;
    } newer = {.info = {.struct_size = sizeof newer}, .more = 77};
    mr_info older = {.struct_size = offsetof(mr_info, channels), .channels = 99}, unset = {0};
    assert_int_equal(mr_decoder_info(d, &s, sizeof s, &newer.info), 0);
    assert_int_equal(newer.info.struct_size, sizeof newer);
    assert_int_equal(newer.info.form, MR_FORM_JPEG);
    assert_int_equal(newer.info.width, 3);
    assert_int_equal(newer.info.depth, 16);
    assert_int_equal(newer.info.orientation, 6);
    assert_int_equal(newer.info.frames, 1);
    assert_int_equal(newer.more, 0);
    assert_int_equal(mr_decoder_info(d, &s, sizeof s, &older), 0);
    assert_int_equal(older.height, 2);
    assert_int_equal(older.channels, 99);
    assert_int_equal(mr_decoder_info(d, &s, sizeof s, &unset), MR_EARGUMENT);
    assert_contains(mr_decoder_detail(d), "struct_size");
    mr_decoder_free(d);
}

/* The whole stored image, laid out in memory. */
static mr_image lay_out(const stored *s)
{
    mr_image image;
    assert_int_equal(
        mr_image_init(&image, s->bytes[WIDTH], s->bytes[HEIGHT], s->bytes[CHANNELS], s->bytes[DEPTH], NULL), 0);
    size_t size = mr_image_pixel_nbytes(&image);
    for (uint32_t y = 0; y < image.height; y++)
        for (size_t i = 0; i < image.width * size; i++)
            ((uint8_t *)image.pixels)[y * image.width * size + i] = byte_at((uint32_t)(i / size), y, i % size);
    return image;
}

/* One decode in all three ways: what the decoder keeps, into given memory, and the shape alone. */
static void check_decode(mr_decoder *d, const stored *s, const mr_decode_hints *hints)
{
    mr_image whole = lay_out(s), expected, got, shape;
    reference_decode(&whole, s->bytes[ORIENTATION], hints, &expected);
    assert_int_equal(mr_decoder_shape(d, s, sizeof *s, hints, &shape), 0);
    assert_true(shape.width == expected.width && shape.height == expected.height);
    assert_true(shape.channels == expected.channels && shape.depth == expected.depth && shape.pixels == NULL);
    assert_int_equal(shape.stride, expected.stride);
    assert_int_equal(mr_decoder_decode(d, s, sizeof *s, hints, &got), 0);
    assert_string_equal(mr_decoder_detail(d), "");
    picture_compare(&got, &expected, "decode");
    static _Alignas(2) uint8_t memory[64 * 512];
    mr_image into = expected;
    into.stride = -512;
    into.pixels = memory + (into.height - 1) * 512;
    assert_int_equal(mr_decoder_decode_into(d, s, sizeof *s, hints, &into), 0);
    picture_compare(&into, &expected, "decode into");
    mr_image_fini(&whole, NULL);
    mr_image_fini(&expected, NULL);
}

static void every_combination_of_hints(void **state)
{
    (void)state;
    mr_decoder *d = new_decoder(NULL);
    for (uint8_t orientation = 1; orientation <= 8; orientation++)
        for (int form = 0; form < 8; form++) {
            stored s = make(21, 18, (uint8_t)(form % 4 + 1), form < 4 ? 8 : 16, orientation, GOOD);
            for (uint32_t channels = 0; channels <= 4; channels++)
                for (int pick = 0; pick < 12; pick++) {
                    mr_decode_hints hints = {.struct_size = sizeof hints,
                                             .reduce = pick % 4 == 3 ? 8 : (uint32_t)(pick % 4) * 2,
                                             .channels = channels,
                                             .depth = (uint32_t)pick / 4 * 8,
                                             .orient = pick % 3 != 0};
                    if (pick % 2)
                        hints.region = (mr_rect){1, 1, 2, 1};
                    check_decode(d, &s, &hints);
                }
        }
    mr_decoder_free(d);
}

static void hints_and_targets_are_checked(void **state)
{
    (void)state;
    stored s = make(3, 2, 1, 8, 1, GOOD);
    mr_decoder *d = new_decoder(NULL);
    mr_image got = {.width = 99};
    mr_decode_hints unset = {.reduce = 2};
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, &unset, &got), MR_EARGUMENT);
    assert_contains(mr_decoder_detail(d), "struct_size");
    uint8_t memory[64];
    const mr_image wrong[] = {{2, 2, 1, 8, 3, memory},  {3, 3, 1, 8, 3, memory}, {3, 2, 2, 8, 8, memory},
                              {3, 2, 1, 16, 8, memory}, {3, 2, 1, 8, 2, memory}, {3, 2, 1, 8, 3, NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mr_decoder_decode_into(d, &s, sizeof s, NULL, &wrong[i]), MR_EARGUMENT);
        assert_string_equal(mr_decoder_detail(d), "the target is not 3 x 2 with 1 channels of 8 bits");
    }
    assert_int_equal(got.width, 99);
    mr_decoder_free(d);
}

static void failures_have_a_detail_and_warnings_are_counted(void **state)
{
    (void)state;
    static const struct {
        enum mode mode;
        int info, decode;
        const char *word;
    } cases[] = {
        {BAD_HEADER, MR_ECORRUPT, MR_ECORRUPT, "bad header at byte 10"},
        {BAD_PIXELS, 0, MR_ECORRUPT, "bad pixels at byte 11"},
        {IMPOSSIBLE, MR_EINTERNAL, MR_EINTERNAL, "fake codec read a header that cannot be"},
        {HUGE_SIDE, 0, MR_ELIMIT, "fake of 2147483648 x 2: a side"},
        {ODD, 0, 0, ""},
    };
    mr_decoder *d = new_decoder(&(mr_limits){.struct_size = sizeof(mr_limits), .pixels = UINT64_MAX});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stored s = make(3, 2, 1, 8, 1, cases[i].mode);
        mr_info info = {.struct_size = sizeof info};
        mr_image image = {.width = 99};
        assert_int_equal(mr_decoder_info(d, &s, sizeof s, &info), cases[i].info);
        assert_int_equal(mr_decoder_decode(d, &s, sizeof s, NULL, &image), cases[i].decode);
        assert_contains(mr_decoder_detail(d), cases[i].word);
        assert_int_equal(mr_decoder_warnings(d), cases[i].mode == ODD ? 2 : 0);
        assert_int_equal(image.width, cases[i].decode == 0 ? 3 : 99);
    }
    stored s = make(3, 2, 1, 8, 1, BAD_PIXELS);
    mr_image image;
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, &accept, &image), 0);
    assert_int_equal(mr_decoder_warnings(d), 2);
    assert_int_equal(mr_decoder_decode(d, &s, 7, NULL, &image), MR_ETRUNCATED);
    assert_string_equal(mr_decoder_detail(d), "truncated FAKE: the header ends at byte 7");
    assert_int_equal(mr_decoder_warnings(d), 0);
    assert_int_equal(mr_decoder_decode(d, "GARBAGE", 7, NULL, &image), MR_EFORMAT);
    s.bytes[MODE] = GOOD;
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, NULL, &image), 0);
    assert_string_equal(mr_decoder_detail(d), "");
    mr_decoder_free(d);
}

static void a_state_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    mr_decoder *d = new_decoder(NULL);
    stored bad = make(3, 2, 1, 8, 1, BAD_STATE), good = make(3, 2, 1, 8, 1, GOOD);
    mr_image image;
    assert_int_equal(mr_decoder_decode(d, &bad, sizeof bad, NULL, &image), MR_ESYSTEM);
    assert_int_equal(mr_decoder_decode(d, &good, sizeof good, NULL, &image), 0); // made anew
    mr_decoder_free(d);
}

static void limits_hold_before_memory_is_taken(void **state)
{
    (void)state;
    enum { STATE = sizeof(fake_state) + 100 }; // what the codec keeps counts as well
    static const struct {
        mr_limits limits;
        enum mode mode;
        const char *word; /* NULL: within them */
    } cases[] = {
        {{.pixels = 299}, GOOD, "fake of 20 x 15: more than 299 pixels"},
        {{.pixels = 300}, GOOD, NULL},
        {{.nbytes = FAKE_NBYTES - 1}, GOOD, "11 bytes of data: more than 10"},
        {{.nbytes = FAKE_NBYTES}, GOOD, NULL},
        {{.memory_nbytes = 899}, GOOD, "more than 899 bytes of memory"}, // the pixels alone
        {{.memory_nbytes = STATE + 899}, GOOD, "bytes of memory"},       // with the codec's own
        {{.memory_nbytes = STATE + 900}, GOOD, NULL},
        {{.memory_nbytes = 5000}, HUNGRY, "more than 5000 bytes of memory"},
        {{.pixels = UINT64_MAX, .nbytes = UINT64_MAX, .memory_nbytes = UINT64_MAX}, HUNGRY, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_limits limits = cases[i].limits;
        limits.struct_size = sizeof limits;
        mr_hooks hooks = failing_hooks();
        mr_decoder_options options = {.struct_size = sizeof options, .hooks = &hooks, .limits = &limits};
        mr_decoder *d;
        failing_begin(0, false);
        assert_int_equal(mr_decoder_new(&options, &d), 0);
        size_t before = failing_now().live_nbytes;
        stored s = make(20, 15, 3, 8, 1, cases[i].mode);
        mr_image image;
        int result = mr_decoder_decode(d, &s, sizeof s, NULL, &image);
        assert_int_equal(result, cases[i].word != NULL ? MR_ELIMIT : 0);
        if (cases[i].word != NULL)
            assert_contains(mr_decoder_detail(d), cases[i].word);
        if (limits.memory_nbytes != 0 && limits.memory_nbytes != UINT64_MAX) // and a head before each of three blocks
            assert_true(failing_now().peak_nbytes <= before + limits.memory_nbytes + 3 * MR__ALIGN);
        mr_decoder_free(d);
        assert_int_equal(failing_end().live_blocks, 0);
    }
}

/* What earlier images left is no reason to refuse one that fits the limit, nor to exceed it. */
static void kept_memory_gives_way(void **state)
{
    (void)state;
    enum { LIMIT = sizeof(fake_state) + 100 + 1800 };
    mr_hooks hooks = failing_hooks();
    mr_limits limits = {.struct_size = sizeof limits, .memory_nbytes = LIMIT};
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = &hooks, .limits = &limits};
    mr_decode_hints turned = {.struct_size = sizeof turned, .orient = true};
    stored first = make(20, 15, 3, 8, 6, GOOD), second = make(30, 20, 3, 8, 1, GOOD); // 2 x 900, then 1800
    mr_decoder *d;
    mr_image image;
    failing_begin(0, false);
    assert_int_equal(mr_decoder_new(&options, &d), 0);
    size_t before = failing_now().live_nbytes;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mr_decoder_decode(d, &first, sizeof first, &turned, &image), 0);
        assert_int_equal(mr_decoder_decode(d, &second, sizeof second, NULL, &image), 0);
        assert_string_equal(mr_decoder_detail(d), "");
    }
    assert_true(failing_now().peak_nbytes <= before + LIMIT + 4 * MR__ALIGN);
    mr_decoder_free(d);
    assert_int_equal(failing_end().live_blocks, 0);
}

static void the_second_decode_allocates_nothing(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = &hooks};
    mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = 2, .channels = 1, .depth = 16, .orient = true};
    stored s = make(20, 15, 3, 8, 6, GOOD);
    mr_decoder *d;
    mr_image first, second;
    failing_begin(0, false);
    assert_int_equal(mr_decoder_new(&options, &d), 0);
    size_t empty = failing_now().live_blocks;
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, &hints, &first), 0);
    size_t attempts = failing_now().attempts;
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, &hints, &second), 0);
    assert_int_equal(failing_now().attempts, attempts);
    assert_ptr_equal(first.pixels, second.pixels);
    mr_decoder_trim(d);
    assert_int_equal(failing_now().live_blocks, empty);
    assert_int_equal(mr_decoder_decode(d, &s, sizeof s, &hints, &second), 0); // it can be used on
    mr_decoder_free(d);
    assert_int_equal(failing_end().live_blocks, 0);
}

static void the_profile_is_given(void **state)
{
    (void)state;
    mr_decoder *d = new_decoder(NULL);
    stored s = make(3, 2, 1, 8, 1, GOOD);
    const void *icc = &s;
    size_t nbytes = 99;
    assert_int_equal(mr_decoder_icc(d, &s, sizeof s, &icc, &nbytes), 0);
    assert_null(icc);
    assert_int_equal(nbytes, 0);
    s.bytes[ICC] = 40;
    assert_int_equal(mr_decoder_icc(d, &s, sizeof s, &icc, &nbytes), 0);
    assert_int_equal(nbytes, 40);
    assert_int_equal(((const uint8_t *)icc)[39], 0x1c);
    mr_decoder_free(d);
}

/* Every call on one decoder and one encoder; what fails once has to work when asked again. */
static int use_everything(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    stored s = make(20, 15, 3, 8, 6, GOOD);
    s.bytes[ICC] = 9;
    mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = 2, .channels = 1, .orient = true};
    mr_decoder_options decoder_options = {.struct_size = sizeof decoder_options, .hooks = hooks};
    mr_encoder_options encoder_options = {.struct_size = sizeof encoder_options, .hooks = hooks};
    mr_encode_options encode_options = {.struct_size = sizeof encode_options, .form = MR_FORM_JPEG};
    mr_decoder *d = NULL;
    mr_encoder *e = NULL;
    mr_image image;
    mr_info info = {.struct_size = sizeof info};
    const void *out;
    size_t nbytes;
    int result = mr_decoder_new(&decoder_options, &d);
    if (result == 0)
        result = mr_encoder_new(&encoder_options, &e);
    if (result == 0)
        result = mr_decoder_info(d, &s, sizeof s, &info);
    if (result == 0)
        result = mr_decoder_decode(d, &s, sizeof s, &hints, &image);
    if (result == 0)
        result = mr_decoder_icc(d, &s, sizeof s, &out, &nbytes);
    if (result == 0)
        result = mr_encoder_encode(e, &image, &encode_options, &out, &nbytes);
    if (result != 0 && d != NULL && e != NULL) {
        assert_true(mr_decoder_detail(d)[0] != '\0' || mr_encoder_detail(e)[0] != '\0');
        int again = mr_decoder_decode(d, &s, sizeof s, &hints, &image);
        assert_true(again == 0 || again == MR_ENOMEM);
    }
    mr_decoder_free(d);
    mr_encoder_free(e);
    return result;
}

static void every_allocation_can_fail(void **state)
{
    (void)state;
    failing_run(use_everything, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(null_is_an_error_not_a_crash),
        cmocka_unit_test(info_fits_older_and_newer_programs),
        cmocka_unit_test(every_combination_of_hints),
        cmocka_unit_test(hints_and_targets_are_checked),
        cmocka_unit_test(failures_have_a_detail_and_warnings_are_counted),
        cmocka_unit_test(a_state_that_cannot_be_made_is_told),
        cmocka_unit_test(limits_hold_before_memory_is_taken),
        cmocka_unit_test(kept_memory_gives_way),
        cmocka_unit_test(the_second_decode_allocates_nothing),
        cmocka_unit_test(the_profile_is_given),
        cmocka_unit_test(every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
