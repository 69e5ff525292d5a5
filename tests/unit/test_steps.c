// SPDX-License-Identifier: Apache-2.0
/* Steps beside torchvision, and what each says of parameters and images that it does not take. */
#include "test.h"

#include "../golden/recipe_golden.h"
#include "base/rng.h"
#include "picture.h"
#include "plain_chain.h"
#include "step/real.h"
#include "step/recipe.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mr__detail detail;

/* A recipe of these steps, settled; the caller's until the next call. */
static mr_recipe *recipe_of(const mr_step *steps, size_t count)
{
    static mr_recipe recipe;
    memset(&recipe, 0, sizeof recipe);
    for (size_t i = 0; i < count; i++) {
        recipe.steps[i] = steps[i];
        int result = mr__step_type_of(steps[i].kind)->settle(&recipe.steps[i], &detail);
        if (result != 0)
            print_message("%s\n", detail.text);
        assert_int_equal(result, 0);
    }
    recipe.count = count;
    return &recipe;
}

#define RECIPE(...) recipe_of((const mr_step[]){__VA_ARGS__}, sizeof((const mr_step[]){__VA_ARGS__}) / sizeof(mr_step))

/* Fails unless settling gives MR_EARGUMENT with these words in its detail. */
static void refuse_step(mr_step step, const char *words)
{
    const mr__step_type *type = mr__step_type_of(step.kind);
    mr__detail_clear(&detail);
    assert_int_equal(type->settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, type->name);
    assert_contains(detail.text, words);
}

static void refuse_output(mr_recipe *recipe, const char *words)
{
    mr_output output = {.struct_size = sizeof output};
    mr__finish finish;
    assert_int_equal(mr_recipe_output(recipe, &output), MR_EARGUMENT);
    assert_contains(recipe->detail.text, words);
    assert_int_equal(mr__recipe_finish(recipe, &finish, &detail), MR_EARGUMENT);
    assert_string_equal(detail.text, recipe->detail.text);
}

static void refuse_image(mr_recipe *recipe, uint32_t width, uint32_t height, int code, const char *words)
{
    uint32_t draws[200] = {0};
    mr__chain chain;
    mr__detail_clear(&detail);
    assert_int_equal(mr__recipe_resolve(recipe, draws, width, height, NULL, &chain, &detail), code);
    assert_contains(detail.text, words);
}

static mr_output output_of(mr_recipe *recipe)
{
    mr_output output = {.struct_size = sizeof output};
    int result = mr_recipe_output(recipe, &output);
    if (result != 0)
        print_message("%s\n", recipe->detail.text);
    assert_int_equal(result, 0);
    return output;
}

static void check_golden(mr_resizer *resizer, size_t number, size_t size, uint32_t epoch)
{
    uint32_t width = golden_sizes[size][0], height = golden_sizes[size][1], draws[200];
    uint64_t wanted = golden_hashes[(number * GOLDEN_SIZES + size) * GOLDEN_EPOCHS + epoch], got = 0;
    const mr_recipe *recipe = recipe_of(golden_recipes[number].steps, golden_recipes[number].count);
    mr_image image;
    mr__chain chain;
    assert_int_equal(mr_image_init(&image, width, height, golden_recipes[number].channels, 8, NULL), 0);
    picture_noise(image.pixels, mr_image_row_nbytes(&image) * height, 7);
    assert_true(mr__recipe_draw_count(recipe) <= sizeof draws / sizeof *draws);
    mr__recipe_draw(recipe, GOLDEN_SEED, epoch, GOLDEN_KEY + size, draws);
    int result = mr__recipe_resolve(recipe, draws, width, height, NULL, &chain, &detail);
    if (result == 0) {
        mr_image made = plain_chain(resizer, &chain, &image);
        got = mr_image_hash(&made);
        mr_image_fini(&made, NULL);
    } else {
        assert_int_equal(result, MR_EARGUMENT);
    }
    if (got != wanted)
        print_message("recipe %zu (%s ...), %u x %u, epoch %u: %s\n", number,
                      mr__step_type_of(recipe->steps[0].kind)->name, width, height, epoch,
                      result != 0   ? detail.text
                      : wanted == 0 ? "torchvision refuses it"
                                    : "other pixels");
    assert_true(got == wanted);
    mr_image_fini(&image, NULL);
}

