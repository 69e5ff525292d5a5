// SPDX-License-Identifier: Apache-2.0
/* L3's pixel mode by kernels: the host decoder's pixels, of every shape, kind and region; damage is refused. */
#include "test.h"

#include "l3_file.h"
#include "l3_plain_encode.h"
#include "opencl_play.h"
#include "picture.h"
#include "shared.h"
#include "taping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const taping emulated[] = {{.seed = 0}, {.seed = 1}, {.seed = 77}};

/* The whole, and some regions; each by lanes in another order. */
static void check_file(const taping *how, const picture_file *file, uint32_t width, uint32_t height, uint32_t regions,
                       uint64_t *random)
{
    const taping *by = how != NULL ? how : &emulated[picture_random_below(random, 3)];
    assert_true(taping_decode(by, file->bytes, file->nbytes, (mr_rect){0}));
    for (uint32_t i = 0; i < regions; i++) {
        by = how != NULL ? how : &emulated[picture_random_below(random, 3)];
        assert_true(taping_decode(by, file->bytes, file->nbytes, picture_random_rect(random, width, height)));
    }
}

/* A half, a quarter, an eighth: whole, and two parts of each. */
static void check_reduced(const taping *how, const picture_file *file, uint32_t width, uint32_t height,
                          uint64_t *random)
{
    for (uint32_t n = 2; n <= 8; n *= 2)
        for (uint32_t i = 0; i < 3; i++) {
            taping by = how != NULL ? *how : emulated[i];
            by.reduce = n;
            mr_rect part = picture_random_rect(random, (width + n - 1) / n, (height + n - 1) / n);
            assert_true(taping_decode(&by, file->bytes, file->nbytes, i == 0 ? (mr_rect){0} : part));
        }
}

/* Whatever the format allows, at random: all kinds of tile, predictors, levels, layers, remappings. */
static void check_plain(const taping *how, uint32_t width, uint32_t height, uint32_t channels, uint64_t seed)
{
    mr_image image = picture_make(width, height, channels, 8, seed);
    picture_file file = l3_plain_encode(&image, seed);
    check_file(how, &file, width, height, 2, &seed);
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

static const uint32_t sides[] = {1, 2, 3, 5, 8, 9, 16, 17, 31, 33, 64, 65, 129, 130};
enum { SIDES = sizeof sides / sizeof *sides };

static void every_shape_comes_back(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t times = test_long() ? 40 : 1; times > 0; times--)
        for (size_t i = 0; i < SIDES * SIDES; i += test_quick() ? 7 : 1, seed++)
            check_plain(NULL, sides[i / SIDES], sides[i % SIDES], 1 + (uint32_t)(seed % 4), seed);
}

static void check_reduced_shapes(const taping *how, size_t step)
{
    uint64_t random = 3;
    for (size_t i = 0; i < SIDES * SIDES; i += step) {
        uint32_t width = sides[i / SIDES], height = sides[i % SIDES];
        mr_image image = picture_make(width, height, 1 + (uint32_t)(i / step % 4), 8, i);
        picture_file file = l3_plain_encode(&image, i + 1);
        check_reduced(how, &file, width, height, &random);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

/* Boxes are averaged as on the host, those that the edge cuts off too. */
static void reduced_ones_come_back(void **state)
{
    (void)state;
    check_reduced_shapes(NULL, test_long() ? 1 : test_quick() ? 13 : 3);
}

/* The widest and the highest tiles. */
static void large_tiles_come_back(void **state)
{
    (void)state;
    static const uint32_t shapes[][5] = {
        {1030, 70, 1, 1024, 32}, {1024, 256, 1, 1024, 256}, {257, 1025, 1, 256, 1024}, {300, 200, 3, 64, 128}};
    uint64_t random = 5;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const uint32_t *s = shapes[i];
        mr_image image = picture_make(s[0], s[1], s[2], 8, i);
        for (uint64_t seed = 0; seed < 2; seed++) {
            picture_file file = l3_plain_encode_tiles(&image, 10 * i + seed, s[3], s[4], true);
            check_file(NULL, &file, s[0], s[1], 1, &random);
            free(file.bytes);
        }
        mr_image_fini(&image, NULL);
    }
}

typedef enum content { SLOPES, NOISE, FLAT, FEW_VALUES, LINES, CONTENTS } content;

static mr_image make_content(content what, uint32_t width, uint32_t height, uint32_t channels, uint64_t seed)
{
    mr_image image = picture_make(width, height, channels, 8, seed);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride;
        for (uint32_t i = 0; i < width * channels; i++) {
            if (what == FLAT)
                row[i] = (uint8_t)(i % channels * 50 + 7);
            else if (what == FEW_VALUES) // with holes all over
                row[i] = (uint8_t)(row[i] / 9 * 9);
            else if (what == LINES)
                row[i] = (uint8_t)(y % 16 == 0 || i / channels % 40 == 3 ? 200 : 0);
        }
        if (what == NOISE)
            picture_noise(row, (size_t)width * channels, (uint32_t)seed + y);
    }
    return image;
}

