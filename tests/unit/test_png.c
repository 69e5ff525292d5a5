// SPDX-License-Identifier: Apache-2.0
/* PNG decoding: the pixels that libpng gives, of everything that PNG can hold. */
#include "test.h"

#include "check.h"
#include "png_reference.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every colour type and bit depth that goes with it. */
static const struct kind {
    int color_type, bit_depth;
} kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
             {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void describe(const png_spec *s, char text[160])
{
    snprintf(text, 160, "%u x %u, colour %d, depth %d, interlaced %d, transparent %d, filters %x", s->width, s->height,
             s->color_type, s->bit_depth, s->interlaced, s->transparent, (unsigned)s->filters);
}

/* Decodes as libpng does, without a warning. */
static void expect_same(const png_spec *spec)
{
    char text[160];
    mr_image theirs;
    picture_file file = png_make(spec);
    describe(spec, text);
    assert_true(png_reference_decode(file.bytes, file.nbytes, &theirs));
    check_decode(&file, NULL, &theirs, text);
    assert_int_equal(mr_decoder_warnings(decoder), 0);
    mr_image_fini(&theirs, NULL);
    free(file.bytes);
}

static void every_kind_and_size(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (uint32_t n = 0; n < 4 * 41; n++) {
            png_spec spec = {.width = n / 4 + 1, .height = (n * 7) % 19 + 1, .seed = n};
            spec.color_type = kinds[k].color_type;
            spec.bit_depth = kinds[k].bit_depth;
            spec.interlaced = n & 1;
            spec.transparent = (n & 2) && !(spec.color_type & PNG_COLOR_MASK_ALPHA);
            expect_same(&spec);
        }
}

static void every_filter(void **state)
{
    (void)state;
    static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH};
    for (size_t k = 0; k < KINDS; k++)
        for (size_t f = 0; f < 5; f++)
            for (uint32_t n = 0; n < 24; n++) {
                png_spec spec = {
                    .width = n < 20 ? n + 1 : 97 * n, .height = n % 5 + 1, .filters = filters[f], .seed = n};
                spec.color_type = kinds[k].color_type;
                spec.bit_depth = kinds[k].bit_depth;
                expect_same(&spec);
            }
}

static void every_level_and_many_chunks(void **state)
{
    (void)state;
    for (int level = 1; level <= 9; level++)
        for (size_t nbytes = 7; nbytes < 4000; nbytes *= 3)
            expect_same(&(png_spec){
                .width = 100, .height = 60, .bit_depth = 8, .color_type = 2, .level = level, .idat_nbytes = nbytes});
}

/* The portable kernels in a whole decode; the others are what the machine has. */
static void portable_decode_is_the_same(void **state)
{
    mr_decoder *usual = decoder;
    setenv("MILLRACE_CPU", "portable", 1);
    decoder = handles_decoder(NULL, NULL);
    every_filter(state);
    mr_decoder_free(decoder);
    decoder = usual;
    unsetenv("MILLRACE_CPU");
}

/* Many of them from the left edge on. */
static void check_regions(const png_spec *spec, uint64_t *seed)
{
    char text[160];
    mr_image whole;
    picture_file file = png_make(spec);
    describe(spec, text);
    assert_true(png_reference_decode(file.bytes, file.nbytes, &whole));
    for (int i = 0; i < 25; i++) {
        mr_rect region = picture_random_rect(seed, spec->width, spec->height);
        if (picture_random_below(seed, 2) == 0) {
            region.x = 0;
            region.width = 1 + picture_random_below(seed, spec->width);
        }
        check_region(&file, (mr_decode_hints){0}, region, &whole, text);
    }
    mr_image_fini(&whole, NULL);
    free(file.bytes);
}

static void regions_are_parts_of_the_whole(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (size_t k = 0; k < KINDS; k++)
        for (int n = 0; n < 12; n++) {
            png_spec spec = {.width = 1 + picture_random(&seed) % 60,
                             .height = 1 + picture_random(&seed) % 60,
                             .seed = (uint32_t)seed};
            spec.color_type = kinds[k].color_type;
            spec.bit_depth = kinds[k].bit_depth;
            spec.interlaced = n % 3 == 0;
            spec.transparent = n % 2 && !(spec.color_type & PNG_COLOR_MASK_ALPHA);
            check_regions(&spec, &seed);
        }
}

static void check_shapes(const png_spec *spec)
{
    char text[160];
    mr_image natural;
    picture_file file = png_make(spec);
    describe(spec, text);
    assert_true(png_reference_decode(file.bytes, file.nbytes, &natural));
    check_conversions(&file, &natural, text);
    mr_image_fini(&natural, NULL);
    free(file.bytes);
}