static void steps_do_what_torchvisions_do(void **state)
{
    (void)state;
    mr_resizer *resizer;
    assert_int_equal(mr_resizer_new(NULL, &resizer), 0);
    for (size_t i = 0; i < sizeof golden_recipes / sizeof *golden_recipes; i++)
        for (size_t size = 0; size < GOLDEN_SIZES; size++)
            for (uint32_t epoch = 0; epoch < GOLDEN_EPOCHS; epoch++)
                check_golden(resizer, i, size, epoch);
    mr_resizer_free(resizer);
}

static void our_functions_are_those_of_the_c_library(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        double x = (picture_random(&seed) * 0x1p-32 - 0.5) * (i % 2 ? 20.0 : 1400.0), e = mr__real_exp(x);
        assert_true(fabs(e / exp(x) - 1.0) < (i % 2 ? 2e-15 : 1e-12));
        if (i % 2)
            assert_true(fabs(mr__real_log(e) - x) < 1e-14);
        assert_true(fabs(mr__real_log(e) - log(e)) <= 4e-16 * (1.0 + fabs(log(e))));
    }
    assert_true(mr__real_log(1.0) == 0.0 && mr__real_exp(0.0) == 1.0);
    assert_true(mr__real_log(0x1p-1000) == log(0x1p-1000) && mr__real_log(0x1p1000) == log(0x1p1000));
}

/* To the bit, wherever this runs. */
static void our_functions_are_the_same_everywhere(void **state)
{
    (void)state;
    uint64_t hash = 0, seed = 2;
    for (int i = 0; i < 4000; i++) {
        double e = mr__real_exp((picture_random(&seed) * 0x1p-32 - 0.5) * 10.0), l = mr__real_log(e);
        uint64_t bits[2];
        memcpy(&bits[0], &e, 8);
        memcpy(&bits[1], &l, 8);
        hash = (hash ^ bits[0]) * UINT64_C(0x9e3779b97f4a7c15) + bits[1];
    }
    if (hash != UINT64_C(0x15ae4807a0aeddc0))
        print_message("0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x15ae4807a0aeddc0));
}

static void rounding_goes_to_even(void **state)
{
    (void)state;
    static const double from[] = {0.0,       0.5,      0.50000000000000011, 1.5, 2.5, 2.4999999999999996, 3.5,
                                  1000000.5, 1000001.5};
    static const uint64_t to[] = {0, 0, 1, 2, 2, 2, 4, 1000000, 1000002};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        assert_int_equal(mr__real_round(from[i]), to[i]);
}

static void whole_numbers_are_the_generators(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++) {
        mr__rng a, b;
        uint32_t n = 1 + picture_random(&seed) % (i % 2 ? 10 : 0xffffffff), draws[2];
        mr__rng_init(&a, 5, 6, (uint64_t)i, 0);
        b = a;
        draws[0] = mr__rng_u32(&a);
        draws[1] = mr__rng_u32(&a);
        assert_int_equal(mr__real_below(draws, n), mr__rng_below(&b, n));
    }
}

static int run_nothing(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)draws;
    (void)scratch;
    return mr_image_copy(from, to);
}

static const mr_user_step user_of_3 = {.struct_size = sizeof user_of_3, .name = "mine", .draws = 3, .run = run_nothing};
static const mr_user_step user_of_0 = {
    .struct_size = sizeof user_of_0, .name = "none", .width = 9, .height = 7, .run = run_nothing};

#define FLIP                                                                                                           \
    {                                                                                                                  \
        .kind = MR_STEP_FLIP                                                                                           \
    }
#define CENTER(n)                                                                                                      \
    {                                                                                                                  \
        .kind = MR_STEP_CENTER, .width = (n)                                                                           \
    }
#define NORMALIZE                                                                                                      \
    {                                                                                                                  \
        .kind = MR_STEP_NORMALIZE, .mean = {0.5f}, .std = { 0.25f }                                                    \
    }
#define DTYPE(d)                                                                                                       \
    {                                                                                                                  \
        .kind = MR_STEP_DTYPE, .dtype = (d)                                                                            \
    }
#define CONVERT(c, d)                                                                                                  \
    {                                                                                                                  \
        .kind = MR_STEP_CONVERT, .channels = (c), .depth = (d)                                                         \
    }
#define SIMPLE(k)                                                                                                      \
    {                                                                                                                  \
        .kind = MR_STEP_##k                                                                                            \
    }
#define SIZED(k, w, h)                                                                                                 \
    {                                                                                                                  \
        .kind = MR_STEP_##k, .width = (w), .height = (h)                                                               \
    }

