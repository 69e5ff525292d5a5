// SPDX-License-Identifier: Apache-2.0
#include "failing.h"
#include "test.h"

#include "base/hash.h"
#include "base/rng.h"

#include <locale.h>
#include <millrace/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_recipe *recipe_new(void)
{
    mr_recipe *recipe = NULL;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    return recipe;
}

static mr_recipe *parse(const char *text)
{
    mr_recipe *recipe = recipe_new();
    if (mr_recipe_parse(recipe, text) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    assert_string_equal(mr_recipe_detail(recipe), "");
    return recipe;
}

static mr_step step_at(const mr_recipe *recipe, size_t number)
{
    mr_step step = {.struct_size = sizeof step};
    assert_int_equal(mr_recipe_step(recipe, number, &step), 0);
    return step;
}

static void check_text(const char *text, const char *wanted)
{
    mr_recipe *recipe = parse(text), *again = parse(wanted);
    if (strcmp(mr_recipe_text(recipe), wanted) != 0)
        fail_msg("%s: %s, wanted %s", text, mr_recipe_text(recipe), wanted);
    assert_string_equal(mr_recipe_text(again), wanted);
    assert_true(mr_recipe_hash(recipe) == mr_recipe_hash(again));
    mr_recipe_free(recipe);
    mr_recipe_free(again);
}

/* The detail begins with the character, from 1. */
static void check_wrong(const char *text, size_t at, const char *part)
{
    mr_recipe *recipe = parse("flip");
    char place[48];
    snprintf(place, sizeof place, "at character %zu: ", at + 1);
    if (mr_recipe_parse(recipe, text) != MR_EARGUMENT)
        fail_msg("%s is accepted", text);
    if (strncmp(mr_recipe_detail(recipe), place, strlen(place)) != 0 || mr_recipe_error_at(recipe) != at ||
        strstr(mr_recipe_detail(recipe), part) == NULL)
        fail_msg("%s: %s (%zu), wanted %s%s", text, mr_recipe_detail(recipe), mr_recipe_error_at(recipe), place, part);
    assert_int_equal(mr_recipe_count(recipe), 1);
    assert_string_equal(mr_recipe_text(recipe), "flip");
    mr_recipe_free(recipe);
}

static void the_shortest_text_is_written(void **state)
{
    (void)state;
    check_text("", "");
    check_text(" \t\r\n ", "");
    check_text("rrc(224, scale=0.08..1) flip normalize(imagenet)", "rrc(224) flip normalize(imagenet)");
    check_text("orient()\n\tconvert( )  ", "orient convert");
    check_text("convert(rgb,8)", "convert");
    check_text("convert(channels=gray)", "convert(gray)");
    check_text("convert(depth=16)", "convert(rgb, 16)");
    check_text("convert(rgba, 16)", "convert(rgba, 16)");
    check_text("resize(size=320x240, filter=bilinear)", "resize(320x240)");
    check_text("resize( 224x224 , filter = lanczos )", "resize(224, filter=lanczos)");
    check_text("short(256,filter=bicubic) center(224,fill=0/0/0)", "short(256, filter=bicubic) center(224)");
    check_text("center(224, fill=7/7/7/7)", "center(224, fill=7)");
    check_text("center(224, fill=7/7/7)", "center(224, fill=7/7/7)");
    check_text("center(224, fill=7/0/0)", "center(224, fill=7/0)");
    check_text("crop(32, pad=4/4/4/4, border=fill)", "crop(32, pad=4)");
    check_text("crop(32x16, pad=4/2/4/2, border=reflect, fill=1/2/3/4)",
               "crop(32x16, pad=4/2, border=reflect, fill=1/2/3/4)");
    check_text("crop(32, pad=1/2/3/4)", "crop(32, pad=1/2/3/4)");
    check_text("rrc(224, ratio=0.75..4/3, scale=8/100..1)", "rrc(224)");
    check_text("rrc(224, ratio=1/3..3)", "rrc(224, ratio=1/3..3)");
    check_text("rrc(224, ratio=1..1)", "rrc(224, ratio=1)");
    check_text("rrc(192x224, scale=0.25..1.0)", "rrc(192x224, scale=0.25..1)");
    check_text("pad(4) pad(1/2/3/4) pad(to=512)", "pad(4) pad(1/2/3/4) pad(to=512)");
    check_text("pad(to=640x480, border=symmetric)", "pad(to=640x480, border=symmetric)");
    check_text("flip(0.5) flip(chance=1/2) vflip(0.25) flip(0) vflip(1)", "flip flip vflip(0.25) flip(0) vflip(1)");
    check_text("normalize(mean=0.485/0.456/0.406, std=0.229/0.224/0.225)", "normalize(imagenet)");
    check_text("normalize(std=0.5, mean=0.5)", "normalize(half)");
    check_text("normalize(mean=0, std=1)", "normalize(mean=0, std=1)");
    check_text("normalize(mean=-0, std=1e0)", "normalize(mean=0, std=1)");
    check_text("normalize(mean=-0.1/1e-5, std=0.3/2)", "normalize(mean=-0.1/1e-05, std=0.3/2)");
    check_text("normalize(mean=0.5/0.5/0.5, std=1/2/3)", "normalize(mean=0.5, std=1/2/3)");
    check_text("normalize(std=2, mean=1/2/3)", "normalize(mean=1/2/3, std=2)");
    check_text("normalize(mean=0.1/0.2/0, std=1/2/3)", "normalize(mean=0.1/0.2/0, std=1/2/3)");
    check_text("normalize(mean=1/1/1, std=2/2/2)", "normalize(mean=1, std=2/2/2)");
    check_text("normalize(mean=1/1/1/1, std=2/2/2/2)", "normalize(mean=1, std=2)");
    check_text("normalize(mean=0.25, std=-2)", "normalize(mean=0.25, std=-2)");
    check_text("normalize(cifar10) normalize(cifar100) normalize(clip)",
               "normalize(cifar10) normalize(cifar100) normalize(clip)");
    check_text("layout(nchw) layout(layout=nhwc)", "layout(nchw) layout(nhwc)");
    check_text("dtype(u8) dtype(f32) dtype(f16) dtype(dtype=bf16)", "dtype(u8) dtype(f32) dtype(f16) dtype(bf16)");
}

/* A preset with one number changed, even of a channel it does not have, is none. */
static void what_is_not_quite_a_preset_is_written_out(void **state)
{
    (void)state;
    check_text("normalize(mean=0.485/0.456/0.407, std=0.229/0.224/0.225)",
               "normalize(mean=0.485/0.456/0.407, std=0.229/0.224/0.225)");
    check_text("normalize(mean=0.485/0.456/0.406/0.5, std=0.229/0.224/0.225/1)",
               "normalize(mean=0.485/0.456/0.406/0.5, std=0.229/0.224/0.225/1)");
}

static void steps_have_what_the_text_says(void **state)
{
    (void)state;
    mr_recipe *recipe =
        parse("resize(320x240, filter=box) rrc(8, scale=0.5..0.75, ratio=2/3..3/2) pad(1/2, fill=9/8) flip(0.25) "
              "convert(gray, 16) crop(7, border=edge) normalize(mean=0.25, std=0.5/0.125) dtype(bf16) layout(nhwc)");
    mr_step s = step_at(recipe, 0);
    assert_true(s.kind == MR_STEP_RESIZE && s.width == 320 && s.height == 240 && s.filter == MR_FILTER_BOX);
    s = step_at(recipe, 1);
    assert_true(s.kind == MR_STEP_RRC && s.width == 8 && s.height == 8 && s.scale_low == 0.5 && s.scale_high == 0.75);
    assert_true(s.ratio_low == 2.0 / 3.0 && s.ratio_high == 1.5 && s.filter == MR_FILTER_BILINEAR);
    s = step_at(recipe, 2);
    assert_true(s.kind == MR_STEP_PAD && s.pad[0] == 1 && s.pad[1] == 2 && s.pad[2] == 1 && s.pad[3] == 2);
    assert_true(s.fill[0] == 9 && s.fill[1] == 8 && s.fill[2] == 0 && s.fill[3] == 0 && s.width == 0);
    s = step_at(recipe, 3);
    assert_true(s.kind == MR_STEP_FLIP && s.has_chance && s.chance == 0.25);
    s = step_at(recipe, 4);
    assert_true(s.kind == MR_STEP_CONVERT && s.channels == 1 && s.depth == 16);
    s = step_at(recipe, 5);
    assert_true(s.kind == MR_STEP_CROP && s.width == 7 && s.height == 7 && s.border == MR_BORDER_EDGE);
    s = step_at(recipe, 6);
    assert_true(s.kind == MR_STEP_NORMALIZE && s.mean[0] == 0.25F && s.mean[1] == 0.25F);
    assert_true(s.std[0] == 0.5F && s.std[1] == 0.125F && s.std[2] == 0 && s.mean[2] == 0);
    assert_true(step_at(recipe, 7).dtype == MR_BF16 && step_at(recipe, 8).layout == MR_NHWC);
    assert_int_equal(mr_recipe_count(recipe), 9);
    s.struct_size = sizeof s;
    assert_int_equal(mr_recipe_step(recipe, 9, &s), MR_EARGUMENT);
    mr_recipe_free(recipe);
}

static void errors_point_and_suggest(void **state)
{
    (void)state;
    check_wrong("flip  rcc(224)", 6, "no step is called \"rcc\": did you mean \"rrc\"?");
    check_wrong("rrc(224, scael=0.1..1)", 9, "rrc has no parameter \"scael\": did you mean \"scale\"?");
    check_wrong("RandomResizedCrop(224)", 0, "did you mean \"rrc\"?");
    check_wrong("random_horizontal_flip", 0, "did you mean \"flip\"?");
    check_wrong("rcr(224)", 0, "did you mean \"rrc\"?");
    check_wrong("Flip", 0, "did you mean \"flip\"?");
    check_wrong("whirl(3)", 0, "there are orient, convert, resize, short, center, crop, rrc, pad, flip, vflip, norm");
    check_wrong("whirl(3)", 0, ", ... (doc/steps.md)");
    check_wrong("resize(224, interpolation=bilinear)", 12, "did you mean \"filter\"?");
    check_wrong("resize(224, antialias=1)", 12, "resize has no parameter \"antialias\": there are size, filter");
    check_wrong("flip(q=1)", 5, "flip has no parameter \"q\": there is chance");
    check_wrong("resize(224, filter=bicubik)", 19, "no filter is called \"bicubik\": did you mean \"bicubic\"?");
    check_wrong("resize(224, bicubic)", 12, "did you mean \"filter=bicubic\"?");
    check_wrong("resize(224, 3)", 12, "resize has no more values without a name");
    check_wrong("resize(filter=box, 224)", 19, "values without a name come before those with one");
    check_wrong("normalize(imagnet)", 10, "no preset is called \"imagnet\": did you mean \"imagenet\"?");
    check_wrong("dtype(float32)", 6, "did you mean \"f32\"?");
    check_wrong("dtype(complex)", 6, "no dtype is called \"complex\": there are auto, u8, f32, f16, bf16");
    check_wrong("orient(1)", 7, "orient has no parameters");
    check_wrong("orient(a=1)", 7, "orient has no parameters: remove \"a\"");
    check_wrong("user(sharpen)", 0, "mr_recipe_add");
    check_wrong("\xc3\xa9", 0, "a step is wanted, not the byte 0xc3");
    check_wrong("flip(0.5\x01)", 8, "not the byte 0x01");
    check_wrong("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, "called \"aaaaaaaaaaaaaaaaaaaaaaaa...\": there are");
}

static void errors_of_form(void **state)
{
    (void)state;
    check_wrong("flip, vflip", 4, "steps are separated by spaces");
    check_wrong("flip | vflip", 5, "steps are separated by spaces");
    check_wrong("flip(0.5)vflip", 9, "steps are separated by spaces");
    check_wrong("rrc (224)", 0, "rrc needs its size: rrc(224)");
    check_wrong("flip (0.5)", 5, "\"(\" without a step's name right before it");
    check_wrong("flip )", 5, "\")\" without \"(\"");
    check_wrong("rrc(224", 7, "\")\" is missing");
    check_wrong("rrc(224,", 8, "\")\" is missing");
    check_wrong("rrc(", 4, "\")\" is missing");
    check_wrong("rrc(224,)", 8, "a value is wanted, not \")\"");
    check_wrong("rrc(,224)", 4, "a value is wanted, not \",\"");
    check_wrong("rrc(224 flip", 8, "\",\" or \")\" is wanted, not \"f\"");
    check_wrong("rrc(224, size=3)", 9, "size is given twice");
    check_wrong("rrc(224, scale=0.1..1, scale=0.1..1)", 23, "scale is given twice");
    check_wrong("rrc(224, scale)", 9, "no more values without a name");
    check_wrong("rrc(224, scale=)", 15, "scale is a number, not \")\"");
    check_wrong("rrc(x)", 4, "size is a number, not \"x\"");
    check_wrong("layout(1)", 7, "layout is a word, not \"1\"");
    check_wrong("rrc", 0, "rrc needs its size");
    check_wrong("layout()", 0, "layout needs its layout: layout(nchw)");
    check_wrong("pad", 0, "pad needs");
    check_wrong("pad(4, to=5)", 0, "pad: ");
    check_wrong("pad(0)", 0, "pad: ");
    check_wrong("pad(border=edge)", 0, "pad needs");
    check_wrong("normalize", 0, "normalize needs a preset");
    check_wrong("normalize(mean=0)", 0, "normalize needs a preset, or mean and std");
    check_wrong("normalize(imagenet, mean=0)", 20, "give it or them");
}

static void errors_of_numbers(void **state)
{
    (void)state;
    check_wrong("resize(0)", 7, "size is from 1 to 16384, not \"0\"");
    check_wrong("resize(16385)", 7, "size is from 1 to 16384");
    check_wrong("resize(2x99999999999999999999)", 9, "size is from 1 to 16384");
    check_wrong("resize(-3)", 7, "size is from 1");
    check_wrong("resize(1.5)", 7, "size is a whole number, not \"1.5\"");
    check_wrong("resize(1x2x3)", 7, "size has at most 2 numbers");
    check_wrong("short(1x2)", 7, "not \"x\"");
    check_wrong("flip(1.01)", 5, "chance is from 0 to 1, not \"1.01\"");
    check_wrong("flip(-0.5)", 5, "chance is from 0 to 1");
    check_wrong("flip(1/0)", 5, "\"1/0\" divides by 0");
    check_wrong("flip(1e999/1e999)", 5, "chance is from 0 to 1");
    check_wrong("flip(1/)", 7, "a number is wanted below \"/\"");
    check_wrong("center(2, fill=256)", 15, "fill is from 0 to 255");
    check_wrong("center(2, fill=1/2/3/4/5)", 15, "fill has at most 4 numbers");
    check_wrong("pad(1/2/3)", 4, "not 3");
    check_wrong("convert(rgb, 12)", 13, "depth is 8 or 16");
    check_wrong("rrc(2, scale=0..0)", 13, "scale has to be more than 0");
    check_wrong("rrc(2, scale=1..0.5)", 13, "scale ends before it begins");
    check_wrong("rrc(2, scale=0.1...1)", 18, "scale is a number, not \".\"");
    check_wrong("rrc(2, ratio=1e999)", 13, "too large");
    check_wrong("normalize(mean=0, std=0)", 22, "std is what is divided by");
    check_wrong("normalize(mean=0, std=1e-60)", 22, "std is what is divided by");
    check_wrong("normalize(mean=0/1, std=1/2/3)", 0, "a mean of 2 channels and an std of 3");
    check_wrong("normalize(mean=1e39, std=1)", 15, "too large");
    check_wrong("flip rrc(224, scale=0.5..2)", 5, "scale"); /* what the step itself says of it */
}

/* Bytes are counted for the program, characters for the person. */
static void characters_are_not_bytes(void **state)
{
    (void)state;
    mr_recipe *recipe = recipe_new();
    assert_int_equal(mr_recipe_parse(recipe, "flip(\xc3\xa9)"), MR_EARGUMENT);
    assert_int_equal(mr_recipe_error_at(recipe), 5);
    assert_int_equal(mr_recipe_parse(recipe, "flip \xe2\x82\xac"), MR_EARGUMENT);
    assert_int_equal(mr_recipe_error_at(recipe), 5);
    assert_contains(mr_recipe_detail(recipe), "at character 6: a step is wanted, not the byte 0xe2");
    mr_recipe_free(recipe);
}

static void limits_are_kept(void **state)
{
    (void)state;
    char *text = malloc(70000);
    assert_non_null(text);
    mr_recipe *recipe = recipe_new();
    memset(text, ' ', 70000);
    text[65537] = '\0';
    assert_int_equal(mr_recipe_parse(recipe, text), MR_ELIMIT);
    text[65536] = '\0';
    assert_int_equal(mr_recipe_parse(recipe, text), 0);
    for (size_t i = 0; i < 65; i++)
        memcpy(text + 5 * i, "flip ", 5);
    text[65 * 5] = '\0';
    assert_int_equal(mr_recipe_parse(recipe, text), MR_ELIMIT);
    assert_int_equal(mr_recipe_error_at(recipe), 320);
    assert_int_equal(mr_recipe_count(recipe), 0);
    text[64 * 5] = '\0';
    assert_int_equal(mr_recipe_parse(recipe, text), 0);
    assert_int_equal(mr_recipe_count(recipe), 64);
    assert_int_equal(mr_recipe_parse(recipe, "flip"), MR_ELIMIT);
    mr_step flip = {.struct_size = sizeof flip, .kind = MR_STEP_FLIP};
    assert_int_equal(mr_recipe_add(recipe, &flip), MR_ELIMIT);
    assert_int_equal(mr_recipe_count(recipe), 64);
    mr_recipe *visible = NULL;
    assert_int_equal(mr_recipe_visible(recipe, &visible), MR_ELIMIT);
    assert_null(visible);
    mr_recipe_free(recipe);
    free(text);
}

static void structs_and_text_say_the_same(void **state)
{
    (void)state;
    mr_recipe *recipe = recipe_new(), *same = parse("rrc(224) flip short(256) dtype(f16)");
    /* What is not the step's own is not looked at. */
    mr_step steps[] = {
        {.struct_size = sizeof(mr_step), .kind = MR_STEP_RRC, .width = 224, .chance = 3, .depth = 99},
        {.struct_size = sizeof(mr_step), .kind = MR_STEP_FLIP, .width = 7},
        {.struct_size = sizeof(mr_step), .kind = MR_STEP_SHORT, .width = 256, .scale_low = 4},
        {.struct_size = sizeof(mr_step), .kind = MR_STEP_DTYPE, .dtype = MR_F16},
    };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mr_recipe_add(recipe, &steps[i]), 0);
    assert_string_equal(mr_recipe_text(recipe), "rrc(224) flip short(256) dtype(f16)");
    assert_true(mr_recipe_hash(recipe) == mr_recipe_hash(same));
    for (size_t i = 0; i < 4; i++) {
        mr_step a = step_at(recipe, i), b = step_at(same, i);
        assert_memory_equal(&a, &b, sizeof a);
    }
    mr_step bad = {.struct_size = sizeof bad, .kind = MR_STEP_FLIP, .chance = 0.3};
    assert_int_equal(mr_recipe_add(recipe, &bad), MR_EARGUMENT);
    assert_contains(mr_recipe_detail(recipe), "has_chance");
    bad = (mr_step){.struct_size = sizeof bad, .kind = (mr_step_kind)77};
    assert_int_equal(mr_recipe_add(recipe, &bad), MR_EARGUMENT);
    assert_contains(mr_recipe_detail(recipe), "77");
    bad = (mr_step){.struct_size = 0, .kind = MR_STEP_FLIP};
    assert_int_equal(mr_recipe_add(recipe, &bad), MR_EARGUMENT);
    assert_int_equal(mr_recipe_count(recipe), 4);
    mr_recipe_free(recipe);
    mr_recipe_free(same);
}