static void check_encoded(const taping *how, const mr_image *image, mr_l3_preset preset, uint32_t regions,
                          uint64_t *random)
{
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3, .preset = preset};
    picture_file file = picture_encode(image, &options);
    check_file(how, &file, image->width, image->height, regions, random);
    free(file.bytes);
}

static void every_preset(const taping *how, const uint32_t (*sizes)[2], size_t count)
{
    uint64_t random = 9;
    for (size_t i = 0; i < count; i++)
        for (uint32_t what = 0; what < CONTENTS; what++)
            for (uint32_t channels = 1; channels <= 4; channels++) {
                mr_image image = make_content((content)what, sizes[i][0], sizes[i][1], channels, i + what);
                check_encoded(how, &image, (mr_l3_preset)((what + channels + i) % 3), 1, &random);
                mr_image_fini(&image, NULL);
            }
}

static void what_our_encoder_writes_comes_back(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 77}, {83, 1}, {61, 53}, {320, 67}, {97, 401}, {1031, 70}};
    every_preset(NULL, sizes, test_quick() ? 5 : 7);
}

/* Photographs; only a few, since the emulator is slow. */
static void check_photograph(const char *path, const picture_file *file, void *user)
{
    uint32_t *count = user;
    (void)path;
    if ((*count)++ >= (test_quick() ? 1 : 3))
        return;
    uint64_t random = *count;
    mr_image image = picture_decode(file->bytes, file->nbytes, NULL), part;
    for (uint32_t preset = MR_L3_DEFAULT; preset <= MR_L3_SMALL; preset++) {
        mr_rect rect = {*count * 40, *count * 100, 640 - *count * 30, 150};
        assert_int_equal(mr_image_crop(&image, rect, &part), 0);
        check_encoded(NULL, &part, (mr_l3_preset)preset, 2, &random);
    }
    mr_image_fini(&image, NULL);
}

static void photographs_come_back(void **state)
{
    (void)state;
    uint32_t count = 0;
    if (shared_each("data/kodak", ".png", check_photograph, &count) == 0)
        skip();
}

/* Changes a byte, a bit or a nibble, or exchanges two bytes, from `first` on; hashes are right again. */
static void damage(picture_file *file, size_t first, uint64_t *random)
{
    uint32_t count = (uint32_t)(file->nbytes - first), near = count < 64 ? count : 64;
    for (uint32_t changes = 1 + picture_random_below(random, 3); changes > 0; changes--) {
        size_t at = first + picture_random_below(random, picture_random(random) % 2 == 0 ? near : count);
        uint8_t *a = file->bytes + at, *b = at + 1 < file->nbytes ? a + 1 : file->bytes + first, kept = *a;
        uint32_t way = picture_random_below(random, 4);
        *a = way == 0   ? (uint8_t)picture_random(random)
             : way == 1 ? (uint8_t)(kept ^ 1u << picture_random_below(random, 8))
             : way == 2 ? (uint8_t)(kept << 4 | kept >> 4)
                        : *b;
        if (way == 3)
            *b = kept;
    }
    l3_file_fix(file);
}

