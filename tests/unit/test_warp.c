// SPDX-License-Identifier: Apache-2.0
/* Turned and bent images: bit for bit those of torchvision on Pillow, in parts as in one, by every kernel. */
#include "test.h"

#include "../golden/warp_golden.h"
#include "base/hash.h"
#include "kernel/warp.h"
#include "picture.h"
#include "step/op.h"
#include "step/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static mr__chain chain;
static mr_hooks hooks;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static double between(double low, double high)
{
    return low + (high - low) * ((double)picture_random(&seed) * 0x1p-32);
}

static mr__op_tools *tools_of(mr__cpu_flags cpu)
{
    mr__op_tools *tools;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, cpu, &tools), 0);
    return tools;
}

static mr_image make(uint32_t width, uint32_t height, uint32_t channels)
{
    mr_image image = {width, height, channels, 8, (ptrdiff_t)width * (ptrdiff_t)channels, NULL};
    image.pixels = malloc((size_t)width * height * channels);
    assert_non_null(image.pixels);
    return image;
}

/* A copy with nothing behind it, so that a sanitizer sees what is read there. */
static mr_image copy_part(const mr_image *image, mr_rect part)
{
    mr_image copy = make(part.width, part.height, image->channels);
    for (uint32_t y = 0; y < part.height; y++)
        memcpy((uint8_t *)copy.pixels + y * copy.stride,
               (const uint8_t *)image->pixels + (ptrdiff_t)(part.y + y) * image->stride + part.x * image->channels,
               (size_t)copy.stride);
    return copy;
}

/* Runs what is in the chain, on a copy; free its pixels. */
static mr_image run_chain(mr__cpu_flags cpu, const mr_image *image)
{
    mr__detail detail;
    mr__op_tools *tools = tools_of(cpu);
    mr_image now = copy_part(image, (mr_rect){0, 0, image->width, image->height});
    void *pixels = now.pixels;
    assert_int_equal(mr__ops_run(tools, chain.op, chain.op_count, false, &now, &detail), 0);
    mr_image result = copy_part(&now, (mr_rect){0, 0, now.width, now.height});
    free(pixels);
    mr__op_tools_free(tools);
    return result;
}

static void begin(const struct golden *g, mr__follow *follow)
{
    mr__detail detail;
    const double *center = g->has_center ? g->center : NULL, *n = g->numbers;
    mr__chain_init(&chain, g->width, g->height, false, follow);
    chain.branch = true; /* ops alone: half a turn would be a pass that flips */
    if (g->kind == MR__MOVE_ROTATE) {
        assert_int_equal(mr__chain_rotate(&chain, n[0], g->expand, center, g->sampling, g->fill, &detail), 0);
    } else if (g->kind == MR__MOVE_AFFINE) {
        mr__affine affine = {n[0], {n[1], n[2]}, n[3], {n[4], n[5]}, g->has_center, {g->center[0], g->center[1]}};
        assert_int_equal(mr__chain_affine(&chain, &affine, g->sampling, g->fill, &detail), 0);
    } else {
        int32_t corners[4][2];
        for (size_t i = 0; i < 8; i++)
            corners[i / 2][i % 2] = (int32_t)n[i];
        assert_int_equal(mr__chain_perspective(&chain, (const int32_t(*)[2])corners, g->sampling, g->fill, &detail), 0);
    }
}

static void compare_golden(const struct golden *g, size_t number, mr__cpu_flags cpu)
{
    mr_image image = make(g->width, g->height, g->channels);
    picture_noise(image.pixels, (size_t)image.stride * image.height, 7);
    begin(g, NULL);
    mr_image got = run_chain(cpu, &image);
    assert_int_equal(got.width, g->to_width);
    assert_int_equal(got.height, g->to_height);
    if (mr__hash(got.pixels, (size_t)got.stride * got.height) != g->hash)
        fail_msg("golden %zu: %u x %u of %u channels, sampling %d, is not what torchvision gives", number, g->width,
                 g->height, g->channels, (int)g->sampling);
    free(got.pixels);
    free(image.pixels);
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        compare_golden(&goldens[i], i, 0);
        compare_golden(&goldens[i], i, mr__cpu_detect());
    }
}

/* Libraries of mathematics are not right to the last place, and neither are we; all are to a unit of it. */
static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= fabs(wanted) * 0x1p-52))
        fail_msg("%a is not %a", got, wanted);
}