/* A step has the draws of (seed, epoch, key, how many that draw stand before it). */
static void draws_do_not_depend_on_steps_that_draw_nothing(void **state)
{
    (void)state;
    uint32_t few[40], many[40];
    mr_recipe *recipe = RECIPE(SIZED(RRC, 8, 8), FLIP, {.kind = MR_STEP_USER, .user = &user_of_3});
    assert_int_equal(mr__recipe_draw_count(recipe), 24 + 1 + 3);
    mr__recipe_draw(recipe, 11, 12, 13, few);
    recipe = RECIPE(SIMPLE(ORIENT), CONVERT(1, 8), SIZED(SHORT, 20, 0), SIZED(RRC, 8, 8), CENTER(9),
                    {.kind = MR_STEP_USER, .user = &user_of_0}, FLIP, {.kind = MR_STEP_USER, .user = &user_of_3},
                    SIZED(PAD, 100, 0), NORMALIZE, SIMPLE(LAYOUT), SIMPLE(DTYPE));
    assert_int_equal(mr__recipe_draw_count(recipe), 24 + 1 + 3);
    mr__recipe_draw(recipe, 11, 12, 13, many);
    assert_memory_equal(few, many, 28 * sizeof *few);
    mr__rng rng;
    mr__rng_init(&rng, 11, 12, 13, 2);
    assert_int_equal(mr__rng_u32(&rng), few[25]);
    mr__recipe_draw(recipe, 11, 12, 14, many);
    assert_memory_not_equal(few, many, 28 * sizeof *few);
}

/* Each step takes its own numbers, and a user's is given them. */
static void draws_go_to_their_steps(void **state)
{
    (void)state;
    mr__chain chain;
    uint32_t draws[] = {0x80000000, 0, 1, 2, 3, 0x7fffffff};
    mr_recipe *recipe = RECIPE(FLIP, SIMPLE(VFLIP), {.kind = MR_STEP_USER, .user = &user_of_3}, FLIP);
    assert_int_equal(mr__recipe_resolve(recipe, draws, 5, 4, NULL, &chain, &detail), 0);
    assert_int_equal(chain.count, 2);
    assert_true(!chain.pass[0].flip_x && chain.pass[0].flip_y && chain.pass[1].flip_x);
    assert_int_equal(chain.pass[0].ops, 1);
    assert_ptr_equal(chain.op[0].u.user.draws, draws + 2);
    assert_ptr_equal(chain.op[0].u.user.step, &user_of_3);
}

static bool flips(double chance, uint32_t draw)
{
    mr__chain chain;
    mr_recipe *recipe = RECIPE({.kind = MR_STEP_FLIP, .has_chance = true, .chance = chance});
    assert_int_equal(mr__recipe_resolve(recipe, &draw, 5, 4, NULL, &chain, &detail), 0);
    return chain.pass[0].flip_x;
}

static void chances_are_kept(void **state)
{
    (void)state;
    assert_true(!flips(0.0, 0) && flips(0x1p-32, 0) && !flips(0x1p-32, 1));
    assert_true(flips(1.0, 0xffffffff) && !flips(0.5, 0x80000000) && flips(0.5, 0x7fffffff));
}

/* Shares and ratios of what is drawn stay within what was asked for, to a pixel, and go all the way. */
static void parts_are_as_asked_for(void **state)
{
    (void)state;
    mr_recipe *recipe = RECIPE({.kind = MR_STEP_RRC, .width = 32});
    double least = 1.0, most = 0.0, flat = 0.0, high = 9.0;
    for (uint64_t key = 0; key < 20000; key++) {
        uint32_t draws[24];
        mr__chain chain;
        mr__recipe_draw(recipe, 1, 2, key, draws);
        assert_int_equal(mr__recipe_resolve(recipe, draws, 1000, 800, NULL, &chain, &detail), 0);
        mr_rect part = chain.pass[0].crop;
        double share = (double)part.width * part.height / 800000.0, ratio = (double)part.width / part.height;
        assert_int_equal(chain.count, 1);
        assert_true(share > 0.079 && share <= 1.0 && ratio > 0.747 && ratio < 1.338);
        least = fmin(least, share);
        most = fmax(most, share);
        flat = fmax(flat, ratio);
        high = fmin(high, ratio);
    }
    assert_true(least < 0.0802 && most > 0.99 && flat > 1.33 && high < 0.753);
}

