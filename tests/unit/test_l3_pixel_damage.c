// SPDX-License-Identifier: Apache-2.0
/* Tiles of L3's pixel mode whose hashes are right and whose bytes are not: all decoders agree with the reference. */
#include "base/bytes.h"
#include "check.h"
#include "l3_check.h"
#include "l3_file.h"
#include "l3_plain_encode.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shapes of tiles that are written by hand. */
static const mr_image gray = {.width = 8, .height = 4, .channels = 1, .depth = 8};
static const mr_image gray16 = {.width = 8, .height = 4, .channels = 1, .depth = 16};
static const mr_image wide = {.width = 16, .height = 4, .channels = 1, .depth = 8};

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define ZEROS_8    0, 0, 0, 0, 0, 0, 0, 0
#define ZEROS_31   ZEROS_8, ZEROS_8, ZEROS_8, 0, 0, 0, 0, 0, 0, 0

/* A tile of these bytes is refused by all, with these words. */
static void refused(const mr_image *shape, const char *words, const uint8_t *tile, size_t nbytes)
{
    picture_file file = l3_plain_file(shape, tile, &nbytes, 1);
    char detail[160];
    snprintf(detail, sizeof detail, "damaged L3 image: tile 0 (column 0, row 0) at byte 56: %s", words);
    assert_false(l3_check_agreement(&file, words));
    check_refused(&file, NULL, MR_ECORRUPT, detail);
    free(file.bytes);
}

static void taken(const mr_image *shape, const uint8_t *tile, size_t nbytes)
{
    picture_file file = l3_plain_file(shape, tile, &nbytes, 1);
    assert_true(l3_check_agreement(&file, "a small tile"));
    free(file.bytes);
}

static void kinds_are_checked(void **state)
{
    (void)state;
    taken(&gray, BYTES(0, 77));
    refused(&gray, "a kind of tile that is not known", NULL, 0);
    refused(&gray, "a kind of tile that is not known", BYTES(4, 0));
    refused(&gray, "a constant tile of another length", BYTES(0));
    refused(&gray, "a constant tile of another length", BYTES(0, 1, 2));
    refused(&gray16, "a constant tile of another length", BYTES(0, 1));
    taken(&gray, BYTES(3, ZEROS_31, 1));
    refused(&gray, "a stored tile of another length", BYTES(3, ZEROS_31));
    refused(&gray, "a stored tile of another length", BYTES(3, ZEROS_31, 1, 1));
    taken(&gray, BYTES(2, 1, 0xf0, 17, ZEROS_31, 9)); // 15 + 17 literals
    refused(&gray, "an LZ tile without a beginning", BYTES(2));
    refused(&gray, "an LZ tile without a beginning", BYTES(2, 2, 0xf0, 17, ZEROS_31, 9));
    refused(&gray, "its LZ data does not give its pixels", BYTES(2, 0));
    refused(&gray, "its LZ data does not give its pixels", BYTES(2, 0, 0xf0, 16, ZEROS_31));
    refused(&gray, "its LZ data does not give its pixels", BYTES(2, 0, 0xf0, 18, ZEROS_31, 9, 9));
}