static void test_reals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden_reals / sizeof *golden_reals; i++) {
        double x = golden_reals[i].x;
        assert_near(mr__real_sin(x), golden_reals[i].sin);
        assert_near(mr__real_cos(x), golden_reals[i].cos);
        assert_near(mr__real_tan(x), golden_reals[i].tan);
        assert_true(mr__real_round_15(golden_reals[i].cos) == golden_reals[i].round);
        assert_true(mr__real_round_15(-golden_reals[i].cos) == -golden_reals[i].round);
    }
    assert_true(mr__real_sin(0.0) == 0.0 && mr__real_cos(0.0) == 1.0 && mr__real_tan(0.0) == 0.0);
    assert_true(mr__real_round_15(0x1.1a62633145c07p-54) == 0.0);
    assert_true(mr__real_round_15(0.1234567890123456) == 0.123456789012346);
}

/* Any warp, reasonable or not. */
static mr__warp some_warp(uint32_t width, uint32_t height)
{
    mr__warp warp = {.sampling = (mr_sampling)(1 + below(3)), .fill = {9, 200, 77, 0}};
    double angle = between(-4.0, 4.0), scale = below(3) == 0 ? pow(10.0, between(-4.0, 4.0)) : between(0.4, 2.0);
    bool is_scale = below(4) == 0;
    warp.c[0] = is_scale ? (below(2) == 0 ? 1.0 : scale) : cos(angle) * scale;
    warp.c[1] = is_scale ? 0.0 : sin(angle) * scale;
    warp.c[3] = is_scale ? 0.0 : below(4) == 0 ? 0.0 : -sin(angle) * scale;
    warp.c[4] = is_scale ? scale : cos(angle) * scale;
    if (below(8) == 0)
        warp.c[0] = 1.0;
    warp.c[2] = below(2) == 0 ? (double)below(9) - 4.0 : between(-1.0, 1.0) * width;
    warp.c[5] = below(2) == 0 ? (double)below(9) - 4.0 : between(-1.0, 1.0) * height;
    warp.perspective = below(4) == 0;
    warp.c[6] = between(-1.0, 1.0) * (below(2) == 0 ? 0.5 : 3.0) / width;
    warp.c[7] = between(-1.0, 1.0) * (below(2) == 0 ? 0.5 : 3.0) / height;
    if (below(8) == 0)
        warp.quarter = 1 + below(3);
    return warp;
}

static mr_image run_op(mr__op_tools *tools, const mr__op *op, const mr_image *image)
{
    mr__detail detail;
    mr_image now = copy_part(image, op->from);
    void *pixels = now.pixels;
    assert_int_equal(mr__ops_run(tools, op, 1, false, &now, &detail), 0);
    mr_image result = copy_part(&now, (mr_rect){0, 0, now.width, now.height});
    free(pixels);
    return result;
}

static void compare_part(mr__op_tools *tools, mr__op op, const mr_image *image, const mr_image *whole)
{
    op.to = picture_random_rect(&seed, op.to_width, op.to_height);
    op.from = mr__op_types[MR__OP_WARP]->need(&op, op.to);
    assert_true(op.from.width >= 1 && op.from.height >= 1);
    assert_true(op.from.x + op.from.width <= op.width && op.from.y + op.from.height <= op.height);
    mr_image part = run_op(tools, &op, image);
    const double *c = op.u.warp.c;
    if (!picture_is_part(whole, op.to, &part))
        fail_msg("a part of %u x %u at %u, %u of %u x %u: %a %a %a %a %a %a %a %a, sampling %d", op.to.width,
                 op.to.height, op.to.x, op.to.y, op.to_width, op.to_height, c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                 c[7], (int)op.u.warp.sampling);
    free(part.pixels);
}

