// SPDX-License-Identifier: Apache-2.0
/* Erasing: which rectangles, beside torchvision's; what is put there, in pixels and in finished numbers; cutout. */
#include "test.h"

#include "../golden/erase_golden.h"
#include "kernel/noise.h"
#include "kernel/normal.h"
#include "picture.h"
#include "step/erase.h"
#include "step/finish.h"
#include "step/ops.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static mr__detail detail;

static uint32_t word(void)
{
    return picture_random_below(&seed, 65536) << 16 | picture_random_below(&seed, 65536);
}

/* What a step erases of an image of this size with random draws; false: nothing. */
static bool draw(const mr_step *step, uint32_t width, uint32_t height, bool finished, mr__erase *erase)
{
    static mr__chain chain;
    uint32_t draws[64];
    const mr__step_type *type = mr__step_type_of(step->kind);
    for (size_t i = 0; i < mr__step_draw_count(step); i++)
        draws[i] = word();
    mr__chain_init(&chain, width, height, false, NULL);
    chain.finished = finished;
    assert_int_equal(type->resolve(step, draws, &chain, &detail), 0);
    assert_int_equal(finished ? chain.op_count : chain.erased_count, 0);
    if ((finished ? chain.erased_count : chain.op_count) == 0)
        return false;
    *erase = finished ? chain.erased[0] : chain.op[0].u.erase;
    assert_true(erase->rect.width >= 1 && erase->rect.height >= 1);
    assert_true(erase->rect.x + erase->rect.width <= width && erase->rect.y + erase->rect.height <= height);
    return true;
}

static uint32_t bin_of(uint32_t value, uint32_t of)
{
    uint32_t bin = (uint32_t)((double)ERASE_BINS * value / of);
    return bin < ERASE_BINS ? bin : ERASE_BINS - 1;
}

/* Two counts of as many runs; a bin that is seldom hit says nothing. */
static double chi_square(const uint32_t *a, const uint32_t *b, size_t bins, uint32_t *freedom)
{
    double chi = 0;
    for (size_t i = 0; i < bins; i++) {
        double both = (double)a[i] + b[i], apart = (double)a[i] - b[i];
        if (both < 20)
            continue;
        chi += apart * apart / both;
        ++*freedom;
    }
    return chi;
}

static void check_case(size_t number)
{
    mr_step step = {.kind = MR_STEP_ERASE};
    uint32_t counts[4][ERASE_BINS] = {{0}}, width = golden_erased[number].width, height = golden_erased[number].height;
    uint32_t nothing = 0;
    step.scale_low = golden_erased[number].scale[0];
    step.scale_high = golden_erased[number].scale[1];
    step.ratio_low = golden_erased[number].ratio[0];
    step.ratio_high = golden_erased[number].ratio[1];
    assert_int_equal(mr__step_erase.settle(&step, &detail), 0);
    for (uint32_t i = 0; i < ERASE_RUNS; i++) {
        mr__erase e;
        if (!draw(&step, width, height, i % 2 == 1, &e)) {
            nothing++;
            continue;
        }
        assert_true(e.rect.width < width && e.rect.height < height);
        counts[0][bin_of(e.rect.height, height)]++;
        counts[1][bin_of(e.rect.width, width)]++;
        counts[2][bin_of(e.rect.y, height - e.rect.height + 1)]++;
        counts[3][bin_of(e.rect.x, width - e.rect.width + 1)]++;
    }
    for (size_t k = 0; k < 4; k++) {
        uint32_t freedom = 0;
        double chi = chi_square(counts[k], golden_erased[number].counts[k], ERASE_BINS, &freedom);
        if (chi >= freedom + 5 * sqrt(2.0 * freedom) + 5)
            print_message("case %zu, %zu: %g of %u\n", number, k, chi, freedom);
        assert_true(chi < freedom + 5 * sqrt(2.0 * freedom) + 5);
    }
    double apart = (double)nothing - golden_erased[number].nothing;
    assert_true(apart * apart <= 16 * ((double)nothing + golden_erased[number].nothing));
}

