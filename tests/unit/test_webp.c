// SPDX-License-Identifier: Apache-2.0
/* WebP against libwebp's plain calls: whole decodes, parts, frames, metadata. Damage is in test_webp_damage.c. */
#include "test.h"

#include "check.h"
#include "failing_codec.h"
#include "shared.h"
#include "webp_file.h"

#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>

static const mr_encode_options lossy = {.struct_size = sizeof lossy, .form = MR_FORM_WEBP};
static const mr_encode_options lossless = {.struct_size = sizeof lossless, .form = MR_FORM_WEBP, .lossless = true};

static void check_whole(const picture_file *file, uint32_t channels)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = channels};
    mr_image reference = webp_reference(file, channels);
    check_decode(file, &hints, &reference, "WebP");
    mr_image_fini(&reference, NULL);
}

static void lossless_comes_back(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 40; side += side % 2 == 1 && side > 8 ? 6 : 1)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = picture_make(side, 41 - side, channels, 8, side), wanted;
            picture_file file = picture_encode(&image, &lossless);
            uint32_t stored = channels % 2 == 0 ? 4 : 3;
            assert_int_equal(mr_image_init(&wanted, side, 41 - side, stored, 8, NULL), 0);
            assert_int_equal(mr_image_convert(&image, &wanted), 0);
            check_decode(&file, NULL, &wanted, "lossless");
            mr_image_fini(&wanted, NULL);
            mr_image_fini(&image, NULL);
            free(file.bytes);
        }
}

static void lossy_is_what_libwebp_gives(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 40; side += side > 8 ? 5 : 1)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = picture_make(side, 41 - side, channels, 8, side);
            picture_file file = picture_encode(&image, &lossy);
            check_whole(&file, 3);
            if (channels % 2 == 0)
                check_whole(&file, 4);
            mr_image_fini(&image, NULL);
            free(file.bytes);
        }
}