static void places_are_all_taken(void **state)
{
    (void)state;
    mr_recipe *recipe = RECIPE({.kind = MR_STEP_CROP, .width = 4, .height = 3});
    uint32_t seen[4][3] = {{0}};
    for (uint64_t key = 0; key < 2400; key++) {
        uint32_t draws[4];
        mr__chain chain;
        mr__recipe_draw(recipe, 1, 2, key, draws);
        assert_int_equal(mr__recipe_resolve(recipe, draws, 7, 5, NULL, &chain, &detail), 0);
        assert_true(chain.pass[0].crop.x < 4 && chain.pass[0].crop.y < 3);
        seen[chain.pass[0].crop.x][chain.pass[0].crop.y]++;
    }
    for (size_t i = 0; i < 12; i++)
        assert_true(seen[i / 3][i % 3] > 140 && seen[i / 3][i % 3] < 260);
}

/* Whatever the image is like, rrc has a part of it. */
static void every_image_has_a_part(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < 20000; i++) {
        static const uint32_t sides[] = {1, 2, 3, 100, 16384, 0x7fffffff};
        static const double ratios[] = {1 / 16384.0, 0.01, 0.75, 1.0, 3.0, 16384.0}, scales[] = {0.0, 1e-9, 0.5, 1.0};
        uint32_t a = picture_random_below(&seed, 6), b = picture_random_below(&seed, 6), draws[24];
        uint32_t c = picture_random_below(&seed, 4), d = picture_random_below(&seed, 4);
        mr_step step = {.kind = MR_STEP_RRC, .width = 8, .ratio_low = ratios[a < b ? a : b]};
        step.ratio_high = ratios[a < b ? b : a];
        step.scale_low = scales[c < d ? c : d];
        step.scale_high = scales[c < d ? d : c];
        mr_recipe *recipe = RECIPE(step);
        mr__chain chain;
        for (size_t k = 0; k < 24; k++)
            draws[k] = picture_random_below(&seed, 4) == 0 ? 0xffffffff : picture_random(&seed);
        uint32_t width = sides[picture_random_below(&seed, 6)], height = sides[picture_random_below(&seed, 6)];
        assert_int_equal(mr__recipe_resolve(recipe, draws, width, height, NULL, &chain, &detail), 0);
        assert_int_equal(chain.pass[0].canvas_width, 8);
    }
}

static void the_table_is_in_order(void **state)
{
    (void)state;
    static const char *const names[] = {
        "orient",     "convert",   "resize",      "short",        "center",      "crop",      "rrc",     "pad",
        "flip",       "vflip",     "normalize",   "layout",       "dtype",       "user",      "rotate",  "affine",
        "shear",      "translate", "perspective", "elastic",      "scalejitter", "zoomout",   "ioucrop", "shorts",
        "brightness", "contrast",  "saturation",  "hue",          "jitter",      "grayscale", "gamma",   "invert",
        "posterize",  "solarize",  "equalize",    "autocontrast", "sharpness",   "blur",      "jpeg",    "permute",
        "noise",      "randaug",   "autoaug",     "trivialaug",   "augmix",      "erase",     "cutout",  "mixup",
        "cutmix",     "sanitize"};
    assert_int_equal(mr__step_type_count, MR_STEP_SANITIZE);
    assert_int_equal(sizeof names / sizeof *names, MR_STEP_SANITIZE);
    for (size_t i = 0; i < MR_STEP_SANITIZE; i++) {
        assert_int_equal(mr__step_types[i]->kind, i + 1);
        assert_string_equal(mr__step_types[i]->name, names[i]);
        assert_ptr_equal(mr__step_type_of((mr_step_kind)(i + 1)), mr__step_types[i]);
    }
    assert_null(mr__step_type_of(MR_STEP_NONE));
    assert_null(mr__step_type_of((mr_step_kind)(MR_STEP_SANITIZE + 1)));
    assert_null(mr__step_type_of((mr_step_kind)-1));
}