static void rectangles_are_those_of_torchvision(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden_erased / sizeof *golden_erased; i++)
        check_case(i);
}

/* Every size at every setting: no rectangle outside, nothing undefined. */
static void extremes_stay_inside(void **state)
{
    static const uint32_t sides[] = {1, 2, 3, 7, 31, 4320, 7680, 16384};
    static const double ranges[][4] = {
        {0, 1e-9, 1, 1}, {1, 1, 1.0 / 16384, 16384}, {0.5, 0.5, 16384, 16384}, {0, 1, 0.3, 3.3}};
    (void)state;
    for (size_t i = 0; i < 64; i++)
        for (size_t r = 0; r < 4; r++) {
            mr_step step = {.kind = MR_STEP_ERASE, .scale_low = ranges[r][0], .scale_high = ranges[r][1]};
            step.ratio_low = ranges[r][2];
            step.ratio_high = ranges[r][3];
            assert_int_equal(mr__step_erase.settle(&step, &detail), 0);
            for (size_t k = 0; k < 50; k++) {
                mr__erase e;
                draw(&step, sides[i % 8], sides[i / 8], k % 2 == 0, &e);
            }
        }
}

/* The middle is any pixel, and the square is cut off at the border. */
static void cutout_is_a_square_around_any_pixel(void **state)
{
    enum { WIDTH = 11, HEIGHT = 7, RUNS = 77000 };
    (void)state;
    for (uint32_t side = 1; side <= 16; side += 5) {
        uint32_t counts[HEIGHT][WIDTH] = {{0}};
        mr_step step = {.kind = MR_STEP_CUTOUT, .width = side, .fill = {9, 8, 7}};
        double chi = 0;
        assert_int_equal(mr__step_cutout.settle(&step, &detail), 0);
        for (uint32_t i = 0; i < RUNS; i++) {
            mr__erase e;
            assert_true(draw(&step, WIDTH, HEIGHT, i % 2 == 1, &e));
            assert_true(e.value[0] == 9 && e.value[1] == 8 && e.value[2] == 7 && !e.noise);
            uint32_t right = e.rect.x + e.rect.width, bottom = e.rect.y + e.rect.height;
            assert_true(e.rect.width == side || e.rect.x == 0 || right == WIDTH);
            assert_true(e.rect.height == side || e.rect.y == 0 || bottom == HEIGHT);
            if (side == 1)
                counts[e.rect.y][e.rect.x]++;
            // The middle, where the border says no more of it than that.
            if (e.rect.x > 0 && right < WIDTH)
                assert_int_equal(e.rect.width, side);
        }
        for (size_t i = 0; side == 1 && i < (size_t)WIDTH * HEIGHT; i++) {
            double apart = counts[i / WIDTH][i % WIDTH] - 1000.0;
            chi += apart * apart / 1000;
        }
        assert_true(chi < 130); // 76 degrees of freedom
    }
}

/* Of a side of 4 around pixels 0, 1, 2, ...: from two before to one behind. */
static void cutout_is_where_it_says(void **state)
{
    static const uint32_t first[] = {0, 0, 0, 1, 2}, count[] = {2, 3, 4, 4, 3};
    mr_step step = {.kind = MR_STEP_CUTOUT, .width = 4};
    static mr__chain chain;
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t draws[4] = {0, 0, (uint32_t)((((uint64_t)i << 32) + 5) / 5), 0};
        mr__chain_init(&chain, 5, 1, false, NULL);
        assert_int_equal(mr__step_cutout.resolve(&step, draws, &chain, &detail), 0);
        assert_int_equal(chain.op[0].u.erase.rect.x, first[i]);
        assert_int_equal(chain.op[0].u.erase.rect.width, count[i]);
        assert_int_equal(chain.op[0].u.erase.rect.height, 1);
    }
}

