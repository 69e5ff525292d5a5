// SPDX-License-Identifier: Apache-2.0
/*
 * Ops by kernels give the host's bytes: each alone at the ends of its parameters, several as one, parts of images
 * before and behind crops, finished numbers of every kind; whatever the order of lanes.
 */
#include "test.h"

#include "device/tape/sample.h"
#include "opencl_play.h"
#include "picture.h"
#include "taping.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

typedef struct trial {
    const char *text;
    bool color; /* takes RGB alone */
    bool wide;  /* and no small images */
} trial;

static const trial trials[] = {
    {"brightness(0..0)", false, false},
    {"brightness(0.1..1.9)", false, false},
    {"brightness(1000000..1000000)", false, false},
    {"contrast(0..0)", false, false},
    {"contrast(0.1..1.9)", false, false},
    {"contrast(1000000..1000000)", false, false},
    {"gamma(0.01..0.01, gain=1000000)", false, false},
    {"gamma(0.5..2)", false, false},
    {"gamma(100..100, gain=1e-6)", false, false},
    {"invert(1)", false, false},
    {"posterize(1, 1)", false, false},
    {"posterize(5, 1)", false, false},
    {"solarize(0, 1)", false, false},
    {"solarize(128, 1)", false, false},
    {"solarize(256, 1)", false, false},
    {"equalize(1)", false, false},
    {"autocontrast(1)", false, false},
    {"saturation(0..1000000)", true, false},
    {"saturation(0.5..1.5)", true, false},
    {"hue(-0.5..-0.5)", true, false},
    {"hue(-0.4..0.4)", true, false},
    {"jitter(0..1000, 0..1000, 0..1000, -0.5..0.5)", true, false},
    {"jitter(0.4, 0.4, 0.4, 0.1)", true, false},
    {"grayscale(1)", true, false},
    {"permute", true, false},
    {"sharpness(0, 1)", false, false},
    {"sharpness(0.3, 1)", false, false},
    {"sharpness(1000000, 1)", false, false},
    {"blur(1, sigma=5..5)", false, false},
    {"blur(3, sigma=0.001..1000)", false, false},
    {"blur(7/5, sigma=0.5..3)", false, false},
    {"blur(1023/3, sigma=100..100)", false, true},
    {"noise(1000, mean=-1000)", false, false},
    {"noise(0.1)", false, false},
    {"noise(5, mean=-5, wrap=yes)", false, false},
    {"noise(0.2, mean=0.3, wrap=yes)", false, false},
    {"erase(1, scale=1..1, ratio=1..1)", false, false},
    {"erase(1, scale=0.1..0.5, ratio=0.1..10, value=255)", false, false},
    {"erase(1, scale=0.1..0.5, ratio=0.1..10, noise=yes)", false, false},
    {"cutout(1, 1)", false, false},
    {"cutout(9, 1, fill=77)", false, false},
};

enum { TRIALS = sizeof trials / sizeof *trials };

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {3000, 2}, {64, 64}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* The emulator, or a device that is there: the same tests twice. */
static taping player;
static bool doubles = true; /* it has them: warps need them */

/* Of each case. To TSan every lane is a thread: it is slow. */
static uint64_t keys(void)
{
#if defined(__SANITIZE_THREAD__)
    return 1;
#else
    return test_quick() ? 1 : 3;
#endif
}

/* One recipe on one image, gray or RGB. */
static bool try_one(const char *text, uint32_t width, uint32_t height, uint32_t channels, uint64_t key, uint64_t seed)
{
    char whole[1024];
    taping how = {.play = player.play, .user = player.user, .seed = seed};
    mr_image image = picture_make(width, height, channels, 8, key + 1);
    snprintf(whole, sizeof whole, "%s%s", channels == 1 ? "convert(gray) " : "", text);
    bool compared = taping_recipe(&how, whole, &image, key);
    mr_image_fini(&image, NULL);
    return compared;
}

/* As it is, and as gray. */
static size_t try_both(const trial *t, const char *before, const char *after, uint32_t width, uint32_t height,
                       uint64_t key)
{
    char text[1000];
    snprintf(text, sizeof text, "%s%s %s", before, t->text, after);
    size_t compared = try_one(text, width, height, 3, key, key % 3);
    return compared + (!t->color && try_one(text, width, height, 1, key, key % 3));
}