static void settled_steps_have_their_defaults(void **state)
{
    (void)state;
    mr_step steps[] = {SIMPLE(ORIENT),
                       SIMPLE(CONVERT),
                       SIZED(RESIZE, 5, 0),
                       SIZED(SHORT, 6, 6),
                       SIZED(CENTER, 5, 0),
                       SIZED(CROP, 5, 0),
                       SIZED(RRC, 5, 0),
                       SIZED(PAD, 5, 0),
                       FLIP,
                       SIMPLE(VFLIP),
                       NORMALIZE,
                       SIMPLE(LAYOUT),
                       SIMPLE(DTYPE),
                       {.kind = MR_STEP_USER, .user = &user_of_3}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const mr__step_type *type = mr__step_type_of(steps[i].kind);
        mr_step once;
        assert_int_equal(type->settle(&steps[i], &detail), 0);
        memcpy(&once, &steps[i], sizeof once);
        assert_int_equal(type->settle(&steps[i], &detail), 0);
        assert_memory_equal(&once, &steps[i], sizeof once);
    }
    assert_true(steps[1].channels == 3 && steps[1].depth == 8);
    assert_true(steps[2].height == 5 && steps[3].height == 0 && steps[7].height == 5);
    assert_true(steps[6].scale_low == 0.08 && steps[6].scale_high == 1.0);
    assert_true(steps[6].ratio_low == 0.75 && steps[6].ratio_high == 4.0 / 3.0);
    assert_true(steps[8].has_chance && steps[8].chance == 0.5 && steps[9].has_chance && steps[9].chance == 0.5);
}

static void senseless_parameters_are_refused(void **state)
{
    (void)state;
    refuse_step((mr_step)CONVERT(2, 8), "2 channels");
    refuse_step((mr_step)CONVERT(3, 12), "12 bits");
    refuse_step((mr_step)SIZED(RESIZE, 0, 5), "0 x 5");
    refuse_step((mr_step)SIZED(RESIZE, 16385, 5), "16385 x 5");
    refuse_step((mr_step)SIZED(CENTER, 5, 16385), "5 x 16385");
    refuse_step((mr_step)SIZED(SHORT, 5, 6), "shorter side");
    refuse_step((mr_step)SIZED(CROP, 0, 0), "1 to 16384");
    refuse_step((mr_step){.kind = MR_STEP_RESIZE, .width = 1, .filter = (mr_filter)6}, "filter");
    refuse_step((mr_step){.kind = MR_STEP_SHORT, .width = 1, .filter = (mr_filter)-1}, "filter");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .filter = (mr_filter)9}, "number 9");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .scale_low = 0.5, .scale_high = 0.4}, "scale=0.5..0.4");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .scale_low = 0.5, .scale_high = 1.1}, "scale");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .scale_low = (double)NAN, .scale_high = 1}, "scale");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .ratio_high = 1.0}, "ratio=0..1");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .ratio_low = 2.0, .ratio_high = 1.0}, "ratio=2..1");
    refuse_step((mr_step){.kind = MR_STEP_RRC, .width = 1, .ratio_low = 2.0, .ratio_high = (double)INFINITY}, "ratio");
    refuse_step((mr_step)SIMPLE(PAD), "pad(4)");
    refuse_step((mr_step){.kind = MR_STEP_PAD, .width = 5, .pad = {1}}, "one of them");
    refuse_step((mr_step){.kind = MR_STEP_PAD, .height = 5}, "0 x 5");
    refuse_step((mr_step){.kind = MR_STEP_PAD, .pad = {1, 1, 16385, 1}}, "16385");
    refuse_step((mr_step){.kind = MR_STEP_PAD, .pad = {1}, .border = (mr_border)4}, "number 4");
    refuse_step((mr_step){.kind = MR_STEP_CROP, .width = 1, .border = (mr_border)-1}, "border");
    refuse_step((mr_step){.kind = MR_STEP_FLIP, .has_chance = true, .chance = 1.5}, "1.5");
    refuse_step((mr_step){.kind = MR_STEP_VFLIP, .has_chance = true, .chance = (double)NAN}, "vflip");
    refuse_step((mr_step){.kind = MR_STEP_LAYOUT, .layout = (mr_batch_layout)2}, "nhwc");
    refuse_step((mr_step){.kind = MR_STEP_DTYPE, .dtype = (mr_dtype)5}, "bf16");
}

static void senseless_means_are_refused(void **state)
{
    (void)state;
    refuse_step((mr_step)SIMPLE(NORMALIZE), "channel 0 is 0");
    refuse_step((mr_step){.kind = MR_STEP_NORMALIZE, .std = {1, 0, 1}}, "channel 1 is 0");
    refuse_step((mr_step){.kind = MR_STEP_NORMALIZE, .mean = {1, 1, 1}, .std = {1, 1}}, "channel 2 is 0");
    refuse_step((mr_step){.kind = MR_STEP_NORMALIZE, .std = {1, NAN}}, "finite");
    refuse_step((mr_step){.kind = MR_STEP_NORMALIZE, .mean = {INFINITY}, .std = {1}}, "finite");
}