/* What the host takes of a damaged file, kernels take, and give the same; what it does not, they do not. */
static bool check_agreement(const taping *how, const picture_file *file)
{
    mr_decoder *decoder;
    mr_info info = {.struct_size = sizeof info};
    playing_decoded is;
    mr__detail detail;
    mr_image host;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_info(decoder, file->bytes, file->nbytes, &info), 0);
    mr_rect all = {0, 0, info.width, info.height};
    int played = playing_decode(how, file->bytes, file->nbytes, &info, all, &is, &detail);
    bool taken = mr_decoder_decode(decoder, file->bytes, file->nbytes, NULL, &host) == 0;
    assert_int_equal(played == 0 && !is.refused, taken);
    if (taken)
        picture_compare(&is.image, &host, "a damaged image");
    mr_decoder_free(decoder);
    free(is.image.pixels);
    return taken;
}

static void check_damaged(const taping *how, uint32_t files, uint32_t times)
{
    uint64_t random = 1;
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < files; i++) {
        mr_image image =
            picture_make(1 + picture_random_below(&random, 70), 1 + picture_random_below(&random, 50), 1 + i % 4, 8, i);
        picture_file file = l3_plain_encode_tiles(&image, i, 64, 64, i % 5 != 0);
        size_t first = l3_plain_head_nbytes(&file);
        for (uint32_t n = 0; n < times; n++) {
            picture_file copy = picture_copy(file.bytes, file.nbytes);
            damage(&copy, first, &random);
            counts[check_agreement(how != NULL ? how : &emulated[n % 3], &copy)]++;
            free(copy.bytes);
        }
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
    assert_true(counts[0] > files * times / 5 && counts[1] > files * times / 5); // there are enough of either
}

static void damage_is_refused(void **state)
{
    (void)state;
    check_damaged(NULL, test_long() ? 3000 : test_quick() ? 30 : 100, 20);
}

static const mr_image gray = {.width = 8, .height = 4, .channels = 1, .depth = 8};
static const mr_image wide = {.width = 16, .height = 4, .channels = 1, .depth = 8};

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ZEROS_8    0, 0, 0, 0, 0, 0, 0, 0
#define ZEROS_31   ZEROS_8, ZEROS_8, ZEROS_8, 0, 0, 0, 0, 0, 0, 0
#define SEVEN_255  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

static void check_tile(const mr_image *shape, bool taken, const uint8_t *tile, size_t nbytes)
{
    picture_file file = l3_plain_file(shape, tile, &nbytes, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(check_agreement(&emulated[i], &file), taken);
    free(file.bytes);
}

/* As in test_l3_pixel_damage.c. Lengths of layers 2 and 3, headers, selector, low bits, layer 1, layers 2 and 3. */
static void layers_are_checked(void **state)
{
    (void)state;
    check_tile(&gray, true, BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0));
    check_tile(&gray, true, BYTES(1, 0, 6, 17, 0, 0, 1, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1));
    check_tile(&gray, false, BYTES(1, 0, 6, 15, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0));       // too short
    check_tile(&gray, false, BYTES(1, 0, 6, 17, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0)); // too long
    check_tile(&gray, false, BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2));    // a bit left
    check_tile(&gray, false, BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1));    // no layer 3
    check_tile(&wide, true, // 57 ones, then 58
               BYTES(1, 0, 6, 31, 0, 0, 8, 0, 0, 0, 0x99, 0, 0, ZEROS_8, SEVEN_255, 1, ZEROS_8));
    check_tile(&wide, false, BYTES(1, 0, 6, 31, 0, 0, 8, 0, 0, 0, 0x99, 0, 0, ZEROS_8, SEVEN_255, 3, ZEROS_8));
    check_tile(&gray, false, BYTES(1, 0, 0x11, 10, 0, 0, ZEROS_8, 0, 0x30)); // selector 3
    check_tile(&gray, false, BYTES(1, 4, ZEROS_31, 1, 2, 3, 0, 0, 0, 0, 0)); // no such value
    check_tile(
        &gray, true,
        BYTES(1, 4, SEVEN_255, SEVEN_255, 255, 255, 1, ZEROS_8, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0)); // there is
}