static int run_nothing(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)from;
    (void)to;
    (void)draws;
    (void)scratch;
    return 0;
}

static mr_step user_step(mr_user_step *user, const char *name, uint64_t version)
{
    *user = (mr_user_step){.struct_size = sizeof *user, .name = name, .version = version, .run = run_nothing};
    return (mr_step){.struct_size = sizeof(mr_step), .kind = MR_STEP_USER, .user = user};
}

static uint64_t user_hash(const char *name, uint64_t version)
{
    mr_user_step user;
    mr_step step = user_step(&user, name, version);
    mr_recipe *recipe = recipe_new();
    assert_int_equal(mr_recipe_add(recipe, &step), 0);
    uint64_t hash = mr_recipe_hash(recipe);
    mr_recipe_free(recipe);
    return hash;
}

static void user_steps_keep_their_names(void **state)
{
    (void)state;
    char name[] = "sharpen-2a_b", long_name[66];
    mr_user_step user;
    mr_step step = user_step(&user, name, 5);
    mr_recipe *recipe = parse("rrc(8)"), *visible = NULL;
    assert_int_equal(mr_recipe_add(recipe, &step), 0);
    memset(name, 'x', sizeof name - 1); /* copies */
    user.version = 6;
    assert_string_equal(mr_recipe_text(recipe), "rrc(8) user(sharpen-2a_b)");
    mr_step got = step_at(recipe, 1);
    assert_string_equal(got.user->name, "sharpen-2a_b");
    assert_true(got.user->run == run_nothing && got.user->version == 5);
    assert_int_equal(mr_recipe_visible(recipe, &visible), 0);
    mr_recipe_free(recipe);
    assert_string_equal(mr_recipe_text(visible), "rrc(8) user(sharpen-2a_b) layout(nhwc) dtype(u8)");
    got = step_at(visible, 1);
    assert_string_equal(got.user->name, "sharpen-2a_b");
    memset(long_name, 'a', sizeof long_name);
    long_name[65] = '\0';
    const char *const bad[] = {NULL, "", "a b", "a)", "\xc3\xa9", long_name};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        step = user_step(&user, bad[i], 1);
        assert_int_equal(mr_recipe_add(visible, &step), MR_EARGUMENT);
        assert_contains(mr_recipe_detail(visible), "name");
    }
    step.user = NULL;
    assert_int_equal(mr_recipe_add(visible, &step), MR_EARGUMENT);
    assert_int_equal(mr_recipe_count(visible), 4);
    mr_recipe_free(visible);
    assert_true(user_hash("a", 1) == user_hash("a", 1));
    assert_true(user_hash("a", 1) != user_hash("a", 2));
    assert_true(user_hash("a", 1) != user_hash("b", 1));
}