static void senseless_steps_of_users_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "", "two words", "1st", "a)", "\xc3\xa9"};
    mr_user_step user = user_of_3;
    refuse_step((mr_step)SIMPLE(USER), "function");
    user.run = NULL;
    refuse_step((mr_step){.kind = MR_STEP_USER, .user = &user}, "function");
    user = user_of_3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        user.name = names[i];
        refuse_step((mr_step){.kind = MR_STEP_USER, .user = &user}, "a word");
    }
    user = user_of_3;
    user.height = 16385;
    refuse_step((mr_step){.kind = MR_STEP_USER, .user = &user}, "user(mine) gives 0 x 16385");
    user = user_of_3;
    user.draws = 65;
    refuse_step((mr_step){.kind = MR_STEP_USER, .user = &user}, "65 random numbers");
    user = user_of_3;
    user.cost_ns = -1.0;
    refuse_step((mr_step){.kind = MR_STEP_USER, .user = &user}, "-1 ns");
}

static void outputs_are_what_the_steps_give(void **state)
{
    (void)state;
    mr_output o = output_of(RECIPE(SIZED(RRC, 224, 160), FLIP, NORMALIZE));
    assert_true(o.width == 224 && o.height == 160 && o.channels == 3 && o.layout == MR_NCHW && o.dtype == MR_F32);
    assert_int_equal(o.sample_nbytes, 224 * 160 * 3 * 4);
    o = output_of(RECIPE(CONVERT(1, 16), SIZED(SHORT, 30, 0), CENTER(20), {.kind = MR_STEP_PAD, .pad = {1, 2, 3, 4}},
                         DTYPE(MR_BF16), {.kind = MR_STEP_LAYOUT, .layout = MR_NHWC}));
    assert_true(o.width == 24 && o.height == 26 && o.channels == 1 && o.layout == MR_NHWC && o.dtype == MR_BF16);
    assert_int_equal(o.sample_nbytes, 24 * 26 * 2);
    o = output_of(RECIPE(SIZED(RESIZE, 20, 40), SIZED(SHORT, 7, 0), FLIP));
    assert_true(o.width == 7 && o.height == 14 && o.dtype == MR_U8 && o.sample_nbytes == 7 * 14 * 3);
    o = output_of(RECIPE({.kind = MR_STEP_USER, .user = &user_of_0}, {.kind = MR_STEP_USER, .user = &user_of_3}));
    assert_true(o.width == 9 && o.height == 7);
    o = output_of(RECIPE(CONVERT(4, 8), SIZED(SHORT, 10, 0), SIZED(PAD, 64, 32), DTYPE(MR_F16)));
    assert_true(o.width == 64 && o.height == 32 && o.channels == 4 && o.dtype == MR_F16);
    o = output_of(RECIPE(SIZED(CROP, 16384, 0), DTYPE(MR_DTYPE_AUTO)));
    assert_true(o.dtype == MR_U8 && o.sample_nbytes == (size_t)3 << 28);
}

static void needs_and_finish_are_what_the_steps_say(void **state)
{
    (void)state;
    mr__finish f;
    mr_recipe *recipe = RECIPE(SIMPLE(ORIENT), CONVERT(4, 16), CENTER(8), NORMALIZE);
    mr__decode_needs needs = mr__recipe_needs(recipe);
    assert_true(needs.orient && needs.channels == 4 && needs.depth == 16);
    assert_int_equal(mr__recipe_finish(recipe, &f, &detail), 0);
    assert_true(f.normalize && f.depth == 16 && f.output.channels == 4 && f.output.dtype == MR_F32);
    for (size_t i = 0; i < 4; i++)
        assert_true(f.mean[i] == 0.5f && f.std[i] == 0.25f);
    recipe = RECIPE(CENTER(8), {.kind = MR_STEP_NORMALIZE, .mean = {1, 2, 3}, .std = {4, 5, 6}});
    needs = mr__recipe_needs(recipe);
    assert_true(!needs.orient && needs.channels == 3 && needs.depth == 8);
    assert_int_equal(mr__recipe_finish(recipe, &f, &detail), 0);
    assert_true(f.mean[0] == 1 && f.mean[1] == 2 && f.mean[2] == 3 && f.std[0] == 4 && f.std[1] == 5 && f.std[2] == 6);
    recipe = RECIPE(CENTER(8));
    assert_int_equal(mr__recipe_finish(recipe, &f, &detail), 0);
    assert_true(!f.normalize && f.depth == 8 && f.output.sample_nbytes == 192);
}