/* Alpha is added as opaque where the header says there is none, and dropped, not multiplied, where there is. */
static void channels_are_converted_as_by_mr_image_convert(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_image image = picture_make(23, 17, i % 2 == 0 ? 3 : 4, 8, i);
        picture_file file = picture_encode(&image, i < 2 ? &lossy : &lossless);
        mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
        assert_int_equal(whole.channels, image.channels);
        check_conversions(&file, &whole, i < 2 ? "lossy" : "lossless");
        mr_image_fini(&whole, NULL);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

/* Random parts of one file are the crops of its reference, in 3 and in 4 channels. */
static void check_parts(const picture_file *file, uint64_t seed, int count)
{
    for (uint32_t channels = 3; channels <= 4; channels++) {
        mr_decode_hints hints = {.channels = channels};
        mr_image whole = webp_reference(file, channels);
        for (int i = 0; i < count; i++)
            check_region(file, hints, picture_random_rect(&seed, whole.width, whole.height), &whole, "WebP");
        mr_image_fini(&whole, NULL);
    }
}

/* The loop filter, its strength and the partitions change how far pixels depend on their neighbours. */
static void regions_are_the_crop(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        WebPConfig config;
        assert_true(WebPConfigInit(&config));
        config.lossless = i % 6 == 5;
        config.exact = 1;
        config.quality = i % 2 == 0 ? 20 : 80;
        config.filter_type = i / 2 % 2;
        config.filter_strength = i % 6 == 4 ? 0 : 60;
        config.filter_sharpness = (int)(i % 8);
        config.partitions = (int)(i % 4);
        config.segments = 1 + (int)(i % 4);
        mr_image image = picture_make(33 + i * 3, 90 - i * 2, i % 3 == 0 ? 4 : 3, 8, i);
        picture_file file = webp_encode(&image, &config);
        check_parts(&file, i, 40);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

/* Any filter can be written over that of an ALPH chunk, whose first byte follows the chunk's header. */
static void regions_are_the_crop_under_every_filter_of_alpha(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        WebPConfig config;
        assert_true(WebPConfigInit(&config));
        config.alpha_compression = i < 4;
        mr_image image = picture_make(45, 37, 4, 8, i);
        for (size_t k = 3; k < 45 * 37 * 4;
             k += 4) // few values, so that alpha gets a palette, which libwebp treats apart
            ((uint8_t *)image.pixels)[k] &= 0xc0;
        picture_file file = webp_encode(&image, &config);
        assert_memory_equal(file.bytes + 30, "ALPH", 4);
        assert_int_equal(file.bytes[38] & 3, config.alpha_compression);
        file.bytes[38] = (uint8_t)((file.bytes[38] & ~0x0c) | i % 4 << 2);
        check_parts(&file, i, 60);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

/* Every part of a small picture: all parities at all sides. */
static void every_region_of_a_small_picture(void **state)
{
    (void)state;
    mr_image image = picture_make(7, 6, 3, 8, 3);
    picture_file file = picture_encode(&image, &lossy);
    mr_image whole = webp_reference(&file, 3);
    check_every_region(&file, &whole);
    mr_image_fini(&whole, NULL);
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

static void check_part_target(const picture_file *file, mr_rect region)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = region};
    mr_image wanted = picture_decode(file->bytes, file->nbytes, &hints);
    check_target(file, &hints, &wanted);
    mr_image_fini(&wanted, NULL);
}

static void targets_may_have_any_stride(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_image image = picture_make(21, 19, i % 2 == 0 ? 3 : 4, 8, i);
        picture_file file = picture_encode(&image, i / 2 == 0 ? &lossy : &lossless);
        check_part_target(&file, (mr_rect){0});
        check_part_target(&file, (mr_rect){3, 4, 9, 11});
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

static void info_says_what_is_stored(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_image image = picture_make(9, 5, i % 2 == 0 ? 3 : 4, 8, i);
        picture_file file = picture_encode(&image, i < 2 ? &lossy : &lossless);
        mr_info info = info_of(&file);
        assert_int_equal(info.form, MR_FORM_WEBP);
        assert_int_equal(info.width, 9);
        assert_int_equal(info.height, 5);
        assert_int_equal(info.channels, image.channels);
        assert_int_equal(info.depth, 8);
        assert_int_equal(info.color, i < 2 ? MR_COLOR_YCBCR : MR_COLOR_RGB);
        assert_int_equal(info.subsampling, i < 2 ? MR_SUBSAMPLING_420 : MR_SUBSAMPLING_NONE);
        assert_int_equal(info.orientation, 1);
        assert_int_equal(info.lossless, i >= 2);
        assert_int_equal(info.frames, 1);
        assert_false(info.has_icc || info.progressive);
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

static void orientation_and_profile_are_kept(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        mr_encode_options options = i % 2 == 0 ? lossy : lossless;
        options.orientation = 1 + i / 4;
        options.icc = i / 2 % 2 == 0 ? "profile" : NULL;
        options.icc_nbytes = i / 2 % 2 == 0 ? 7 : 0;
        mr_image image = picture_make(9, 5, 3 + i / 2 % 2, 8, i);
        picture_file file = picture_encode(&image, &options);
        check_metadata(&file, options.orientation, options.icc, options.icc_nbytes);
        assert_int_equal(info_of(&file).channels, image.channels);
        check_whole(&file, image.channels);
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

/* Metadata that some writers give: a JPEG's prefix before EXIF; chunks that VP8X does not announce do not count. */
static void exif_as_found_in_the_wild(void **state)
{
    (void)state;
    static const char tiff[] = "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
    mr_image image = picture_make(9, 5, 3, 8, 1);
    picture_file plain = picture_encode(&image, &lossy), file = webp_with_exif(&plain, tiff, sizeof tiff - 1);
    assert_int_equal(info_of(&file).orientation, 6);
    file.bytes[20] &= (uint8_t)~0x08;
    assert_int_equal(info_of(&file).orientation, 1);
    free(file.bytes);
    free(plain.bytes);
    mr_image_fini(&image, NULL);
}

/* The first frame as libwebp's own animation decoder gives it. */
static mr_image first_frame(const picture_file *file)
{
    WebPAnimDecoderOptions options;
    assert_true(WebPAnimDecoderOptionsInit(&options));
    options.color_mode = MODE_RGBA;
    WebPAnimDecoder *anim = WebPAnimDecoderNew(&(WebPData){file->bytes, file->nbytes}, &options);
    assert_non_null(anim);
    WebPAnimInfo info;
    uint8_t *pixels;
    int timestamp;
    mr_image image;
    assert_true(WebPAnimDecoderGetInfo(anim, &info));
    assert_true(WebPAnimDecoderGetNext(anim, &pixels, &timestamp));
    mr_image view = {info.canvas_width, info.canvas_height, 4, 8, (ptrdiff_t)info.canvas_width * 4, pixels};
    assert_int_equal(mr_image_init(&image, view.width, view.height, 4, 8, NULL), 0);
    assert_int_equal(mr_image_copy(&view, &image), 0);
    WebPAnimDecoderDelete(anim);
    return image;
}

static void check_animation(const picture_file *file, uint32_t frames, uint64_t seed)
{
    const mr_decode_hints hints = {.channels = 4};
    mr_image whole = first_frame(file);
    mr_info info = info_of(file);
    assert_int_equal(info.frames, frames);
    assert_int_equal(info.width, whole.width);
    assert_int_equal(info.height, whole.height);
    assert_int_equal(mr_decoder_warnings(decoder), 1);
    check_region(file, hints, (mr_rect){0, 0, whole.width, whole.height}, &whole, "animation");
    for (int i = 0; i < 60; i++)
        check_region(file, hints, picture_random_rect(&seed, whole.width, whole.height), &whole, "animation");
    mr_image_fini(&whole, NULL);
}

static void the_first_frame_of_an_animation(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        mr_image a = picture_make(20, 16, i % 2 == 0 ? 3 : 4, 8, i), b = picture_make(31, 29, 3, 8, i + 1);
        picture_file first = picture_encode(&a, i / 2 % 2 == 0 ? &lossy : &lossless);
        picture_file second = picture_encode(&b, &lossy);
        // Either the small frame comes first, off the corner, or the one that is the canvas.
        const picture_file *frames[2] = {i < 4 ? &first : &second, i < 4 ? &second : &first};
        picture_file file = webp_animate(frames, i < 4 ? 6 : 0, i < 4 ? 8 : 0);
        check_animation(&file, 2, i);
        free(file.bytes);
        free(first.bytes);
        free(second.bytes);
        mr_image_fini(&a, NULL);
        mr_image_fini(&b, NULL);
    }
}

static void encoding_is_deterministic_and_obeys_its_options(void **state)
{
    (void)state;
    mr_image image = picture_make(64, 48, 3, 8, 1);
    size_t best = SIZE_MAX;
    for (uint32_t effort = 1; effort <= 9; effort++) {
        mr_encode_options options = lossless;
        options.effort = effort;
        picture_file a = picture_encode(&image, &options), b = picture_encode(&image, &options);
        assert_int_equal(a.nbytes, b.nbytes);
        assert_memory_equal(a.bytes, b.bytes, a.nbytes);
        check_decode(&a, NULL, &image, "lossless");
        best = a.nbytes < best ? a.nbytes : best;
        free(a.bytes);
        free(b.bytes);
    }
    mr_encode_options options = lossy;
    options.quality = 10;
    picture_file coarse = picture_encode(&image, &options), fine = picture_encode(&image, &lossy);
    assert_true(coarse.nbytes < fine.nbytes);
    assert_true(fine.nbytes < best);
    free(coarse.bytes);
    free(fine.bytes);
    mr_image_fini(&image, NULL);
}

static void what_webp_does_not_have_is_refused(void **state)
{
    (void)state;
    mr_image deep = picture_make(3, 3, 3, 16, 1), wide = picture_make(16384, 1, 1, 8, 1),
             good = picture_make(3, 3, 3, 8, 1);
    check_not_encoded(encoder, &deep, &lossy, MR_EUNSUPPORTED, "8 bits");
    check_not_encoded(encoder, &wide, &lossy, MR_EUNSUPPORTED, "16383 x 16383");
    mr_encoder *small = handles_encoder(NULL, &(mr_limits){.memory_nbytes = 1 << 20});
    check_not_encoded(small, &good, &lossy, MR_ELIMIT, "memory");
    mr_encoder_free(small);
    mr_image_fini(&deep, NULL);
    mr_image_fini(&wide, NULL);
    mr_image_fini(&good, NULL);
}

/* Of a part, and of a cut file; libwebp's own memory is in test_failing_forms.c. */
static void every_allocation_through_the_hooks_may_fail(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_encode_options options = i % 2 == 0 ? lossy : lossless;
        options.icc = "profile";
        options.icc_nbytes = 7;
        mr_image image = picture_make(30, 40, 3 + i / 2, 8, i);
        failing_decoding d = {.file = picture_encode(&image, &options), .profile = true, .icc_nbytes = 7};
        d.hints = (mr_decode_hints){.region = {3, 3, 9, 9}, .channels = 2, .accept_damaged = true};
        failing_run(failing_decode, &d);
        failing_decoding cut = {.file = {d.file.bytes, d.file.nbytes * 3 / 4}, .hints = d.hints};
        failing_run(failing_decode, &cut);
        mr_image_fini(&image, NULL);
        free(d.file.bytes);
    }
}

/* libwebp takes or refuses a file of the corpus, and so do we, with the same pixels. */
static void check_corpus_file(const char *path, const picture_file *file, void *user)
{
    (void)user;
    int width = 0, height = 0;
    uint8_t *pixels = WebPDecodeRGBA(file->bytes, file->nbytes, &width, &height);
    int result = picture_try(decoder, file->bytes, file->nbytes, NULL);
    if ((pixels != NULL) != (result == 0))
        fail_msg("%s: %s here, but %s by libwebp", path, result == 0 ? "taken" : mr_decoder_detail(decoder),
                 pixels != NULL ? "taken" : "refused");
    WebPFree(pixels);
    if (result == 0)
        check_whole(file, 3);
    if (result == 0 && (size_t)width * (size_t)height < 1 << 20)
        check_parts(file, file->nbytes, 5);
}

static void the_corpus_is_decoded_as_by_libwebp(void **state)
{
    (void)state;
    if (shared_each("corpus/webp", ".webp", check_corpus_file, NULL) == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossless_comes_back),
        cmocka_unit_test(lossy_is_what_libwebp_gives),
        cmocka_unit_test(channels_are_converted_as_by_mr_image_convert),
        cmocka_unit_test(regions_are_the_crop),
        cmocka_unit_test(regions_are_the_crop_under_every_filter_of_alpha),
        cmocka_unit_test(every_region_of_a_small_picture),
        cmocka_unit_test(targets_may_have_any_stride),
        cmocka_unit_test(info_says_what_is_stored),
        cmocka_unit_test(orientation_and_profile_are_kept),
        cmocka_unit_test(exif_as_found_in_the_wild),
        cmocka_unit_test(the_first_frame_of_an_animation),
        cmocka_unit_test(encoding_is_deterministic_and_obeys_its_options),
        cmocka_unit_test(what_webp_does_not_have_is_refused),
        cmocka_unit_test(every_allocation_through_the_hooks_may_fail),
        cmocka_unit_test(the_corpus_is_decoded_as_by_libwebp),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