static void what_is_visible(void **state)
{
    (void)state;
    mr_recipe *recipe = parse("orient convert(gray, 16) normalize(half) rrc(224) layout(nchw) flip dtype(f16)"),
              *visible = NULL;
    assert_int_equal(mr_recipe_visible(recipe, &visible), 0);
    assert_string_equal(mr_recipe_text(visible), "orient convert(gray) rrc(224) flip layout(nhwc) dtype(u8)");
    mr_recipe_free(visible);
    mr_recipe_free(recipe);
    assert_int_equal(mr_recipe_visible(NULL, &visible), MR_EARGUMENT);
}

static double real_from(mr__rng *rng, double low, double high)
{
    static const double usual[] = {0.08, 0.25, 1.0 / 3.0, 4.0 / 3.0, 0.5, 1, 2.0 / 7.0};
    double value = mr__rng_below(rng, 2) != 0 ? usual[mr__rng_below(rng, 7)]
                                              : low + (high - low) * (double)mr__rng_u32(rng) / 4294967296.0;
    return value < low ? low : value > high ? high : value;
}

static void random_channels(mr__rng *rng, float *to, size_t count, float least)
{
    for (size_t i = 0; i < 4; i++)
        to[i] = i < count ? (float)real_from(rng, (double)least, 1) : 0;
    for (size_t i = 0, same = mr__rng_below(rng, 2); i < count && same != 0; i++)
        to[i] = to[0];
}

