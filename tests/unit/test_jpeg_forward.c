// SPDX-License-Identifier: Apache-2.0
/* From pixels to coefficients: the transform beside the plain definition, division beside division, kernels alike. */
#include "test.h"

#include "kernel/jpeg_forward.h"
#include "picture.h"

#include <math.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* Every quantiser there is, by every number that is divided. */
static void division_is_exact(void **state)
{
    (void)state;
    for (uint32_t quality = 1; quality <= 100; quality++)
        for (uint32_t chroma = 0; chroma < 2; chroma++) {
            mr__jpeg_quant quant;
            mr__jpeg_quant_init(&quant, quality, chroma != 0);
            for (size_t b = 0; b < 64; b++) {
                uint32_t q = quant.by[b];
                assert_in_range(q, 1, 255);
                assert_true(quant.reciprocal[b] <= 1u << 15);
                for (uint32_t n = 0; n < 1u << 14; n += quality % 10 == 0 ? 1 : 37)
                    assert_int_equal(n * quant.reciprocal[b] >> (15 + quant.shift[b]), n / q);
            }
        }
}

static void tables_are_those_of_the_standard(void **state)
{
    mr__jpeg_quant quant;
    (void)state;
    mr__jpeg_quant_init(&quant, 50, false);
    assert_int_equal(quant.by[0], 16);
    assert_int_equal(quant.by[8], 12);
    assert_int_equal(quant.by[63], 99);
    mr__jpeg_quant_init(&quant, 75, true);
    assert_int_equal(quant.by[0], 9);
    assert_int_equal(quant.by[3], 24);
    mr__jpeg_quant_init(&quant, 100, false);
    for (size_t b = 0; b < 64; b++)
        assert_int_equal(quant.by[b], 1);
    mr__jpeg_quant_init(&quant, 1, false);
    for (size_t b = 0; b < 64; b++)
        assert_int_equal(quant.by[b], 255);
}

enum { STRIDE = 160, ROWS = 8 };

typedef struct samples {
    uint8_t bytes[2 * ROWS * STRIDE];
} samples;

static void fill(samples *s, uint32_t kind)
{
    static const uint8_t ends[] = {0, 255};
    for (size_t i = 0; i < sizeof s->bytes; i++)
        s->bytes[i] = kind == 0   ? (uint8_t)below(256)
                      : kind == 1 ? ends[below(2)]
                      : kind == 2 ? ends[i % 2]
                      : kind == 3 ? ends[i / STRIDE % 2]
                      : kind == 4 ? 0
                                  : (uint8_t)(100 + below(8));
}

enum { KINDS = 6 };

/* The cosine transform as it is defined. */
static double coefficient(const uint8_t *block, size_t v, size_t u)
{
    double sum = 0, scale = (u == 0 ? sqrt(0.5) : 1) * (v == 0 ? sqrt(0.5) : 1) / 4;
    for (size_t y = 0; y < 8; y++)
        for (size_t x = 0; x < 8; x++)
            sum += (block[y * STRIDE + x] - 128.0) * cos((2.0 * (double)x + 1) * (double)u * 3.14159265358979 / 16) *
                   cos((2.0 * (double)y + 1) * (double)v * 3.14159265358979 / 16);
    return sum * scale;
}

/* With quantisers of 1 every coefficient is within 1 of its definition, in its lane and band. */
static void transform_is_a_cosine_transform(void **state)
{
    _Alignas(64) int16_t coef[64 * 16];
    mr__jpeg_forward kernels;
    mr__jpeg_quant quant;
    (void)state;
    mr__jpeg_forward_init(&kernels, 0);
    mr__jpeg_quant_init(&quant, 100, false);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        samples s;
        fill(&s, kind);
        kernels.fdct(s.bytes, STRIDE, (ptrdiff_t)ROWS * STRIDE, &quant, coef);
        for (size_t lane = 0; lane < 16; lane++)
            for (size_t b = 0; b < 64; b++) {
                const uint8_t *block = s.bytes + lane / 8 * ROWS * STRIDE + lane % 8 * 8;
                assert_true(fabs(coefficient(block, b / 8, b % 8) - coef[16 * b + lane]) < 1.0);
            }
    }
}

