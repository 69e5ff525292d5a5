// SPDX-License-Identifier: Apache-2.0
/*
 * Ops that move pixels, by kernels: the host's bytes, whatever the order of lanes, and on an OpenCL device where there
 * is one. Every text is run on its own, behind a crop that leaves a part to be made, and before one.
 */
#include "test.h"

#include "picture.h"
#include "step/ops.h"
#include "taping_run.h"

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

static const char *const jpegs[] = {
    "jpeg(1)",      "jpeg(100..100)",       "jpeg(50)",
    "jpeg(1..100)", "resize(4x7) jpeg(75)", "resize(5x200) jpeg(30) rotate(5..5)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {64, 64}, {301, 23}, {3000, 2}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* One text on one image, its size at the end known: gray and RGB, alone, behind a crop, before one. */
static size_t run_text(void **state, const char *text, uint32_t width, uint32_t height, uint32_t channels,
                       uint64_t number)
{
    static const char *const forms[] = {"%s%s center(%ux%u)", "%srrc(26x21) %s center(%ux%u) normalize(half)",
                                        "%s%s center(%ux%u) rrc(23x17) layout(nhwc)",
                                        "%s%s center(%ux%u) crop(13x11, pad=9)"};
    mr_image image = picture_make(width, height, channels, 8, number + 1);
    size_t compared = 0;
    for (size_t f = 0; f < COUNT(forms); f++) {
        char whole[400];
        taping how = taping_by(state, number + f);
        snprintf(whole, sizeof whole, forms[f], channels == 1 ? "convert(gray) " : "", text, width, height);
        compared += taping_recipe(&how, whole, &image, 5 * number + f);
    }
    mr_image_fini(&image, NULL);
    return compared;
}

static void run_texts(void **state, const char *const *texts, size_t count)
{
    for (size_t t = 0; t < count; t++) {
        size_t compared = 0;
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint32_t channels = 1; channels <= 3; channels += 2)
                compared += run_text(state, texts[t], sizes[s][0], sizes[s][1], channels, 100 * t + 10 * s + channels);
        if (compared < COUNT(sizes))
            fail_msg("%s was compared %zu times", texts[t], compared);
    }
}

static void warps_give_the_same(void **state)
{
    run_texts(state, warps, COUNT(warps));
}

static void elastics_give_the_same(void **state)
{
    run_texts(state, elastics, COUNT(elastics));
}

static void jpegs_give_the_same(void **state)
{
    run_texts(state, jpegs, COUNT(jpegs));
}

/* Coefficients whose places are far off, infinite or no numbers; parts that are less than the whole. */
static void places_of_any_kind(void **state)
{
    static const double extremes[][8] = {
        {1, 0, 0, 0, 1, 0, -1.0 / 20.5, 0},        {1, 0, -20.5, 0, 1, 0, -1.0 / 20.5, 0},
        {1, 0, 0, 0, 1, 0, 0, -1.0 / 10.5},        {1e300, 1e300, 1e300, -1e300, 1e300, 0, 1e-300, 1e-300},
        {1e308, 1e308, 0, 1e308, -1e308, 0, 0, 0}, {0, 0, 20, 0, 0, 10, 0, 0},
        {1e9, 3, 4e9, 1e9, 1, -4e9, 0, 0},         {5000, 1, -70000, 1, 5000, -70000, 0, 0},
        {0.9, 0.2, 3, -0.3, 1.1, 5, 1e-3, -2e-3},  {-1e18, 1, 1e19, 1, -1e18, 1e19, 0, 0},
    };
    mr_image image = picture_make(41, 29, 3, 8, 4);
    for (size_t i = 0; i < 6 * COUNT(extremes); i++) {
        taping how = taping_by(state, i);
        mr__op op = {.kind = MR__OP_WARP, .width = 41, .height = 29, .to_width = 50, .to_height = 31};
        op.u.warp = (mr__warp){.perspective = i % 2 == 0,
                               .sampling = (mr_sampling)(MR_SAMPLING_NEAREST + i / 2 % 3),
                               .fill = {1, 2, 3, 4}};
        memcpy(op.u.warp.c, extremes[i / 6], sizeof op.u.warp.c);
        op.from = (mr_rect){0, 0, 41, 29};
        op.to = (mr_rect){0, 0, 50, 31};
        taping_ops(&how, &op, 1, &image);
        op.to = (mr_rect){3, 7, 40, 19};
        op.from = mr__op_types[MR__OP_WARP]->need(&op, op.to);
        taping_ops(&how, &op, 1, &image);
    }
    mr_image_fini(&image, NULL);
}

/* Branches of warps alone; one of them has nothing to do. */
static void branches_are_mixed(void **state)
{
    mr_rect all = {0, 0, 67, 13};
    mr__op warp = {.kind = MR__OP_WARP, .width = 67, .height = 13, .to_width = 67, .to_height = 13, .from = all};
    warp.to = all;
    for (uint32_t branches = 1; branches <= MR__BRANCHES_MAX; branches++) {
        taping how = taping_by(state, branches);
        mr__op ops[2 + 2 * MR__BRANCHES_MAX];
        mr_image image = picture_make(67, 13, branches % 2 == 0 ? 1 : 3, 8, branches);
        size_t count = 1;
        ops[0] = (mr__op){.kind = MR__OP_AUGMIX, .width = 67, .height = 13, .to_width = 67, .to_height = 13};
        ops[0].from = ops[0].to = all;
        ops[0].u.mix = (mr__mix){.branches = branches, .original = 0.25f};
        for (uint32_t i = 0; i < branches; i++) {
            ops[0].u.mix.weight[i] = 0.7499f / (float)branches;
            ops[0].u.mix.depth[i] = (uint8_t)(i % 3);
            for (uint32_t k = 0; k < i % 3; k++) {
                const double c[8] = {1.0 + 0.01 * i, 0.1 * k, i, 0.05, 1.0 - 0.02 * k, -1.0};
                ops[count] = warp;
                ops[count].u.warp = (mr__warp){.sampling = (mr_sampling)(MR_SAMPLING_NEAREST + (i + k) % 3)};
                memcpy(ops[count++].u.warp.c, c, sizeof c);
            }
        }
        ops[0].u.mix.ops = (uint32_t)count - 1;
        ops[count++] = warp;
        ops[count - 1].u.warp.quarter = 2;
        taping_ops(&how, ops, count, &image);
        mr_image_fini(&image, NULL);
    }
}

static void turned_and_converted(void **state)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint32_t from = 1; from <= 4; from++) {
            taping how = taping_by(state, s + from);
            mr_image image = picture_make(sizes[s][0], sizes[s][1], from, 8, from);
            for (uint32_t orientation = 0; orientation <= 8; orientation++)
                taping_convert(&how, &image, orientation, 1 + (from + orientation) % 4);
            for (uint32_t to = 1; to <= 4; to++)
                taping_convert(&how, &image, 0, to);
            mr_image_fini(&image, NULL);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_give_the_same), cmocka_unit_test(elastics_give_the_same),
        cmocka_unit_test(jpegs_give_the_same), cmocka_unit_test(places_of_any_kind),
        cmocka_unit_test(branches_are_mixed),  cmocka_unit_test(turned_and_converted),
    };
    return taping_run(tests, COUNT(tests));
}