/* Any step whose parameters make sense. */
static mr_step random_step(mr__rng *rng)
{
    mr_step s = {.struct_size = sizeof s, .kind = (mr_step_kind)(1 + mr__rng_below(rng, 13))};
    s.width = 1 + mr__rng_below(rng, 3) * mr__rng_below(rng, 8000);
    s.height = mr__rng_below(rng, 2) != 0 && s.kind != MR_STEP_PAD && s.kind != MR_STEP_SHORT
                   ? 1 + mr__rng_below(rng, 16384)
                   : 0;
    s.filter = (mr_filter)mr__rng_below(rng, 6);
    s.border = (mr_border)mr__rng_below(rng, 4);
    if (mr__rng_below(rng, 2) != 0) {
        s.scale_low = real_from(rng, 0.01, 0.5);
        s.scale_high = real_from(rng, s.scale_low, 1);
    }
    if (mr__rng_below(rng, 2) != 0) {
        s.ratio_low = real_from(rng, 0.1, 4);
        s.ratio_high = real_from(rng, s.ratio_low, 5);
    }
    s.has_chance = mr__rng_below(rng, 2) != 0;
    s.chance = s.has_chance ? real_from(rng, 0, 1) : 0;
    for (size_t i = 0; i < 4; i++) {
        s.pad[i] = mr__rng_below(rng, 3);
        s.fill[i] = (uint8_t)mr__rng_below(rng, 3);
    }
    if (s.kind == MR_STEP_PAD && mr__rng_below(rng, 2) != 0)
        s.width = 0;
    else if (s.kind == MR_STEP_PAD)
        memset(s.pad, 0, sizeof s.pad);
    s.channels = (const uint32_t[]){0, 1, 3, 4}[mr__rng_below(rng, 4)];
    s.depth = 8 * mr__rng_below(rng, 3);
    uint32_t channels = 1 + mr__rng_below(rng, 4);
    random_channels(rng, s.mean, channels, -1);
    random_channels(rng, s.std, channels, 0.001F);
    s.layout = (mr_batch_layout)mr__rng_below(rng, 2);
    s.dtype = (mr_dtype)mr__rng_below(rng, 5);
    return s;
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    mr__rng rng;
    mr__rng_init(&rng, 7, 0, 0, 0);
    size_t added = 0, tried = 0;
    for (size_t round = 0; round < 1500; round++) {
        mr_recipe *recipe = recipe_new();
        for (size_t n = mr__rng_below(&rng, 6), i = 0; i < n; i++, tried++) {
            mr_step step = random_step(&rng);
            added += mr_recipe_add(recipe, &step) == 0;
        }
        mr_recipe *again = parse(mr_recipe_text(recipe));
        assert_string_equal(mr_recipe_text(again), mr_recipe_text(recipe));
        assert_true(mr_recipe_hash(again) == mr_recipe_hash(recipe));
        assert_int_equal(mr_recipe_count(again), mr_recipe_count(recipe));
        for (size_t i = 0; i < mr_recipe_count(recipe); i++) {
            mr_step a = step_at(recipe, i), b = step_at(again, i);
            if (memcmp(&a, &b, sizeof a) != 0)
                fail_msg("step %zu of %s is another one", i, mr_recipe_text(recipe));
        }
        mr_recipe_free(again);
        mr_recipe_free(recipe);
    }
    assert_true(added > tried - tried / 20);
}

