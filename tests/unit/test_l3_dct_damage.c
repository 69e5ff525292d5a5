// SPDX-License-Identifier: Apache-2.0
/* L3's DCT mode, damaged: what is told, what is given all the same, and that nothing worse comes of it. */
#include "test.h"

#include "jpeg_plain.h"
#include "l3_dct.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const plain_recipe full = {.width = 200, .height = 150, .space = PLAIN_YCC};
static const plain_recipe half = {.width = 300, .height = 290, .space = PLAIN_YCC, .factors = {0x22}};

static picture_file make(const plain_recipe *recipe)
{
    picture_file jpeg = plain_encode(recipe), l3 = dct_make(&jpeg);
    free(jpeg.bytes);
    return l3;
}

static void flip_tile(picture_file *file, uint32_t number)
{
    mr_tile tile = dct_tile(file, number);
    file->bytes[tile.offset + tile.nbytes / 2] ^= 4;
}

static void damage_names_the_tile(void **state)
{
    (void)state;
    picture_file l3 = make(&full);
    for (uint32_t i = 0; i < info_of(&l3).tiles; i++) {
        char part[64];
        snprintf(part, sizeof part, "tile %u (column %u, row %u)", i, i % 4, i / 4);
        flip_tile(&l3, i);
        check_refused(&l3, NULL, MR_ECORRUPT, part);
        mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_JPEG};
        const void *out;
        size_t nbytes;
        assert_int_equal(mr_encoder_recode(encoder, l3.bytes, l3.nbytes, &o, &out, &nbytes, NULL), MR_ECORRUPT);
        assert_contains(mr_encoder_detail(encoder), part);
        flip_tile(&l3, i);
    }
    assert_int_equal(picture_try(decoder, l3.bytes, l3.nbytes, NULL), 0);
    free(l3.bytes);
}

/* Whether a pixel is so far from the tile that it does not depend on it. */
static bool is_outside(const mr_rect *tile, uint32_t x, uint32_t y)
{
    return x + 2 < tile->x || y + 2 < tile->y || x >= tile->x + tile->width + 2 || y >= tile->y + tile->height + 2;
}

static bool is_inside(const mr_rect *tile, uint32_t x, uint32_t y)
{
    return x > tile->x + 2 && y > tile->y + 2 && x + 2 < tile->x + tile->width && y + 2 < tile->y + tile->height;
}

static void check_filled(const mr_image *got, const mr_image *whole, const mr_rect *tile)
{
    for (uint32_t y = 0; y < got->height; y++)
        for (uint32_t x = 0; x < got->width; x++) {
            const uint8_t *g = (const uint8_t *)got->pixels + (ptrdiff_t)y * got->stride + 3 * (size_t)x;
            const uint8_t *w = (const uint8_t *)whole->pixels + (ptrdiff_t)y * whole->stride + 3 * (size_t)x;
            if (is_outside(tile, x, y))
                assert_memory_equal(g, w, 3);
            if (is_inside(tile, x, y))
                assert_memory_equal(g, "\x80\x80\x80", 3);
        }
}

static void damaged_tiles_are_gray(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        picture_file l3 = make(k == 0 ? &full : &half);
        mr_image whole = picture_decode(l3.bytes, l3.nbytes, NULL), got;
        mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
        for (uint32_t i = 0; i < info_of(&l3).tiles; i++) {
            mr_rect rect = dct_tile(&l3, i).rect;
            flip_tile(&l3, i);
            assert_int_equal(mr_decoder_decode(decoder, l3.bytes, l3.nbytes, &hints, &got), 0);
            assert_int_equal(mr_decoder_warnings(decoder), 1);
            assert_string_equal(mr_decoder_detail(decoder), "");
            check_filled(&got, &whole, &rect);
            flip_tile(&l3, i);
        }
        mr_image_fini(&whole, NULL);
        free(l3.bytes);
    }
}