enum { WIDTH = 37, HEIGHT = 19, CHANNELS = 3, NUMBERS = WIDTH * HEIGHT * CHANNELS };

static bool inside(mr_rect r, uint32_t x, uint32_t y)
{
    return x >= r.x && x - r.x < r.width && y >= r.y && y - r.y < r.height;
}

/* The random word of a sample. */
static uint32_t word_at(const mr__erase *e, uint32_t channels, uint32_t x, uint32_t y, uint32_t c)
{
    mr__noise_kernels kernels;
    uint32_t words[MR__NOISE_GROUP], at = x * channels + c;
    mr__noise_kernels_init(&kernels, 0);
    kernels.words(e->key, y, at / MR__NOISE_GROUP, words);
    return words[at % MR__NOISE_GROUP];
}

static uint8_t level_at(const mr__erase *e, uint32_t channels, uint32_t x, uint32_t y, uint32_t c)
{
    static const uint8_t levels[4] = {0, 255, 127, 3};
    return e->noise ? (uint8_t)(word_at(e, channels, x, y, c) >> 24) : levels[c];
}

static const float values[4] = {-0.5F, 300.0F, 127.9F, 3.0F};

static mr__erase random_erase(uint32_t width, uint32_t height)
{
    mr__erase e = {.noise = word() % 2 != 0, .key = {word(), word()}};
    memcpy(e.value, values, sizeof values);
    e.rect.x = picture_random_below(&seed, width);
    e.rect.y = picture_random_below(&seed, height);
    e.rect.width = 1 + picture_random_below(&seed, width - e.rect.x);
    e.rect.height = 1 + picture_random_below(&seed, height - e.rect.y);
    return e;
}

/* The op on a part of an image, which knows where it is. */
static void pixels_are_erased(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t channels = i % 2 ? 3 : 1;
        mr__op op = {.kind = MR__OP_ERASE, .u.erase = random_erase(WIDTH, HEIGHT)};
        mr_rect part = random_erase(WIDTH, HEIGHT).rect;
        uint8_t *pixels = malloc((size_t)part.width * part.height * channels);
        assert_non_null(pixels);
        memset(pixels, 77, (size_t)part.width * part.height * channels);
        mr_image image = {part.width, part.height, channels, 8, (ptrdiff_t)((size_t)part.width * channels), pixels};
        mr__op_work work = {.op = &op, .from = image, .to = image};
        mr_hooks hooks;
        op.from = op.to = part;
        assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
        assert_int_equal(mr__op_tools_new(&hooks, i % 3 ? mr__cpu_detect() : 0, &work.tools), 0);
        assert_int_equal(mr__op_erase.run(&work), 0);
        mr__op_tools_free(work.tools);
        for (uint32_t y = 0; y < part.height; y++)
            for (uint32_t x = 0; x < part.width; x++)
                for (uint32_t c = 0; c < channels; c++) {
                    bool erased = inside(op.u.erase.rect, part.x + x, part.y + y);
                    uint8_t wanted = erased ? level_at(&op.u.erase, channels, part.x + x, part.y + y, c) : 77;
                    assert_int_equal(pixels[(y * part.width + x) * channels + c], wanted);
                }
        free(pixels);
    }
}

static void expect_number(const mr__erase *e, const mr_output *o, uint32_t x, uint32_t y, uint32_t c, const uint8_t *at)
{
    float number = e->noise ? mr__normal_of(word_at(e, o->channels, x, y, c)) : e->value[c];
    uint16_t half = o->dtype == MR_F16 ? mr__f16_from_f32(number) : mr__bf16_from_f32(number);
    uint8_t untouched[4] = {0x5a, 0x5a, 0x5a, 0x5a}, level = level_at(e, o->channels, x, y, c);
    const void *wanted = o->dtype == MR_F32 ? (const void *)&number : o->dtype == MR_U8 ? (const void *)&level : &half;
    if (!inside(e->rect, x, y))
        wanted = untouched;
    assert_memory_equal(at, wanted, mr_dtype_nbytes(o->dtype));
}

