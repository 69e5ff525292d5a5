// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "failing.h"

#include <millrace/millrace.h>
#include <stdlib.h>
#include <string.h>

static void init_makes_rows_without_gaps(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (uint32_t depth = 8; depth <= 16; depth += 8) {
            mr_image image;
            assert_int_equal(mr_image_init(&image, 7, 5, channels, depth, NULL), 0);
            assert_true(mr_image_is_valid(&image));
            assert_int_equal(mr_image_pixel_nbytes(&image), channels * depth / 8);
            assert_int_equal(mr_image_row_nbytes(&image), 7 * channels * depth / 8);
            assert_int_equal(image.stride, mr_image_row_nbytes(&image));
            assert_int_equal((uintptr_t)image.pixels % 64, 0);
            memset(image.pixels, 1, (size_t)image.stride * 5); // all of it is ours
            mr_image_fini(&image, NULL);
            assert_null(image.pixels);
            assert_int_equal(image.width, 0);
            mr_image_fini(&image, NULL); // all zero is accepted
        }
    mr_image_fini(NULL, NULL);
}

static void *refuse(void *user, size_t nbytes, size_t align)
{
    (void)align;
    *(size_t *)user = nbytes;
    return NULL;
}

static void free_nothing(void *user, void *block)
{
    (void)user, (void)block;
}

/* No memory is asked for what cannot be. */
static void senseless_and_extreme_sizes_are_refused(void **state)
{
    (void)state;
    const uint32_t most = 0x7fffffff;
    const struct {
        uint32_t width, height, channels, depth;
        int expected;
        size_t asked;
    } cases[] = {
        {0, 1, 1, 8, MR_EARGUMENT, 0},
        {1, 0, 1, 8, MR_EARGUMENT, 0},
        {1, 1, 0, 8, MR_EARGUMENT, 0},
        {1, 1, 5, 8, MR_EARGUMENT, 0},
        {1, 1, UINT32_MAX, 8, MR_EARGUMENT, 0},
        {1, 1, 1, 0, MR_EARGUMENT, 0},
        {1, 1, 1, 12, MR_EARGUMENT, 0},
        {1, 1, 1, 32, MR_EARGUMENT, 0},
        {most + 1, 1, 1, 8, MR_EARGUMENT, 0},
        {1, most + 1, 1, 8, MR_EARGUMENT, 0},
        {UINT32_MAX, UINT32_MAX, 4, 16, MR_EARGUMENT, 0},
        {most, most, 4, 16, MR_ENOMEM, 0}, // more than an address space
        {most, most, 2, 16, MR_ENOMEM, 0}, // more than half of one
        {most, most, 1, 16, MR_ENOMEM, (size_t)most * most * 2},
        {most, 1, 4, 16, MR_ENOMEM, (size_t)most * 8},
        {1, most, 4, 16, MR_ENOMEM, (size_t)most * 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t asked = 0;
        mr_hooks hooks = {.struct_size = sizeof hooks, .user = &asked, .alloc = refuse, .free = free_nothing};
        mr_image image = {.width = 99};
        assert_int_equal(
            mr_image_init(&image, cases[i].width, cases[i].height, cases[i].channels, cases[i].depth, &hooks),
            cases[i].expected);
        assert_int_equal(asked, cases[i].asked);
        assert_int_equal(image.width, 99); // written on success only
    }
    assert_int_equal(mr_image_init(NULL, 1, 1, 1, 8, NULL), MR_EARGUMENT);
}

static void validity(void **state)
{
    (void)state;
    _Alignas(2) uint8_t pixels[64];
    const mr_image good = {4, 3, 2, 8, 8, pixels};
    const mr_image bad[] = {
        {0},
        {4, 3, 2, 8, 8, NULL},
        {0, 3, 2, 8, 8, pixels},
        {4, 0, 2, 8, 8, pixels},
        {0x80000000, 3, 2, 8, PTRDIFF_MAX / 4, pixels},
        {4, 0x80000000, 2, 8, 8, pixels},
        {4, 3, 0, 8, 8, pixels},
        {4, 3, 5, 8, 8, pixels},
        {4, 3, 2, 9, 8, pixels},
        {4, 3, 2, 8, 7, pixels},
        {4, 3, 2, 8, -7, pixels},
        {4, 3, 2, 8, 0, pixels},
        {4, 3, 2, 8, PTRDIFF_MAX / 2, pixels},
        {4, 3, 2, 8, PTRDIFF_MIN, pixels},
        {4, 1, 2, 8, PTRDIFF_MIN, pixels},
        {2, 2, 1, 16, 5, pixels},
        {2, 2, 1, 16, 4, pixels + 1},
    };
    assert_true(mr_image_is_valid(&good));
    assert_true(mr_image_is_valid(&(mr_image){4, 3, 2, 8, -8, pixels + 16}));
    assert_true(mr_image_is_valid(&(mr_image){2, 2, 1, 16, 6, pixels}));
    assert_true(mr_image_is_valid(&(mr_image){3, 1, 1, 8, PTRDIFF_MAX, pixels}));
    assert_false(mr_image_is_valid(NULL));
    mr_image out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mr_image_is_valid(&bad[i]));
        assert_int_equal(mr_image_copy(&bad[i], &bad[i]), MR_EARGUMENT);
        assert_int_equal(mr_image_convert(&bad[i], &bad[i]), MR_EARGUMENT);
        assert_int_equal(mr_image_orient(&bad[i], 1, &bad[i]), MR_EARGUMENT);
        assert_int_equal(mr_image_reduce(&bad[i], 2, &bad[i]), MR_EARGUMENT);
        assert_int_equal(mr_image_crop(&bad[i], (mr_rect){0, 0, 1, 1}, &out), MR_EARGUMENT);
        out = mr_image_upside_down(&bad[i]);
        assert_memory_equal(&out, &bad[i], sizeof out);
    }
    out = mr_image_upside_down(NULL);
    assert_memory_equal(&out, &bad[0], sizeof out);
    assert_int_equal(mr_image_copy(NULL, &good), MR_EARGUMENT);
    assert_int_equal(mr_image_convert(&good, NULL), MR_EARGUMENT);
    assert_int_equal(mr_image_orient(NULL, 1, &good), MR_EARGUMENT);
    assert_int_equal(mr_image_reduce(&good, 2, NULL), MR_EARGUMENT);
    assert_int_equal(mr_image_crop(NULL, (mr_rect){0, 0, 1, 1}, &out), MR_EARGUMENT);
    assert_int_equal(mr_image_crop(&good, (mr_rect){0, 0, 1, 1}, NULL), MR_EARGUMENT);
}

