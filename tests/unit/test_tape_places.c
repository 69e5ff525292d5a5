// SPDX-License-Identifier: Apache-2.0
/*
 * Ops that move pixels, by kernels: the host's bytes, whatever the order of lanes. Every text is run on its own, behind
 * a crop that leaves a part to be made, and before one.
 */
#include "test.h"

#include "picture.h"
#include "taping.h"

#include <stdio.h>
#include <string.h>

static const char *const warps[] = {
    "rotate(0..0)",
    "rotate(90..90, filter=bicubic)",
    "rotate(-3600..3600)",
    "rotate(-3600..3600, filter=bilinear, fill=255)",
    "rotate(45..45, expand=yes, filter=bilinear) center(31x33)",
    "rotate(179.999999..180, center=-65536/65536)",
    "affine(0..0, scale=0.001..0.001)",
    "affine(0..0, scale=1000..1000, filter=bicubic)",
    "affine(30..30, scale=0.001..0.001)",
    "affine(-180..180, translate=1/1, scale=0.1..10, shear=-89..89/-89..89)",
    "affine(-180..180, translate=1/1, scale=0.1..10, shear=-89..89/-89..89, filter=bilinear)",
    "shear(89..89/0..0, filter=bicubic)",
    "shear(-89..-89/89..89)",
    "translate(1/1)",
    "translate(0/0, filter=bicubic)",
    "perspective(1e-6, 1)",
    "perspective(0.5, 1, filter=nearest, fill=9)",
    "perspective(1, 1, filter=bicubic, fill=200)",
    "perspective(1, 1, filter=nearest)",
    "rotate(90..90, expand=yes) rotate(90..90, expand=yes) rotate(270..270, expand=yes) rotate(180..180) center(9)",
    "rotate(90..90, expand=yes) resize(20x30) rotate(270..270, expand=yes) resize(19)",
    "rotate(20..20) center(27x25) rotate(30..30, filter=bilinear)",
    "rotate(10..10) rotate(20..20) flip(1) shear(5..5/0..0) translate(0.5/0.5) rrc(9)",
};

static const char *const elastics[] = {
    "elastic(1e-6/0, sigma=0.001)",
    "elastic(50, sigma=0.5)",
    "elastic(1000000, sigma=0.1, filter=nearest)",
    "elastic(40/90, sigma=1/3, filter=bicubic, fill=77)",
    "elastic(50/20, sigma=2/0.7, filter=nearest, fill=3)",
    "elastic(50, sigma=6, filter=bicubic, fill=3)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {64, 64}, {3000, 2}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* One text on one image, its size at the end known: gray and RGB, alone, behind a crop, before one. */
static size_t run_text(const char *text, uint32_t width, uint32_t height, uint32_t channels, uint64_t number)
{
    static const char *const forms[] = {"%s%s center(%ux%u)", "%srrc(26x21) %s center(%ux%u) normalize(half)",
                                        "%s%s center(%ux%u) rrc(23x17) layout(nhwc)",
                                        "%s%s center(%ux%u) crop(13x11, pad=9)"};
    mr_image image = picture_make(width, height, channels, 8, number + 1);
    size_t compared = 0;
    for (size_t f = 0; f < COUNT(forms); f++) {
        char whole[400];
        taping how = {.seed = (number + f) % 3};
        snprintf(whole, sizeof whole, forms[f], channels == 1 ? "convert(gray) " : "", text, width, height);
        compared += taping_recipe(&how, whole, &image, 5 * number + f);
    }
    mr_image_fini(&image, NULL);
    return compared;
}

static void run_texts(const char *const *texts, size_t count)
{
    for (size_t t = 0; t < count; t++) {
        size_t compared = 0;
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint32_t channels = 1; channels <= 3; channels += 2)
                compared += run_text(texts[t], sizes[s][0], sizes[s][1], channels, 100 * t + 10 * s + channels);
        if (compared < COUNT(sizes))
            fail_msg("%s was compared %zu times", texts[t], compared);
    }
}

static void warps_give_the_same(void **state)
{
    (void)state;
    run_texts(warps, COUNT(warps));
}

static void elastics_give_the_same(void **state)
{
    (void)state;
    run_texts(elastics, COUNT(elastics));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_give_the_same),
        cmocka_unit_test(elastics_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
