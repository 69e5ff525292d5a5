// SPDX-License-Identifier: Apache-2.0
/* Ops and steps that change colors, beside torchvision. */
#include "test.h"

#include "../golden/color_golden.h"
#include "base/hash.h"
#include "picture.h"
#include "step/op_table.h"
#include "step/recipe.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = sizeof golden_cases / sizeof *golden_cases, GAMMAS = 491 };

static mr__detail detail;

/* styled of color_golden.py. */
static uint8_t restyle(uint32_t v, uint32_t style)
{
    const uint32_t values[] = {v, 60 + v * 120 / 256, v & 0xe0, 77, v / 8, v < 200 ? 10 : v};
    return (uint8_t)values[style];
}

/* Rows with `gap` bytes between them. */
static mr_image make_image(size_t number, size_t gap)
{
    const uint32_t *size = golden_sizes[golden_cases[number].size];
    uint32_t channels = golden_cases[number].channels, style = golden_cases[number].style;
    mr_image image = {size[0], size[1], channels, 8, (ptrdiff_t)(size[0] * channels + gap), NULL};
    size_t row = size[0] * channels;
    uint8_t *bytes = malloc(row * size[1]), *pixels = malloc((row + gap) * size[1]);
    assert_true(bytes != NULL && pixels != NULL);
    picture_noise(bytes, row * size[1], 7 + style);
    memset(pixels, 0xa5, (row + gap) * size[1]);
    for (size_t i = 0; i < row * size[1]; i++)
        pixels[i / row * (row + gap) + i % row] = restyle(bytes[i], style);
    free(bytes);
    image.pixels = pixels;
    return image;
}

static size_t make_ops(size_t number, mr__op *ops)
{
    for (size_t i = 0; i < golden_cases[number].count; i++) {
        size_t op = golden_cases[number].ops[i];
        ops[i] = (mr__op){.kind = (mr__op_kind)(MR__OP_BRIGHTNESS + golden_ops[op].kind),
                          .amount = golden_ops[op].amount,
                          .more = golden_ops[op].more,
                          .whole = golden_ops[op].whole};
    }
    return golden_cases[number].count;
}

/* The hash of an image without what lies between its rows, which has to be as it was. */
static uint64_t hash_of(const mr_image *image)
{
    mr__hasher hasher;
    size_t row = mr_image_row_nbytes(image);
    mr__hasher_init(&hasher);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *pixels = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
        mr__hasher_add(&hasher, pixels, row);
        for (size_t i = row; i < (size_t)image->stride; i++)
            assert_int_equal(pixels[i], 0xa5);
    }
    return mr__hasher_value(&hasher);
}

static void check_case(mr__op_tools *tools, size_t number, bool apart, size_t gap)
{
    mr__op ops[5];
    size_t count = make_ops(number, ops);
    mr_image image = make_image(number, gap), made = image;
    assert_int_equal(mr__ops_run(tools, ops, count, apart, &made, &detail), 0);
    assert_true(made.pixels == image.pixels);
    if (hash_of(&made) != golden_cases[number].hash)
        print_message("case %zu, %s: %s of %zu ops is not torchvision's\n", number, apart ? "apart" : "fused",
                      mr__op_types[ops[0].kind]->name, count);
    assert_true(hash_of(&made) == golden_cases[number].hash);
    free(image.pixels);
}

static void ops_do_what_torchvision_does(void **state)
{
    (void)state;
    const mr__cpu_flags flags[] = {0, mr__cpu_detect(), mr__cpu_detect() & ~(mr__cpu_flags)MR__CPU_AVX512};
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (size_t k = 0; k < 3; k++) {
        mr__op_tools *tools;
        assert_int_equal(mr__op_tools_new(&hooks, flags[k], &tools), 0);
        for (size_t i = 0; i < CASES; i++) {
            check_case(tools, i, false, 0);
            check_case(tools, i, true, 0);
            check_case(tools, i, i % 2 != 0, 1 + i % 40);
        }
        mr__op_tools_free(tools);
    }
}

static void gammas_are_pythons(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__op_tools *tools;
    mr__hasher hasher;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, 0, &tools), 0);
    mr__hasher_init(&hasher);
    for (int n = 0; n < GAMMAS; n++) {
        uint8_t values[256];
        mr_image image = {256, 1, 1, 8, 256, values};
        mr__op op = {.kind = MR__OP_GAMMA, .amount = (double)(n + 10) / 100.0, .more = 1.0};
        for (size_t v = 0; v < 256; v++)
            values[v] = (uint8_t)v;
        assert_int_equal(mr__ops_run(tools, &op, 1, false, &image, &detail), 0);
        mr__hasher_add(&hasher, values, sizeof values);
    }
    assert_true(mr__hasher_value(&hasher) == golden_gammas);
    mr__op_tools_free(tools);
}

