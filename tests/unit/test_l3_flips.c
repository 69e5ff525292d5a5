// SPDX-License-Identifier: Apache-2.0
/*
 * A flipped bit is an error, never other pixels: all bits of small files, and many of larger ones, in head, index,
 * tiles and tail, in both modes. MILLRACE_FLIPS=1000000 build/tests/test_l3_flips does a million of the larger ones.
 */
#include "test.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

static const mr_encode_options l3 = {.struct_size = sizeof l3, .form = MR_FORM_L3};

static picture_file make_pixels(uint32_t w, uint32_t h, uint32_t channels, uint32_t depth)
{
    mr_image image = picture_make(w, h, channels, depth, w);
    mr_encode_options options = l3;
    options.icc = "a profile";
    options.icc_nbytes = 9;
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    return file;
}

/* From a JPEG, with its origin in the tail. */
static picture_file make_dct(uint32_t w, uint32_t h)
{
    mr_image image = picture_make(w, h, 3, 8, w);
    const mr_encode_options jpeg = {.struct_size = sizeof jpeg, .form = MR_FORM_JPEG, .quality = 85};
    picture_file source = picture_encode(&image, &jpeg);
    mr_recode_report report = {.struct_size = sizeof report};
    const void *bytes = NULL;
    size_t nbytes = 0;
    assert_int_equal(mr_encoder_recode(encoder, source.bytes, source.nbytes, &l3, &bytes, &nbytes, &report), 0);
    assert_true(report.exact && report.has_origin);
    picture_file file = picture_copy(bytes, nbytes);
    free(source.bytes);
    mr_image_fini(&image, NULL);
    return file;
}

/* Whether the file with this bit flipped is refused, by a decode of the whole. */
static bool is_noticed(const picture_file *file, size_t bit)
{
    mr_image image;
    file->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, NULL, &image);
    file->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    return result != 0;
}

static void check_flip(const picture_file *file, size_t bit)
{
    if (is_noticed(file, bit))
        return;
    fail_msg("bit %zu of byte %zu of %zu can be flipped and nobody sees it", bit % 8, bit / 8, file->nbytes);
}

static void check_every_flip(picture_file file)
{
    mr_image image;
    assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &image), 0);
    for (size_t bit = 0; bit < file.nbytes * 8; bit += test_quick() ? 7 : 1)
        check_flip(&file, bit);
    free(file.bytes);
}

static void every_bit_of_small_files_counts(void **state)
{
    (void)state;
    check_every_flip(make_pixels(1, 1, 1, 8));
    check_every_flip(make_pixels(19, 13, 3, 8));
    check_every_flip(make_pixels(11, 17, 4, 16));
    check_every_flip(make_pixels(40, 9, 2, 8));
    check_every_flip(make_dct(9, 7));
    check_every_flip(make_dct(33, 40));
}

static size_t flips_asked_for(void)
{
    const char *text = getenv("MILLRACE_FLIPS");
    return text != NULL ? (size_t)strtoul(text, NULL, 10) : test_quick() ? 200 : 4000;
}

static void random_bits_of_larger_files_count(void **state)
{
    (void)state;
    picture_file files[] = {make_pixels(700, 300, 3, 8), make_pixels(300, 200, 1, 16), make_dct(500, 375)};
    const size_t count = flips_asked_for(), kinds = sizeof files / sizeof *files;
    uint64_t random = 4;
    for (size_t i = 0; i < count; i++) {
        const picture_file *file = &files[i % kinds];
        check_flip(file, (size_t)((uint64_t)picture_random(&random) * file->nbytes * 8 >> 32));
    }
    print_message("%zu flips, all seen\n", count);
    for (size_t i = 0; i < kinds; i++)
        free(files[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_of_small_files_counts),
        cmocka_unit_test(random_bits_of_larger_files_count),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
