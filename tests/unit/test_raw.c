// SPDX-License-Identifier: Apache-2.0
/* The raw form, against doc/format-raw.md. */
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "check.h"
#include "codec/view.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 64 };

static const mr_encode_options raw = {.struct_size = sizeof raw, .form = MR_FORM_RAW};

static void every_shape_comes_back(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 40; side += side < 4 ? 1 : 6)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint32_t depth = 8; depth <= 16; depth += 8) {
                mr_image image = picture_make(side, 41 - side, channels, depth, side);
                picture_file file = picture_encode(&image, &raw);
                assert_int_equal(file.nbytes, HEAD + mr_image_row_nbytes(&image) * image.height);
                check_decode(&file, NULL, &image, "raw");
                mr_image_fini(&image, NULL);
                free(file.bytes);
            }
}

/* The bytes, one by one, as the document has them. */
static void the_bytes_are_the_documents(void **state)
{
    (void)state;
    uint16_t pixels[2][4] = {{0x0102, 0x0304, 0xfffe, 7}, {8, 9, 10, 11}};
    mr_image image = {2, 2, 2, 16, 8, pixels};
    mr_encode_options options = raw;
    options.orientation = 6;
    options.icc = "profile";
    options.icc_nbytes = 7;
    picture_file file = picture_encode(&image, &options);
    static const uint8_t head[56] = {0x8a, 'M', 'R', 'R', '\r', '\n', 0x1a, '\n', 1, 0, 2, 16, 6, 0, 0, 0,
                                     2,    0,   0,   0,   2,    0,    0,    0,    7, 0, 0, 0,  0, 0, 0, 0};
    static const uint8_t rest[] = {2,  1, 4,  3, 0xfe, 0xff, 7,   0,   8,   0,   9,  0,
                                   10, 0, 11, 0, 'p',  'r',  'o', 'f', 'i', 'l', 'e'};
    assert_int_equal(file.nbytes, HEAD + sizeof rest);
    assert_memory_equal(file.bytes, head, sizeof head);
    assert_int_equal(mr__load_le64(file.bytes + 56), mr__hash(head, sizeof head));
    assert_memory_equal(file.bytes + HEAD, rest, sizeof rest);
    free(file.bytes);
}

/* A view is what a decode gives; into the stored bytes where they are that, else into the decoder's. */
static void views_are_what_decodes_give(void **state)
{
    (void)state;
    uint64_t random = 3;
    mr_decoder *viewer;
    assert_int_equal(mr_decoder_new(NULL, &viewer), 0);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t channels = 1 + i % 4, depth = i % 5 == 0 ? 16 : 8;
        mr_image image = picture_make(20 + i % 7, 19, channels, depth, i), got;
        picture_file file = picture_encode(&image, &raw);
        mr_decode_hints hints = {.struct_size = sizeof hints};
        hints.region = picture_random_rect(&random, image.width, image.height);
        hints.channels = i % 3 == 0 ? 3 : 0;
        hints.orient = i % 2 == 0;
        mr_image wanted = picture_decode(file.bytes, file.nbytes, &hints);
        assert_int_equal(mr__decoder_view(viewer, file.bytes, file.nbytes, &hints, &got), 0);
        picture_compare(&got, &wanted, "a view");
        const uint8_t *at = got.pixels;
        bool inside = at >= file.bytes && at < file.bytes + file.nbytes;
        assert_true(inside == (depth == 8 && (hints.channels == 0 || hints.channels == channels)));
        assert_int_equal(mr__decoder_view(viewer, file.bytes, file.nbytes - 1, &hints, &got), MR_ETRUNCATED);
        mr_image_fini(&wanted, NULL);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
    mr_decoder_free(viewer);
}

static void a_stride_may_be_negative_when_encoding(void **state)
{
    (void)state;
    mr_image image = picture_make(5, 7, 3, 16, 1), flipped = mr_image_upside_down(&image);
    picture_file file = picture_encode(&flipped, &raw);
    check_decode(&file, NULL, &flipped, "raw");
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

static void orientation_and_profile_are_kept(void **state)
{
    (void)state;
    mr_image image = picture_make(3, 2, 1, 8, 1);
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        mr_encode_options options = raw;
        options.orientation = orientation;
        options.icc = "an ICC profile";
        options.icc_nbytes = 14;
        picture_file file = picture_encode(&image, &options);
        mr_info info = info_of(&file);
        assert_int_equal(info.form, MR_FORM_RAW);
        assert_int_equal(info.color, MR_COLOR_GRAY);
        assert_true(info.lossless && !info.progressive);
        check_metadata(&file, orientation, "an ICC profile", 14);
        free(file.bytes);
    }
    mr_image_fini(&image, NULL);
}

static void every_region_is_the_crop(void **state)
{
    (void)state;
    mr_image image = picture_make(6, 5, 3, 16, 1);
    picture_file file = picture_encode(&image, &raw);
    check_every_region(&file, &image);
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

static void every_flipped_bit_of_the_header_is_an_error(void **state)
{
    (void)state;
    mr_image image = picture_make(3, 2, 3, 8, 1);
    picture_file file = picture_encode(&image, &raw);
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    for (size_t bit = 0; bit < HEAD * 8; bit++) {
        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int expected = bit < 64 ? MR_EFORMAT : MR_ECORRUPT;
        assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), expected);
        assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &accept), expected);
        file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