static void each_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRIALS; i++) {
        size_t compared = 0;
        for (size_t j = 0; j < SIZES; j++) {
            char after[64];
            snprintf(after, sizeof after, "center(%ux%u)", sizes[j][0], sizes[j][1]);
            for (uint64_t key = 0; key < keys(); key++)
                compared += try_both(&trials[i], "", after, sizes[j][0], sizes[j][1], 7 * key + i);
        }
        assert_true(compared != 0); // some images are too small for a blur
    }
}

/* Parts: what is cut off behind an op is not made, what was cut off before it has its place in another image. */
static void parts_of_images(void **state)
{
    static const char *const before[] = {"", "rrc(47x39) ", "crop(50x40, pad=8) flip(1) ", "short(45) "};
    static const char *const after[] = {"rrc(23)", "crop(9x31, pad=3)", "flip(1) center(21x19) vflip(1)", "center(33)"};
    (void)state;
    for (size_t i = 0; i < TRIALS; i++)
        for (size_t k = 0; k < 4; k++)
            for (uint64_t key = 0; key < keys() && !trials[i].wide; key++)
                (void)try_both(&trials[i], before[(k + key) % 4], after[k], 61 + (uint32_t)key, 53, 11 * key + k);
}

/* Several that are one kernel, several that cannot be, tables that look at what tables have made. */
static void several(void **state)
{
    static const trial rows[] = {
        {"brightness(3..3) contrast(0.5..0.5) posterize(3, 1) solarize(99, 1) equalize(1) autocontrast(1) invert(1)",
         false, false},
        {"contrast(0.7..0.7) contrast(1.9..1.9) contrast(0.3..3)", false, false},
        {"equalize(1) contrast(0.7..0.7) equalize(1) brightness(0.5..1.5) contrast(2..2) autocontrast(1)", false,
         false},
        {"invert(1) gamma(0.7..1.3) autocontrast(1) contrast(0.7..1.3)", false, false},
        {"autocontrast(1) equalize(1) autocontrast(1)", false, false},
        {"posterize(2, 1) equalize(1) contrast(0..2)", false, false},
        {"equalize(1) crop(40x30) contrast(1.5..1.5) equalize(1) crop(5x29) autocontrast(1) contrast(0.5..2)", false,
         false}, /* in rows with gaps */
        {"autocontrast(1) crop(33x31) noise(0.1) equalize(1) crop(32x30) erase(1) equalize(1) crop(31x29) "
         "hue(0.1..0.3)",
         true, false},
        {"equalize(1) crop(33x31) sharpness(2, 1) equalize(1) crop(32x29) blur(3/5)", false, false},
        {"hue(0.2..0.2) invert(1) contrast(1.5..1.5) saturation(2..2) permute", true, false},
        {"saturation(0.5..0.5) equalize(1) hue(-0.1..0.1) grayscale(1) contrast(0.5..1.5)", true, false},
        {"permute hue(0.1..0.3) saturation(0..2) brightness(0.5..1.5) invert(1) permute grayscale", true, false},
        {"jitter(0.9, 0.9, 0.9, 0.5) jitter(0.9, 0.9, 0.9, 0.5) jitter(0.9, 0.9, 0.9, 0.5)", true, false},
        {"blur(5) sharpness(5, 1) blur(3/9, sigma=1..2) noise(0.05) erase(1, noise=yes) cutout(7)", false, false},
        {"erase(1) erase(1, noise=yes) rrc(31) sharpness(0, 1) equalize(1) flip(1) noise(0.1, wrap=yes)", false, false},
        {"sharpness(2, 1) sharpness(0, 1) contrast(0.5..2) blur(9/1)", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t key = 0; key < 2 * keys(); key++) {
            (void)try_both(&rows[i], "", "center(61x53)", 61, 53, key);
            (void)try_both(&rows[i], "rrc(40x37) ", "center(30x20)", 53, 61, key + 100);
        }
    (void)try_both(&rows[0], "", "center(231x157)", 231, 157, 5); // several pieces
    (void)try_both(&rows[2], "", "center(231x157)", 231, 157, 6);
}

/* Where all of it comes together: tables, colors and filters between warps, in branches too. */
static void policies(void **state)
{
    static const char *const texts[] = {
        "randaug(2, 9) center(61x53)",
        "rrc(40) flip randaug(3, 30, filter=bilinear, fill=99) normalize(imagenet) erase(0.5, noise=yes)",
        "autoaug(imagenet) rrc(31)",
        "rrc(37) autoaug(cifar10, filter=bilinear) cutout(9)",
        "autoaug(svhn) center(40)",
        "trivialaug rrc(33)",
        "augmix(10, width=4, depth=3) center(50)",
        "rrc(41) augmix(3, few=yes) normalize(half) dtype(bf16)",
    };
    (void)state;
    if (!doubles)
        skip();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint64_t key = 0; key < 8 * keys(); key++)
            assert_true(try_one(texts[i], 61, 53, 3, 100 * i + key, key % 3));
}