static void steps_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    static mr_recipe empty;
    refuse_output(&empty, "add center(...)");
    refuse_output(RECIPE(FLIP, NORMALIZE), "differs from image to image");
    refuse_output(RECIPE(SIZED(SHORT, 9, 0), {.kind = MR_STEP_PAD, .pad = {1}}), "differs from image to image");
    refuse_output(RECIPE(CENTER(8), SIMPLE(ORIENT)), "orient after center");
    refuse_output(RECIPE(CONVERT(3, 8), SIMPLE(ORIENT), CENTER(8)), "orient after convert");
    refuse_output(RECIPE(FLIP, CONVERT(3, 8), CENTER(8)), "convert after flip");
    refuse_output(RECIPE(CENTER(8), NORMALIZE, FLIP), "flip after normalize");
    refuse_output(RECIPE(SIMPLE(LAYOUT), CENTER(8)), "center after layout");
    refuse_output(RECIPE(CENTER(8), SIMPLE(DTYPE), SIZED(RESIZE, 8, 8)), "resize after dtype");
    refuse_output(RECIPE(CENTER(8), NORMALIZE, NORMALIZE), "normalize stands twice");
    refuse_output(RECIPE(CONVERT(3, 8), CONVERT(1, 8), CENTER(8)), "convert stands twice");
    refuse_output(RECIPE(CENTER(8), SIMPLE(LAYOUT), SIMPLE(LAYOUT)), "layout stands twice");
    refuse_output(RECIPE(CENTER(8), NORMALIZE, DTYPE(MR_U8)), "dtype(f16)");
    refuse_output(RECIPE(CENTER(8), DTYPE(MR_U8), NORMALIZE), "normalize and dtype(u8)");
    refuse_output(RECIPE(CONVERT(3, 16), CENTER(8)), "16 bits");
    refuse_output(RECIPE(CONVERT(3, 16), CENTER(8), DTYPE(MR_U8)), "dtype(f32)");
    empty.count = 1;
    empty.steps[0].kind = (mr_step_kind)(MR_STEP_SANITIZE + 1);
    refuse_output(&empty, "number 51");
    empty.count = 0;
}

static void sizes_and_channels_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const mr_step rgb = {.kind = MR_STEP_NORMALIZE, .mean = {1, 2, 3}, .std = {4, 5, 6}};
    static const mr_step color = {.kind = MR_STEP_CENTER, .width = 8, .fill = {1, 2, 3}};
    static const mr_step all = {.kind = MR_STEP_CENTER, .width = 8, .fill = {7, 7, 7, 7}};
    refuse_output(RECIPE(CONVERT(1, 8), CENTER(8), rgb), "3 channels, and the images have 1");
    refuse_output(RECIPE(CONVERT(4, 8), CENTER(8), rgb), "3 channels, and the images have 4");
    refuse_output(RECIPE(CONVERT(1, 8), color), "fill 1, 2, 3, 0");
    refuse_output(RECIPE({.kind = MR_STEP_CROP, .width = 8, .fill = {1, 2, 3, 4}}), "crop: the fill");
    refuse_output(RECIPE({.kind = MR_STEP_PAD, .width = 8, .fill = {1, 2, 3, 4}}), "pad: the fill");
    assert_int_equal(output_of(RECIPE(CONVERT(1, 8), all)).channels, 1);
    assert_int_equal(output_of(RECIPE(CONVERT(4, 8), color)).channels, 4);
    refuse_output(RECIPE(CENTER(8), SIZED(CROP, 9, 8)), "8 x 8");
    refuse_output(RECIPE(CENTER(9), SIZED(PAD, 8, 0)), "pad(to=8x8): an image of 9 x 9 is larger");
    refuse_output(RECIPE(CENTER(4), {.kind = MR_STEP_PAD, .pad = {4}, .border = MR_BORDER_REFLECT}), "mirrored");
    refuse_output(RECIPE(CENTER(16384), {.kind = MR_STEP_PAD, .pad = {1}}), "16385 x 16384");
    refuse_output(RECIPE(SIZED(RESIZE, 16384, 2), SIZED(SHORT, 3, 0)), "24576");
}

