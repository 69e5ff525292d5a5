// SPDX-License-Identifier: Apache-2.0
/* Sharpness and blur: kernels beside the portable ones, parts beside the whole, both beside torchvision. */
#include "test.h"

#include "../golden/filter_golden.h"
#include "base/hash.h"
#include "failing.h"
#include "filtering.h"
#include "kernel/filter.h"
#include "picture.h"
#include "step/gauss.h"
#include "step/op_blur.h"
#include "step/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static mr__detail detail;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* Bytes, mostly extreme every other time, in a block of just this size. */
static uint8_t *bytes_of(size_t n)
{
    static const uint8_t extreme[] = {0, 255, 1, 254, 128, 127};
    bool few = below(2) == 0;
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = few ? extreme[below(6)] : (uint8_t)below(256);
    return bytes;
}

static float *floats_of(size_t n, float from, float to)
{
    float *floats = malloc(n * sizeof *floats);
    assert_non_null(floats);
    for (size_t i = 0; i < n; i++)
        floats[i] = from + (to - from) * (float)below(1 << 20) * 0x1p-20f;
    return floats;
}

static void test_sharpen_kernels(void **state)
{
    static const float factors[] = {0.0f, 0.1f, 0.9999999f, 1.0f, 1.9f, 2.0f, 30.0f, 1e6f};
    mr__filters k;
    (void)state;
    mr__filters_init(&k, mr__cpu_detect());
    for (uint32_t i = 0; i < 400; i++) {
        size_t step = below(2) == 0 ? 1 : 3, n = 1 + below(i < 200 ? 40 : 300), all = n + 2 * step;
        uint8_t *rows[3] = {bytes_of(all), bytes_of(all), bytes_of(all)}, *got = malloc(n), *wanted = malloc(n);
        float factor = i % 2 == 0 ? factors[below(8)] : 2.0f * (float)below(1 << 24) * 0x1p-24f;
        k.sharpen(rows[0] + step, rows[1] + step, rows[2] + step, step, n, factor, got);
        mr__sharpen_row_c(rows[0] + step, rows[1] + step, rows[2] + step, step, n, factor, wanted);
        assert_memory_equal(got, wanted, n);
        for (size_t j = 0; j < 3; j++)
            free(rows[j]);
        free(got);
        free(wanted);
    }
}

/* One row of sums down by bytes and by floats, all its neighbours in blocks of just their size. */
static void check_down(const mr__filters *k, size_t radius, size_t n)
{
    size_t rows = 2 * radius + 1;
    uint8_t **u8 = malloc(rows * sizeof *u8);
    float **f32 = malloc(rows * sizeof *f32), *weight = floats_of(radius + 1, 0.0f, 1.0f);
    float *got = malloc(n * sizeof *got), *wanted = malloc(n * sizeof *wanted);
    for (size_t i = 0; i < rows; i++) {
        u8[i] = bytes_of(n);
        f32[i] = floats_of(n, -1.0f, 1.0f);
    }
    k->down_u8((const uint8_t *const *)u8, weight, radius, n, got);
    mr__blur_down_u8_c((const uint8_t *const *)u8, weight, radius, n, wanted);
    assert_memory_equal(got, wanted, n * sizeof *got);
    k->down_f32((const float *const *)f32, weight, radius, n, got);
    mr__blur_down_f32_c((const float *const *)f32, weight, radius, n, wanted);
    assert_memory_equal(got, wanted, n * sizeof *got);
    for (size_t i = 0; i < rows; i++) {
        free(u8[i]);
        free(f32[i]);
    }
    free(u8);
    free(f32);
    free(weight);
    free(got);
    free(wanted);
}

/* Sums leave 0 to 255 now and then, and are clipped; some are half-way between two numbers. */
static void check_across(const mr__filters *k, size_t radius, size_t n)
{
    size_t step = below(2) == 0 ? 1 : 3, before = radius * step;
    float *row = floats_of(n + 2 * before, -20.0f, 300.0f), *weight = floats_of(radius + 1, 0.0f, 0.3f);
    float *got = malloc(n * sizeof *got), *wanted = malloc(n * sizeof *wanted);
    uint8_t *bytes = malloc(n), *wanted_bytes = malloc(n);
    weight[0] = below(2) == 0 ? 1.0f : 0.5f;
    for (size_t i = 0; i < n + 2 * before && below(8) != 0; i++)
        row[i] = (float)below(512);
    k->across_f32(row + before, step, weight, radius, n, got);
    mr__blur_across_f32_c(row + before, step, weight, radius, n, wanted);
    assert_memory_equal(got, wanted, n * sizeof *got);
    k->across_u8(row + before, step, weight, radius, n, bytes);
    mr__blur_across_u8_c(row + before, step, weight, radius, n, wanted_bytes);
    assert_memory_equal(bytes, wanted_bytes, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], (uint8_t)fminf(fmaxf(rintf(wanted[i]), 0.0f), 255.0f));
    free(row);
    free(weight);
    free(got);
    free(wanted);
    free(bytes);
    free(wanted_bytes);
}

