// SPDX-License-Identifier: Apache-2.0
/* WebP files that are cut, changed or lie: what is said of them, and what is still given. */
#include "test.h"

#include "base/bytes.h"
#include "check.h"
#include "webp_file.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

static const mr_decode_hints accept_damage = {.struct_size = sizeof accept_damage, .accept_damaged = true};

/* A changed size is not worth the memory it asks for. */
static int setup(void **state)
{
    int result = handles_setup(state);
    mr_decoder_free(decoder);
    decoder = handles_decoder(NULL, &(mr_limits){.pixels = 20000});
    return result;
}

/* Kinds of files: lossy, lossy with alpha, lossless, lossless with metadata, an animation. */
enum { KINDS = 5 };

static picture_file make_file(uint32_t kind, uint32_t width, uint32_t height)
{
    mr_encode_options options = {
        .struct_size = sizeof options, .form = MR_FORM_WEBP, .lossless = kind == 2 || kind == 3};
    if (kind == 3) {
        options.orientation = 6;
        options.icc = "odd";
        options.icc_nbytes = 3;
    }
    mr_image image = picture_make(width, height, kind % 2 == 0 ? 3 : 4, 8, kind);
    picture_file file = picture_encode(&image, &options);
    if (kind == 4) {
        picture_file frame = file;
        const picture_file *frames[2] = {&frame, &frame};
        file = webp_animate(frames, 2, 4);
        free(frame.bytes);
    }
    mr_image_fini(&image, NULL);
    return file;
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        picture_file whole = make_file(kind, 13, 9);
        for (size_t nbytes = 0; nbytes < whole.nbytes; nbytes++) {
            picture_file file = picture_copy(whole.bytes, nbytes);
            int result = picture_try(decoder, file.bytes, nbytes, NULL);
            assert_int_equal(result, nbytes < 12 ? MR_EFORMAT : MR_ETRUNCATED);
            if (nbytes >= 12)
                assert_memory_equal(mr_decoder_detail(decoder), "truncated WebP", 14);
            result = picture_try(decoder, file.bytes, nbytes, &accept_damage);
            assert_true(result == 0 || result == MR_EFORMAT || result == MR_ETRUNCATED);
            free(file.bytes);
        }
        free(whole.bytes);
    }
}

static void details_name_the_byte(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        int expected;
        const char *word;
    } cases[] = {
        {4, 0, MR_ECORRUPT, "a file of 0 bytes at byte 4"},
        {12, 'X', MR_ECORRUPT, "VP8X chunk at byte 12"},
        {16, 255, MR_ECORRUPT, "byte 12"},
        {20, 1, MR_ECORRUPT, "key frame of a known profile at byte 20"},
        {20, 0, MR_ECORRUPT, "visible key frame"},
        {23, 0, MR_ECORRUPT, "start code at byte 23"},
        {26, 0, MR_ECORRUPT, "size 0 x 9 at byte 26"},
        {22, 0x7f, MR_ECORRUPT, "first partition at byte 20"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file file = make_file(0, 13, 9);
        file.bytes[cases[i].at] = cases[i].value;
        check_refused(&file, NULL, cases[i].expected, cases[i].word);
        free(file.bytes);
    }
    picture_file file = make_file(0, 130, 90);
    uint32_t end = 4000;
    assert_int_equal(picture_try(decoder, file.bytes, end, NULL), MR_ETRUNCATED);
    assert_contains(mr_decoder_detail(decoder), "the data at byte 4000");
    // The container is whole, but says itself that it ends early.
    mr__store_le32(file.bytes + 4, end - 8);
    mr__store_le32(file.bytes + 16, end - 20);
    assert_int_equal(picture_try(decoder, file.bytes, end, NULL), MR_ETRUNCATED);
    assert_string_equal(mr_decoder_detail(decoder),
                        "truncated WebP: the VP8 data from byte 12 ends too early, at byte 4000");
    free(file.bytes);
}

/* Of ten changes to each byte a quick run makes two. */
static bool is_left_out(size_t change)
{
    return test_quick() && (change / 10 + change) % 5 != 0;
}

/*
 * Every byte changed to some values: we take what libwebp takes and give the same pixels. We refuse a little more, as
 * libwebp's demuxer does: its plain decoder reads on after a chunk that says it is shorter than it is.
 */
