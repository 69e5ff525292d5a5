// SPDX-License-Identifier: Apache-2.0
/* Colors: the formulas beside Pillow, of every color there is, and the kernels beside the formulas. */
#include "test.h"

#include "../golden/color_golden.h"
#include "base/hash.h"
#include "kernel/color.h"
#include "kernel/color_pixel.h"
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLORS = 1 << 24, SOME = 1 << 14, ROOM = 3 * 1100, EDGE = 64 };

/* Everything, and that which a processor without the newest has. */
static const mr__cpu_flags masks[] = {~0u, ~(mr__cpu_flags)MR__CPU_AVX512};

static void fill_colors(uint32_t first, uint8_t *to)
{
    for (uint32_t i = first; i < first + SOME; i++, to += 3) {
        to[0] = (uint8_t)i;
        to[1] = (uint8_t)(i >> 8);
        to[2] = (uint8_t)(i >> 16);
    }
}

static void put_hsv(const uint8_t *from, uint8_t *to)
{
    mr__hsv color = mr__hsv_of(from[0], from[1], from[2]);
    to[0] = (uint8_t)color.h;
    to[1] = (uint8_t)color.s;
    to[2] = (uint8_t)color.v;
}

static void every_color_is_pillows(void **state)
{
    (void)state;
    uint8_t *from = malloc(3 * SOME), *to = malloc(3 * SOME);
    mr__hasher hsv, rgb, gray;
    assert_true(from != NULL && to != NULL);
    mr__hasher_init(&hsv);
    mr__hasher_init(&rgb);
    mr__hasher_init(&gray);
    for (uint32_t first = 0; first < COLORS; first += SOME) {
        fill_colors(first, from);
        for (size_t i = 0; i < 3 * SOME; i += 3)
            put_hsv(from + i, to + i);
        mr__hasher_add(&hsv, to, 3 * SOME);
        for (size_t i = 0; i < 3 * SOME; i += 3)
            mr__hsv_to_rgb((mr__hsv){from[i], from[i + 1], from[i + 2]}, to + i);
        mr__hasher_add(&rgb, to, 3 * SOME);
        for (size_t i = 0; i < SOME; i++)
            to[i] = (uint8_t)mr__gray(from[3 * i], from[3 * i + 1], from[3 * i + 2]);
        mr__hasher_add(&gray, to, SOME);
    }
    assert_true(mr__hasher_value(&hsv) == golden_all_hsv);
    assert_true(mr__hasher_value(&rgb) == golden_all_rgb);
    assert_true(mr__hasher_value(&gray) == golden_all_gray);
    free(from);
    free(to);
}

/* A blend as it is defined, beyond what a conversion to 8 bits is defined for. */
static void blends_are_clipped(void **state)
{
    (void)state;
    static const float alphas[] = {0, 0.1f, 0.5f, 0.9f, 1, 1.9f, -3, 100, 1e6f, -1e6f};
    for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++)
        for (uint32_t a = 0; a < 256; a++)
            for (uint32_t b = 0; b < 256; b++) {
                float product = alphas[k] * ((float)b - (float)a), value = (float)a + product;
                uint8_t wanted = (uint8_t)fminf(fmaxf(value, 0), 255);
                assert_int_equal(mr__blend(a, b, alphas[k]), wanted);
            }
}

/* One kernel on some pixels, whose calls differ. */
typedef struct call {
    const mr__color_kernels *kernels;
    const mr__color_tables *tables;
    float amount;
    uint32_t whole;
} call;

typedef void calling(const call *c, const uint8_t *from, size_t n, uint8_t *to);

static void call_tables(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    mr__color_apply(c->kernels, c->tables, from, n, 3, to);
}

static void call_grayscale(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    c->kernels->grayscale(from, n, to);
}

static void call_saturation(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    c->kernels->saturation(from, n, c->amount, to);
}

static void call_hue(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    c->kernels->hue(from, n, c->whole, to);
}

static void call_permute(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    c->kernels->permute(from, n, c->whole, to);
}