static void test_blur_kernels(void **state)
{
    mr__filters k;
    (void)state;
    mr__filters_init(&k, mr__cpu_detect());
    for (uint32_t i = 0; i < 300; i++) {
        size_t radius = i % 3 == 0 ? below(40) : below(5), n = 1 + below(i < 150 ? 40 : 300);
        check_down(&k, radius, n);
        check_across(&k, radius, n);
    }
}

static void test_weights(void **state)
{
    float weight[MR__BLUR_KERNEL_MAX / 2 + 1];
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t kernel = 2 * below(i < 100 ? 15 : 512) + 1;
        double sigma = 0.001 + (i % 3 == 0 ? 300.0 : 3.0) * below(1000) / 1000.0, sum = 0.0;
        size_t seen = mr__gauss_weights(kernel, sigma, weight);
        assert_true(seen <= kernel / 2);
        for (uint32_t j = 0; j <= kernel / 2; j++) {
            assert_true(j == 0 || weight[j] <= weight[j - 1]);
            assert_true(j <= seen || weight[j] < 0x1p-34f);
            assert_true(fabs(log((double)weight[j] / weight[0]) + j / sigma * j / sigma / 2) < 1e-5 ||
                        weight[j] < 1e-30f);
            sum += j == 0 ? weight[0] : 2.0 * weight[j];
        }
        assert_true(fabs(sum - 1.0) < 1e-6);
    }
}

static void test_sharpness_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden_sharpness / sizeof *golden_sharpness; i++) {
        mr_image image = filtering_picture(golden_sharpness[i].width, golden_sharpness[i].height,
                                           golden_sharpness[i].channels, golden_sharpness[i].kind);
        for (size_t j = 0; j < 2; j++) {
            mr__op op = {.kind = MR__OP_SHARPNESS, .amount = golden_sharpness[i].factor};
            mr_image got = filtering_whole(op, &image, j == 0 ? 0 : mr__cpu_detect());
            mr__hasher hasher;
            mr__hasher_init(&hasher);
            for (uint32_t y = 0; y < got.height; y++)
                mr__hasher_add(&hasher, (uint8_t *)got.pixels + y * got.stride, (size_t)got.width * got.channels);
            if (mr__hasher_value(&hasher) != golden_sharpness[i].hash)
                fail_msg("case %zu: %u x %u, factor %g", i, got.width, got.height, golden_sharpness[i].factor);
            mr_image_fini(&got, NULL);
        }
        mr_image_fini(&image, NULL);
    }
}

static void test_blur_golden(void **state)
{
    size_t near = 0;
    (void)state;
    for (size_t i = 0; i < sizeof golden_blurs / sizeof *golden_blurs; i++) {
        mr__op op = {.kind = MR__OP_BLUR};
        memcpy(op.u.blur.kernel, golden_blurs[i].kernel, sizeof op.u.blur.kernel);
        memcpy(op.u.blur.sigma, golden_blurs[i].sigma, sizeof op.u.blur.sigma);
        mr_image image = filtering_picture(golden_blurs[i].width, golden_blurs[i].height, golden_blurs[i].channels,
                                           golden_blurs[i].kind);
        mr_image got = filtering_whole(op, &image, mr__cpu_detect());
        near += filtering_count_near(&got, golden_pixels + golden_blurs[i].at);
        mr_image_fini(&got, NULL);
        mr_image_fini(&image, NULL);
    }
    assert_true(near <= sizeof golden_pixels / 2000);
}

/* Any size, any part; the widest image at last. */
static void test_parts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 150; i++) {
        uint32_t kernel[2] = {2 * below(8) + 1, 2 * below(8) + 1}, channels = below(2) == 0 ? 1 : 3;
        uint32_t width = kernel[0] / 2 + 1 + below(i < 75 ? 8 : 90),
                 height = kernel[1] / 2 + 1 + below(i < 75 ? 8 : 60);
        width = i == 149 ? MR_RECIPE_SIDE_MAX : width;
        mr_image image = filtering_picture(width, height, channels, below(3));
        mr__op sharpness = {.kind = MR__OP_SHARPNESS, .amount = below(400) / 100.0}, blur = {.kind = MR__OP_BLUR};
        blur.u.blur = (mr__blur){{kernel[0], kernel[1]}, {0.1 + below(30) / 10.0, 0.1 + below(30) / 10.0}};
        filtering_check_parts(sharpness, &image, &seed);
        filtering_check_parts(blur, &image, &seed);
        mr_image_fini(&image, NULL);
    }
}