static void every_changed_byte_is_judged_as_by_libwebp(void **state)
{
    (void)state;
    size_t stricter = 0, taken = 0;
    for (uint32_t kind = 0; kind < 4; kind++) {
        picture_file file = make_file(kind, 13, 9);
        for (size_t i = 0; i < file.nbytes * 10; i++) {
            if (is_left_out(i))
                continue;
            uint8_t old = file.bytes[i / 10];
            file.bytes[i / 10] = i % 10 < 8 ? (uint8_t)(old ^ 1 << i % 10) : i % 10 == 8 ? 0 : 255;
            int width, height, result = picture_try(decoder, file.bytes, file.nbytes, NULL);
            if (result == MR_ECORRUPT || result == MR_ETRUNCATED || result == MR_EUNSUPPORTED)
                assert_contains(mr_decoder_detail(decoder), "byte");
            uint8_t *pixels = result == MR_ELIMIT ? NULL : WebPDecodeRGBA(file.bytes, file.nbytes, &width, &height);
            assert_true(result != 0 || pixels != NULL);
            stricter += result != 0 && pixels != NULL;
            if (result == 0) {
                mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 4};
                mr_image wanted = webp_reference(&file, 4);
                check_decode(&file, &hints, &wanted, "changed");
                mr_image_fini(&wanted, NULL);
                taken++;
            }
            WebPFree(pixels);
            assert_int_not_equal(picture_try(decoder, file.bytes, file.nbytes, &accept_damage), MR_ENOMEM);
            file.bytes[i / 10] = old;
        }
        free(file.bytes);
    }
    print_message("%zu changed files decode; %zu more only by libwebp\n", taken, stricter);
    assert_true(taken > 100 && stricter < taken / 10);
}

static void every_changed_byte_of_an_animation_is_survived(void **state)
{
    (void)state;
    picture_file file = make_file(4, 13, 9);
    for (size_t i = 0; i < file.nbytes * 10; i++) {
        if (is_left_out(i))
            continue;
        uint8_t old = file.bytes[i / 10];
        file.bytes[i / 10] = i % 10 < 8 ? (uint8_t)(old ^ 1 << i % 10) : i % 10 == 8 ? 0 : 255;
        picture_try(decoder, file.bytes, file.nbytes, NULL);
        picture_try(decoder, file.bytes, file.nbytes, &accept_damage);
        file.bytes[i / 10] = old;
    }
    free(file.bytes);
}

static void check_damaged_part(const picture_file *file, uint64_t *seed)
{
    mr_image kept = picture_decode(file->bytes, file->nbytes, &accept_damage);
    check_region(file, accept_damage, picture_random_rect(seed, kept.width, kept.height), &kept, "damaged");
    mr_image_fini(&kept, NULL);
}

/* With accept_damaged a cut file gives the rows it still has, more with more data, and a part is cut of that. */
static void accepted_damage_gives_the_rows_there_are(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 4; kind++) {
        picture_file file = make_file(kind, 75, 90);
        mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
        uint32_t rows = 0;
        uint64_t seed = kind;
        for (size_t nbytes = 100; nbytes < file.nbytes; nbytes += 1 + file.nbytes / 60) {
            picture_file cut = picture_copy(file.bytes, nbytes);
            mr_image out;
            int result = mr_decoder_decode(decoder, cut.bytes, nbytes, &accept_damage, &out);
            if (result != 0) { // not even the header of the pixels is there
                assert_int_equal(result, MR_ETRUNCATED);
                free(cut.bytes);
                continue;
            }
            assert_int_equal(mr_decoder_warnings(decoder), 1);
            uint32_t now = picture_same_rows(&whole, &out);
            assert_true(picture_is_zero_from(&out, now));
            assert_true(now >= rows);
            rows = now;
            check_damaged_part(&cut, &seed);
            free(cut.bytes);
        }
        assert_true(rows > whole.height / 2);
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

/* The same where bytes are wrong: a part decodes without its damage below, and is still what the whole has there. */
static void parts_of_accepted_damage_are_the_crop(void **state)
{
    (void)state;
    size_t damaged = 0;
    picture_file good[4];
    for (uint32_t i = 0; i < 4; i++)
        good[i] = make_file(i, 75, 90);
    for (uint32_t i = 0; i < 400; i++) {
        picture_file file = picture_copy(good[i % 4].bytes, good[i % 4].nbytes);
        uint64_t seed = i;
        for (int k = 0; k < 40; k++)
            file.bytes[file.nbytes / 4 + picture_random_below(&seed, (uint32_t)file.nbytes * 3 / 4)] ^= 0x5a;
        int result = picture_try(decoder, file.bytes, file.nbytes, &accept_damage);
        assert_int_not_equal(result, MR_ENOMEM);
        if (result == 0) {
            damaged += mr_decoder_warnings(decoder) != 0;
            check_damaged_part(&file, &seed);
        }
        free(file.bytes);
    }
    for (uint32_t i = 0; i < 4; i++)
        free(good[i].bytes);
    assert_true(damaged > 20);
}

static bool is_opaque_from(const mr_image *image, uint32_t y)
{
    for (; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            if (((const uint8_t *)image->pixels)[(size_t)y * (size_t)image->stride + x * 4 + 3] != 255)
                return false;
    return true;
}

/* What `file` is without its damaged alpha, and which rows of `whole` it still has. */
static uint32_t check_damaged_alpha(const picture_file *file, const mr_image *whole, const mr_image *colours)
{
    mr_decode_hints without = {.struct_size = sizeof without, .channels = 3};
    mr_image kept = picture_decode(file->bytes, file->nbytes, &accept_damage), seen;
    assert_int_equal(mr_image_init(&seen, kept.width, kept.height, 3, 8, NULL), 0);
    assert_int_equal(mr_image_convert(&kept, &seen), 0);
    picture_compare(&seen, colours, "colours beside damaged alpha");
    check_decode(file, &without, colours, "without alpha");
    uint32_t rows = picture_same_rows(&kept, whole);
    mr_image_fini(&seen, NULL);
    mr_image_fini(&kept, NULL);
    return rows;
}

/* Alpha that does not decode costs no colours: its rows are kept as far as they go, and are opaque from there on. */
static void damaged_alpha_leaves_the_colours(void **state)
{
    (void)state;
    picture_file good = make_file(1, 75, 90);
    assert_memory_equal(good.bytes + 30, "ALPH", 4);
    uint32_t nbytes = mr__load_le32(good.bytes + 34), damaged = 0, partly = 0, plainly = 0;
    mr_decode_hints without = {.struct_size = sizeof without, .channels = 3};
    mr_image whole = picture_decode(good.bytes, good.nbytes, NULL);
    mr_image colours = picture_decode(good.bytes, good.nbytes, &without);
    for (uint32_t i = 0; i < nbytes * 8; i += 1 + nbytes / 64) {
        picture_file file = picture_copy(good.bytes, good.nbytes);
        uint64_t seed = i;
        file.bytes[38 + i / 8] ^= (uint8_t)(1 << i % 8);
        if (picture_try(decoder, file.bytes, file.nbytes, NULL) == MR_ECORRUPT) {
            assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &accept_damage), 0);
            assert_int_equal(mr_decoder_warnings(decoder), 1);
            uint32_t rows = check_damaged_alpha(&file, &whole, &colours);
            check_damaged_part(&file, &seed);
            mr_image kept = picture_decode(file.bytes, file.nbytes, &accept_damage);
            damaged++;
            partly += rows > 20;
            plainly += is_opaque_from(&kept, 0);
            mr_image_fini(&kept, NULL);
        }
        free(file.bytes);
    }
    print_message("%u damaged, %u with alpha in part, %u without any\n", damaged, partly, plainly);
    assert_true(damaged > 100 && partly > 10 && plainly > 5);
    mr_image_fini(&colours, NULL);
    mr_image_fini(&whole, NULL);
    free(good.bytes);
}