static void transforms_are_alike(void **state)
{
    mr__jpeg_forward portable, best;
    (void)state;
    mr__jpeg_forward_init(&portable, 0);
    mr__jpeg_forward_init(&best, mr__cpu_detect());
    for (uint32_t i = 0; i < 3000; i++) {
        _Alignas(64) int16_t coef[2][64 * 16];
        mr__jpeg_quant quant;
        samples s;
        ptrdiff_t step = i % 3 == 0 ? 64 : i % 3 == 1 ? (ptrdiff_t)ROWS * STRIDE : 0;
        fill(&s, i % KINDS);
        mr__jpeg_quant_init(&quant, 1 + below(100), below(2) != 0);
        memset(coef, 0x55, sizeof coef);
        uint64_t bands = portable.fdct(s.bytes, STRIDE, step, &quant, coef[0]);
        assert_true(best.fdct(s.bytes, STRIDE, step, &quant, coef[1]) == bands);
        assert_memory_equal(coef[0], coef[1], sizeof coef[0]);
        for (size_t b = 0; b < 64; b++) {
            int any = 0;
            for (size_t lane = 0; lane < 16; lane++) {
                assert_int_equal(coef[0][16 * b + lane] % quant.by[b], 0);
                any |= coef[0][16 * b + lane];
            }
            assert_int_equal(bands >> b & 1, any != 0);
        }
    }
}

/* All colors of a grid, and all numbers of pairs: what is not to be written stays. */
static void colors_are_alike(void **state)
{
    enum { PAIRS = 70 };
    mr__jpeg_forward portable, best;
    (void)state;
    mr__jpeg_forward_init(&portable, 0);
    mr__jpeg_forward_init(&best, mr__cpu_detect());
    for (uint32_t i = 0; i < 20000; i++) {
        size_t pairs = 1 + i % PAIRS;
        uint8_t rows[2][6 * PAIRS], y[4][2 * PAIRS + 32], c[4][PAIRS + 16];
        uint8_t *upper = rows[0] + sizeof rows[0] - 6 * pairs, *lower = rows[1] + sizeof rows[1] - 6 * pairs;
        for (size_t k = 0; k < sizeof rows; k++)
            rows[k % 2][k / 2] = (uint8_t)(i % 2 ? below(256) : 255 * below(2));
        portable.halve(upper, lower, pairs, y[0], y[1], c[0], c[1]);
        best.halve(upper, lower, pairs, y[2], y[3], c[2], c[3]);
        assert_memory_equal(y[0], y[2], 2 * pairs);
        assert_memory_equal(y[1], y[3], 2 * pairs);
        assert_memory_equal(c[0], c[2], pairs);
        assert_memory_equal(c[1], c[3], pairs);
    }
}

/* Gray has no color, and the ends of each are reached. */
static void colors_are_right(void **state)
{
    mr__jpeg_forward kernels;
    uint8_t y[2][32 + 4], c[2][16 + 2];
    (void)state;
    mr__jpeg_forward_init(&kernels, 0);
    for (uint32_t v = 0; v < 256; v++) {
        uint8_t row[12];
        memset(row, (int)v, sizeof row);
        kernels.halve(row, row, 2, y[0], y[1], c[0], c[1]);
        assert_int_equal(y[0][0], v);
        assert_int_equal(y[1][3], v);
        assert_int_equal(c[0][1], 128);
        assert_int_equal(c[1][0], 128);
    }
    const uint8_t blue[6] = {0, 0, 255, 0, 0, 255}, red[6] = {255, 0, 0, 255, 0, 0};
    kernels.halve(blue, red, 1, y[0], y[1], c[0], c[1]);
    assert_int_equal(y[0][0], 29);
    assert_int_equal(y[1][0], 76);
    assert_int_equal(c[0][0], (255 + 85 + 1) / 2);  // Cb of 255 and 85
    assert_int_equal(c[1][0], (107 + 255 + 0) / 2); // Cr of 107 and 255
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_is_exact),
        cmocka_unit_test(tables_are_those_of_the_standard),
        cmocka_unit_test(transform_is_a_cosine_transform),
        cmocka_unit_test(transforms_are_alike),
        cmocka_unit_test(colors_are_alike),
        cmocka_unit_test(colors_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
