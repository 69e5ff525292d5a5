// SPDX-License-Identifier: Apache-2.0
/* Pixel mode of L3: what the plain encoder writes is what the reference reads is what we decode, with all kernels. */
#include "check.h"
#include "guard.h"
#include "l3_check.h"
#include "l3_plain_encode.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const mr_image *image, uint64_t seed, char text[128])
{
    snprintf(text, 128, "%u x %u, %u channels of %u bits, seed %llu", image->width, image->height, image->channels,
             image->depth, (unsigned long long)seed);
    return text;
}

/* Decodes with all kernels; the input ends, and each row of the output begins or ends, where nothing more is. */
static void check_guarded(const picture_file *file, const mr_image *wanted, const char *what)
{
    guard in, out;
    const uint8_t *bytes = guard_bytes(&in, file->bytes, file->nbytes);
    for (size_t i = 0; i < L3_KERNELS; i++) {
        mr_image got = guard_image(&out, wanted, i % 2 == 0);
        int result = mr_decoder_decode_into(l3_decoders[i], bytes, file->nbytes, NULL, &got);
        if (result != 0)
            fail_msg("%s, %s: %s", what, l3_kernel_names[i], mr_decoder_detail(l3_decoders[i]));
        picture_compare(&got, wanted, what);
        guard_free(&out);
    }
    guard_free(&in);
}

static void check_image(const mr_image *image, uint64_t seed)
{
    char what[128];
    picture_file file = l3_plain_encode(image, seed);
    l3_check_reference(&file, image, name_of(image, seed, what));
    check_guarded(&file, image, what);
    free(file.bytes);
}

static void every_shape_comes_back(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130};
    const size_t n = sizeof sides / sizeof *sides;
    uint64_t seed = 1;
    for (size_t i = 0; i < n * n; i += test_quick() ? 13 : 1)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = picture_make(sides[i / n], sides[i % n], channels, seed % 3 == 0 ? 16 : 8, seed);
            check_image(&image, seed++);
            mr_image_fini(&image, NULL);
        }
}

/* The widest and the highest tiles, and more tiles than one. */
static void large_tiles_come_back(void **state)
{
    (void)state;
    static const uint32_t shapes[][4] = {{1024, 40, 1024, 256},
                                         {1023, 33, 1024, 256},
                                         {33, 1024, 256, 1024},
                                         {1500, 70, 1024, 32},
                                         {70, 1500, 32, 1024}};
    for (uint32_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const uint32_t *shape = shapes[i / 2];
        char what[128];
        mr_image image = picture_make(shape[0], shape[1], 1 + i % 4, i % 2 == 0 ? 8 : 16, i);
        picture_file file = l3_plain_encode_tiles(&image, i, shape[2], shape[3], true);
        l3_check_reference(&file, &image, name_of(&image, i, what));
        check_guarded(&file, &image, what);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

/* Noise is the longest code there is: streams as long as they get. */
static void noise_comes_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        mr_image image = picture_make(97 + i, 61 + i, 1 + i % 4, i % 8 < 4 ? 8 : 16, i);
        for (uint32_t y = 0; y < image.height; y++)
            picture_noise((uint8_t *)image.pixels + (ptrdiff_t)y * image.stride, mr_image_row_nbytes(&image),
                          1000 * i + y);
        check_image(&image, 100 + i);
        mr_image_fini(&image, NULL);
    }
}

static void flat_images_come_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        mr_image image = picture_make(20 + 3 * i, 90 - i, 1 + i % 4, i % 8 < 4 ? 8 : 16, i);
        uint64_t random = i;
        for (uint32_t y = 0; y < image.height; y++) // few values, in large areas
            memset((uint8_t *)image.pixels + (ptrdiff_t)y * image.stride, (int)(i + y / 40 * 3),
                   mr_image_row_nbytes(&image));
        if (picture_random_below(&random, 2) == 0)
            memset(image.pixels, 255, image.channels * image.depth / 8);
        check_image(&image, i);
        mr_image_fini(&image, NULL);
    }
}

static void regions_are_parts_of_the_whole(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (uint32_t i = 0; i < (test_quick() ? 16 : 120); i++) {
        char what[128];
        mr_image image = picture_make(60 + picture_random_below(&random, 140), 60 + picture_random_below(&random, 140),
                                      1 + i % 4, i % 3 == 0 ? 16 : 8, i);
        picture_file file = l3_plain_encode(&image, i);
        for (uint32_t n = 0; n < 12; n++) {
            mr_rect region = picture_random_rect(&random, image.width, image.height);
            check_region(&file, (mr_decode_hints){0}, region, &image, name_of(&image, i, what));
        }
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

static void every_region_of_small_images(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_image image = picture_make(i % 2 == 0 ? 13 : 3, i % 2 == 0 ? 10 : 36, 3, i < 2 ? 8 : 16, i);
        picture_file file = l3_plain_encode_tiles(&image, i, 32, 32, true);
        check_every_region(&file, &image);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

static void targets_and_memory(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        mr_image image = picture_make(75, 71, 1 + i % 4, i % 3 == 0 ? 16 : 8, i);
        picture_file file = l3_plain_encode_tiles(&image, i, 64, 32, false);
        mr_decode_hints hints = {.struct_size = sizeof hints, .region = {5, 9, 66, 41}};
        mr_image part;
        assert_int_equal(mr_image_crop(&image, hints.region, &part), 0);
        check_target(&file, NULL, &image);
        check_target(&file, &hints, &part);
        check_memory_is_kept(&file, NULL);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

static int setup(void **state)
{
    l3_check_setup();
    return handles_setup(state);
}

static int teardown(void **state)
{
    l3_check_teardown();
    return handles_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_comes_back),
        cmocka_unit_test(large_tiles_come_back),
        cmocka_unit_test(noise_comes_back),
        cmocka_unit_test(flat_images_come_back),
        cmocka_unit_test(regions_are_parts_of_the_whole),
        cmocka_unit_test(every_region_of_small_images),
        cmocka_unit_test(targets_and_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
