// SPDX-License-Identifier: Apache-2.0
/*
 * Every step at the ends of its parameters on images of 1 x 1, of one row or column, of prime sides and of a very long
 * row: it runs, fills all of its output and nothing else, and gives the same bytes fused and apart, with portable
 * kernels, and whatever stood in memory before.
 */
#include "test.h"

#include "step/step.h"

#include <millrace/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_NBYTES = 64 };

typedef struct trial {
    const char *text;
    bool color;      /* takes RGB alone */
    bool may_refuse; /* images that are too small for it, with words */
} trial;

static const trial trials[] = {
    {"orient", true, false},
    {"convert(rgb)", true, false},
    {"resize(1)", false, false},
    {"resize(97x3, filter=lanczos)", false, false},
    {"short(13)", false, true},
    {"center(200x1, fill=7)", false, false},
    {"crop(5, pad=90, border=edge)", false, false},
    {"rrc(11, scale=0.0001..1, ratio=0.01..100)", false, false},
    {"pad(40/1/0/77)", false, false},
    {"pad(1, border=reflect)", false, true},
    {"flip(1)", false, false},
    {"vflip(1)", false, false},
    {"normalize(half)", false, false},
    {"layout(nchw)", false, false},
    {"dtype(bf16)", false, false},
    {"rotate(0..0)", false, false},
    {"rotate(90..90, filter=bicubic)", false, false},
    {"rotate(-3600..3600, filter=bilinear, fill=255)", false, false},
    {"rotate(45..45, expand=yes, filter=bilinear) center(31x33)", false, true},
    {"rotate(179.999999..180, center=-65536/65536)", false, false},
    {"affine(0..0, scale=0.001..0.001)", false, false},
    {"affine(0..0, scale=1000..1000, filter=bicubic)", false, false},
    {"affine(-180..180, translate=1/1, scale=0.1..10, shear=-89..89/-89..89, filter=bilinear)", false, true},
    {"shear(89..89/0..0, filter=bicubic)", false, false},
    {"shear(-89..-89/89..89)", false, true},
    {"translate(1/1)", false, false},
    {"translate(0/0, filter=bicubic)", false, false},
    {"perspective(1e-6, 1)", false, true},
    {"perspective(1, 1, filter=bicubic, fill=200)", false, true},
    {"perspective(1, 1, filter=nearest)", false, true},
    {"elastic(1e-6/0, sigma=0.001)", false, true},
    {"elastic(1000000, sigma=0.1, filter=nearest)", false, true},
    {"elastic(50, sigma=30, filter=bicubic, fill=3)", false, true},
    {"scalejitter(40, scale=0.1..4) center(41)", false, true},
    {"zoomout(1..4, 1, fill=9) center(43)", false, true},
    {"ioucrop center(21)", false, true},
    {"shorts(1/16/40, max=64) center(23)", false, true},
    {"brightness(0..0)", false, false},
    {"brightness(1000000..1000000)", false, false},
    {"contrast(0..0)", false, false},
    {"contrast(1000000..1000000)", false, false},
    {"saturation(0..1000000)", true, false},
    {"saturation(1000000..1000000)", true, false},
    {"hue(-0.5..-0.5)", true, false},
    {"hue(0.5..0.5)", true, false},
    {"jitter(0..1000, 0..1000, 0..1000, -0.5..0.5)", true, false},
    {"grayscale(1)", true, false},
    {"gamma(0.01..0.01, gain=1000000)", false, false},
    {"gamma(100..100, gain=1e-6)", false, false},
    {"invert(1)", false, false},
    {"posterize(1, 1)", false, false},
    {"posterize(8, 1)", false, false},
    {"solarize(0, 1)", false, false},
    {"solarize(256, 1)", false, false},
    {"equalize(1)", false, false},
    {"autocontrast(1)", false, false},
    {"sharpness(0, 1)", false, false},
    {"sharpness(1000000, 1)", false, false},
    {"blur(1, sigma=5..5)", false, false},
    {"blur(3, sigma=0.001..1000)", false, true},
    {"blur(1023/3, sigma=100..100)", false, true},
    {"jpeg(1)", false, false},
    {"jpeg(100..100)", false, false},
    {"permute", true, false},
    {"noise(1000, mean=-1000)", false, false},
    {"noise(1e-6)", false, false},
    {"noise(5, mean=-5, wrap=yes)", false, false},
    {"randaug(16, 30)", true, false},
    {"randaug(3, 30, filter=bicubic, fill=99)", true, false},
    {"randaug(3, 999, bins=1000)", true, false},
    {"autoaug(imagenet)", true, false},
    {"autoaug(cifar10, filter=bilinear)", true, false},
    {"autoaug(svhn)", true, false},
    {"trivialaug(1000)", true, false},
    {"trivialaug(2, filter=bicubic)", true, false},
    {"augmix(10, width=10, depth=3, alpha=0.01)", true, false},
    {"augmix(1, width=1, depth=1, alpha=1000, few=yes)", true, false},
    {"erase(1, scale=1..1, ratio=1..1)", false, false},
    {"erase(1, scale=0.0001..0.0001, ratio=0.01..100, value=255)", false, false},
    {"erase(1, noise=yes)", false, false},
    {"cutout(1, 1)", false, false},
    {"cutout(16384, 1, fill=77)", false, false},
    {"sanitize", false, false},
    {"brightness(3..3) contrast(0.5..0.5) posterize(3, 1) solarize(99, 1) equalize(1) autocontrast(1) invert(1)", false,
     false},
    {"blur(3) sharpness(5, 1) rotate(33..33, filter=bicubic) flip(1) jitter(0.9, 0.9, 0.9, 0.5) vflip(1)", true, true},
    {"rotate(90..90, expand=yes) rotate(90..90, expand=yes) rotate(270..270, expand=yes) rotate(180..180) center(9)",
     false, false},
    {"rotate(90..90, expand=yes) rotate(270..270, expand=yes) blur(1)", false, true},
    {"invert(1) rotate(90..90, expand=yes) rotate(180..180) rotate(90..90, expand=yes) flip(1)", false, false},
    {"rotate(20..20) equalize(1) center(27x25) rotate(30..30, filter=bilinear)", false,
     false}, /* in a part of a place */
    {"rotate(10..10) rotate(20..20) flip(1) shear(5..5/0..0) translate(0.5/0.5) rrc(9)", false, false},
};

