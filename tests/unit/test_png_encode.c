// SPDX-License-Identifier: Apache-2.0
/* PNG encoding: what goes in comes out, of our decoder and of libpng. */
#include "test.h"

#include "png_reference.h"

#include <millrace/millrace.h>
#include <stdlib.h>
#include <string.h>

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

static void expect_round_trip(mr_encoder *encoder, mr_decoder *decoder, const mr_image *image, uint32_t effort)
{
    mr_encode_options options = png_options(effort);
    const void *bytes;
    size_t nbytes;
    mr_image ours, theirs;
    assert_int_equal(mr_encoder_encode(encoder, image, &options, &bytes, &nbytes), 0);
    assert_int_equal(mr_decoder_decode(decoder, bytes, nbytes, NULL, &ours), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 0);
    assert_true(picture_same(&ours, image));
    assert_true(png_reference_decode(bytes, nbytes, &theirs));
    assert_true(picture_same(&theirs, image));
    mr_image_fini(&theirs, NULL);
}

typedef struct both {
    mr_encoder *encoder;
    mr_decoder *decoder;
} both;

static both both_new(void)
{
    both b;
    assert_int_equal(mr_encoder_new(NULL, &b.encoder), 0);
    assert_int_equal(mr_decoder_new(NULL, &b.decoder), 0);
    return b;
}

static void both_free(both *b)
{
    mr_encoder_free(b->encoder);
    mr_decoder_free(b->decoder);
}

static void round_trips(void **state)
{
    (void)state;
    both b = both_new();
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (uint32_t depth = 8; depth <= 16; depth += 8)
            for (uint32_t n = 0; n < 30; n++) {
                mr_image image = make_image(n * 5 % 71 + 1, n + 1, channels, depth, n);
                expect_round_trip(b.encoder, b.decoder, &image, n % 10);
                mr_image below = mr_image_upside_down(&image);
                expect_round_trip(b.encoder, b.decoder, &below, 1);
                mr_image_fini(&image, NULL);
            }
    both_free(&b);
}

static void same_image_same_bytes(void **state)
{
    (void)state;
    both a = both_new();
    mr_image image = make_image(83, 41, 3, 8, 5);
    for (uint32_t effort = 1; effort <= 9; effort++) {
        mr_encode_options options = png_options(effort);
        const void *bytes;
        size_t nbytes, again;
        assert_int_equal(mr_encoder_encode(a.encoder, &image, &options, &bytes, &nbytes), 0);
        uint8_t *copy = malloc(nbytes);
        memcpy(copy, bytes, nbytes);
        setenv("MILLRACE_CPU", "portable", 1);
        both c = both_new();
        unsetenv("MILLRACE_CPU");
        assert_int_equal(mr_encoder_encode(c.encoder, &image, &options, &bytes, &again), 0);
        assert_int_equal(again, nbytes);
        assert_memory_equal(bytes, copy, nbytes);
        both_free(&c);
        free(copy);
    }
    mr_image_fini(&image, NULL);
    both_free(&a);
}

/* A gradient is almost nothing once it is predicted: upward, and downward too, where the differences are negative. */
static void filters_are_chosen_by_row(void **state)
{
    (void)state;
    both b = both_new();
    mr_image image;
    assert_int_equal(mr_image_init(&image, 64, 64, 3, 8, NULL), 0);
    uint8_t *pixels = image.pixels;
    for (int down = 0; down < 2; down++) {
        for (uint32_t i = 0; i < 64 * 64 * 3; i++) {
            uint32_t v = i / 3 % 64 * 3 + i / 192 * (i / 192) + i % 3 * 50;
            pixels[i] = (uint8_t)(down ? 255 - v : v);
        }
        mr_encode_options options = png_options(6);
        const void *bytes;
        size_t nbytes;
        assert_int_equal(mr_encoder_encode(b.encoder, &image, &options, &bytes, &nbytes), 0);
        assert_true(nbytes < 600);
    }
    mr_image_fini(&image, NULL);
    both_free(&b);
}

static void metadata_comes_back(void **state)
{
    (void)state;
    both b = both_new();
    uint8_t profile[3000] = {0, 0, 3000 >> 8, 3000 & 255};
    for (size_t i = 4; i < sizeof profile; i++)
        profile[i] = (uint8_t)(i * i >> 3);
    mr_image image = make_image(6, 5, 3, 8, 1), out;
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        mr_encode_options options = png_options(0);
        options.orientation = orientation;
        options.icc = profile;
        options.icc_nbytes = sizeof profile;
        const void *bytes, *icc;
        size_t nbytes, icc_nbytes;
        mr_info info = {.struct_size = sizeof info};
        assert_int_equal(mr_encoder_encode(b.encoder, &image, &options, &bytes, &nbytes), 0);
        assert_int_equal(mr_decoder_info(b.decoder, bytes, nbytes, &info), 0);
        assert_int_equal(info.orientation, orientation);
        assert_true(info.has_icc);
        assert_int_equal(mr_decoder_icc(b.decoder, bytes, nbytes, &icc, &icc_nbytes), 0);
        assert_int_equal(icc_nbytes, sizeof profile);
        assert_memory_equal(icc, profile, sizeof profile);
        assert_int_equal(mr_decoder_decode(b.decoder, bytes, nbytes, NULL, &out), 0);
        assert_int_equal(mr_decoder_warnings(b.decoder), 0);
    }
    mr_image_fini(&image, NULL);
    both_free(&b);
}

static void broken_profiles_are_errors_of_the_profile_alone(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t nbytes;
    } broken[] = {{"", 0}, {"name", 4}, {"name\0", 5}, {"name\0\1xx", 8}, {"name\0\0garbage", 13}};
    both b = both_new();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        picture_file file = {0};
        const void *icc;
        size_t nbytes;
        mr_image image;
        png_begin(&file, 2, 2, 8, 0, 0);
        png_append_chunk(&file, "iCCP", broken[i].bytes, broken[i].nbytes);
        png_append_rows(&file, "\0\1\2\0\3\4", 6);
        png_append_chunk(&file, "IEND", "", 0);
        assert_int_equal(mr_decoder_icc(b.decoder, file.bytes, file.nbytes, &icc, &nbytes), MR_ECORRUPT);
        assert_contains(mr_decoder_detail(b.decoder), "chunk iCCP at byte 33");
        assert_int_equal(mr_decoder_decode(b.decoder, file.bytes, file.nbytes, NULL, &image), 0);
        free(file.bytes);
    }
    both_free(&b);
}

static void interlaced_is_not_written(void **state)
{
    (void)state;
    both b = both_new();
    mr_image image = make_image(3, 3, 1, 8, 0);
    mr_encode_options options = png_options(0);
    const void *bytes = NULL;
    size_t nbytes;
    options.progressive = true;
    assert_int_equal(mr_encoder_encode(b.encoder, &image, &options, &bytes, &nbytes), MR_EUNSUPPORTED);
    assert_contains(mr_encoder_detail(b.encoder), "interlaced");
    mr_image_fini(&image, NULL);
    both_free(&b);
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
