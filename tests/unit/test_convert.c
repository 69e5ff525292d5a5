// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "picture.h"

#include <string.h>

static mr_image row_of(void *pixels, uint32_t width, uint32_t channels, uint32_t depth)
{
    return (mr_image){width, 1, channels, depth, (ptrdiff_t)width * channels * depth / 8, pixels};
}

/* convert('L') of Pillow 13.0.0 on 24 pixels from picture_noise and eight at the edges. */
static void rgb_to_gray_equals_pillow(void **state)
{
    (void)state;
    static const uint8_t edges[] = {0, 0, 0,   255, 255, 255, 255, 0,   0,   0,   255, 0,
                                    0, 0, 255, 1,   1,   1,   254, 254, 254, 128, 127, 126};
    static const uint8_t expected[] = {126, 142, 108, 104, 173, 105, 84,  92,  139, 230, 88, 53,  129, 86, 120, 74,
                                       122, 87,  168, 169, 91,  144, 125, 144, 0,   255, 76, 150, 29,  1,  254, 127};
    uint8_t rgb[96], gray[32];
    picture_noise(rgb, 72, 3);
    memcpy(rgb + 72, edges, 24);
    mr_image from = row_of(rgb, 32, 3, 8), to = row_of(gray, 32, 1, 8);
    assert_int_equal(mr_image_convert(&from, &to), 0);
    assert_memory_equal(gray, expected, sizeof expected);
}

static void rgba_equals_pillow(void **state)
{
    (void)state;
    static const uint8_t expected[] = {126, 178, 120, 173, 74,  92, 139, 218, 54,
                                       129, 154, 101, 122, 135, 78, 91,  84,  87};
    uint8_t rgba[72], gray[18], rgb[54];
    picture_noise(rgba, 72, 3);
    mr_image from = row_of(rgba, 18, 4, 8), to_gray = row_of(gray, 18, 1, 8), to_rgb = row_of(rgb, 18, 3, 8);
    assert_int_equal(mr_image_convert(&from, &to_gray), 0);
    assert_memory_equal(gray, expected, sizeof expected);
    assert_int_equal(mr_image_convert(&from, &to_rgb), 0);
    for (size_t i = 0; i < 18; i++)
        assert_memory_equal(rgb + 3 * i, rgba + 4 * i, 3);
}

static uint32_t get(const mr_image *image, uint32_t x, uint32_t c)
{
    size_t i = (size_t)x * image->channels + c;
    return image->depth == 8 ? ((uint8_t *)image->pixels)[i] : ((uint16_t *)image->pixels)[i];
}

/* A sample of the result, from the words of the header. */
static uint32_t expected_sample(const mr_image *from, const mr_image *to, uint32_t x, uint32_t c)
{
    bool from_color = from->channels >= 3, to_color = to->channels >= 3;
    bool from_alpha = from->channels % 2 == 0, is_alpha = to->channels % 2 == 0 && c == to->channels - 1;
    uint64_t value;
    if (is_alpha)
        value = from_alpha ? get(from, x, from->channels - 1) : from->depth == 8 ? 255 : 65535;
    else if (from_color && !to_color)
        value = (UINT64_C(19595) * get(from, x, 0) + UINT64_C(38470) * get(from, x, 1) +
                 UINT64_C(7471) * get(from, x, 2) + 32768) >>
                16;
    else
        value = get(from, x, from_color ? c : 0);
    if (from->depth < to->depth)
        value *= 257;
    if (from->depth > to->depth)
        value /= 256;
    return (uint32_t)value;
}

static void every_pair_of_shapes(void **state)
{
    (void)state;
    enum { WIDTH = 41 };
    static uint16_t source[WIDTH * 4], result[WIDTH * 4];
    picture_noise((uint8_t *)source, sizeof source, 11);
    memset(source, 0xff, 32); // white, for the largest sums
    for (int pair = 0; pair < 64; pair++) {
        mr_image from = row_of(source, WIDTH, pair % 4 + 1, pair & 4 ? 16 : 8);
        mr_image to = row_of(result, WIDTH, pair / 8 % 4 + 1, pair & 32 ? 16 : 8);
        assert_int_equal(mr_image_convert(&from, &to), 0);
        for (uint32_t x = 0; x < WIDTH; x++)
            for (uint32_t c = 0; c < to.channels; c++)
                if (get(&to, x, c) != expected_sample(&from, &to, x, c))
                    fail_msg("%u x %u bits to %u x %u bits: pixel %u, channel %u is %u, not %u", from.channels,
                             from.depth, to.channels, to.depth, x, c, get(&to, x, c),
                             expected_sample(&from, &to, x, c));
    }
}

static void strides_are_followed(void **state)
{
    (void)state;
    uint8_t gray[6] = {1, 2, 3, 4, 5, 6}, rgb[3 * 8];
    memset(rgb, 0xee, sizeof rgb);
    mr_image from = {2, 3, 1, 8, -2, gray + 4}, to = {2, 3, 3, 8, 8, rgb};
    assert_int_equal(mr_image_convert(&from, &to), 0);
    static const uint8_t expected[] = {5, 5, 5,    6,    6, 6, 0xee, 0xee, 3, 3, 3,    4,
                                       4, 4, 0xee, 0xee, 1, 1, 1,    2,    2, 2, 0xee, 0xee};
    assert_memory_equal(rgb, expected, sizeof expected);
}

static void other_sizes_are_refused(void **state)
{
    (void)state;
    uint8_t a[64], b[64];
    mr_image from = {2, 3, 1, 8, 2, a}, narrow = {1, 3, 3, 8, 8, b}, low = {2, 2, 3, 8, 8, b},
             same = {1, 3, 1, 8, 8, b};
    assert_int_equal(mr_image_convert(&from, &narrow), MR_EARGUMENT);
    assert_int_equal(mr_image_convert(&from, &low), MR_EARGUMENT);
    assert_int_equal(mr_image_convert(&from, &same), MR_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rgb_to_gray_equals_pillow), cmocka_unit_test(rgba_equals_pillow),
        cmocka_unit_test(every_pair_of_shapes),      cmocka_unit_test(strides_are_followed),
        cmocka_unit_test(other_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