enum { TRIALS = sizeof trials / sizeof *trials };

static const uint32_t sizes[][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 61}, {61, 1}, {7, 13}, {53, 31}, {64, 64}, {7680, 3}};

enum { SIZES = sizeof sizes / sizeof *sizes };

static void fill_image(mr_image *image, uint32_t width, uint32_t height, uint32_t channels)
{
    assert_int_equal(mr_image_init(image, width, height, channels, 8, NULL), 0);
    for (size_t i = 0; i < mr_image_row_nbytes(image) * height; i++)
        ((uint8_t *)image->pixels)[i] = (uint8_t)((i * 2654435761U ^ i * i * 40503U) >> 11);
}

/* What it makes, to be freed; NULL: it was refused, with words. */
static uint8_t *make(const char *text, const mr_image *image, bool fuse, const char *mask, uint8_t before,
                     size_t *nbytes)
{
    mr_recipe *recipe = NULL;
    mr_applier *applier = NULL;
    mr_output output = {.struct_size = sizeof output};
    if (mask != NULL)
        assert_int_equal(setenv("MILLRACE_CPU", mask, 1), 0);
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0 || mr_recipe_set_fusing(recipe, fuse) != 0 ||
        mr_recipe_output(recipe, &output) != 0 || mr_applier_new(recipe, NULL, &applier) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    if (mask != NULL)
        unsetenv("MILLRACE_CPU");
    *nbytes = output.sample_nbytes;
    uint8_t *out = malloc(*nbytes + GUARD_NBYTES);
    assert_non_null(out);
    for (int turn = 0; turn < 2; turn++) { /* the second finds all scratch used */
        memset(out, before, *nbytes + GUARD_NBYTES);
        int result = mr_applier_run(applier, image, 5, 1, 77, out);
        if (result != 0) {
            assert_true(result == MR_EARGUMENT || result == MR_ELIMIT);
            assert_true(mr_applier_detail(applier)[0] != '\0');
            free(out);
            out = NULL;
            break;
        }
        for (size_t i = 0; i < GUARD_NBYTES; i++)
            assert_int_equal(out[*nbytes + i], before);
    }
    mr_applier_free(applier);
    mr_recipe_free(recipe);
    return out;
}

static void compare(const char *text, const mr_image *image, const char *way, const uint8_t *a, const uint8_t *b,
                    size_t nbytes)
{
    if ((a == NULL) != (b == NULL))
        fail_msg("%u x %u, %s: refused %s", image->width, image->height, text, b == NULL ? way : "otherwise");
    for (size_t i = 0; a != NULL && i < nbytes; i++)
        if (a[i] != b[i])
            fail_msg("%u x %u, %s, %s: byte %zu of %zu is %u, not %u", image->width, image->height, text, way, i,
                     nbytes, b[i], a[i]);
}

static void check_trial(const trial *t, uint32_t width, uint32_t height, uint32_t channels)
{
    char text[1024];
    mr_image image;
    size_t nbytes;
    /* The size is known before the step, and after it what makes one is there already. */
    bool early = strncmp(t->text, "orient", 6) == 0 || strncmp(t->text, "convert", 7) == 0;
    snprintf(text, sizeof text, "%s%s %s%s center(%ux%u)", early ? t->text : "",
             early || channels == 3 ? "" : "convert(gray)", early ? "" : t->text, "", width, height);
    bool late = strncmp(t->text, "normalize", 9) == 0 || strncmp(t->text, "layout", 6) == 0 ||
                strncmp(t->text, "dtype", 5) == 0;
    if (late)
        snprintf(text, sizeof text, "%scenter(%ux%u) %s", channels == 3 ? "" : "convert(gray) ", width, height,
                 t->text);
    fill_image(&image, width, height, channels);
    uint8_t *wanted = make(text, &image, true, NULL, 0, &nbytes);
    if (wanted == NULL && !t->may_refuse)
        fail_msg("%s does not take an image of %u x %u", text, width, height);
    uint8_t *apart = make(text, &image, false, NULL, 0xff, &nbytes);
    compare(text, &image, "apart", wanted, apart, nbytes);
    uint8_t *portable = make(text, &image, true, "portable", 0x55, &nbytes);
    compare(text, &image, "portable", wanted, portable, nbytes);
    free(wanted);
    free(apart);
    free(portable);
    mr_image_fini(&image, NULL);
}