static void call_blend(const call *c, const uint8_t *from, size_t n, uint8_t *to)
{
    uint8_t other[ROOM];
    picture_noise(other, 3 * n, 11);
    c->kernels->blend(from, other, 3 * n, c->amount, to);
}

/* Beside the portable one: apart and in place, at every place of a line, with nothing written around it. */
static void compare(const char *name, calling *run, call c, size_t n, size_t offset, uint64_t *seed)
{
    uint8_t from[ROOM + 2 * EDGE], wanted[ROOM], to[ROOM + 2 * EDGE], before[ROOM + 2 * EDGE];
    mr__color_kernels portable;
    size_t at = offset % EDGE;
    picture_noise(from, sizeof from, picture_random(seed));
    if (offset % 3 == 0)
        for (size_t i = 0; i < sizeof from; i++)
            from[i] = from[i] % 2 != 0 ? (uint8_t)(0 - (from[i] & 8) / 8) : from[i] & 3;
    mr__color_kernels_init(&portable, 0);
    call plain = c;
    plain.kernels = &portable;
    run(&plain, from + at, n, wanted);
    memset(to, 0xa5, sizeof to);
    memcpy(before, from, sizeof from);
    run(&c, from + at, n, to + at);
    if (memcmp(to + at, wanted, 3 * n) != 0)
        print_message("%s of %zu pixels, %g, %u\n", name, n, (double)c.amount, c.whole);
    assert_memory_equal(to + at, wanted, 3 * n);
    for (size_t i = 0; i < sizeof to; i++)
        assert_true(to[i] == 0xa5 || (i >= at && i < at + 3 * n));
    assert_memory_equal(from, before, sizeof from);
    run(&c, from + at, n, from + at);
    memcpy(before + at, wanted, 3 * n);
    assert_memory_equal(from, before, sizeof from);
}

static void make_table(uint8_t table[256], uint32_t kind, uint64_t *seed)
{
    uint32_t a = picture_random(seed), b = picture_random(seed);
    for (uint32_t v = 0; v < 256; v++)
        table[v] = (uint8_t)(kind == 0   ? v
                             : kind == 1 ? (v & a) ^ b
                             : kind == 2 ? (v < a % 256 ? v : 255 - v)
                                         : picture_random(seed));
}

/* The same table, and three. */
static void compare_tables(call c, size_t n, size_t offset, uint64_t *seed)
{
    mr__color_tables tables;
    uint8_t table[3][256];
    c.tables = &tables;
    for (uint32_t kind = 0; kind < 4; kind++) {
        make_table(table[0], kind, seed);
        memcpy(table[1], table[0], 256);
        memcpy(table[2], table[0], 256);
        mr__color_tables_init(&tables, table, 3);
        assert_true(tables.kind == (mr__tables_kind)kind || kind == 1 || kind == 2);
        compare("one table", call_tables, c, n, offset, seed);
        make_table(table[1 + offset % 2], 3, seed);
        mr__color_tables_init(&tables, table, 3);
        assert_true(tables.kind == MR__TABLES_THREE);
        compare("three tables", call_tables, c, n, offset, seed);
    }
}

static void compare_sums(const mr__color_kernels *kernels, size_t n, size_t offset, uint64_t *seed)
{
    uint8_t from[ROOM + EDGE], ranges[2][4][2];
    mr__color_kernels portable;
    mr__color_kernels_init(&portable, 0);
    picture_noise(from, sizeof from, picture_random(seed));
    const uint8_t *at = from + offset % EDGE;
    assert_true(kernels->sum(at, 3 * n) == portable.sum(at, 3 * n));
    assert_true(kernels->sum_gray(at, n) == portable.sum_gray(at, n));
    memset(ranges, 100, sizeof ranges);
    for (size_t i = 0; i < 2 && offset % 2 == 0; i++)
        for (size_t c = 0; c < 4; c++)
            ranges[i][c][0] = 255, ranges[i][c][1] = 0;
    for (size_t i = 0; i < 2; i++) {
        (i == 0 ? &portable : kernels)->range_3(at, n, ranges[i]);
        (i == 0 ? &portable : kernels)->range_1(at, 3 * n, ranges[i] + 3);
    }
    assert_memory_equal(ranges[0], ranges[1], sizeof ranges[0]);
}