/* Whatever one field of a step is changed to, text and hash are others. */
static void each_parameter_is_in_the_hash(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "orient",
        "orient orient",
        "convert",
        "convert(gray)",
        "convert(rgb, 16)",
        "resize(8)",
        "resize(8x9)",
        "resize(9x8)",
        "resize(8, filter=box)",
        "short(8)",
        "short(8, filter=box)",
        "center(8)",
        "center(8, fill=1)",
        "center(8, fill=1/1/1)",
        "crop(8)",
        "crop(8, pad=1)",
        "crop(8, pad=1/2)",
        "crop(8, border=edge)",
        "crop(8, fill=1)",
        "rrc(8)",
        "rrc(8, scale=0.1..1)",
        "rrc(8, scale=0.08..0.9)",
        "rrc(8, ratio=0.74..4/3)",
        "rrc(8, ratio=0.75..1.3333)",
        "rrc(8, filter=bicubic)",
        "pad(1)",
        "pad(1/2)",
        "pad(to=1)",
        "pad(1, border=reflect)",
        "pad(1, fill=2)",
        "flip",
        "flip(0.4)",
        "vflip",
        "normalize(imagenet)",
        "normalize(half)",
        "normalize(mean=0.485/0.456/0.406, std=0.229/0.224/0.2251)",
        "layout(nchw)",
        "layout(nhwc)",
        "dtype(u8)",
        "dtype(f32)",
        "dtype(f16)",
        "dtype(bf16)",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    uint64_t hashes[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        mr_recipe *recipe = parse(texts[i]);
        hashes[i] = mr_recipe_hash(recipe);
        mr_recipe_free(recipe);
        for (size_t k = 0; k < i; k++)
            if (hashes[k] == hashes[i])
                fail_msg("%s has the hash of %s", texts[i], texts[k]);
    }
}