static void steps_at_their_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRIALS; i++) {
        for (size_t j = 0; j < SIZES; j++) {
            check_trial(&trials[i], sizes[j][0], sizes[j][1], 3);
            if (!trials[i].color)
                check_trial(&trials[i], sizes[j][0], sizes[j][1], 1);
        }
    }
}

/* 8K, whole, or under sanitizers and emulation a strip of it. */
static void large_images(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "rotate(30..30)",
        "affine(10..10, scale=0.5..0.5, shear=5..5/3..3, filter=bilinear)",
        "perspective(0.3, 1)",
        "blur(5) sharpness(2, 1)",
        "equalize(1) autocontrast(1) posterize(4, 1)",
        "jitter(0.4, 0.4, 0.4, 0.1)",
        "jpeg(50) noise(0.1)",
        "randaug(3, 9)",
    };
    mr_image image;
    uint32_t height = test_quick() ? 96 : 4320;
    fill_image(&image, 7680, height, 3);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[256];
        size_t nbytes;
        snprintf(text, sizeof text, "%s center(7680x%u) layout(nhwc)", texts[i], height);
        uint8_t *fused = make(text, &image, true, NULL, 0, &nbytes),
                *apart = make(text, &image, false, NULL, 1, &nbytes);
        assert_non_null(fused);
        compare(text, &image, "apart", fused, apart, nbytes);
        free(fused);
        free(apart);
    }
    mr_image_fini(&image, NULL);
}

/* A recipe may be too long for a chain, or its steps may not go together. */
static bool is_possible(const char *text)
{
    mr_recipe *recipe = NULL;
    mr_output output = {.struct_size = sizeof output};
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    bool possible = mr_recipe_parse(recipe, text) == 0 && mr_recipe_output(recipe, &output) == 0;
    mr_recipe_free(recipe);
    return possible;
}

static uint32_t below(uint32_t n)
{
    static uint32_t seed = 1;
    seed = seed * 1664525U + 1013904223U;
    return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* Some of the trials one after the other, cut now and then, as floats or as bytes in the order of pixels. */
static void make_up(char *text, size_t nbytes)
{
    static const char *const cuts[] = {"", "", "", "center(29x23) ", "crop(20x24, pad=9) ", "rrc(26x21) ", "flip(1) "};
    size_t n = 0;
    for (uint32_t i = 2 + below(5); i > 0; i--) {
        const trial *t = &trials[2 + below(TRIALS - 2)];
        if (strncmp(t->text, "normalize", 9) != 0 && strncmp(t->text, "layout", 6) != 0 &&
            strncmp(t->text, "dtype", 5) != 0)
            n += (size_t)snprintf(text + n, nbytes - n, "%s %s", t->text, cuts[below(7)]);
    }
    snprintf(text + n, nbytes - n, "center(28x22) %s", below(2) == 0 ? "layout(nhwc)" : "normalize(half)");
}

static void steps_in_a_row(void **state)
{
    (void)state;
    char text[2048];
    size_t made = 0, nbytes;
    for (int tries = test_long() ? 20000 : test_quick() ? 60 : 600; tries > 0; tries--) {
        mr_image image;
        make_up(text, sizeof text);
        if (!is_possible(text))
            continue;
        fill_image(&image, 20 + below(60), 20 + below(60), 3);
        uint8_t *fused = make(text, &image, true, NULL, 0, &nbytes);
        uint8_t *apart = make(text, &image, false, "portable", 0xff, &nbytes);
        compare(text, &image, "apart", fused, apart, nbytes);
        made += fused != NULL;
        free(fused);
        free(apart);
        mr_image_fini(&image, NULL);
    }
    assert_true(made > 10);
}

/* Those of batches and of the program's own are tested elsewhere. */
static void every_step_is_tried(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr__step_type_count; i++) {
        const mr__step_type *type = mr__step_types[i];
        bool found =
            type == NULL || type->kind == MR_STEP_USER || type->kind == MR_STEP_MIXUP || type->kind == MR_STEP_CUTMIX;
        for (size_t j = 0; j < TRIALS && !found; j++) {
            size_t length = strcspn(trials[j].text, "( ");
            found = length == strlen(type->name) && strncmp(trials[j].text, type->name, length) == 0;
        }
        if (!found)
            fail_msg("%s is in no trial", type->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_at_their_ends),
        cmocka_unit_test(large_images),
        cmocka_unit_test(steps_in_a_row),
        cmocka_unit_test(every_step_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