/* More pieces than parts, in rows with and without gaps. */
static void large_images(void **state)
{
    const uint32_t width = 1021, height = keys() == 1 ? 211 : 607;
    char text[256];
    (void)state;
    snprintf(text, sizeof text, "equalize(1) crop(%ux%u) equalize(1) contrast(1.5..1.5) autocontrast(1) rrc(9)",
             width - 1, height - 1);
    assert_true(try_one("contrast(0.5..0.5) equalize(1) rrc(9)", width, height, 3, 1, 0));
    assert_true(try_one(text, width, height, 1, 2, 0));
    assert_true(try_one("blur(1023/3, sigma=50..50) center(9)", 600, 20, 3, 3, 1));
}

static void finished_numbers(void **state)
{
    static const char *const ways[] = {"erase(1, scale=0.1..0.9)",
                                       "erase(1, scale=0.1..0.9, value=0.25/-3/7)",
                                       "erase(1, scale=0.1..0.9, noise=yes)",
                                       "erase(1, noise=yes) erase(1, value=1e6) cutout(12) erase(1, noise=yes)",
                                       "cutout(5, 1)",
                                       "cutout(16384, 1, fill=77)"};
    static const char *const dtypes[] = {"f32", "f16", "bf16"}, *const layouts[] = {"nchw", "nhwc"};
    static const uint32_t channels[] = {1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t k = 0; k < 3 * 2 * 2 * 3; k++) {
            char text[400];
            bool gray = channels[k / 6 % 2] == 1 && i != 1;
            uint32_t width = k % 3 == 0 ? 37 : 64, height = k % 5 == 0 ? 1 : 29;
            snprintf(text, sizeof text, "resize(%ux%u) normalize(half) %s dtype(%s) layout(%s)", width, height, ways[i],
                     dtypes[k % 3], layouts[k / 3 % 2]);
            assert_true(try_one(text, 61, 53, gray ? 1 : 3, 5 * k + i, k % 3));
        }
}

/* Devices take the steps that these ops are. */
static void steps_are_taken(void **state)
{
    static const mr_step_kind steps[] = {
        MR_STEP_BRIGHTNESS, MR_STEP_CONTRAST, MR_STEP_SATURATION, MR_STEP_HUE,       MR_STEP_JITTER,
        MR_STEP_GRAYSCALE,  MR_STEP_GAMMA,    MR_STEP_INVERT,     MR_STEP_POSTERIZE, MR_STEP_SOLARIZE,
        MR_STEP_BLUR,       MR_STEP_PERMUTE,  MR_STEP_EQUALIZE,   MR_STEP_SHARPNESS, MR_STEP_AUTOCONTRAST,
        MR_STEP_NOISE,      MR_STEP_ERASE,    MR_STEP_CUTOUT,
    };
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_true(mr__tape_takes_step(steps[i], false)); // none needs doubles
}

int main(void)
{
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 30); // arenas come and go, and their pages are to stay
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_alone),      cmocka_unit_test(parts_of_images), cmocka_unit_test(several),
        cmocka_unit_test(policies),        cmocka_unit_test(large_images),    cmocka_unit_test(finished_numbers),
        cmocka_unit_test(steps_are_taken),
    };
    int failed = cmocka_run_group_tests_name("in the emulator", tests, NULL, NULL);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // who builds kernels for a device is not clean
    opencl_play cl;
    mr__detail detail;
    int result = opencl_play_open(&cl, NULL, &detail);
    if (result != 0) {
        printf("on no device: %s\n", detail.text);
        return failed + (result != MR_EUNSUPPORTED);
    }
    player = (taping){.play = opencl_play_tape, .user = &cl};
    doubles = mr__cl_player_facts(cl.player)->doubles;
    failed += cmocka_run_group_tests_name("on a device", tests, NULL, NULL);
    opencl_play_close(&cl);
#endif
    return failed;
}