/* It is in states and reports: a change breaks what people have stored. */
static void the_hash_is_that_of_the_full_text(void **state)
{
    (void)state;
    static const char full[] =
        "orient convert(rgb, 8) rrc(224x224, scale=0.08..1, ratio=0.75..4/3, filter=bilinear) flip(0.5) "
        "crop(9x9, pad=0/0/0/0, border=fill, fill=0/0/0/0) normalize(mean=0.485/0.456/0.406/0, "
        "std=0.229/0.224/0.225/0) "
        "layout(nchw) dtype(f32)";
    mr_recipe *recipe = parse("orient convert rrc(224) flip crop(9) normalize(imagenet) layout(nchw) dtype(f32)");
    assert_true(mr_recipe_hash(recipe) == mr__hash(full, sizeof full - 1));
    mr_recipe_free(recipe);
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof names / sizeof *names && setlocale(LC_NUMERIC, names[i]) == NULL;)
        i++;
    check_text("flip(0.25) rrc(8, scale=0.125..0.5)", "flip(0.25) rrc(8, scale=0.125..0.5)");
    check_wrong("flip(0,25)", 7, "flip has no more values");
    setlocale(LC_NUMERIC, "C");
}

static int make_use(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    mr_user_step user;
    mr_step step = user_step(&user, "mine", 1);
    mr_recipe *recipe = NULL, *visible = NULL;
    int code = mr_recipe_new(hooks, &recipe);
    if (code != 0)
        return code;
    code = mr_recipe_parse(recipe, "rrc(224) flip normalize(imagenet)");
    size_t count = mr_recipe_count(recipe);
    assert_int_equal(count, code == 0 ? 3 : 0);
    assert_string_equal(mr_recipe_text(recipe), code == 0 ? "rrc(224) flip normalize(imagenet)" : "");
    int added = mr_recipe_add(recipe, &step);
    assert_int_equal(mr_recipe_count(recipe), count + (added == 0));
    assert_true((strstr(mr_recipe_text(recipe), "user(mine)") != NULL) == (added == 0));
    int seen = mr_recipe_visible(recipe, &visible);
    assert_true((visible != NULL) == (seen == 0));
    mr_recipe_free(visible);
    mr_recipe_free(recipe);
    return code != 0 ? code : added != 0 ? added : seen;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    failing_run(make_use, NULL);
}

