// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "codec/orient.h"

#include <millrace/millrace.h>
#include <string.h>

/* Pillow's ImageOps.exif_transpose of the 3 x 2 image 0 1 2 / 3 4 5. */
static const uint8_t golden[9][6] = {
    [1] = {0, 1, 2, 3, 4, 5}, [2] = {2, 1, 0, 5, 4, 3}, [3] = {5, 4, 3, 2, 1, 0}, [4] = {3, 4, 5, 0, 1, 2},
    [5] = {0, 3, 1, 4, 2, 5}, [6] = {3, 0, 4, 1, 5, 2}, [7] = {5, 2, 4, 1, 3, 0}, [8] = {2, 5, 1, 4, 0, 3},
};

static mr_image shape_of(uint32_t orientation, uint32_t channels, uint32_t depth, ptrdiff_t stride, void *pixels)
{
    uint32_t width = orientation >= 5 ? 2 : 3;
    return (mr_image){width, 5 - width, channels, depth, stride, pixels};
}

static void equals_pillow_in_every_shape(void **state)
{
    (void)state;
    for (uint32_t o = 1; o <= 8; o++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint32_t depth = 8; depth <= 16; depth += 8) {
                size_t size = channels * depth / 8;
                _Alignas(2) uint8_t pixels[48], out[3 * 40];
                for (size_t i = 0; i < 6 * size; i++)
                    pixels[i] = (uint8_t)(i / size * 16 + i % size);
                memset(out, 0xee, sizeof out);
                mr_image from = {3, 2, channels, depth, (ptrdiff_t)(3 * size), pixels};
                mr_image to = shape_of(o, channels, depth, 40, out);
                assert_int_equal(mr_image_orient(&from, o, &to), 0);
                for (size_t i = 0; i < 6; i++) {
                    const uint8_t *got = out + i / to.width * 40 + i % to.width * size;
                    for (size_t b = 0; b < size; b++)
                        assert_int_equal(got[b], golden[o][i] * 16 + b);
                }
                assert_int_equal(out[to.width * size], 0xee);
            }
}

static void negative_strides(void **state)
{
    (void)state;
    for (uint32_t o = 1; o <= 8; o++) {
        uint8_t stored[6] = {3, 4, 5, 0, 1, 2}, out[6]; // from below
        mr_image from = {3, 2, 1, 8, -3, stored + 3}, to = shape_of(o, 1, 8, 0, NULL);
        to.stride = -(ptrdiff_t)to.width;
        to.pixels = out + (to.height - 1) * to.width;
        assert_int_equal(mr_image_orient(&from, o, &to), 0);
        for (size_t y = 0; y < to.height; y++)
            assert_memory_equal(out + (to.height - 1 - y) * to.width, golden[o] + y * to.width, to.width);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    uint8_t a[64] = {0}, b[64];
    mr_image from = {3, 2, 1, 8, 3, a};
    for (uint32_t o = 0; o <= 9; o++) {
        mr_image straight = {3, 2, 1, 8, 3, b}, turned = {2, 3, 1, 8, 2, b}, deep = {3, 2, 1, 16, 6, b};
        assert_int_equal(mr_image_orient(&from, o, &straight), o >= 1 && o <= 4 ? 0 : MR_EARGUMENT);
        assert_int_equal(mr_image_orient(&from, o, &turned), o >= 5 && o <= 8 ? 0 : MR_EARGUMENT);
        assert_int_equal(mr_image_orient(&from, o, &deep), MR_EARGUMENT);
    }
    assert_int_equal(mr_image_orient(&from, UINT32_MAX, &from), MR_EARGUMENT);
}

/* The stored rectangle holds exactly the pixels that are shown: looked up in the golden pictures. */
static void rectangles_go_to_where_their_pixels_are(void **state)
{
    (void)state;
    for (uint32_t o = 1; o <= 8; o++) {
        uint32_t width = o >= 5 ? 2 : 3, height = 5 - width;
        for (uint32_t i = 0; i < width * width * height * height; i++) {
            mr_rect shown = {i % width, i / width % height, i / width / height % width + 1,
                             i / width / height / width + 1};
            if (shown.x + shown.width > width || shown.y + shown.height > height)
                continue;
            mr_rect stored = mr__orientation_to_stored(o, shown, 3, 2);
            assert_int_equal(stored.width * stored.height, shown.width * shown.height);
            for (uint32_t y = shown.y; y < shown.y + shown.height; y++)
                for (uint32_t x = shown.x; x < shown.x + shown.width; x++) {
                    uint32_t at = golden[o][y * width + x]; // its place in the stored image
                    assert_in_range(at % 3, stored.x, stored.x + stored.width - 1);
                    assert_in_range(at / 3, stored.y, stored.y + stored.height - 1);
                }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_pillow_in_every_shape),
        cmocka_unit_test(negative_strides),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(rectangles_go_to_where_their_pixels_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