/* Headers whose hash is right, but whose fields are not. */
static void every_field_is_checked(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        int expected;
        const char *word;
    } cases[] = {
        {8, 2, MR_EUNSUPPORTED, "version 2"},
        {9, 1, MR_EUNSUPPORTED, "version 257"},
        {10, 0, MR_ECORRUPT, "0 channels"},
        {10, 5, MR_ECORRUPT, "5 channels"},
        {11, 0, MR_ECORRUPT, "depth 0"},
        {11, 24, MR_ECORRUPT, "depth 24"},
        {12, 0, MR_ECORRUPT, "orientation 0"},
        {12, 9, MR_ECORRUPT, "orientation 9"},
        {16, 0, MR_ECORRUPT, "size 0 x 2"},
        {19, 0x80, MR_ECORRUPT, "size 2147483651 x 2"},
        {20, 0, MR_ECORRUPT, "size 3 x 0"},
        {23, 0xff, MR_ECORRUPT, "size 3 x 4278190082"},
        {24, 1, MR_ETRUNCATED, "it ends at byte 82, and should at byte 83"},
        {31, 0xff, MR_ETRUNCATED, "ends at byte 82, "},
        {20, 3, MR_ETRUNCATED, "at byte 91"},
        {20, 1, MR_ECORRUPT, "at byte 73"},
    };
    mr_image image = picture_make(3, 2, 3, 8, 1);
    picture_file good = picture_encode(&image, &raw);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file file = picture_copy(good.bytes, good.nbytes);
        file.bytes[cases[i].at] = cases[i].value;
        mr__store_le64(file.bytes + 56, mr__hash(file.bytes, 56));
        check_refused(&file, NULL, cases[i].expected, cases[i].word);
        free(file.bytes);
    }
    for (size_t at = 13; at < 56; at++) {
        if (at >= 16 && at < 32)
            continue;
        picture_file file = picture_copy(good.bytes, good.nbytes);
        file.bytes[at] = 0x80;
        mr__store_le64(file.bytes + 56, mr__hash(file.bytes, 56));
        check_refused(&file, NULL, MR_ECORRUPT, "reserved");
        free(file.bytes);
    }
    mr_image_fini(&image, NULL);
    free(good.bytes);
}

static void every_other_length_is_an_error_that_says_how_much(void **state)
{
    (void)state;
    mr_image image = picture_make(3, 2, 3, 8, 1);
    picture_file good = picture_encode(&image, &raw);
    for (size_t nbytes = 0; nbytes < good.nbytes; nbytes++) {
        picture_file file = picture_copy(good.bytes, nbytes);
        assert_int_equal(picture_try(decoder, file.bytes, nbytes, NULL), nbytes < 8 ? MR_EFORMAT : MR_ETRUNCATED);
        free(file.bytes);
    }
    assert_string_equal(mr_decoder_detail(decoder), "truncated raw image: it ends at byte 81, and should at byte 82");
    picture_file file = {calloc(1, 100), 100};
    memcpy(file.bytes, good.bytes, good.nbytes);
    assert_int_equal(picture_try(decoder, file.bytes, 83, NULL), MR_ECORRUPT);
    assert_string_equal(mr_decoder_detail(decoder), "damaged raw image: it ends at byte 83, and should at byte 82");
    free(file.bytes);
    free(good.bytes);
    mr_image_fini(&image, NULL);
}

/* The largest header there can be, with limits off: its length does not fit 64 bits. */
static void the_sum_does_not_overflow(void **state)
{
    (void)state;
    mr_image image = picture_make(1, 1, 4, 16, 1);
    picture_file file = picture_encode(&image, &raw);
    mr__store_le32(file.bytes + 16, 0x7fffffff);
    mr__store_le32(file.bytes + 20, 0x7fffffff);
    mr__store_le64(file.bytes + 24, 8);
    mr__store_le64(file.bytes + 56, mr__hash(file.bytes, 56));
    const void *icc;
    size_t nbytes;
    assert_int_equal(mr_decoder_icc(decoder, file.bytes, file.nbytes, &icc, &nbytes), MR_ELIMIT);
    mr__store_le32(file.bytes + 16, 1);
    mr__store_le32(file.bytes + 20, 1);
    mr__store_le64(file.bytes + 24, UINT64_MAX - 20);
    mr__store_le64(file.bytes + 56, mr__hash(file.bytes, 56));
    assert_int_equal(mr_decoder_icc(decoder, file.bytes, file.nbytes, &icc, &nbytes), MR_ELIMIT);
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), MR_ELIMIT);
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

static void accepted_damage_gives_what_is_there(void **state)
{
    (void)state;
    mr_image image = picture_make(3, 4, 1, 16, 1);
    picture_file good = picture_encode(&image, &raw);
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    for (size_t nbytes = HEAD; nbytes < good.nbytes; nbytes++) {
        picture_file file = picture_copy(good.bytes, nbytes);
        mr_image out;
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, nbytes, &accept, &out), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 1);
        size_t have = (nbytes - HEAD) / 2;
        const uint16_t *a = image.pixels, *b = out.pixels;
        for (size_t i = 0; i < 12; i++)
            assert_int_equal(b[i], i < have ? a[i] : 0);
        free(file.bytes);
    }
    mr_image_fini(&image, NULL);
    free(good.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_comes_back),
        cmocka_unit_test(views_are_what_decodes_give),
        cmocka_unit_test(the_bytes_are_the_documents),
        cmocka_unit_test(a_stride_may_be_negative_when_encoding),
        cmocka_unit_test(orientation_and_profile_are_kept),
        cmocka_unit_test(every_region_is_the_crop),
        cmocka_unit_test(every_flipped_bit_of_the_header_is_an_error),
        cmocka_unit_test(every_field_is_checked),
        cmocka_unit_test(every_other_length_is_an_error_that_says_how_much),
        cmocka_unit_test(the_sum_does_not_overflow),
        cmocka_unit_test(accepted_damage_gives_what_is_there),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