/* Where a kernel has more pixels than there are, and one more than there can be. */
static void test_blur_edges(void **state)
{
    static const uint32_t sides[] = {1, 2, 3, 5, 7, 512};
    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        mr_image image = filtering_picture(sides[i], sides[i], 3, 0);
        mr__op op = {.kind = MR__OP_BLUR};
        op.u.blur = (mr__blur){{2 * sides[i] - 1, 2 * sides[i] - 1}, {1000.0, sides[i] < 512 ? 1000.0 : 0.001}};
        filtering_check_parts(op, &image, &seed);
        mr_image_fini(&image, NULL);
    }
}

static void refuse(mr_step step, const char *words)
{
    mr__detail_clear(&detail);
    assert_int_equal(mr__step_type_of(step.kind)->settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, words);
}

static void test_refused(void **state)
{
    mr_step blur = {.kind = MR_STEP_BLUR, .kernel = {5}};
    mr__shape small = {2, 9, 3, 8}, deep = {64, 64, 3, 16}, four = {64, 64, 4, 8}, unknown = {0, 0, 1, 8};
    mr__chain chain;
    uint32_t draw = 0;
    (void)state;
    refuse((mr_step){.kind = MR_STEP_SHARPNESS, .factor = -1.0}, "sharpness: a factor of -1");
    refuse((mr_step){.kind = MR_STEP_SHARPNESS, .factor = NAN}, "sharpness: a factor of");
    refuse((mr_step){.kind = MR_STEP_SHARPNESS, .factor = INFINITY}, "sharpness: a factor of inf");
    refuse((mr_step){.kind = MR_STEP_SHARPNESS, .factor = 1.0, .has_chance = true, .chance = 2.0}, "a chance of 2");
    refuse((mr_step){.kind = MR_STEP_BLUR}, "blur over 0 x 0 pixels: sides are odd");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {4}}, "blur over 4 x 4");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {3, 1025}}, "blur over 3 x 1025");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {3}, .sigma = {2.0, 1.0}}, "blur: sigma=2..1");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {3}, .sigma = {-1.0, 1.0}}, "blur: sigma=-1..1");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {3}, .sigma = {0.0, 1.0}}, "blur: sigma=0..1");
    refuse((mr_step){.kind = MR_STEP_BLUR, .kernel = {3}, .sigma = {1.0, INFINITY}}, "blur: sigma=1..inf");
    assert_int_equal(mr__step_blur.settle(&blur, &detail), 0);
    assert_int_equal(mr__step_blur.shape(&blur, &small, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "blur over 5 x 5 pixels is too much for an image of 2 x 9");
    assert_int_equal(mr__step_blur.shape(&blur, &deep, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "convert(rgb)");
    assert_int_equal(mr__step_sharpness.shape(&blur, &four, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "convert(rgb)");
    assert_int_equal(mr__step_blur.shape(&blur, &unknown, &detail), 0);
    mr__chain_init(&chain, 9, 2, false, NULL);
    assert_int_equal(mr__step_blur.resolve(&blur, &draw, &chain, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "too much for an image of 9 x 2");
}

static mr__op resolved(mr_step step, uint32_t draw)
{
    mr__chain chain;
    assert_int_equal(mr__step_type_of(step.kind)->settle(&step, &detail), 0);
    mr__chain_init(&chain, 100, 50, false, NULL);
    assert_int_equal(mr__step_type_of(step.kind)->resolve(&step, &draw, &chain, &detail), 0);
    return chain.op_count == 1 ? chain.op[0] : (mr__op){.kind = MR__OP_USER};
}

static void test_steps(void **state)
{
    char text[100];
    (void)state;
    mr__op op = resolved((mr_step){.kind = MR_STEP_BLUR, .kernel = {5}}, 0);
    assert_int_equal(op.kind, MR__OP_BLUR);
    assert_int_equal(op.u.blur.kernel[1], 5);
    assert_true(op.u.blur.sigma[0] == 0.1 && op.u.blur.sigma[1] == 0.1);
    mr__op_blur.tell(&op, text, sizeof text);
    assert_string_equal(text, "blurred over 5 x 5 pixels with sigma 0.1");
    op = resolved((mr_step){.kind = MR_STEP_BLUR, .kernel = {5, 7}, .sigma = {1.0, 2.0}}, 0x80000000u);
    assert_int_equal(op.u.blur.kernel[1], 7);
    assert_true(op.u.blur.sigma[0] == 1.5 && op.u.blur.sigma[1] == 1.5);
    op = resolved((mr_step){.kind = MR_STEP_SHARPNESS, .factor = 2.0}, 0x7fffffffu);
    assert_int_equal(op.kind, MR__OP_SHARPNESS);
    assert_true(op.amount == 2.0);
    mr__op_sharpness.tell(&op, text, sizeof text);
    assert_string_equal(text, "sharpness by 2");
    op = resolved((mr_step){.kind = MR_STEP_SHARPNESS, .factor = 2.0}, 0x80000000u);
    assert_int_equal(op.kind, MR__OP_USER);
}

/* Each op, with memory that fails: it says so. A second image of the same size takes no more memory. */
static int run_scarce(const mr_hooks *given, void *arg)
{
    static const mr__op_kind kinds[] = {MR__OP_SHARPNESS, MR__OP_BLUR, MR__OP_ELASTIC};
    mr__op op = {
        .kind = kinds[*(size_t *)arg], .width = 40, .height = 30, .to_width = 40, .to_height = 30, .amount = 2};
    mr__op_tools *tools = NULL;
    mr_hooks hooks;
    op.from = op.to = (mr_rect){0, 0, 40, 30};
    if (op.kind == MR__OP_BLUR)
        op.u.blur = (mr__blur){{5, 5}, {1, 1}};
    if (op.kind == MR__OP_ELASTIC)
        op.u.elastic = (mr__elastic){.alpha = {9, 9}, .sigma = {1, 1}, .sampling = MR_SAMPLING_BILINEAR};
    assert_int_equal(mr__hooks_init(&hooks, given), 0);
    int result = mr__op_tools_new(&hooks, mr__cpu_detect(), &tools);
    for (size_t i = 0; i < 2 && result == 0; i++) {
        uint8_t pixels[40 * 30 * 3] = {0};
        mr_image image = {40, 30, 3, 8, 40 * 3, pixels};
        size_t attempts = failing_now().attempts;
        mr__detail_clear(&detail);
        result = mr__ops_run(tools, &op, 1, false, &image, &detail);
        assert_int_equal(detail.text[0] == '\0', result == 0);
        assert_true(i == 0 || failing_now().attempts == attempts);
    }
    mr__op_tools_free(tools);
    return result;
}

static void test_scarce_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        failing_run(run_scarce, &i);
}

/* A recipe on an image, all of it or a part that is cut out behind. Returns its result; free it. */
static uint8_t *applied(const char *text, const mr_image *image)
{
    mr_recipe *recipe;
    mr_applier *applier;
    mr_output output = {.struct_size = sizeof output};
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    int result = mr_recipe_parse(recipe, text);
    if (result == 0)
        result = mr_recipe_output(recipe, &output);
    if (result != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    assert_int_equal(mr_applier_new(recipe, NULL, &applier), 0);
    uint8_t *to = malloc(output.sample_nbytes);
    result = mr_applier_run(applier, image, 1, 2, 3, to);
    if (result != 0)
        fail_msg("%s: %s", text, mr_applier_detail(applier));
    mr_applier_free(applier);
    mr_recipe_free(recipe);
    return to;
}

/* What is cut out behind a step is that part of what the step makes, though no more than that is made. */
static void test_recipes(void **state)
{
    static const char *const steps[] = {"sharpness(1.9, 1)",
                                        "blur(5)",
                                        "blur(23, sigma=0.5..3)",
                                        "blur(9/3, sigma=1.5)",
                                        "elastic",
                                        "elastic(80/20, sigma=2/3, filter=nearest, fill=9)",
                                        "elastic(60, sigma=1, filter=bicubic)",
                                        "sharpness(0, 1) blur(3) elastic(10) sharpness(2, 1)"};
    enum { SIDE = 97, PART = 31, AT = (SIDE - PART) / 2 };
    mr_image image = filtering_picture(SIDE, SIDE, 3, 2);
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char text[200];
        snprintf(text, sizeof text, "center(97) %s layout(nhwc)", steps[i]);
        uint8_t *whole = applied(text, &image);
        snprintf(text, sizeof text, "center(97) %s center(31) layout(nhwc)", steps[i]);
        uint8_t *part = applied(text, &image);
        for (size_t y = 0; y < PART; y++)
            assert_memory_equal(part + y * PART * 3, whole + ((AT + y) * SIDE + AT) * 3, PART * 3);
        bool same = true;
        for (size_t y = 0; y < SIDE; y++)
            same = same &&
                   memcmp(whole + y * SIDE * 3, (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride, SIDE * 3) == 0;
        assert_false(same);
        free(whole);
        free(part);
    }
    mr_image_fini(&image, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharpen_kernels),  cmocka_unit_test(test_blur_kernels),  cmocka_unit_test(test_weights),
        cmocka_unit_test(test_sharpness_golden), cmocka_unit_test(test_blur_golden),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_blur_edges),       cmocka_unit_test(test_refused),       cmocka_unit_test(test_steps),
        cmocka_unit_test(test_recipes),          cmocka_unit_test(test_scarce_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
