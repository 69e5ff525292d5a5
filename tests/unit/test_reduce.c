// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "picture.h"

#include <string.h>

enum { WIDTH = 13, HEIGHT = 11, NBYTES = WIDTH * HEIGHT * 3 };

/* Image.frombytes('RGB', (13, 11), ...).reduce(n) of Pillow 13.0.0; some edge blocks are one below the rounded mean. */
static const uint8_t by_2[] = {145, 129, 134, 120, 185, 109, 127, 132, 135, 133, 120, 80,  175, 104, 138, 172, 149, 64,
                               191, 145, 69,  146, 177, 130, 216, 116, 118, 92,  151, 177, 70,  74,  64,  115, 129, 195,
                               159, 90,  134, 30,  191, 151, 95,  88,  101, 131, 155, 119, 113, 113, 123, 124, 158, 121,
                               110, 138, 153, 191, 124, 55,  231, 137, 89,  165, 126, 127, 166, 112, 152, 91,  150, 112,
                               138, 136, 107, 95,  164, 108, 150, 105, 107, 148, 166, 127, 192, 51,  116, 143, 118, 127,
                               97,  96,  100, 180, 182, 75,  137, 105, 140, 151, 153, 99,  63,  139, 81,  98,  19,  174,
                               169, 55,  161, 89,  92,  131, 147, 35,  187, 116, 137, 73,  189, 97,  33,  110, 14,  14};
static const uint8_t by_4[] = {157, 152, 123, 106, 119, 114, 155, 118, 132, 110, 168, 110, 139, 120, 125, 117, 139, 116,
                               136, 133, 105, 189, 152, 108, 156, 68,  137, 131, 114, 111, 147, 125, 97,  78,  97,  58};
static const uint8_t by_8[] = {129, 133, 119, 146, 132, 117, 144, 91, 124, 133, 119, 89};

static const struct {
    uint32_t n, width, height;
    const uint8_t *expected;
} golden[] = {{2, 7, 6, by_2}, {4, 4, 3, by_4}, {8, 2, 2, by_8}};

static void equals_pillow(void **state)
{
    (void)state;
    uint8_t pixels[NBYTES], out[NBYTES];
    picture_noise(pixels, NBYTES, 7);
    mr_image from = {WIDTH, HEIGHT, 3, 8, WIDTH * 3, pixels};
    for (size_t i = 0; i < 3; i++) {
        mr_image to = {golden[i].width, golden[i].height, 3, 8, (ptrdiff_t)golden[i].width * 3, out};
        assert_int_equal(mr_image_reduce(&from, golden[i].n, &to), 0);
        assert_memory_equal(out, golden[i].expected, (size_t)to.stride * to.height);
    }
}

static void any_stride_will_do(void **state)
{
    (void)state;
    uint8_t pixels[NBYTES], wide[HEIGHT * 64], out[6 * 32];
    picture_noise(pixels, NBYTES, 7);
    memset(out, 0xee, sizeof out);
    mr_image from = {WIDTH, HEIGHT, 3, 8, WIDTH * 3, pixels};
    mr_image upward = {WIDTH, HEIGHT, 3, 8, -64, wide + (HEIGHT - 1) * 64};
    mr_image to = {7, 6, 3, 8, -32, out + 5 * 32};
    assert_int_equal(mr_image_copy(&from, &upward), 0);
    assert_int_equal(mr_image_reduce(&upward, 2, &to), 0);
    for (size_t y = 0; y < 6; y++) {
        assert_memory_equal(out + (5 - y) * 32, by_2 + y * 21, 21);
        assert_int_equal(out[(5 - y) * 32 + 21], 0xee);
    }
}

/* The plain mean rounded half up, in 64 bits. */
static uint16_t mean_by_hand(const uint16_t *pixels, uint32_t x, uint32_t y, uint32_t n)
{
    uint64_t sum = 0, count = 0;
    for (uint32_t j = y * n; j < HEIGHT && j < y * n + n; j++)
        for (uint32_t i = x * n; i < WIDTH && i < x * n + n; i++, count++)
            sum += pixels[j * WIDTH + i];
    return (uint16_t)((2 * sum + count) / (2 * count));
}

static void sixteen_bits_are_rounded_half_up(void **state)
{
    (void)state;
    uint16_t pixels[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    picture_noise((uint8_t *)pixels, sizeof pixels, 3);
    for (size_t i = 0; i < WIDTH * 2; i++)
        pixels[i] = 65535; // the largest sums
    mr_image from = {WIDTH, HEIGHT, 1, 16, WIDTH * 2, pixels};
    for (uint32_t n = 2; n <= 8; n *= 2) {
        mr_image to = {(WIDTH + n - 1) / n, (HEIGHT + n - 1) / n, 1, 16, 0, out};
        to.stride = (ptrdiff_t)to.width * 2;
        assert_int_equal(mr_image_reduce(&from, n, &to), 0);
        for (uint32_t y = 0; y < to.height; y++)
            for (uint32_t x = 0; x < to.width; x++)
                assert_int_equal(out[y * to.width + x], mean_by_hand(pixels, x, y, n));
    }
}

static void white_stays_white(void **state)
{
    (void)state;
    uint8_t pixels[15 * 15], out[64];
    memset(pixels, 255, sizeof pixels);
    for (uint32_t width = 1; width <= 15; width++)
        for (uint32_t n = 2; n <= 8; n *= 2) {
            mr_image from = {width, 15, 1, 8, 15, pixels}, to = {(width + n - 1) / n, (15 + n - 1) / n, 1, 8, 8, out};
            assert_int_equal(mr_image_reduce(&from, n, &to), 0);
            for (uint32_t y = 0; y < to.height; y++)
                for (uint32_t x = 0; x < to.width; x++)
                    assert_int_equal(out[y * 8 + x], 255);
        }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    uint8_t pixels[NBYTES], out[NBYTES];
    mr_image from = {WIDTH, HEIGHT, 3, 8, WIDTH * 3, pixels};
    const mr_image good = {7, 6, 3, 8, 21, out};
    mr_image bad[] = {good, good, good, good};
    bad[0].width = 6;
    bad[1].height = 5;
    bad[2].channels = 2;
    bad[3].depth = 16;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mr_image_reduce(&from, 2, &bad[i]), MR_EARGUMENT);
    static const uint32_t factors[] = {0, 1, 3, 5, 16, UINT32_MAX};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        assert_int_equal(mr_image_reduce(&from, factors[i], &good), MR_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_pillow),
        cmocka_unit_test(any_stride_will_do),
        cmocka_unit_test(sixteen_bits_are_rounded_half_up),
        cmocka_unit_test(white_stays_white),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