static void every_shape_is_as_converted(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (int n = 0; n < 4; n++) {
            png_spec spec = {.width = 23, .height = 9, .interlaced = n & 1};
            spec.color_type = kinds[k].color_type;
            spec.bit_depth = kinds[k].bit_depth;
            spec.transparent = (n & 2) && !(spec.color_type & PNG_COLOR_MASK_ALPHA);
            check_shapes(&spec);
        }
}

static void strides_are_kept(void **state)
{
    (void)state;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        mr_image theirs;
        picture_file file = png_make(&(png_spec){.width = 13,
                                                 .height = 9,
                                                 .bit_depth = 8,
                                                 .color_type = 2,
                                                 .interlaced = interlaced,
                                                 .filters = PNG_FILTER_PAETH});
        assert_true(png_reference_decode(file.bytes, file.nbytes, &theirs));
        check_target(&file, NULL, &theirs);
        mr_image_fini(&theirs, NULL);
        free(file.bytes);
    }
}

static void info_tells_the_header(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        picture_file file = png_make(&(png_spec){.width = 31,
                                                 .height = 7,
                                                 .bit_depth = kinds[k].bit_depth,
                                                 .color_type = kinds[k].color_type,
                                                 .interlaced = k % 2});
        mr_info info = info_of(&file);
        assert_int_equal(info.form, MR_FORM_PNG);
        assert_int_equal(info.width, 31);
        assert_int_equal(info.height, 7);
        assert_int_equal(info.depth, kinds[k].bit_depth == 16 ? 16 : 8);
        assert_int_equal(info.progressive, k % 2);
        assert_true(info.lossless);
        assert_int_equal(info.orientation, 1);
        assert_int_equal(info.frames, 1);
        int type = kinds[k].color_type;
        assert_int_equal(info.channels, type == 0 ? 1 : type == 4 ? 2 : type == 6 ? 4 : 3);
        assert_int_equal(info.color, type == 3                ? MR_COLOR_PALETTE
                                     : type == 2 || type == 6 ? MR_COLOR_RGB
                                                              : MR_COLOR_GRAY);
        free(file.bytes);
    }
}

static const uint8_t exif6[26] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6};

/* A gray image of 2 x 2, with eXIf before or after the image data, and acTL. */
static picture_file make_small(bool exif_first, bool exif_last, bool animated)
{
    picture_file file = {0};
    png_begin(&file, 2, 2, 8, 0, 0);
    if (animated)
        png_append_chunk(&file, "acTL", "\0\0\0\5\0\0\0\0", 8);
    if (exif_first)
        png_append_chunk(&file, "eXIf", exif6, sizeof exif6);
    png_append_rows(&file, "\0\1\2\0\3\4", 6);
    if (exif_last)
        png_append_chunk(&file, "eXIf", exif6, sizeof exif6);
    png_append_chunk(&file, "IEND", "", 0);
    return file;
}

static void orientation_stands_before_or_after(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        picture_file file = make_small(n & 1, n & 2, n == 3);
        mr_info info = info_of(&file);
        assert_int_equal(info.orientation, n == 0 ? 1 : 6);
        assert_int_equal(info.frames, n == 3 ? 5 : 1);
        // The header alone is enough, as long as it reaches the image data.
        size_t whole = file.nbytes;
        file.nbytes = png_find(&file, "IDAT", 0) + 8;
        assert_int_equal(info_of(&file).orientation, n & 1 ? 6 : 1);
        file.nbytes = whole;
        free(file.bytes);
    }
}

static void second_decode_allocates_nothing(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        picture_file file = png_make(&(png_spec){.width = 50,
                                                 .height = 40,
                                                 .bit_depth = kinds[k].bit_depth,
                                                 .color_type = kinds[k].color_type,
                                                 .interlaced = k % 2,
                                                 .idat_nbytes = 100});
        mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 4, .depth = 8};
        check_memory_is_kept(&file, &hints);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_size),
        cmocka_unit_test(every_filter),
        cmocka_unit_test(portable_decode_is_the_same),
        cmocka_unit_test(every_level_and_many_chunks),
        cmocka_unit_test(regions_are_parts_of_the_whole),
        cmocka_unit_test(every_shape_is_as_converted),
        cmocka_unit_test(strides_are_kept),
        cmocka_unit_test(info_tells_the_header),
        cmocka_unit_test(orientation_stands_before_or_after),
        cmocka_unit_test(second_decode_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