/* The parts before the planes; {0, 0, 0} are headers and selectors of blocks without anything. */
static void methods_are_checked(void **state)
{
    (void)state;
    taken(&gray, BYTES(1, 0, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "it ends before its planes", BYTES(1));
    refused(&gray, "it ends before its planes", BYTES(1, 0, 2, 3, 0));
    refused(&gray, "it ends before its planes", BYTES(1, 0, 2, 4, 0, 0, 0, 0, 0));
    refused(&gray, "it ends before its planes", BYTES(1, 4, ZEROS_31));
    refused(&gray, "it goes on behind its planes", BYTES(1, 0, 2, 3, 0, 0, 0, 0, 0, 0));
    refused(&gray, "a reserved bit is set", BYTES(1, 0x10, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a colour that it cannot have", BYTES(1, 1, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a colour that it cannot have", BYTES(1, 2, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a remapping that it cannot have", BYTES(1, 8, 0, 0, 1, 0, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a remapping that it cannot have", BYTES(1, 12, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a channel is remapped to no value at all", BYTES(1, 4, ZEROS_31, 0, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a sample is beyond the values that occur", BYTES(1, 4, ZEROS_31, 1, 2, 3, 0, 0, 0, 0, 0));
    refused(&gray16, "a channel is remapped by steps of 0", BYTES(1, 8, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 7, 7));
    taken(&gray16, BYTES(1, 8, 1, 1, 2, 0, 0, 2, 0, 0, 0, 0, 0, 7, 7));
    refused(&gray, "a method that is not known", BYTES(1, 0, 3, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a method that is not known", BYTES(1, 0, 14, 3, 0, 0, 0, 0, 0));
    refused(&gray, "a method that is not known", BYTES(1, 0, 0x82, 3, 0, 0, 0, 0, 0));
    refused(&gray, "levels of lifting that cannot be", BYTES(1, 0, 0x12, 3, 0, 0, 0, 0, 0));
    refused(&gray, "levels of lifting that cannot be", BYTES(1, 0, 0x01, 3, 0, 0, 0, 0, 0));
    refused(&gray, "levels of lifting that cannot be", BYTES(1, 0, 0x61, 3, 0, 0, 0, 0, 0));
    taken(&gray, BYTES(1, 0, 0, 1, 0, 0, 5));
    refused(&gray, "a constant channel with layers", BYTES(1, 0, 4, 1, 0, 0, 5));
    refused(&gray, "a constant channel of another length", BYTES(1, 0, 0, 2, 0, 0, 5, 5));
    refused(&gray, "a constant channel of another length", BYTES(1, 0, 0, 0, 0, 0));
    refused(&gray16, "a constant channel of another length", BYTES(1, 0, 0, 2, 0, 0, 1, 0, 0, 5, 5, 5));
}

static void planes_are_checked(void **state)
{
    (void)state;
    refused(&gray, "a plane is shorter than its headers", BYTES(1, 0, 2, 2, 0, 0, 0, 0));
    refused(&gray, "a plane is shorter than its headers", BYTES(1, 0, 6, 4, 0, 0, 0, 0, 0, 0));
    refused(&gray, "a plane is shorter than its blocks", BYTES(1, 0, 2, 6, 0, 0, 1, 0, 0, 0, 0, 0));
    refused(&gray, "a plane is longer than its parts", BYTES(1, 0, 2, 4, 0, 0, 0, 0, 0, 0));
    refused(&gray, "a block has layers in a plane without", BYTES(1, 0, 2, 3, 0, 0, 9, 0, 0));
    taken(&gray, BYTES(1, 0, 0x11, 10, 0, 0, ZEROS_8, 0x26, 0));
    refused(&gray, "a selector is 3", BYTES(1, 0, 0x11, 10, 0, 0, ZEROS_8, 0, 0x30));
    /* Lengths of layers 2 and 3, headers, selector, low bits, layer 1, layers 2 and 3. */
    taken(&gray, BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0));
    taken(&gray, BYTES(1, 0, 6, 17, 0, 0, 1, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1));
    refused(&gray, "a plane is shorter than its blocks", BYTES(1, 0, 6, 11, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0));
    refused(&gray, "a layer is longer than its plane",
            BYTES(1, 0, 6, 16, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0));
    refused(&gray, "its layers do not fit its blocks",
            BYTES(1, 0, 6, 15, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0));
    refused(&gray, "its layers do not fit its blocks",
            BYTES(1, 0, 6, 17, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0));
    refused(&gray, "its layers do not fit its blocks", // a bit left over that is not 0
            BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2));
    refused(&gray, "its layers do not fit its blocks", // layer 3 is needed
            BYTES(1, 0, 6, 16, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1));
    taken(&wide, BYTES(1, 0, 6, 31, 0, 0, 8, 0, 0, 0, 0x99, 0, 0, ZEROS_8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
                       ZEROS_8));                      // 57 ones
    refused(&wide, "its layers do not fit its blocks", // 58
            BYTES(1, 0, 6, 31, 0, 0, 8, 0, 0, 0, 0x99, 0, 0, ZEROS_8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3,
                  ZEROS_8));
}

/*
 * The largest tile, every mask of which asks for 57 bits of a layer that has none; behind it the image goes on for some
 * bytes, fewer than would be read if nobody looked before the tile's end.
 */
static void layers_are_not_read_far_beyond_their_end(void **state)
{
    (void)state;
    enum { W = 1024, H = 256, GROUPS = W / 32 * H / 4, BLOCKS = 4 * GROUPS, REST = 2 };
    enum { PLANE = 4 + 2 * GROUPS + GROUPS + 4 * BLOCKS + 4 * BLOCKS, TILE = 6 + PLANE, STORED = 1 + W * REST };
    uint8_t *tiles = calloc(TILE + STORED, 1), *masks = tiles + TILE - 4 * BLOCKS;
    const uint8_t start[] = {1, 0, 6, PLANE & 255, PLANE >> 8 & 255, PLANE >> 16};
    assert_non_null(tiles);
    memcpy(tiles, start, sizeof start);
    memset(tiles + 10, 0x99, 2 * GROUPS);
    for (size_t i = 0; i < 4 * BLOCKS; i++)
        masks[i] = i % 8 == 7 ? 1 : 0xff;
    tiles[TILE] = 3;
    mr_image shape = {.width = W, .height = H + REST, .channels = 1, .depth = 8};
    const size_t lengths[] = {TILE, STORED};
    picture_file file = l3_plain_file(&shape, tiles, lengths, 2);
    assert_false(l3_check_agreement(&file, "a layer without bits"));
    check_refused(&file, NULL, MR_ECORRUPT, "its layers do not fit its blocks");
    free(file.bytes);
    free(tiles);
}

/* Changes a byte, a bit or a nibble, or exchanges two bytes, from `first` on. */
static void mutate(picture_file *file, size_t first, uint64_t *random)
{
    uint32_t count = (uint32_t)(file->nbytes - first), near = count < 64 ? count : 64;
    uint8_t *a = file->bytes + first + picture_random_below(random, picture_random(random) % 2 == 0 ? near : count);
    uint8_t *b = a + 1 < file->bytes + file->nbytes ? a + 1 : file->bytes + first, kept = *a;
    switch (picture_random_below(random, 4)) {
    case 0:
        *a = (uint8_t)picture_random(random);
        break;
    case 1:
        *a ^= (uint8_t)(1u << picture_random_below(random, 8));
        break;
    case 2: // headers with the same sum
        *a = (uint8_t)(*a << 4 | *a >> 4);
        break;
    default:
        *a = *b;
        *b = kept;
    }
}

static void damaged_tiles_are_the_same_to_all(void **state)
{
    (void)state;
    uint64_t random = 1;
    uint32_t counts[2] = {0, 0}, files = test_quick() ? 40 : 300;
    for (uint32_t i = 0; i < files; i++) {
        mr_image image = picture_make(1 + picture_random_below(&random, 70), 1 + picture_random_below(&random, 50),
                                      1 + i % 4, i % 3 == 0 ? 16 : 8, i);
        picture_file file = l3_plain_encode_tiles(&image, i, 64, 64, i % 5 != 0);
        size_t first = l3_plain_head_nbytes(&file);
        for (uint32_t n = 0; n < 40; n++) {
            char what[64];
            snprintf(what, sizeof what, "file %u, damage %u", i, n);
            picture_file copy = picture_copy(file.bytes, file.nbytes);
            for (uint32_t changes = 1 + picture_random_below(&random, 3); changes > 0; changes--)
                mutate(&copy, first, &random);
            l3_file_fix(&copy);
            counts[l3_check_agreement(&copy, what)]++;
            free(copy.bytes);
        }
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
    assert_true(counts[0] > 1000 * files / 300 && counts[1] > 1000 * files / 300); // there are enough of either
}

static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        mr_image image = picture_make(9 + i, 7, 1 + i % 4, i < 4 ? 8 : 16, i);
        picture_file file = l3_plain_encode_tiles(&image, i, 32, 32, i % 2 == 0);
        for (size_t bit = 0; bit < 8 * file.nbytes; bit++) {
            file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
            file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

/* Where damage is accepted, a tile that is not whole is black, and the others are as they were. */
static void check_black_tile(const picture_file *file, const mr_image *image, mr_rect black)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
    mr_image got, wanted = picture_decode(file->bytes, file->nbytes, &hints), inside;
    assert_int_equal(mr_image_copy(image, &wanted), 0);
    assert_int_equal(mr_image_crop(&wanted, black, &inside), 0);
    for (uint32_t y = 0; y < inside.height; y++)
        memset((uint8_t *)inside.pixels + (ptrdiff_t)y * inside.stride, 0, mr_image_row_nbytes(&inside));
    assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, &hints, &got), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 1);
    picture_compare(&got, &wanted, "accepted with a damaged tile");
    mr_image_fini(&wanted, NULL);
}

static void damage_is_accepted_on_request(void **state)
{
    (void)state;
    mr_image image = picture_make(80, 50, 3, 8, 3);
    picture_file file = l3_plain_encode_tiles(&image, 3, 32, 32, true);
    const mr_rect last = {64, 32, 16, 18};
    file.bytes[file.nbytes - 1] ^= 1;
    check_refused(&file, NULL, MR_ECORRUPT, "tile 5 (column 2, row 1)");
    check_black_tile(&file, &image, last);
    check_region(&file, (mr_decode_hints){0}, (mr_rect){10, 10, 50, 30}, &image, "away from the damage");
    size_t first = file.nbytes - mr__load_le32(file.bytes + 40 + 4 * 5);
    file.bytes[first] = 9;
    l3_file_fix(&file);
    check_refused(&file, NULL, MR_ECORRUPT, "a kind of tile that is not known");
    check_black_tile(&file, &image, last);
    free(file.bytes);
    mr_image_fini(&image, NULL);
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
        cmocka_unit_test(kinds_are_checked),
        cmocka_unit_test(methods_are_checked),
        cmocka_unit_test(planes_are_checked),
        cmocka_unit_test(layers_are_not_read_far_beyond_their_end),
        cmocka_unit_test(damaged_tiles_are_the_same_to_all),
        cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(damage_is_accepted_on_request),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