static void finished_numbers_are_erased(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 400; i++) {
        uint8_t slot[NUMBERS * sizeof(float)];
        mr_output o = {
            .width = WIDTH, .height = HEIGHT, .channels = i % 2 ? 3 : 1, .layout = i % 4 < 2 ? MR_NCHW : MR_NHWC};
        mr__erase e = random_erase(WIDTH, HEIGHT);
        o.dtype = (mr_dtype)(MR_U8 + i / 4 % 4);
        size_t nbytes = mr_dtype_nbytes(o.dtype), plane = (size_t)WIDTH * HEIGHT;
        memset(slot, 0x5a, sizeof slot);
        mr__erase_finished(&e, &o, i % 3 ? mr__cpu_detect() : 0, slot);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++)
                for (uint32_t c = 0; c < o.channels; c++) {
                    size_t pixel = (size_t)y * WIDTH + x;
                    size_t at = o.layout == MR_NCHW ? c * plane + pixel : pixel * o.channels + c;
                    expect_number(&e, &o, x, y, c, slot + at * nbytes);
                }
    }
}

static void what_lies_outside_is_left_out(void **state)
{
    uint8_t slot[4 * 4 + 1];
    mr_output o = {.width = 4, .height = 4, .channels = 1, .dtype = MR_U8};
    mr__erase e = {.rect = {3, 2, UINT32_MAX, UINT32_MAX}, .value = {9}};
    (void)state;
    memset(slot, 1, sizeof slot);
    mr__erase_finished(&e, &o, 0, slot);
    for (size_t i = 0; i < sizeof slot; i++)
        assert_int_equal(slot[i], i == 11 || i == 15 ? 9 : 1);
    e.rect = (mr_rect){4, 0, 5, 5};
    memset(slot, 1, sizeof slot);
    mr__erase_finished(&e, &o, 0, slot);
    for (size_t i = 0; i < sizeof slot; i++)
        assert_int_equal(slot[i], 1);
}

/* Samples of a recipe on a gray image. */
static void apply(const char *text, uint64_t key, void *to)
{
    static uint8_t pixels[40 * 40 * 3];
    mr_image image = {40, 40, 3, 8, 120, pixels};
    mr_recipe *recipe;
    mr_applier *applier;
    memset(pixels, 128, sizeof pixels);
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    int result = mr_recipe_parse(recipe, text);
    if (result != 0)
        print_message("%s\n", mr_recipe_detail(recipe));
    assert_int_equal(result, 0);
    result = mr_applier_new(recipe, NULL, &applier);
    if (result != 0)
        print_message("%s\n", mr_recipe_detail(recipe));
    assert_int_equal(result, 0);
    assert_int_equal(mr_applier_run(applier, &image, 7, 1, key, to), 0);
    mr_applier_free(applier);
    mr_recipe_free(recipe);
}

/* Before and behind normalize the same places, in either one's numbers. */
static void recipes_erase_before_and_behind_normalize(void **state)
{
    enum { SIDE = 32, PLANE = SIDE * SIDE };
    static float before[3 * PLANE], behind[3 * PLANE], noise[3 * PLANE];
    uint32_t erased = 0;
    (void)state;
    for (uint64_t key = 0; key < 20; key++) {
        apply("center(32) erase(value=255) normalize(half)", key, before);
        apply("center(32) normalize(half) erase(value=-7)", key, behind);
        apply("center(32) normalize(half) erase(noise=yes)", key, noise);
        for (size_t i = 0; i < 3 * PLANE; i++) {
            assert_true((before[i] == 1.0F) == (behind[i] == -7.0F));
            assert_true((before[i] == 1.0F) == (noise[i] != behind[i]));
            erased += before[i] == 1.0F;
        }
    }
    // Half of the samples, and of each a sixth, or about: 2 % to 33 %.
    assert_in_range(erased, 20 * 3 * PLANE / 40, 20 * 3 * PLANE / 5);
    apply("center(32) normalize(half) erase(1, value=1/2/3)", 3, behind);
    for (size_t i = 0; i < 3 * PLANE; i++)
        assert_true(behind[i] < 0.1F || behind[i] == (float)(1 + i / PLANE));
    apply("center(32) normalize(half) cutout(64) cutout(2, fill=3)", 1, behind);
    uint32_t threes = 0, others = 0;
    for (size_t i = 0; i < 3 * PLANE; i++) {
        threes += behind[i] == 3.0F;
        others += behind[i] != 3.0F && behind[i] != 0.0F;
    }
    assert_in_range(threes, 3, 12);
    assert_int_equal(others, 0);
}

