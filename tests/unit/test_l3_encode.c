// SPDX-License-Identifier: Apache-2.0
/* What pixel mode writes: everything comes back, and the bytes depend neither on the processor nor on threads. */
#include "test.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void painter(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state);

static void paint_noise(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    (void)x, (void)y, (void)c;
    *at = (uint8_t)picture_random(state);
}

static void paint_constant(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    (void)x, (void)y, (void)state;
    *at = (uint8_t)(37 * c + 1);
}

static void paint_gradient(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    (void)state;
    *at = (uint8_t)(3 * x + 2 * y + 50 * c);
}

/* Every fifth value only. */
static void paint_sparse(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    *at = (uint8_t)((x / 3 + y / 2 + c + picture_random(state) % 7) % 50 * 5);
}

/* Large areas of few labels. */
static void paint_labels(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    (void)c, (void)state;
    *at = (uint8_t)(x / 23 * 7 + y / 19 * 3);
}

/* Steps as high as they can be, and one channel that never changes. */
static void paint_extremes(uint8_t *at, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    *at = c == 1 ? 255 : (uint8_t)((x ^ y) & 1 ? 255 * (picture_random(state) & 1) : 128 - c);
}

static painter *const painters[] = {paint_noise,  paint_constant, paint_gradient,
                                    paint_sparse, paint_labels,   paint_extremes};
enum { PAINTERS = sizeof painters / sizeof *painters };

/* Samples of 16 bits are painted byte by byte, `high` with its own noise, so that both planes are seen. */
static mr_image paint(uint32_t w, uint32_t h, uint32_t channels, uint32_t depth, unsigned which)
{
    mr_image image = picture_make(w, h, channels, depth, which);
    uint64_t state = which;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t i = 0; i < w * channels; i++) {
            uint8_t *row = (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride;
            uint32_t x = i / channels, c = i % channels;
            painters[which](row + (size_t)i * depth / 8, x, y, c, &state);
            if (depth == 16)
                painters[which](row + (size_t)i * 2 + 1, x / 40, y / 40, c, &state);
        }
    return image;
}

static mr_encode_options options_of(unsigned preset)
{
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_L3, .preset = (mr_l3_preset)preset};
    return o;
}

static void check_round_trip(const mr_image *image, unsigned preset)
{
    char what[64];
    snprintf(what, sizeof what, "%u x %u x %u of %u bits, preset %u", image->width, image->height, image->channels,
             image->depth, preset);
    mr_encode_options o = options_of(preset);
    picture_file file = picture_encode(image, &o);
    check_decode(&file, NULL, image, what);
    free(file.bytes);
}

static void every_small_size_comes_back(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1,  2,  3,  4,  5,  7,  8,  9,  15, 16,  17,  31,  32,
                                     33, 34, 47, 48, 63, 64, 65, 66, 96, 127, 128, 129, 130};
    const size_t count = sizeof sides / sizeof *sides;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            uint32_t channels = 1 + (uint32_t)(i + j) % 4, depth = (i + j) % 8 < 6 ? 8 : 16;
            mr_image image = picture_make(sides[i], sides[j], channels, depth, i * 100 + j);
            check_round_trip(&image, (unsigned)(i + 2 * j) % 3);
            mr_image_fini(&image, NULL);
        }
}

static void every_kind_of_picture_comes_back(void **state)
{
    (void)state;
    for (unsigned which = 0; which < PAINTERS; which++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint32_t depth = 8; depth <= 16; depth += 8)
                for (unsigned preset = 0; preset < 3; preset++) {
                    mr_image image = paint(150, 139, channels, depth, which);
                    check_round_trip(&image, preset);
                    mr_image_fini(&image, NULL);
                }
}