/* The largest tile, every mask of which asks for 57 bits of a layer that has none. */
static void layers_that_are_not_there(void **state)
{
    (void)state;
    enum { W = 1024, H = 256, GROUPS = W / 32 * H / 4, BLOCKS = 4 * GROUPS };
    enum { PLANE = 4 + 2 * GROUPS + GROUPS + 4 * BLOCKS + 4 * BLOCKS, TILE = 6 + PLANE };
    uint8_t *tile = calloc(TILE, 1);
    const uint8_t start[] = {1, 0, 6, PLANE & 255, PLANE >> 8 & 255, PLANE >> 16};
    const size_t nbytes = TILE;
    assert_non_null(tile);
    memcpy(tile, start, sizeof start);
    memset(tile + 10, 0x99, 2 * GROUPS);
    for (size_t i = 0; i < 4 * BLOCKS; i++)
        tile[TILE - 4 * BLOCKS + i] = i % 8 == 7 ? 1 : 0xff;
    mr_image shape = {.width = W, .height = H, .channels = 1, .depth = 8};
    picture_file file = l3_plain_file(&shape, tile, &nbytes, 1);
    taping_damaged(&emulated[0], file.bytes, file.nbytes);
    free(file.bytes);
    free(tile);
}

/* What the host can see is said as its decoder says it. */
static void what_is_wrong_is_said_as_on_the_host(void **state)
{
    (void)state;
    mr_image image = picture_make(100, 70, 3, 8, 4);
    picture_file file = l3_plain_encode_tiles(&image, 4, 32, 32, true);
    for (uint32_t i = 0; i < 3; i++) {
        mr_decoder *decoder;
        mr_info info = {.struct_size = sizeof info};
        playing_decoded is;
        mr__detail detail;
        mr_image host;
        size_t at = l3_plain_head_nbytes(&file);
        picture_file copy = picture_copy(file.bytes, file.nbytes - (i == 2));
        copy.bytes[i == 0 ? copy.nbytes - 1 : at] ^= 4; // a hash; an unknown kind of tile; a file that ends early
        if (i == 1)
            l3_file_fix(&copy);
        assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
        assert_int_equal(mr_decoder_info(decoder, copy.bytes, copy.nbytes, &info), 0);
        int code = mr_decoder_decode(decoder, copy.bytes, copy.nbytes, NULL, &host);
        assert_int_not_equal(code, 0);
        mr_rect all = {0, 0, 100, 70};
        assert_int_equal(playing_decode(&emulated[0], copy.bytes, copy.nbytes, &info, all, &is, &detail), code);
        assert_string_equal(detail.text, mr_decoder_detail(decoder));
        mr_decoder_free(decoder);
        free(copy.bytes);
    }
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

/* Whatever there is too little room for, in an arena that grows. */
static void check_room(uint32_t reduce, mr_rect region)
{
    const mr__finish finish = {.output = {.channels = 3, .width = 1, .height = 1, .dtype = MR_U8}, .depth = 8};
    mr_image image = picture_make(100, 70, 3, 8, 4);
    picture_file file = l3_plain_encode_tiles(&image, 4, 32, 64, false);
    mr_info info = {.struct_size = sizeof info};
    mr__tape_source source = {
        .bytes = file.bytes, .nbytes = file.nbytes, .info = &info, .region = region, .reduce = reduce};
    int result = MR_ENOMEM;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr_decoder_new(NULL, &source.decoder), 0);
    assert_int_equal(mr_decoder_info(source.decoder, file.bytes, file.nbytes, &info), 0);
    for (uint32_t nbytes = 64; result == MR_ENOMEM; nbytes += 1984) {
        mr__tape tape = {0};
        mr__tape_writer *writer = calloc(1, sizeof *writer);
        uint8_t *arena = aligned_alloc(64, nbytes);
        mr__sheet sheet;
        mr__detail detail = {{0}};
        assert_true(writer != NULL && arena != NULL && nbytes < 4 << 20);
        mr__tape_init(&tape, &hooks, arena, nbytes, nbytes, 1);
        mr__tape_writer_init(writer, &hooks, &tape, &finish);
        mr__tape_writer_begin(writer);
        mr__tape_mark mark = mr__tape_open(&tape);
        result = mr__tape_decode(writer, &source, &sheet, &detail);
        if (result == MR_ENOMEM)
            assert_contains(detail.text, "does not fit");
        mr__tape_drop(&tape, mark);
        mr__tape_writer_fini(writer);
        mr__tape_fini(&tape);
        free(writer);
        free(arena);
    }
    assert_int_equal(result, 0);
    mr_decoder_free(source.decoder);
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

static void what_does_not_fit_is_said(void **state)
{
    (void)state;
    check_room(1, (mr_rect){0, 0, 100, 70});
    check_room(2, (mr_rect){0, 0, 50, 35});
}

/* All of the image is asked for, at any size: then the host looks at the tail, and so does a device. */
static void the_tail_of_reduced_ones_is_looked_at(void **state)
{
    (void)state;
    mr_image image = picture_make(37, 21, 3, 8, 6);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3, .icc = "colors", .icc_nbytes = 6};
    picture_file file = picture_encode(&image, &options);
    mr_info info = {.struct_size = sizeof info};
    mr_decoder *decoder;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_info(decoder, file.bytes, file.nbytes, &info), 0);
    file.bytes[file.nbytes - 1] ^= 1;
    for (uint32_t n = 1; n <= 8; n *= 2) {
        mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = n};
        taping how = {.reduce = n};
        mr_rect all = {0, 0, (info.width + n - 1) / n, (info.height + n - 1) / n};
        mr_image host;
        playing_decoded is;
        mr__detail detail = {{0}};
        int code = mr_decoder_decode(decoder, file.bytes, file.nbytes, &hints, &host);
        assert_int_equal(code, MR_ECORRUPT);
        assert_contains(mr_decoder_detail(decoder), "the section at byte");
        assert_int_equal(playing_decode(&how, file.bytes, file.nbytes, &info, all, &is, &detail), code);
        assert_string_equal(detail.text, mr_decoder_detail(decoder));
    }
    mr_decoder_free(decoder);
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