/* What a part looks at is what it is given, and the part is that of the whole; by every kernel. */
static void test_parts(void **state)
{
    (void)state;
    mr__op_tools *portable = tools_of(0), *tools = tools_of(mr__cpu_detect());
    for (uint32_t i = 0; i < (test_quick() ? 200 : 1500); i++) {
        uint32_t width = 1 + below(below(4) == 0 ? 3 : 90), height = 1 + below(below(4) == 0 ? 3 : 90);
        mr_image image = picture_make(width, height, below(2) == 0 ? 1 : 3, 8, i);
        mr__op op = {.kind = MR__OP_WARP, .width = width, .height = height, .to_width = width, .to_height = height};
        op.u.warp = some_warp(width, height);
        if (op.u.warp.quarter == 0) {
            op.to_width = 1 + below(90);
            op.to_height = 1 + below(90);
        } else if (op.u.warp.quarter % 2 == 1) {
            op.to_width = height;
            op.to_height = width;
        }
        op.from = (mr_rect){0, 0, width, height};
        op.to = (mr_rect){0, 0, op.to_width, op.to_height};
        mr_image whole = run_op(portable, &op, &image), again = run_op(tools, &op, &image);
        picture_compare(&again, &whole, "by this processor's kernels");
        for (size_t k = 0; k < 3; k++)
            compare_part(k == 0 ? portable : tools, op, &image, &whole);
        free(again.pixels);
        free(whole.pixels);
        mr_image_fini(&image, NULL);
    }
    mr__op_tools_free(portable);
    mr__op_tools_free(tools);
}

/* Coefficients that no step gives: nothing is read that is not there, no number leaves its type. */
static void test_extremes(void **state)
{
    (void)state;
    static const double odd[] = {0.0,  -0.0, 1.0,    -1.0, 1e-300,  1e300,    INFINITY,  -INFINITY,
                                 NAN,  1e9,  -1e9,   0.5,  32767.5, -32768.0, 65536.0,   1e-6,
                                 4e18, 3.0,  1e-320, 2e9,  -2e9,    33000.0,  -70000.25, 1.0 / 3.0};
    mr__op_tools *portable = tools_of(0), *tools = tools_of(mr__cpu_detect());
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t width = 1 + below(20), height = 1 + below(20);
        mr_image image = picture_make(width, height, below(2) == 0 ? 1 : 3, 8, i);
        mr__op op = {.kind = MR__OP_WARP, .width = width, .height = height, .to_width = 1 + below(30)};
        op.to_height = 1 + below(9);
        op.u.warp = some_warp(width, height);
        op.u.warp.quarter = 0;
        for (uint32_t k = 0; k < 1 + below(4); k++)
            op.u.warp.c[below(8)] = odd[below(sizeof odd / sizeof *odd)];
        op.from = (mr_rect){0, 0, width, height};
        op.to = (mr_rect){0, 0, op.to_width, op.to_height};
        mr_image whole = run_op(portable, &op, &image), again = run_op(tools, &op, &image);
        picture_compare(&again, &whole, "by this processor's kernels");
        compare_part(tools, op, &image, &whole);
        free(again.pixels);
        free(whole.pixels);
        mr_image_fini(&image, NULL);
    }
    mr__op_tools_free(portable);
    mr__op_tools_free(tools);
}

/* Places where roundings meet: middles and edges of pixels, and what is next to them. */
static double some_place(uint32_t side)
{
    static const double odd[] = {-0.0, NAN, INFINITY, -INFINITY, 1e300, -1e-300, 1e-17, 3e9, -3e9};
    double place = (double)below(2 * side + 1) * 0.5;
    switch (below(8)) {
    case 0:
        return odd[below(sizeof odd / sizeof *odd)];
    case 1:
        return place;
    case 2:
        return nextafter(place, below(2) == 0 ? -1e9 : 1e9);
    case 3:
        return place + between(-1e-7, 1e-7);
    case 4:
        return place + (double)below(256) / 256.0;
    default:
        return between(-2.0, (double)side + 2.0);
    }
}

/* Noise, one color, slopes, two values. */
static void paint(mr_image *image, uint32_t kind)
{
    uint8_t *bytes = image->pixels;
    size_t nbytes = (size_t)image->stride * image->height;
    picture_noise(bytes, nbytes, (uint32_t)seed);
    for (size_t i = 0; kind != 0 && i < nbytes; i++)
        bytes[i] = kind == 1   ? (uint8_t)(i % 3 * 100)
                   : kind == 2 ? (uint8_t)(i / image->channels % image->width)
                               : (uint8_t)(bytes[i] < 128 ? 0 : 255);
}