static void recipes_of_too_many_passes_are_refused(void **state)
{
    (void)state;
    mr_step steps[32];
    for (size_t i = 0; i < 32; i++)
        steps[i] = (mr_step)SIZED(RESIZE, 10 + i % 2, 10);
    assert_int_equal(output_of(recipe_of(steps, 31)).width, 10);
    uint32_t none[1] = {0};
    mr__chain chain;
    assert_int_equal(mr__recipe_resolve(recipe_of(steps, 31), none, 20, 20, NULL, &chain, &detail), 0);
    refuse_output(recipe_of(steps, 32), "33 passes");
    for (size_t i = 0; i < 32; i++)
        steps[i] = i % 3 == 1 ? (mr_step){.kind = MR_STEP_PAD, .pad = {1, 1, 1, 1}, .border = MR_BORDER_EDGE}
                              : (mr_step)SIZED(RRC, 10 + i % 2, 10);
    uint32_t draws[800] = {0};
    assert_int_equal(output_of(recipe_of(steps, 31)).width, 10);
    assert_int_equal(mr__recipe_resolve(recipe_of(steps, 31), draws, 20, 20, NULL, &chain, &detail), 0);
    refuse_output(recipe_of(steps, 32), "33 passes");
}

static void images_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    refuse_image(RECIPE(FLIP), 0, 5, MR_EARGUMENT, "0 x 5");
    refuse_image(RECIPE({.kind = MR_STEP_CROP, .width = 9, .height = 8, .pad = {1, 0, 1, 0}}), 6, 8, MR_EARGUMENT,
                 "crop(9x8): an image of 6 x 8, with its border 8 x 8");
    refuse_image(RECIPE(SIZED(PAD, 64, 32)), 10, 33, MR_EARGUMENT, "pad(to=64x32): an image of 10 x 33 is larger");
    refuse_image(RECIPE({.kind = MR_STEP_PAD, .pad = {0, 5}, .border = MR_BORDER_REFLECT}), 9, 5, MR_EARGUMENT,
                 "9 x 5");
    refuse_image(RECIPE({.kind = MR_STEP_PAD, .pad = {0, 6}, .border = MR_BORDER_SYMMETRIC}), 9, 5, MR_EARGUMENT,
                 "mirrored");
    refuse_image(RECIPE(SIZED(SHORT, 256, 0)), 20000, 20, MR_ELIMIT, "20000 x 20 would become 256000 x 256");
    refuse_image(RECIPE({.kind = MR_STEP_PAD, .pad = {1}}), 16384, 1, MR_ELIMIT, "16385");
}

static void outputs_and_handles_may_be_missing(void **state)
{
    (void)state;
    mr_output output = {0};
    mr_recipe *recipe = RECIPE(CENTER(8));
    assert_int_equal(mr_recipe_output(NULL, &output), MR_EARGUMENT);
    assert_int_equal(mr_recipe_output(recipe, NULL), MR_EARGUMENT);
    assert_int_equal(mr_recipe_output(recipe, &output), MR_EARGUMENT);
    assert_contains(recipe->detail.text, "struct_size");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_do_what_torchvisions_do),
        cmocka_unit_test(our_functions_are_those_of_the_c_library),
        cmocka_unit_test(our_functions_are_the_same_everywhere),
        cmocka_unit_test(rounding_goes_to_even),
        cmocka_unit_test(whole_numbers_are_the_generators),
        cmocka_unit_test(draws_do_not_depend_on_steps_that_draw_nothing),
        cmocka_unit_test(draws_go_to_their_steps),
        cmocka_unit_test(chances_are_kept),
        cmocka_unit_test(parts_are_as_asked_for),
        cmocka_unit_test(places_are_all_taken),
        cmocka_unit_test(every_image_has_a_part),
        cmocka_unit_test(the_table_is_in_order),
        cmocka_unit_test(settled_steps_have_their_defaults),
        cmocka_unit_test(senseless_parameters_are_refused),
        cmocka_unit_test(senseless_means_are_refused),
        cmocka_unit_test(senseless_steps_of_users_are_refused),
        cmocka_unit_test(outputs_are_what_the_steps_give),
        cmocka_unit_test(needs_and_finish_are_what_the_steps_say),
        cmocka_unit_test(steps_that_do_not_fit_together_are_refused),
        cmocka_unit_test(sizes_and_channels_that_do_not_fit_are_refused),
        cmocka_unit_test(recipes_of_too_many_passes_are_refused),
        cmocka_unit_test(images_that_do_not_fit_are_refused),
        cmocka_unit_test(outputs_and_handles_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