static void refuses(mr_step step, const char *words)
{
    const mr__step_type *type = mr__step_type_of(step.kind);
    mr__detail_clear(&detail);
    assert_int_equal(type->settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, type->name);
    assert_contains(detail.text, words);
}

static void parameters_are_checked(void **state)
{
    mr_step step = {.kind = MR_STEP_ERASE, .value = {1, 2, 3, 0}};
    mr__shape gray = {.channels = 1, .depth = 8}, deep = {.channels = 3, .depth = 16};
    (void)state;
    refuses((mr_step){.kind = MR_STEP_ERASE, .scale_low = 0.5, .scale_high = 0.1}, "scale=0.5..0.1");
    refuses((mr_step){.kind = MR_STEP_ERASE, .scale_high = 1.5}, "0..1");
    refuses((mr_step){.kind = MR_STEP_ERASE, .ratio_high = 2}, "ratio=0..2");
    refuses((mr_step){.kind = MR_STEP_ERASE, .ratio_low = 1, .ratio_high = (double)INFINITY}, "ratio");
    refuses((mr_step){.kind = MR_STEP_ERASE, .value = {0, (double)NAN}}, "value");
    refuses((mr_step){.kind = MR_STEP_ERASE, .has_chance = true, .chance = 2}, "chance");
    refuses((mr_step){.kind = MR_STEP_CUTOUT}, "1 to 16384");
    refuses((mr_step){.kind = MR_STEP_CUTOUT, .width = 20000}, "20000");
    assert_int_equal(mr__step_erase.settle(&step, &detail), 0);
    assert_true(step.chance == 0.5 && step.scale_low == 0.02 && step.ratio_high == 3.3);
    assert_int_equal(mr__step_erase.shape(&step, &gray, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "more channels");
    assert_int_equal(mr__step_erase.shape(&step, &deep, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "convert(rgb)");
}

static void too_many_behind_normalize_are_refused(void **state)
{
    mr_recipe *recipe;
    mr_output output = {.struct_size = sizeof output};
    (void)state;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    assert_int_equal(mr_recipe_parse(recipe, "cutout(3) rrc(32) normalize(half) erase erase cutout(3) erase"), 0);
    assert_int_equal(mr_recipe_output(recipe, &output), 0);
    assert_int_equal(mr_recipe_parse(recipe, "erase"), 0);
    assert_int_equal(mr_recipe_output(recipe, &output), MR_EARGUMENT);
    assert_contains(mr_recipe_detail(recipe), "behind normalize");
    mr_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles_are_those_of_torchvision),
        cmocka_unit_test(extremes_stay_inside),
        cmocka_unit_test(cutout_is_a_square_around_any_pixel),
        cmocka_unit_test(cutout_is_where_it_says),
        cmocka_unit_test(pixels_are_erased),
        cmocka_unit_test(finished_numbers_are_erased),
        cmocka_unit_test(what_lies_outside_is_left_out),
        cmocka_unit_test(recipes_erase_before_and_behind_normalize),
        cmocka_unit_test(parameters_are_checked),
        cmocka_unit_test(too_many_behind_normalize_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