/* A region looks at its tiles alone; with chroma at half size, at those it blends with too. */
static void regions_touch_their_tiles(void **state)
{
    (void)state;
    picture_file l3 = make(&half);
    mr_image whole = picture_decode(l3.bytes, l3.nbytes, NULL);
    mr_decode_hints beside = {.struct_size = sizeof beside, .region = {128, 0, 2, 100}};
    flip_tile(&l3, 0);
    check_region(&l3, (mr_decode_hints){0}, (mr_rect){130, 0, 170, 290}, &whole, "right of the damage");
    check_region(&l3, (mr_decode_hints){0}, (mr_rect){0, 130, 300, 160}, &whole, "below the damage");
    check_refused(&l3, &beside, MR_ECORRUPT, "tile 0 (");
    mr_image_fini(&whole, NULL);
    free(l3.bytes);
}

/* Tiles whose hash is right and whose bytes are no tile. */
static void lengths_that_cannot_be(void **state)
{
    (void)state;
    picture_file l3 = make(&full);
    uint64_t offset = dct_tile(&l3, 2).offset, nbytes = dct_tile(&l3, 2).nbytes;
    mr__store_le16(l3.bytes + offset, 0xffff);
    dct_mend(&l3);
    check_refused(&l3, NULL, MR_ECORRUPT, "tile 2 (column 2, row 0)");
    check_refused(&l3, NULL, MR_ECORRUPT, "its units are longer than it is");
    // one byte for tile 2, all others for the next one
    uint32_t next = (uint32_t)dct_tile(&l3, 3).nbytes;
    for (uint32_t i = 0; i < l3.bytes[14]; i++) {
        dct_length_of(&l3, 2)[i] = i == 0;
        dct_length_of(&l3, 3)[i] = (uint8_t)((next + nbytes - 1) >> (8 * i));
    }
    dct_mend(&l3);
    check_refused(&l3, NULL, MR_ECORRUPT, "it ends among the lengths of its units");
    mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
    assert_int_equal(picture_try(decoder, l3.bytes, l3.nbytes, &hints), 0);
    assert_true(mr_decoder_warnings(decoder) >= 1);
    free(l3.bytes);
}

/* Without an origin, which other coefficients would not fit. */
static picture_file make_bare(const plain_recipe *recipe)
{
    const mr_encode_options bare = {.without_origin = true};
    picture_file jpeg = plain_encode(recipe), l3 = dct_recode(encoder, &jpeg, MR_FORM_L3, &bare, NULL);
    free(jpeg.bytes);
    return l3;
}

/* Any bytes behind a right hash: an error or pixels, and the same with damage accepted. */
static void mutations_behind_the_hash(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (uint32_t n = 0; n < (test_quick() ? 100u : 1500u); n++) {
        plain_recipe r = n % 3 == 0 ? half : full;
        r.width = r.height = 40 + n % 100;
        r.quality = 5 + (int)(n * 7 % 96);
        if (n % 4 == 3)
            r.space = PLAIN_GRAY;
        picture_file l3 = make_bare(&r);
        mr_tile tile = dct_tile(&l3, 0);
        for (uint32_t k = 0; k <= n % 4; k++) {
            uint32_t at = picture_random_below(&random, (uint32_t)tile.nbytes);
            l3.bytes[tile.offset + (n % 2 ? at : at % 40)] = (uint8_t)picture_random(&random);
        }
        dct_mend(&l3);
        mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = 1u << n % 4, .accept_damaged = true};
        int result = picture_try(decoder, l3.bytes, l3.nbytes, NULL);
        assert_true(result == 0 || result == MR_ECORRUPT);
        assert_int_equal(mr_decoder_verify(decoder, l3.bytes, l3.nbytes), result);
        mr_image whole = picture_decode(l3.bytes, l3.nbytes, &hints);
        for (int i = 0; i < 3; i++)
            check_region(&l3, hints, picture_random_rect(&random, whole.width, whole.height), &whole, "damaged");
        mr_image_fini(&whole, NULL);
        free(l3.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_names_the_tile),     cmocka_unit_test(damaged_tiles_are_gray),
        cmocka_unit_test(regions_touch_their_tiles), cmocka_unit_test(lengths_that_cannot_be),
        cmocka_unit_test(mutations_behind_the_hash),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