/* What a text is resolved to, for the sample of this number. The image has 8 x 8 pixels. */
static void resolve(const mr_recipe *recipe, uint64_t sample, mr__chain *chain)
{
    uint32_t draws[64];
    assert_true(mr__recipe_draw_count(recipe) <= 64);
    mr__recipe_draw(recipe, 1, 0, sample, draws);
    assert_int_equal(mr__recipe_resolve(recipe, draws, 8, 8, NULL, chain, &detail), 0);
}

static mr_recipe *recipe_of(const char *text)
{
    mr_recipe *recipe;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0)
        print_message("%s: %s\n", text, mr_recipe_detail(recipe));
    assert_true(mr_recipe_count(recipe) > 0);
    return recipe;
}

/* The sum of (seen - expected)^2 / expected: of n kinds about n - 1, and above n - 1 + 6 sqrt(2 n) never. */
static void assert_uniform(const char *what, const uint32_t *seen, size_t n, uint32_t total)
{
    double expected = (double)total / (double)n, sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    if (sum > (double)n - 1 + 6 * sqrt(2 * (double)n))
        print_message("%s: chi-square %g of %zu\n", what, sum, n);
    assert_true(sum < (double)n - 1 + 6 * sqrt(2 * (double)n));
}

static void jitter_has_every_order_and_every_factor(void **state)
{
    (void)state;
    enum { SAMPLES = 48000, BINS = 20 };
    static const double lows[4] = {0.6, 0.2, 0, -0.1}, highs[4] = {1.4, 1.8, 3, 0.3};
    uint32_t orders[256] = {0}, factors[4][BINS] = {{0}}, seen[24], count = 0;
    mr_recipe *recipe = recipe_of("jitter(0.4, 0.8, 0..3, -0.1..0.3)");
    for (uint64_t i = 0; i < SAMPLES; i++) {
        mr__chain chain;
        uint32_t order = 0;
        resolve(recipe, i, &chain);
        assert_int_equal(chain.op_count, 4);
        for (uint32_t k = 0; k < 4; k++) {
            static const mr__op_kind kinds[4] = {MR__OP_BRIGHTNESS, MR__OP_CONTRAST, MR__OP_SATURATION, MR__OP_HUE};
            const mr__op *op = &chain.op[k];
            uint32_t which = 0;
            while (which < 3 && kinds[which] != op->kind)
                which++;
            order |= which << 2 * k;
            assert_true(op->amount >= lows[which] && op->amount <= highs[which]);
            double part = (op->amount - lows[which]) / (highs[which] - lows[which]);
            factors[which][part < 1 ? (size_t)(part * BINS) : BINS - 1]++;
            if (which == 3)
                assert_int_equal(op->whole, (uint32_t)(int)(op->amount * 255) & 255);
        }
        orders[order]++;
    }
    for (size_t i = 0; i < 256; i++)
        if (orders[i] != 0) {
            assert_true(count < 24);
            seen[count++] = orders[i];
        }
    assert_int_equal(count, 24);
    assert_uniform("orders", seen, 24, SAMPLES);
    for (size_t i = 0; i < 4; i++)
        assert_uniform("factors", factors[i], BINS, SAMPLES);
    mr_recipe_free(recipe);
}

static void jitter_leaves_out_what_has_no_range(void **state)
{
    (void)state;
    mr_recipe *recipe = recipe_of("jitter(contrast=0.5, hue=0.1)");
    bool first[2] = {false, false};
    for (uint64_t i = 0; i < 40; i++) {
        mr__chain chain;
        resolve(recipe, i, &chain);
        assert_int_equal(chain.op_count, 2);
        assert_int_equal(chain.op[0].kind + chain.op[1].kind, MR__OP_CONTRAST + MR__OP_HUE);
        first[chain.op[0].kind == MR__OP_HUE] = true;
    }
    assert_true(first[0] && first[1]);
    mr_recipe_free(recipe);
}

static void permute_has_every_order(void **state)
{
    (void)state;
    enum { SAMPLES = 12000 };
    uint32_t orders[64] = {0}, seen[6] = {0}, count = 0;
    mr_recipe *recipe = recipe_of("permute");
    for (uint64_t i = 0; i < SAMPLES; i++) {
        mr__chain chain;
        resolve(recipe, i, &chain);
        assert_int_equal(chain.op_count, 1);
        orders[chain.op[0].whole & 63u]++;
    }
    for (uint32_t i = 0; i < 64; i++) {
        if (orders[i] == 0)
            continue;
        assert_int_equal(1u << (i & 3) | 1u << (i >> 2 & 3) | 1u << (i >> 4), 7);
        assert_true(count < 6);
        seen[count++] = orders[i];
    }
    assert_int_equal(count, 6);
    assert_uniform("orders", seen, 6, SAMPLES);
    mr_recipe_free(recipe);
}