/* The processor's kernels and the portable ones choose and write the same. */
static void the_bytes_are_the_same_on_every_processor(void **state)
{
    (void)state;
    static const char *const masks[] = {"avx2-slowpdep", "avx2", "neon", "all"};
    for (unsigned which = 0; which < PAINTERS; which++)
        for (unsigned preset = 0; preset < 3; preset++) {
            mr_image image = paint(140, 70, 3 + which % 2, which % 3 == 0 ? 16 : 8, which);
            mr_encode_options o = options_of(preset);
            setenv("MILLRACE_CPU", "portable", 1);
            picture_file portable = picture_encode(&image, &o);
            for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
                setenv("MILLRACE_CPU", masks[i], 1);
                picture_file file = picture_encode(&image, &o);
                assert_int_equal(file.nbytes, portable.nbytes);
                assert_memory_equal(file.bytes, portable.bytes, file.nbytes);
                free(file.bytes);
            }
            unsetenv("MILLRACE_CPU");
            free(portable.bytes);
            mr_image_fini(&image, NULL);
        }
}

static void the_bytes_are_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    mr_image image = picture_make(1500, 700, 3, 8, 5);
    mr_encode_options o = options_of(MR_L3_DEFAULT);
    picture_file one = picture_encode(&image, &o);
    for (o.threads = 2; o.threads <= 8; o.threads *= 2) {
        picture_file file = picture_encode(&image, &o);
        assert_int_equal(file.nbytes, one.nbytes);
        assert_memory_equal(file.bytes, one.bytes, file.nbytes);
        free(file.bytes);
    }
    free(one.bytes);
    mr_image_fini(&image, NULL);
}

/* Flat pictures take a fraction of what they take as planes of blocks. */
static void flat_pictures_are_small(void **state)
{
    (void)state;
    static const struct {
        unsigned which;
        double share;
    } cases[] = {{1, 0.001}, {4, 0.04}, {3, 0.85}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_image image = paint(512, 512, 3, 8, cases[i].which);
        mr_encode_options o = options_of(MR_L3_DEFAULT);
        picture_file file = picture_encode(&image, &o);
        assert_true((double)file.nbytes < cases[i].share * 512 * 512 * 3);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

static void profile_and_orientation_are_kept(void **state)
{
    (void)state;
    mr_image image = picture_make(20, 10, 3, 8, 1);
    mr_encode_options o = options_of(MR_L3_SMALL);
    o.orientation = 6;
    o.icc = "a profile";
    o.icc_nbytes = 9;
    picture_file file = picture_encode(&image, &o);
    check_metadata(&file, 6, "a profile", 9);
    check_decode(&file, NULL, &image, "with a profile");
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

/* What an encoder takes goes by the image: neither its width alone nor many threads exceed a limit that would do. */
static void memory_goes_by_the_image(void **state)
{
    (void)state;
    static const struct {
        uint32_t w, h, channels, depth, threads;
        uint64_t mb;
    } cases[] = {{3000000, 1, 1, 8, 1, 24}, {1, 16384, 4, 16, 1, 16}, {5000, 40, 3, 8, 64, 16}, {700, 3, 3, 8, 8, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mr_limits limits = {.struct_size = sizeof limits, .memory_nbytes = cases[i].mb << 20};
        mr_encoder *small = handles_encoder(NULL, &limits);
        mr_image image = picture_make(cases[i].w, cases[i].h, cases[i].channels, cases[i].depth, i);
        mr_encode_options o = options_of(MR_L3_DEFAULT);
        o.threads = cases[i].threads;
        picture_file file = picture_encode_with(small, &image, &o);
        assert_string_equal(mr_encoder_detail(small), "");
        check_decode(&file, NULL, &image, "under a limit");
        free(file.bytes);
        mr_image_fini(&image, NULL);
        mr_encoder_free(small);
    }
}

static void a_preset_that_is_not_there_is_refused(void **state)
{
    (void)state;
    mr_image image = picture_make(2, 2, 1, 8, 1);
    mr_encode_options o = options_of(3);
    check_not_encoded(encoder, &image, &o, MR_EARGUMENT, "preset");
    mr_image_fini(&image, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size_comes_back),
        cmocka_unit_test(every_kind_of_picture_comes_back),
        cmocka_unit_test(the_bytes_are_the_same_on_every_processor),
        cmocka_unit_test(the_bytes_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(flat_pictures_are_small),
        cmocka_unit_test(profile_and_orientation_are_kept),
        cmocka_unit_test(memory_goes_by_the_image),
        cmocka_unit_test(a_preset_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