static void kernels_give_the_bytes_of_the_portable_ones(void **state)
{
    (void)state;
    static const float alphas[] = {0, 0.25f, 0.61f, 1, 1.37f, 1.9f, -0.5f, 40, 1e6f, -1e6f};
    uint64_t seed = 5;
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        mr__color_kernels kernels;
        mr__color_kernels_init(&kernels, mr__cpu_detect() & masks[m]);
        for (size_t i = 0; i < (test_quick() ? 80 : 400); i++) {
            size_t n = i < 200 ? i : picture_random_below(&seed, 1000);
            call c = {&kernels, NULL, alphas[i % 10], picture_random(&seed) % 256};
            compare("grayscale", call_grayscale, c, n, i, &seed);
            compare("saturation", call_saturation, c, n, i, &seed);
            compare("hue", call_hue, c, n, i, &seed);
            compare("blend", call_blend, c, n, i, &seed);
            compare_tables(c, n, i, &seed);
            compare_sums(&kernels, n, i, &seed);
            c.whole = picture_random(&seed) % 64;
            compare("permute", call_permute, c, n, i, &seed);
        }
    }
}

/* Each color by hues and saturations that go round; all of them with MILLRACE_LONG. */
static void every_color_is_the_portable_one(void **state)
{
    (void)state;
    uint8_t *from = malloc(3 * SOME), *wanted = malloc(3 * SOME), *got = malloc(3 * SOME);
    mr__color_kernels kernels, portable;
    mr__color_kernels_init(&kernels, mr__cpu_detect());
    mr__color_kernels_init(&portable, 0);
    assert_true(from != NULL && wanted != NULL && got != NULL);
    uint32_t turns = test_long() ? 256 : 1, parts = test_quick() ? 16 : 1;
    for (uint32_t first = 0, part = 0; first < COLORS; first += SOME, part++)
        for (uint32_t turn = 0; turn < turns && part % parts == 0; turn++) {
            fill_colors(first, from);
            portable.hue(from, SOME, turn + part, wanted);
            kernels.hue(from, SOME, turn + part, got);
            assert_memory_equal(wanted, got, 3 * SOME);
            portable.saturation(from, SOME, (float)(turn + part % 256) / 100, wanted);
            kernels.saturation(from, SOME, (float)(turn + part % 256) / 100, got);
            assert_memory_equal(wanted, got, 3 * SOME);
        }
    free(from);
    free(wanted);
    free(got);
}

static void values_are_counted(void **state)
{
    (void)state;
    uint8_t from[ROOM];
    uint64_t seed = 3;
    for (size_t n = 0; n < 300; n++) {
        mr__color_counts counts;
        uint32_t wanted[3][256] = {{0}}, got[3][256];
        for (size_t i = 0; i < 3 * n; i++)
            from[i] = (uint8_t)(picture_random(&seed) % (n % 2 != 0 ? 256 : 3));
        for (size_t i = 0; i < 3 * n; i++)
            wanted[i % 3][from[i]]++;
        memset(&counts, 0, sizeof counts);
        mr__color_count_3(&counts, from, n / 2);
        mr__color_count_3(&counts, from + n / 2 * 3, n - n / 2);
        mr__color_count_sum(&counts, 3, got);
        assert_memory_equal(wanted, got, sizeof got);
        memset(&counts, 0, sizeof counts);
        mr__color_count_1(&counts, from, 3 * n);
        mr__color_count_sum(&counts, 1, got);
        for (size_t v = 0; v < 256; v++)
            assert_int_equal(got[0][v], wanted[0][v] + wanted[1][v] + wanted[2][v]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_color_is_pillows),
        cmocka_unit_test(blends_are_clipped),
        cmocka_unit_test(kernels_give_the_bytes_of_the_portable_ones),
        cmocka_unit_test(every_color_is_the_portable_one),
        cmocka_unit_test(values_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