static const struct {
    const char *text;
    mr__op_kind kind;
    double low, high, chance;
} texts[] = {
    {"brightness(0.4)", MR__OP_BRIGHTNESS, 0.6, 1.4, 1},
    {"brightness(2)", MR__OP_BRIGHTNESS, 0, 3, 1},
    {"contrast(0.5..0.7)", MR__OP_CONTRAST, 0.5, 0.7, 1},
    {"saturation(1, chance=0.25)", MR__OP_SATURATION, 0, 2, 0.25},
    {"hue(0.1)", MR__OP_HUE, -0.1, 0.1, 1},
    {"gamma(0.8..1.2)", MR__OP_GAMMA, 0.8, 1.2, 1},
    {"grayscale", MR__OP_GRAYSCALE, 0, 0, 1},
    {"grayscale(0.1)", MR__OP_GRAYSCALE, 0, 0, 0.1},
    {"invert", MR__OP_INVERT, 0, 0, 0.5},
    {"posterize(4)", MR__OP_POSTERIZE, 0, 0, 0.5},
    {"solarize(128)", MR__OP_SOLARIZE, 128, 128, 0.5},
    {"solarize(100, 1)", MR__OP_SOLARIZE, 100, 100, 1},
    {"equalize", MR__OP_EQUALIZE, 0, 0, 0.5},
    {"autocontrast(0.75)", MR__OP_AUTOCONTRAST, 0, 0, 0.75},
};

/* That it happens as often as it says, and its numbers are anywhere in their range. */
static void steps_draw_what_they_say(void **state)
{
    (void)state;
    enum { SAMPLES = 4000, BINS = 10 };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        mr_recipe *recipe = recipe_of(texts[t].text);
        uint32_t bins[BINS] = {0}, count = 0;
        for (uint64_t i = 0; i < SAMPLES; i++) {
            mr__chain chain;
            resolve(recipe, i, &chain);
            if (chain.op_count == 0)
                continue;
            const mr__op *op = &chain.op[0];
            assert_true(chain.op_count == 1 && op->kind == texts[t].kind);
            assert_true(op->amount >= texts[t].low && op->amount <= texts[t].high);
            double part = texts[t].low < texts[t].high ? (op->amount - texts[t].low) / (texts[t].high - texts[t].low)
                                                       : (double)i / SAMPLES;
            bins[part < 1 ? (size_t)(part * BINS) : BINS - 1]++;
            count++;
            assert_true(op->kind != MR__OP_POSTERIZE || op->whole == 4);
            assert_true(op->kind != MR__OP_GAMMA || op->more == 1.0);
        }
        double expected = texts[t].chance * SAMPLES;
        assert_true(fabs(count - expected) <= 5 * sqrt(expected * (1 - texts[t].chance)));
        assert_uniform(texts[t].text, bins, BINS, count);
        mr_recipe_free(recipe);
    }
}

static void refuse(mr_step step, const char *words)
{
    const mr__step_type *type = mr__step_type_of(step.kind);
    mr__detail_clear(&detail);
    assert_int_equal(type->settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, type->name);
    assert_contains(detail.text, words);
}