/* The host does those. */
static void sixteen_bits_are_not_taken(void **state)
{
    (void)state;
    mr_image image = picture_make(40, 30, 3, 16, 1);
    picture_file file = l3_plain_encode(&image, 1);
    assert_false(taping_decode(&emulated[0], file.bytes, file.nbytes, (mr_rect){0}));
    free(file.bytes);
    mr_image_fini(&image, NULL);
}

static void the_same_on_opencl(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{61, 53}, {1031, 70}};
    opencl_play cl;
    mr__detail detail;
    if (opencl_play_open(&cl, NULL, &detail) != 0) {
        print_message("no OpenCL: %s\n", detail.text);
        skip();
    }
    taping how = {.play = opencl_play_tape, .user = &cl};
    every_preset(&how, sizes, 2);
    for (uint64_t seed = 1; seed < 40; seed++)
        check_plain(&how, sides[seed * 5 % SIDES], sides[seed * 3 % SIDES], 1 + (uint32_t)(seed % 4), seed);
    check_reduced_shapes(&how, 13);
    check_damaged(&how, 10, 10);
    opencl_play_close(&cl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_comes_back),
        cmocka_unit_test(reduced_ones_come_back),
        cmocka_unit_test(large_tiles_come_back),
        cmocka_unit_test(what_our_encoder_writes_comes_back),
        cmocka_unit_test(photographs_come_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(layers_are_checked),
        cmocka_unit_test(layers_that_are_not_there),
        cmocka_unit_test(what_is_wrong_is_said_as_on_the_host),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(the_tail_of_reduced_ones_is_looked_at),
        cmocka_unit_test(sixteen_bits_are_not_taken),
        cmocka_unit_test(the_same_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