static void names_of_what_comes_out(void **state)
{
    (void)state;
    assert_string_equal(mr_dtype_name(MR_U8), "u8");
    assert_string_equal(mr_dtype_name(MR_BF16), "bf16");
    assert_string_equal(mr_dtype_name(MR_DTYPE_AUTO), "auto");
    assert_string_equal(mr_dtype_name((mr_dtype)9), "none");
    assert_int_equal(mr_dtype_nbytes(MR_U8), 1);
    assert_int_equal(mr_dtype_nbytes(MR_F32), 4);
    assert_int_equal(mr_dtype_nbytes(MR_F16), 2);
    assert_int_equal(mr_dtype_nbytes(MR_BF16), 2);
    assert_int_equal(mr_dtype_nbytes((mr_dtype)9), 0);
    assert_string_equal(mr_batch_layout_name(MR_NCHW), "nchw");
    assert_string_equal(mr_batch_layout_name(MR_NHWC), "nhwc");
    assert_string_equal(mr_batch_layout_name((mr_batch_layout)5), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_text_is_written),
        cmocka_unit_test(what_is_not_quite_a_preset_is_written_out),
        cmocka_unit_test(steps_have_what_the_text_says),
        cmocka_unit_test(errors_point_and_suggest),
        cmocka_unit_test(errors_of_form),
        cmocka_unit_test(errors_of_numbers),
        cmocka_unit_test(characters_are_not_bytes),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(structs_and_text_say_the_same),
        cmocka_unit_test(user_steps_keep_their_names),
        cmocka_unit_test(what_is_visible),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(each_parameter_is_in_the_hash),
        cmocka_unit_test(the_hash_is_that_of_the_full_text),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(names_of_what_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