static void crop_is_a_view(void **state)
{
    (void)state;
    mr_image image, view;
    assert_int_equal(mr_image_init(&image, 7, 5, 3, 8, NULL), 0);
    assert_int_equal(mr_image_crop(&image, (mr_rect){2, 1, 3, 4}, &view), 0);
    assert_ptr_equal(view.pixels, (uint8_t *)image.pixels + 1 * 21 + 2 * 3);
    assert_int_equal(view.stride, 21);
    assert_int_equal(view.width, 3);
    assert_int_equal(view.height, 4);
    assert_int_equal(mr_image_crop(&image, (mr_rect){0, 0, 7, 5}, &view), 0);
    assert_memory_equal(&view, &image, sizeof view);
    static const mr_rect outside[] = {
        {5, 1, 3, 4},          {0, 0, 8, 1},          {0, 0, 1, 6}, {7, 0, 1, 1},
        {0, 5, 1, 1},          {0, 0, 0, 1},          {0, 0, 1, 0}, {UINT32_MAX, 0, 2, 1},
        {0, UINT32_MAX, 1, 2}, {1, 0, UINT32_MAX, 1}, {6, 4, 2, 1}, {0, 1, 1, UINT32_MAX},
    };
    view.width = 99;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_int_equal(mr_image_crop(&image, outside[i], &view), MR_EARGUMENT);
    assert_int_equal(view.width, 99);
    mr_image_fini(&image, NULL);
}

/* A 3 x 4 image whose pixels say where they are. */
static void fill(uint8_t pixels[12])
{
    for (uint8_t i = 0; i < 12; i++)
        pixels[i] = (uint8_t)(i / 3 * 16 + i % 3);
}