static void steps_say_what_they_do_not_take(void **state)
{
    (void)state;
    refuse((mr_step){.kind = MR_STEP_BRIGHTNESS, .brightness = {-0.1, 1}}, "brightness=-0.1..1");
    refuse((mr_step){.kind = MR_STEP_BRIGHTNESS, .brightness = {2, 1}}, "brightness=2..1");
    refuse((mr_step){.kind = MR_STEP_CONTRAST, .contrast = {0, INFINITY}}, "contrast=0..inf");
    refuse((mr_step){.kind = MR_STEP_SATURATION, .saturation = {NAN, 1}}, "saturation=");
    refuse((mr_step){.kind = MR_STEP_HUE, .hue = {-0.6, 0.1}}, "hue=-0.6..0.1");
    refuse((mr_step){.kind = MR_STEP_JITTER, .hue = {-0.1, 0.6}}, "hue=-0.1..0.6");
    refuse((mr_step){.kind = MR_STEP_JITTER, .contrast = {1, 1e7}}, "contrast=1..1e+07");
    refuse((mr_step){.kind = MR_STEP_JITTER, .has_chance = true, .chance = 1.5}, "chance of 1.5");
    refuse((mr_step){.kind = MR_STEP_GAMMA, .gamma = {-1, 1}}, "gamma=-1..1");
    refuse((mr_step){.kind = MR_STEP_GAMMA, .gamma = {1, 1}, .gain = -1}, "gain=-1");
    refuse((mr_step){.kind = MR_STEP_GAMMA, .gamma = {1, 1}, .gain = NAN}, "gain=");
    refuse((mr_step){.kind = MR_STEP_POSTERIZE, .bits = 9}, "9 bits");
    refuse((mr_step){.kind = MR_STEP_SOLARIZE, .threshold = 257}, "257");
    refuse((mr_step){.kind = MR_STEP_INVERT, .has_chance = true, .chance = NAN}, "chance");
    for (int kind = MR_STEP_BRIGHTNESS; kind <= MR_STEP_AUTOCONTRAST; kind++) {
        const mr__step_type *type = mr__step_type_of((mr_step_kind)kind);
        mr_step step = {.kind = (mr_step_kind)kind};
        mr__shape good = {8, 8, 1, 8}, deep = {8, 8, 3, 16}, clear = {8, 8, 4, 8};
        assert_int_equal(type->settle(&step, &detail), 0);
        assert_int_equal(type->shape(&step, &good, &detail), 0);
        assert_int_equal(type->shape(&step, &deep, &detail), MR_EARGUMENT);
        assert_contains(detail.text, "convert(rgb)");
        assert_int_equal(type->shape(&step, &clear, &detail), MR_EARGUMENT);
        assert_contains(detail.text, type->name);
    }
}

/* Every one with numbers as extreme as may be. */
static void extreme_numbers_do_no_harm(void **state)
{
    (void)state;
    static const double numbers[] = {0, 1e-300, 1e-9, 0.5, 255.5, 1e6, -1e6};
    mr_hooks hooks;
    mr__op_tools *tools;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, mr__cpu_detect(), &tools), 0);
    for (int kind = MR__OP_BRIGHTNESS; kind <= MR__OP_PERMUTE; kind++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            for (uint32_t whole = 0; whole < 300; whole += 13) {
                uint8_t pixels[11 * 5 * 3];
                mr_image image = {11, 5, whole % 2 != 0 ? 3 : 1, 8, 33, pixels};
                mr__op op = {.kind = (mr__op_kind)kind, .amount = numbers[i], .more = numbers[6 - i], .whole = whole};
                op.amount = kind == MR__OP_GAMMA ? fabs(op.amount) : op.amount;
                picture_noise(pixels, sizeof pixels, whole);
                assert_int_equal(mr__ops_run(tools, &op, 1, false, &image, &detail), 0);
            }
    mr__op_tools_free(tools);
}

/* From a text to pixels, and what it says of itself. */
static void a_recipe_does_it(void **state)
{
    (void)state;
    mr_recipe *recipe = recipe_of("resize(8) solarize(100, 1) invert(1) hue(0.25..0.25) dtype(u8) layout(nhwc)");
    mr_applier *applier;
    mr_image image;
    uint8_t out[192], wanted[192];
    char text[1000];
    mr__color_kernels kernels;
    mr__color_kernels_init(&kernels, 0);
    assert_int_equal(mr_image_init(&image, 8, 8, 3, 8, NULL), 0);
    picture_noise(image.pixels, 192, 3);
    for (size_t i = 0; i < 192; i++) {
        uint8_t v = ((const uint8_t *)image.pixels)[i];
        wanted[i] = v < 100 ? (uint8_t)(255 - v) : v;
    }
    kernels.hue(wanted, 64, 63, wanted);
    assert_int_equal(mr_applier_new(recipe, NULL, &applier), 0);
    assert_int_equal(mr_applier_run(applier, &image, 1, 0, 0, out), 0);
    assert_memory_equal(out, wanted, 192);
    assert_true(mr_recipe_explain(recipe, 8, 8, 1, 0, 0, text, sizeof text) > 0);
    assert_contains(text, "solarized from 100 on");
    assert_contains(text, "hue turned by 63 of 255");
    mr_applier_free(applier);
    mr_image_fini(&image, NULL);
    mr_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_do_what_torchvision_does),
        cmocka_unit_test(gammas_are_pythons),
        cmocka_unit_test(jitter_has_every_order_and_every_factor),
        cmocka_unit_test(jitter_leaves_out_what_has_no_range),
        cmocka_unit_test(permute_has_every_order),
        cmocka_unit_test(steps_draw_what_they_say),
        cmocka_unit_test(steps_say_what_they_do_not_take),
        cmocka_unit_test(extreme_numbers_do_no_harm),
        cmocka_unit_test(a_recipe_does_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
