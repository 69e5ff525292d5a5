// SPDX-License-Identifier: Apache-2.0
/* PNG encoding: what goes in comes out, of our decoder and of libpng. */
#include "test.h"

#include "check.h"
#include "png_reference.h"

#include <stdlib.h>

/* Gradients, edges and noise, so that every filter is the best one somewhere. */
static mr_image make_image(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, uint64_t seed)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, depth, NULL), 0);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride;
        for (size_t i = 0; i < mr_image_row_nbytes(&image); i++)
            row[i] = (uint8_t)(y % 3 == 0 ? picture_random(&seed) : y % 3 == 1 ? i * 2 + y : i / 7 * 40);
    }
    return image;
}

static mr_encode_options png_options(uint32_t effort)
{
    return (mr_encode_options){.struct_size = sizeof(mr_encode_options), .form = MR_FORM_PNG, .effort = effort};
}

static void expect_round_trip(const mr_image *image, uint32_t effort)
{
    mr_encode_options options = png_options(effort);
    picture_file file = picture_encode_with(encoder, image, &options);
    mr_image theirs;
    check_decode(&file, NULL, image, "PNG");
    assert_int_equal(mr_decoder_warnings(decoder), 0);
    assert_true(png_reference_decode(file.bytes, file.nbytes, &theirs));
    assert_true(picture_same(&theirs, image));
    mr_image_fini(&theirs, NULL);
    free(file.bytes);
}

static void round_trips(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (uint32_t depth = 8; depth <= 16; depth += 8)
            for (uint32_t n = 0; n < 30; n++) {
                mr_image image = make_image(n * 5 % 71 + 1, n + 1, channels, depth, n);
                expect_round_trip(&image, n % 10);
                mr_image below = mr_image_upside_down(&image);
                expect_round_trip(&below, 1);
                mr_image_fini(&image, NULL);
            }
}

static void same_image_same_bytes(void **state)
{
    (void)state;
    mr_image image = make_image(83, 41, 3, 8, 5);
    for (uint32_t effort = 1; effort <= 9; effort++) {
        mr_encode_options options = png_options(effort);
        picture_file usual = picture_encode_with(encoder, &image, &options);
        setenv("MILLRACE_CPU", "portable", 1);
        mr_encoder *portable = handles_encoder(NULL, NULL);
        unsetenv("MILLRACE_CPU");
        picture_file same = picture_encode_with(portable, &image, &options);
        assert_int_equal(same.nbytes, usual.nbytes);
        assert_memory_equal(same.bytes, usual.bytes, usual.nbytes);
        mr_encoder_free(portable);
        free(usual.bytes);
        free(same.bytes);
    }
    mr_image_fini(&image, NULL);
}

/* A gradient is almost nothing once it is predicted: upward, and downward too, where the differences are negative. */
static void filters_are_chosen_by_row(void **state)
{
    (void)state;
    mr_image image;
    assert_int_equal(mr_image_init(&image, 64, 64, 3, 8, NULL), 0);
    uint8_t *pixels = image.pixels;
    for (int down = 0; down < 2; down++) {
        for (uint32_t i = 0; i < 64 * 64 * 3; i++) {
            uint32_t v = i / 3 % 64 * 3 + i / 192 * (i / 192) + i % 3 * 50;
            pixels[i] = (uint8_t)(down ? 255 - v : v);
        }
        mr_encode_options options = png_options(6);
        picture_file file = picture_encode_with(encoder, &image, &options);
        assert_true(file.nbytes < 600);
        free(file.bytes);
    }
    mr_image_fini(&image, NULL);
}

static void metadata_comes_back(void **state)
{
    (void)state;
    uint8_t profile[3000] = {0, 0, 3000 >> 8, 3000 & 255};
    for (size_t i = 4; i < sizeof profile; i++)
        profile[i] = (uint8_t)(i * i >> 3);
    mr_image image = make_image(6, 5, 3, 8, 1), out;
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        mr_encode_options options = png_options(0);
        options.orientation = orientation;
        options.icc = profile;
        options.icc_nbytes = sizeof profile;
        picture_file file = picture_encode_with(encoder, &image, &options);
        check_metadata(&file, orientation, profile, sizeof profile);
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &out), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        free(file.bytes);
    }
    mr_image_fini(&image, NULL);
}

static void broken_profiles_are_errors_of_the_profile_alone(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t nbytes;
    } broken[] = {{"", 0}, {"name", 4}, {"name\0", 5}, {"name\0\1xx", 8}, {"name\0\0garbage", 13}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        picture_file file = {0};
        const void *icc;
        size_t nbytes;
        mr_image image;
        png_begin(&file, 2, 2, 8, 0, 0);
        png_append_chunk(&file, "iCCP", broken[i].bytes, broken[i].nbytes);
        png_append_rows(&file, "\0\1\2\0\3\4", 6);
        png_append_chunk(&file, "IEND", "", 0);
        assert_int_equal(mr_decoder_icc(decoder, file.bytes, file.nbytes, &icc, &nbytes), MR_ECORRUPT);
        assert_contains(mr_decoder_detail(decoder), "chunk iCCP at byte 33");
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &image), 0);
        free(file.bytes);
    }
}

static void interlaced_is_not_written(void **state)
{
    (void)state;
    mr_image image = make_image(3, 3, 1, 8, 0);
    mr_encode_options options = png_options(0);
    options.progressive = true;
    check_not_encoded(encoder, &image, &options, MR_EUNSUPPORTED, "interlaced");
    mr_image_fini(&image, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(same_image_same_bytes),
        cmocka_unit_test(filters_are_chosen_by_row),
        cmocka_unit_test(metadata_comes_back),
        cmocka_unit_test(broken_profiles_are_errors_of_the_profile_alone),
        cmocka_unit_test(interlaced_is_not_written),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