static void upside_down_and_back(void **state)
{
    (void)state;
    uint8_t pixels[12];
    fill(pixels);
    mr_image image = {3, 4, 1, 8, 3, pixels};
    mr_image flipped = mr_image_upside_down(&image), back = mr_image_upside_down(&flipped), part;
    assert_int_equal(flipped.stride, -3);
    assert_int_equal(*(uint8_t *)flipped.pixels, 0x30);
    assert_memory_equal(&back, &image, sizeof back);
    // A crop of a view with negative stride: rows 1 and 2 from below.
    assert_int_equal(mr_image_crop(&flipped, (mr_rect){1, 1, 2, 2}, &part), 0);
    assert_int_equal(*(uint8_t *)part.pixels, 0x21);
    assert_int_equal(*((uint8_t *)part.pixels + part.stride), 0x11);
}

static void copies_follow_strides(void **state)
{
    (void)state;
    uint8_t pixels[12], out[4 * 5];
    fill(pixels);
    memset(out, 0xee, sizeof out);
    mr_image from = {3, 4, 1, 8, 3, pixels}, to = {3, 4, 1, 8, 5, out};
    mr_image upward = mr_image_upside_down(&from);
    assert_int_equal(mr_image_copy(&upward, &to), 0);
    for (size_t y = 0; y < 4; y++) {
        assert_memory_equal(out + y * 5, pixels + (3 - y) * 3, 3);
        assert_true(out[y * 5 + 3] == 0xee && out[y * 5 + 4] == 0xee); // the gap is not ours
    }
    mr_image others[] = {to, to, to};
    others[0].width = 2;
    others[1].height = 3;
    others[2].channels = 2;
    others[2].width = 1;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(mr_image_copy(&from, &others[i]), MR_EARGUMENT);
}

/* The hash as the header states it, over bytes laid out by hand. */
static void the_hash_is_as_documented(void **state)
{
    (void)state;
    uint8_t pixels[12], flat[16 + 12];
    fill(pixels);
    mr_image image = {3, 4, 1, 8, 3, pixels};
    mr__store_le32(flat, 3);
    mr__store_le32(flat + 4, 4);
    mr__store_le32(flat + 8, 1);
    mr__store_le32(flat + 12, 8);
    memcpy(flat + 16, pixels, 12);
    assert_true(mr_image_hash(&image) == mr__hash(flat, sizeof flat));
    uint16_t deep[6] = {0x0102, 0x0304, 0xff00, 0x00ff, 0xabcd, 0};
    mr_image sixteen = {3, 1, 2, 16, 12, deep};
    mr__store_le32(flat + 4, 1);
    mr__store_le32(flat + 8, 2);
    mr__store_le32(flat + 12, 16);
    for (size_t i = 0; i < 6; i++)
        mr__store_le16(flat + 16 + 2 * i, deep[i]);
    assert_true(mr_image_hash(&sixteen) == mr__hash(flat, sizeof flat));
}

static void the_hash_does_not_see_strides(void **state)
{
    (void)state;
    uint8_t pixels[12], wide[4 * 9];
    fill(pixels);
    memset(wide, 0x77, sizeof wide);
    mr_image image = {3, 4, 1, 8, 3, pixels}, gaps = {3, 4, 1, 8, 9, wide};
    assert_int_equal(mr_image_copy(&image, &gaps), 0);
    uint64_t hash = mr_image_hash(&image);
    assert_true(mr_image_hash(&gaps) == hash);
    mr_image upward = {3, 4, 1, 8, -9, wide + 3 * 9}; // the same pixels stored from below
    assert_int_equal(mr_image_copy(&image, &upward), 0);
    assert_true(mr_image_hash(&upward) == hash);
    mr_image flipped = mr_image_upside_down(&image);
    assert_true(mr_image_hash(&flipped) != hash);
    // The same bytes as another shape are another image.
    assert_true(mr_image_hash(&(mr_image){4, 3, 1, 8, 4, pixels}) != hash);
    assert_true(mr_image_hash(&(mr_image){1, 4, 3, 8, 3, pixels}) != hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_makes_rows_without_gaps),
        cmocka_unit_test(senseless_and_extreme_sizes_are_refused),
        cmocka_unit_test(validity),
        cmocka_unit_test(crop_is_a_view),
        cmocka_unit_test(upside_down_and_back),
        cmocka_unit_test(copies_follow_strides),
        cmocka_unit_test(the_hash_is_as_documented),
        cmocka_unit_test(the_hash_does_not_see_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
