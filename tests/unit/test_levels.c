// SPDX-License-Identifier: Apache-2.0
/* The formulas of levels in whole numbers give what Pillow's doubles give. */
#include "test.h"

#include "kernel/levels_pixel.h"

/* Every range that autocontrast can find, and every value. */
static void stretched_as_in_doubles(void **state)
{
    (void)state;
    uint32_t short_of = 0;
    for (int low = 0; low < 256; low++)
        for (int high = low + 1; high < 256; high++) {
            double scale = 255.0 / (double)(high - low), offset = (double)-low * scale;
            for (int v = 0; v < 256; v++) {
                double product = (double)v * scale, value = product + offset;
                int wanted = value >= 255.0 ? 255 : value <= 0.0 ? 0 : (int)value;
                assert_int_equal(mr__stretched((uint32_t)v, (uint32_t)low, (uint32_t)high), wanted);
                short_of += v > low && v <= high && wanted != 255 * (v - low) / (high - low);
            }
        }
    assert_int_equal(short_of, 12094); // where doubles are below a whole number
}

/* The means next to each half, of few samples and of as many as there can be. */
static void means_as_in_doubles(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7, 50176, 65537, 99999999, (UINT64_C(1) << 32) - 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t half = 0; half < 510; half++)
            for (uint64_t off = 0; off < 3; off++) {
                uint64_t n = counts[i], sum = half * n / 2 + off;
                sum = sum > 255 * n ? 255 * n : sum > 0 ? sum - 1 : 0;
                assert_int_equal(mr__mean_level(sum, n), (uint8_t)((double)sum / (double)n + 0.5));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretched_as_in_doubles),
        cmocka_unit_test(means_as_in_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
