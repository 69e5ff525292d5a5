// SPDX-License-Identifier: Apache-2.0
/* Raw pixels on a tape: the host decoder's, whole and in part, at every size that it gives; what makes no sense. */
#include "test.h"

#include "opencl_play.h"
#include "picture.h"
#include "taping.h"

#include <stdlib.h>

static const uint32_t sides[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 61, 64, 130};
enum { SIDES = sizeof sides / sizeof *sides };

static picture_file store(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, uint64_t seed)
{
    mr_image image = picture_make(width, height, channels, depth, seed);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    return file;
}

/* All sizes of an image: whole, and two parts of each. */
static void check_sizes(const taping *how, uint32_t width, uint32_t height, uint32_t channels, uint64_t seed)
{
    picture_file file = store(width, height, channels, 8, seed);
    for (uint32_t n = 1; n <= 8; n *= 2)
        for (uint32_t i = 0; i < 3; i++) {
            taping by = how != NULL ? *how : (taping){.seed = i * 38};
            by.reduce = n;
            mr_rect part = picture_random_rect(&seed, (width + n - 1) / n, (height + n - 1) / n);
            assert_true(taping_decode(&by, file.bytes, file.nbytes, i == 0 ? (mr_rect){0} : part));
        }
    free(file.bytes);
}

static void every_size_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIDES * SIDES; i += test_quick() ? 5 : 1)
        check_sizes(NULL, sides[i / SIDES], sides[i % SIDES], 1 + (uint32_t)(i % 4), i + 1);
}

/* Sums are as large as they get, and boxes at the edge of any shape: 255 is not to become 254, or 0. */
static void white_is_as_on_the_host(void **state)
{
    (void)state;
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    for (uint32_t i = 0; i < 64; i++) {
        mr_image image = picture_make(9 + i % 8, 9 + i / 8, 3, 8, 1);
        for (uint32_t y = 0; y < image.height; y++)
            for (uint32_t x = 0; x < 3 * image.width; x++)
                ((uint8_t *)image.pixels)[(ptrdiff_t)y * image.stride + x] = 255;
        picture_file file = picture_encode(&image, &options);
        for (uint32_t n = 2; n <= 8; n *= 2)
            assert_true(taping_decode(&(taping){.reduce = n}, file.bytes, file.nbytes, (mr_rect){0}));
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

/* Of whoever asks for what there is not: it is said, and nothing is read. */
static void what_makes_no_sense_is_said(void **state)
{
    (void)state;
    static const struct {
        uint32_t reduce;
        mr_rect region;
    } bad[] = {{3, {0, 0, 1, 1}},          {16, {0, 0, 1, 1}},         {2, {0, 0, 0, 1}},         {2, {0, 0, 1, 0}},
               {2, {21, 0, 1, 1}},         {2, {0, 15, 1, 1}},         {4, {10, 0, 2, 1}},        {8, {0, 3, 1, 2}},
               {8, {UINT32_MAX, 0, 2, 1}}, {8, {1, 1, UINT32_MAX, 1}}, {8, {1, 1, 1, UINT32_MAX}}};
    picture_file file = store(41, 29, 3, 8, 1);
    mr_info info = {.struct_size = sizeof info};
    mr_decoder *decoder;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_info(decoder, file.bytes, file.nbytes, &info), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        taping how = {.reduce = bad[i].reduce};
        playing_decoded is;
        mr__detail detail = {{0}};
        int code = playing_decode(&how, file.bytes, file.nbytes, &info, bad[i].region, &is, &detail);
        assert_int_equal(code, MR_EINTERNAL);
        assert_contains(detail.text, "not in the image");
    }
    mr_decoder_free(decoder);
    free(file.bytes);
}

/* The host does those, at any size. */
static void sixteen_bits_are_not_taken(void **state)
{
    (void)state;
    picture_file file = store(40, 30, 3, 16, 1);
    for (uint32_t n = 1; n <= 8; n *= 2)
        assert_false(taping_decode(&(taping){.reduce = n}, file.bytes, file.nbytes, (mr_rect){0}));
    free(file.bytes);
}

static void the_same_on_opencl(void **state)
{
    (void)state;
    opencl_play cl;
    mr__detail detail;
    if (opencl_play_open(&cl, NULL, &detail) != 0) {
        print_message("no OpenCL: %s\n", detail.text);
        skip();
    }
    taping how = {.play = opencl_play_tape, .user = &cl};
    for (size_t i = 0; i < SIDES * SIDES; i += 7)
        check_sizes(&how, sides[i / SIDES], sides[i % SIDES], 1 + (uint32_t)(i % 4), i + 1);
    check_sizes(&how, 1031, 517, 3, 5);
    opencl_play_close(&cl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_comes_back),       cmocka_unit_test(white_is_as_on_the_host),
        cmocka_unit_test(what_makes_no_sense_is_said), cmocka_unit_test(sixteen_bits_are_not_taken),
        cmocka_unit_test(the_same_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
