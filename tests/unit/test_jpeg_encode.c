// SPDX-License-Identifier: Apache-2.0
/* Encoding JPEG: what was asked for is in the file, the pixels are libjpeg's, the bytes are the same each time. */
#include "test.h"

#include "check.h"
#include "failing.h"
#include "jpeg_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static const mr_encode_options jpeg = {.struct_size = sizeof jpeg, .form = MR_FORM_JPEG};

/* The bytes that libjpeg, used plainly, makes of the same. */
static picture_file encode_plainly(const mr_image *image, int quality, int across, int down, bool progressive)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    unsigned char *made = NULL;
    unsigned long nbytes = 0;
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &made, &nbytes);
    c.image_width = image->width;
    c.image_height = image->height;
    c.input_components = (int)image->channels;
    c.in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, quality, TRUE);
    if (image->channels == 3) {
        c.comp_info[0].h_samp_factor = across;
        c.comp_info[0].v_samp_factor = down;
    }
    if (progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    for (uint32_t y = 0; y < image->height; y++) {
        JSAMPROW row = (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    picture_file copy = picture_copy(made, nbytes);
    free(made);
    return copy;
}

/* Progressive and plain in turn: tables made for one image must not be used for the next. */
static void bytes_are_libjpegs(void **state)
{
    (void)state;
    static const struct {
        mr_subsampling name;
        int across, down;
    } names[] = {
        {MR_SUBSAMPLING_NONE, 2, 2}, {MR_SUBSAMPLING_444, 1, 1}, {MR_SUBSAMPLING_422, 2, 1}, {MR_SUBSAMPLING_420, 2, 2},
        {MR_SUBSAMPLING_440, 1, 2},  {MR_SUBSAMPLING_411, 4, 1}, {MR_SUBSAMPLING_410, 4, 2}, {MR_SUBSAMPLING_441, 1, 4},
    };
    for (size_t i = 0; i < 16; i++) {
        bool progressive = i % 2 == 1;
        uint32_t channels = i % 5 == 4 ? 1 : 3, quality = i == 0 ? 0 : (uint32_t)(7 * i % 100 + 1);
        mr_image image = picture_make(61 + (uint32_t)i, 43, channels, 8, i), upside_down = mr_image_upside_down(&image);
        picture_file plain = encode_plainly(&image, quality != 0 ? (int)quality : 90, names[i % 8].across,
                                            names[i % 8].down, progressive);
        mr_encode_options o = jpeg;
        o.quality = quality;
        o.subsampling = names[i % 8].name;
        o.progressive = progressive;
        for (int round = 0; round < 2; round++) {
            picture_file ours = picture_encode_with(encoder, &image, &o);
            assert_int_equal(ours.nbytes, plain.nbytes);
            assert_memory_equal(ours.bytes, plain.bytes, plain.nbytes);
            free(ours.bytes);
        }
        mr_subsampling name = names[i % 8].name != 0 ? names[i % 8].name : MR_SUBSAMPLING_420;
        assert_int_equal(info_of(&plain).subsampling, channels == 1 ? MR_SUBSAMPLING_NONE : name);
        picture_file turned = picture_encode_with(encoder, &upside_down, &o);
        assert_true(turned.nbytes != plain.nbytes || memcmp(turned.bytes, plain.bytes, plain.nbytes) != 0);
        free(turned.bytes);
        free(plain.bytes);
        mr_image_fini(&image, NULL);
    }
}

static void orientation_and_profile(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 65519, 65520, 200000};
    mr_image image = picture_make(40, 30, 3, 8, 1);
    uint8_t *profile = malloc(200000);
    for (size_t i = 0; i < 200000; i++)
        profile[i] = (uint8_t)(i * i >> 3);
    for (uint32_t i = 0; i < 8; i++) {
        mr_encode_options o = jpeg;
        o.orientation = i + 1;
        o.icc = profile;
        o.icc_nbytes = sizes[i % 4];
        picture_file file = picture_encode_with(encoder, &image, &o);
        check_metadata(&file, i + 1, profile, sizes[i % 4]);
        free(file.bytes);
    }
    free(profile);
    mr_image_fini(&image, NULL);
}

static void what_jpeg_does_not_have(void **state)
{
    (void)state;
    static const struct {
        uint32_t channels, depth;
    } shapes[] = {{2, 8}, {4, 8}, {1, 16}, {3, 16}};
    for (size_t i = 0; i < 4; i++) {
        mr_image image = picture_make(8, 8, shapes[i].channels, shapes[i].depth, 1);
        check_not_encoded(encoder, &image, &jpeg, MR_EUNSUPPORTED, "gray or RGB, 8 bits, and no alpha");
        mr_image_fini(&image, NULL);
    }
    mr_image wide = picture_make(65501, 1, 1, 8, 1), image = picture_make(8, 8, 3, 8, 1);
    check_not_encoded(encoder, &wide, &jpeg, MR_EUNSUPPORTED, "65501 x 1");
    mr_encode_options odd = jpeg, large = jpeg;
    odd.subsampling = MR_SUBSAMPLING_OTHER;
    large.icc = "x";
    large.icc_nbytes = 255 * 65519 + 1;
    check_not_encoded(encoder, &image, &odd, MR_EARGUMENT, "subsampling");
    check_not_encoded(encoder, &image, &large, MR_EUNSUPPORTED, "ICC");
    mr_image_fini(&wide, NULL);
    mr_image_fini(&image, NULL);
}

static void memory_is_limited_and_kept(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr_image image = picture_make(600, 400, 3, 8, 1);
    mr_encode_options e = jpeg;
    e.quality = 95;
    const void *bytes;
    size_t nbytes;
    failing_begin(0, false);
    mr_encoder *small = handles_encoder(&hooks, &(mr_limits){.memory_nbytes = 200000});
    check_not_encoded(small, &image, &e, MR_ELIMIT, "limits.memory_nbytes");
    mr_encoder_free(small);
    small = handles_encoder(&hooks, NULL);
    assert_int_equal(mr_encoder_encode(small, &image, &e, &bytes, &nbytes), 0);
    size_t before = failing_now().attempts;
    assert_int_equal(mr_encoder_encode(small, &image, &e, &bytes, &nbytes), 0);
    assert_int_equal(failing_now().attempts, before);
    mr_encoder_free(small);
    assert_int_equal(failing_end().live_blocks, 0);
    mr_image_fini(&image, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_libjpegs),
        cmocka_unit_test(orientation_and_profile),
        cmocka_unit_test(what_jpeg_does_not_have),
        cmocka_unit_test(memory_is_limited_and_kept),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