static void compare_kernels(const mr__warp_kernels *portable, const mr__warp_kernels *other, const mr__warp_view *view)
{
    enum { N = 61 };
    double xs[N], ys[N], more[2][N];
    uint8_t wanted[3 * N + 8], got[3 * N + 8];
    size_t n = 1 + below(N), channels = view->channels == 1 ? 0 : 1;
    for (size_t i = 0; i < n; i++) {
        xs[i] = some_place((uint32_t)view->whole_width);
        ys[i] = some_place((uint32_t)view->whole_height);
    }
    for (size_t kind = 0; kind < MR__WARP_KINDS; kind++) {
        memset(wanted, 0xa5, sizeof wanted);
        memset(got, 0xa5, sizeof got);
        portable->sample[kind][channels](view, xs, ys, n, wanted);
        other->sample[kind][channels](view, xs, ys, n, got);
        for (size_t i = 0; i < sizeof got; i++)
            if (got[i] != wanted[i])
                fail_msg("sampling %zu, %d x %d, byte %zu: %u and not %u, from %a, %a", kind, (int)view->whole_width,
                         (int)view->whole_height, i, got[i], wanted[i], xs[i / view->channels % n],
                         ys[i / view->channels % n]);
    }
    mr__warp warp = some_warp(50, 50);
    uint32_t x = below(30000), y = below(30000);
    portable->place_affine(warp.c, x, y, n, xs, ys);
    other->place_affine(warp.c, x, y, n, more[0], more[1]);
    assert_memory_equal(xs, more[0], n * sizeof *xs);
    assert_memory_equal(ys, more[1], n * sizeof *ys);
    portable->place_perspective(warp.c, x, y, n, xs, ys);
    other->place_perspective(warp.c, x, y, n, more[0], more[1]);
    assert_memory_equal(xs, more[0], n * sizeof *xs);
    assert_memory_equal(ys, more[1], n * sizeof *ys);
}

/* Perspectives of nearest pixels: any, tame ones, and such that have many places at pixels' edges. */
static void compare_seen(const mr__warp_kernels *portable, const mr__warp_kernels *other, const mr__warp_view *view)
{
    enum { N = 301 };
    uint8_t wanted[3 * N + 8], got[3 * N + 8];
    size_t n = 1 + below(N), channels = view->channels == 1 ? 0 : 1;
    mr__warp warp = some_warp((uint32_t)view->whole_width, (uint32_t)view->whole_height);
    uint32_t kind = below(3), x = below(kind == 0 ? 30000 : 20), y = below(kind == 0 ? 30000 : 60);
    for (size_t i = 0; kind != 0 && i < 8; i++)
        warp.c[i] = kind == 1 ? between(-1.0, 1.0) * (i % 3 == 2 ? 20.0 : 1.0) : ((double)below(9) - 4.0) / 4.0;
    warp.c[6] = kind == 2 && below(2) == 0 ? 0.0 : between(-1.0, 1.0) * (below(2) == 0 ? 1e-3 : 0.1);
    warp.c[7] = kind == 2 && below(2) == 0 ? 0.0 : between(-1.0, 1.0) * (below(2) == 0 ? 1e-3 : 0.1);
    memset(wanted, 0xa5, sizeof wanted);
    memset(got, 0xa5, sizeof got);
    portable->seen[channels](view, warp.c, x, y, n, wanted);
    other->seen[channels](view, warp.c, x, y, n, got);
    for (size_t i = 0; i < sizeof got; i++)
        if (got[i] != wanted[i])
            fail_msg("seen, %d x %d, %zu pixels from %u, %u, byte %zu: %u and not %u", (int)view->whole_width,
                     (int)view->whole_height, n, x, y, i, got[i], wanted[i]);
}

static void test_kernels(void **state)
{
    (void)state;
    mr__warp_kernels portable, other;
    mr__warp_kernels_init(&portable, 0);
    mr__warp_kernels_init(&other, mr__cpu_detect());
    for (uint32_t i = 0; i < (test_quick() ? 1000 : 8000); i++) {
        mr_image image = make(1 + below(below(2) == 0 ? 6 : 60), 1 + below(below(2) == 0 ? 6 : 60), below(2) * 2 + 1);
        paint(&image, below(4));
        mr__warp_view view = {.pixels = image.pixels,
                              .stride = image.stride,
                              .width = (int32_t)image.width,
                              .height = (int32_t)image.height,
                              .whole_width = (int32_t)image.width,
                              .whole_height = (int32_t)image.height,
                              .channels = image.channels,
                              .fill = {1, 2, 3, 0}};
        compare_kernels(&portable, &other, &view);
        for (uint32_t k = 0; k < 4; k++)
            compare_seen(&portable, &other, &view);
        free(image.pixels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),   cmocka_unit_test(test_reals),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