static void data_after_the_end_is_a_warning(void **state)
{
    (void)state;
    picture_file file = make_file(0, 13, 9);
    picture_file longer = {calloc(1, file.nbytes + 5), file.nbytes + 5};
    memcpy(longer.bytes, file.bytes, file.nbytes);
    assert_int_equal(picture_try(decoder, longer.bytes, longer.nbytes, NULL), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 1);
    free(longer.bytes);
    free(file.bytes);
}

/* A chunk behind the picture that is longer than the file: libwebp does not look, and metadata is no reason to fail. */
static void a_torn_chunk_after_the_picture_is_a_warning(void **state)
{
    (void)state;
    picture_file file = make_file(3, 13, 9);
    size_t at = file.nbytes - 26 - 4;
    assert_memory_equal(file.bytes + at - 4, "EXIF", 4);
    file.bytes[at + 1] = 1;
    mr_info info = info_of(&file);
    assert_int_equal(info.orientation, 1);
    assert_true(info.has_icc);
    assert_int_equal(mr_decoder_warnings(decoder), 1);
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
    free(file.bytes);
}

/* A canvas of 2^24 pixels a side, a picture of 16384 x 16384: refused for what the header says. */
static void limits_hold_before_libwebp_is_asked(void **state)
{
    (void)state;
    picture_file file = make_file(2, 13, 9);
    mr__store_le32(file.bytes + 21, 0x3fff | 0x3fff << 14);
    mr_decoder *strict = handles_decoder(NULL, &(mr_limits){.pixels = 1000});
    assert_int_equal(picture_try(strict, file.bytes, file.nbytes, NULL), MR_ELIMIT);
    mr_decoder_free(strict);
    // The pixels fit (805 MB), but not what libwebp would take besides.
    strict = handles_decoder(NULL, &(mr_limits){.memory_nbytes = UINT64_C(1100) << 20});
    assert_int_equal(picture_try(strict, file.bytes, file.nbytes, NULL), MR_ELIMIT);
    assert_contains(mr_decoder_detail(strict), "memory");
    mr_decoder_free(strict);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(details_name_the_byte),
        cmocka_unit_test(every_changed_byte_is_judged_as_by_libwebp),
        cmocka_unit_test(every_changed_byte_of_an_animation_is_survived),
        cmocka_unit_test(accepted_damage_gives_the_rows_there_are),
        cmocka_unit_test(parts_of_accepted_damage_are_the_crop),
        cmocka_unit_test(damaged_alpha_leaves_the_colours),
        cmocka_unit_test(data_after_the_end_is_a_warning),
        cmocka_unit_test(a_torn_chunk_after_the_picture_is_a_warning),
        cmocka_unit_test(limits_hold_before_libwebp_is_asked),
    };
    return cmocka_run_group_tests(tests, setup, handles_teardown);
}
