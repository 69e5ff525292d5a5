// SPDX-License-Identifier: Apache-2.0
/* Tapes: passes by kernels give the host's bytes, whatever the order of lanes; what does not fit is said, and undone.
 */
#include "test.h"

#include "picture.h"
#include "taping.h"

static const char *const recipes[] = {
    "resize(31x17)",
    "resize(64, filter=lanczos)",
    "resize(9x130, filter=bicubic)",
    "resize(40x30, filter=nearest)",
    "resize(7x5, filter=box) flip(1)",
    "rrc(32)",
    "rrc(32) flip normalize(imagenet)",
    "rrc(32) flip normalize(imagenet) layout(nhwc)",
    "short(24) center(16) normalize(imagenet) dtype(f16)",
    "short(24) center(16) dtype(bf16) layout(nhwc)",
    "center(200x1, fill=7)",
    "crop(5, pad=90, border=edge)",
    "pad(40/1/0/77) resize(33)",
    "resize(20) pad(5, border=reflect)",
    "resize(20) pad(5, border=symmetric) vflip(1)",
    "rrc(11, scale=0.0001..1, ratio=0.01..100) vflip",
    "resize(20) resize(30) flip resize(10)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {64, 64}, {130, 5}};

static void passes_give_the_same(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                mr_image image = picture_make(sizes[s][0], sizes[s][1], 3, 8, s + 1);
                taping how = {.seed = seed};
                (void)taping_recipe(&how, recipes[r], &image, seed + 7 * r);
                mr_image_fini(&image, NULL);
            }
}

static void channels_of_all_numbers(void **state)
{
    static const char *const words[] = {"gray", "rgb", "rgba"};
    static const uint32_t channels[] = {1, 3, 4};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        char text[80];
        mr_image image = picture_make(41, 29, channels[c], 8, c + 1);
        snprintf(text, sizeof text, "convert(%s) resize(23x50) pad(3) flip(1)", words[c]);
        assert_true(taping_recipe(&(taping){0}, text, &image, 3));
        mr_image_fini(&image, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_give_the_same),
        cmocka_unit_test(channels_of_all_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
