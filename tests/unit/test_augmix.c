// SPDX-License-Identifier: Apache-2.0
/* augmix: what it draws, and what its op makes of branches, beside a plain sum. */
#include "test.h"

#include "base/rng.h"
#include "kernel/augmix.h"
#include "step/follow.h"
#include "step/policy.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 300000 };

static mr_step settled(mr_step step)
{
    mr__detail detail = {{0}};
    step.struct_size = sizeof step;
    step.kind = MR_STEP_AUGMIX;
    assert_int_equal(mr__step_augmix.settle(&step, &detail), 0);
    return step;
}

static void resolve(const mr_step *step, uint32_t sample, mr__chain *chain, mr__follow *follow)
{
    uint32_t draws[2];
    mr__rng rng;
    mr__detail detail;
    assert_int_equal(mr__step_draw_count(step), 2);
    mr__rng_init(&rng, 7, 0, sample, 0);
    draws[0] = mr__rng_u32(&rng);
    draws[1] = mr__rng_u32(&rng);
    mr__chain_init(chain, 224, 160, false, follow);
    assert_int_equal(mr__step_augmix.resolve(step, draws, chain, &detail), 0);
    assert_true(chain->follow == follow && !chain->apart);
    assert_int_equal(chain->op[0].kind, MR__OP_AUGMIX);
    assert_int_equal(chain->op_count, 1 + chain->op[0].u.mix.ops);
}

/* Chi-square of so many cells, as a normal number (Wilson and Hilferty): beyond 4.3 about once in 10^5. */
static void check_counts(const uint32_t *counts, const double *parts, size_t cells, double n)
{
    double sum = 0.0, k = (double)cells - 1.0, c = 2.0 / (9.0 * k);
    for (size_t i = 0; i < cells; i++)
        sum += (counts[i] - parts[i] * n) * (counts[i] - parts[i] * n) / (parts[i] * n);
    double z = (cbrt(sum / k) - (1.0 - c)) / sqrt(c);
    if (!(fabs(z) < 4.3))
        fail_msg("chi-square %g of %zu cells", sum, cells);
}

/* Whether a warp that moves nothing is an op at all: then it is counted as one. */
static bool keeps_idle_warps(void)
{
    static mr__chain chain;
    mr__detail detail;
    mr__policy_look look = {MR_SAMPLING_BILINEAR, (const uint8_t[4]){0}};
    mr__chain_init(&chain, 10, 10, true, NULL);
    assert_int_equal(mr__policy_add(&chain, MR__POLICY_TRANSLATE_X, 0.0, look, &detail), 0);
    assert_int_equal(mr__policy_add(&chain, MR__POLICY_ROTATE, 0.0, look, &detail), 0);
    assert_true(chain.op_count == 0 || chain.op_count == 2);
    return chain.op_count == 2;
}

/* One of 13 operations with one of three magnitudes and a sign: which cell of 24, and what share it has. */
static const double op_parts[24] = {
    5.0 / 13,                               /* 0: warps */
    2.0 / 39,                               /* 1, 2: posterize with 4 and 3 bits: of 4, 3.56 and 3.11 */
    1.0 / 39, 1.0 / 39,                     /* 3 to 5: solarize */
    1.0 / 39, 1.0 / 39, 1.0 / 13, 1.0 / 13, /* 6, 7: autocontrast, equalize */
    1.0 / 39, 1.0 / 78, 1.0 / 78, 1.0 / 39, /* 8 to 11: brightness 1, 0.9, 1.1, and both of 0.8 and 1.2 */
    1.0 / 39, 1.0 / 78, 1.0 / 78, 1.0 / 39, 1.0 / 39, 1.0 / 78,
    1.0 / 78, 1.0 / 39, 1.0 / 39, 1.0 / 78, 1.0 / 78, 1.0 / 39,
};

static size_t color_cell(const mr__op *op)
{
    double d = op->amount - 1.0;
    size_t first = op->kind == MR__OP_BRIGHTNESS   ? 8
                   : op->kind == MR__OP_SATURATION ? 12
                   : op->kind == MR__OP_CONTRAST   ? 16
                                                   : 20;
    assert_true(op->kind == MR__OP_SHARPNESS || first != 20);
    assert_true(fabs(d) < 0.21);
    return first + (d == 0.0 ? 0 : fabs(d) > 0.15 ? 3 : d < 0.0 ? 1 : 2);
}

static size_t cell_of(const mr__op *op)
{
    switch (op->kind) {
    case MR__OP_WARP:
        return 0;
    case MR__OP_POSTERIZE:
        assert_true(op->whole == 4 || op->whole == 3);
        return op->whole == 4 ? 1 : 2;
    case MR__OP_SOLARIZE:
        return 3 + (size_t)lround((255.0 - op->amount) / (255.0 / 9.0));
    case MR__OP_AUTOCONTRAST:
        return 6;
    case MR__OP_EQUALIZE:
        return 7;
    default:
        return color_cell(op);
    }
}

/* One to three operations, with a third as likely each; those that are not kept are left out of both. */
static void test_operations(void **state)
{
    (void)state;
    static mr__chain chain;
    mr_step step = settled((mr_step){0});
    uint32_t depths[4] = {0}, cells[24] = {0}, n = test_quick() ? 20000 : 170000;
    double ops = 0.0, idle = keeps_idle_warps() ? 0.0 : 5.0 / 39, kept = 1.0 - idle, parts[24], depth_parts[4];
    assert_int_equal(step.sampling, MR_SAMPLING_BILINEAR);
    for (uint32_t i = 0; i < n; i++) {
        resolve(&step, i, &chain, NULL);
        const mr__mix *mix = &chain.op[0].u.mix;
        assert_int_equal(mix->branches, 3);
        assert_int_equal(mix->depth[0] + mix->depth[1] + mix->depth[2], mix->ops);
        for (size_t k = 0; k < 3; k++)
            depths[mix->depth[k]]++;
        for (size_t k = 1; k < chain.op_count; k++)
            cells[cell_of(&chain.op[k])]++;
        ops += mix->ops;
    }
    for (size_t i = 0; i < 24; i++)
        parts[i] = (op_parts[i] - (i == 0 ? idle : 0.0)) / kept;
    check_counts(cells, parts, 24, ops);
    for (int d = 0; d <= 3; d++) { /* of 1, 2 or 3 operations d are kept */
        depth_parts[d] = 0.0;
        for (int all = d == 0 ? 1 : d; all <= 3; all++) {
            double ways = all == d || d == 0 ? 1.0 : all;
            depth_parts[d] += ways * pow(kept, d) * pow(idle, all - d) / 3.0;
        }
    }
    size_t first = idle == 0.0 ? 1 : 0;
    check_counts(depths + first, depth_parts + first, 4 - first, 3.0 * n);
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The largest distance of sorted numbers from the curve of Beta(1, k), times the root of n. */
static double distance(float *numbers, uint32_t n, double k)
{
    double worst = 0.0;
    qsort(numbers, n, sizeof *numbers, compare);
    for (uint32_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((i + 0.5) / n - (1.0 - pow(1.0 - (double)numbers[i], k))));
    return worst * sqrt(n);
}

/* With alpha 1: the image's own weight is uniform, the branches' parts of the rest are Beta(1, 2). */
static void test_weights(void **state)
{
    (void)state;
    static mr__chain chain;
    static float original[SAMPLES_MAX], share[SAMPLES_MAX];
    uint32_t n = test_quick() ? 20000 : SAMPLES_MAX / 3;
    mr_step step = settled((mr_step){.ops = 1});
    double product = 0.0, means[3] = {0};
    for (uint32_t i = 0; i < n; i++) {
        resolve(&step, i, &chain, NULL);
        const mr__mix *mix = &chain.op[0].u.mix;
        double rest = (double)mix->weight[0] + (double)mix->weight[1] + (double)mix->weight[2];
        assert_true(fabs(rest + (double)mix->original - 1.0) < 1e-6);
        original[i] = mix->original;
        share[i] = rest > 1e-4 ? (float)((double)mix->weight[i % 3] / rest) : 0.0f;
        product += ((double)mix->original - 0.5) * ((double)share[i] - 1.0 / 3.0);
        for (size_t k = 0; k < 3; k++)
            means[k] += (double)mix->weight[k] / n;
    }
    assert_true(distance(original, n, 1.0) < 2.2);
    assert_true(distance(share, n, 2.0) < 2.2);
    assert_true(fabs(product / n) < 4.0 * 0.07 / sqrt(n));
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(means[k] - 1.0 / 6.0) < 4.0 * 0.17 / sqrt(n));
}

/* What is asked for is what there is: branches, their depth, fewer operations; and nobody is told of moves. */
static void test_parameters(void **state)
{
    (void)state;
    static mr__chain chain;
    static mr__follow follow;
    mr_step step = settled((mr_step){.ops = 3, .branches = 10, .few_ops = true, .magnitude = 10, .alpha = {0.01}});
    bool kept = keeps_idle_warps();
    uint32_t warps = 0;
    mr__follow_init(&follow);
    for (uint32_t i = 0; i < 1000; i++) {
        resolve(&step, i, &chain, &follow);
        assert_int_equal(chain.op[0].u.mix.branches, 10);
        for (size_t k = 0; k < 10; k++)
            assert_true(chain.op[0].u.mix.depth[k] <= 3 && (!kept || chain.op[0].u.mix.depth[k] == 3));
        for (size_t k = 1; k < chain.op_count; k++) {
            assert_true(chain.op[k].kind == MR__OP_WARP || chain.op[k].kind >= MR__OP_POSTERIZE);
            assert_true(chain.op[k].kind != MR__OP_SATURATION && chain.op[k].kind != MR__OP_SHARPNESS);
            warps += chain.op[k].kind == MR__OP_WARP;
        }
    }
    assert_true(warps > 10000);
    assert_int_equal(follow.count, 0);
}

/* A branch's op that everybody can have: a function of the program's. */
static int invert(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)draws;
    (void)scratch;
    for (uint32_t y = 0; y < from->height; y++)
        for (size_t x = 0; x < (size_t)from->width * from->channels; x++)
            ((uint8_t *)to->pixels)[(ptrdiff_t)y * to->stride + (ptrdiff_t)x] =
                (uint8_t)(255 - ((const uint8_t *)from->pixels)[(ptrdiff_t)y * from->stride + (ptrdiff_t)x]);
    return 0;
}

static int refuse(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)from;
    (void)to;
    (void)draws;
    (void)scratch;
    return 7;
}

static const mr_user_step inverting = {sizeof inverting, "invert", 1, 0, 0, 0, 0.0, 0, NULL, invert};
static const mr_user_step refusing = {sizeof refusing, "refuse", 1, 0, 0, 0, 0.0, 0, NULL, refuse};

/* Branches of 1, 0 and 2 inversions, and behind them one more op of the list. */
static size_t make_ops(mr__op ops[8], uint32_t width, uint32_t height, const mr_user_step *third)
{
    for (size_t i = 0; i < 5; i++)
        ops[i] = (mr__op){.kind = MR__OP_USER,
                          .width = width,
                          .height = height,
                          .to_width = width,
                          .to_height = height,
                          .from = {0, 0, width, height},
                          .to = {0, 0, width, height},
                          .u.user = {i == 3 ? third : &inverting, NULL}};
    ops[0].kind = MR__OP_AUGMIX;
    ops[0].u.mix =
        (mr__mix){.weight = {0.21f, 0.33f, 0.1f}, .original = 0.36f, .depth = {1, 0, 2}, .branches = 3, .ops = 3};
    return 5;
}

static void fill_noise(uint8_t *bytes, size_t nbytes, uint32_t seed)
{
    mr__rng rng;
    mr__rng_init(&rng, seed, 0, 0, 0);
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)mr__rng_u32(&rng);
}

static uint8_t mixed(uint8_t v)
{
    float sum = 0.36f * (float)v;
    sum = sum + 0.21f * (float)(255 - v);
    sum = sum + 0.33f * (float)v;
    sum = sum + 0.1f * (float)v;
    return (uint8_t)(255 - (int)sum);
}

static void check_mix(uint32_t width, uint32_t height, uint32_t channels, mr__cpu_flags cpu)
{
    mr_hooks hooks;
    mr__op_tools *tools;
    mr__op ops[8];
    mr__detail detail = {{0}};
    size_t row = (size_t)width * channels, stride = row + 5;
    uint8_t *bytes = malloc(stride * height), *was = malloc(stride * height);
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, cpu, &tools), 0);
    fill_noise(bytes, stride * height, width);
    memcpy(was, bytes, stride * height);
    mr_image image = {width, height, channels, 8, (ptrdiff_t)stride, bytes};
    size_t count = make_ops(ops, width, height, &inverting);
    assert_int_equal(mr__ops_run(tools, ops, count, false, &image, &detail), 0);
    for (uint32_t y = 0; y < height; y++) {
        for (size_t x = 0; x < row; x++)
            assert_int_equal(((uint8_t *)image.pixels)[(ptrdiff_t)y * image.stride + (ptrdiff_t)x],
                             mixed(was[y * stride + x]));
        assert_memory_equal(bytes + y * stride + row, was + y * stride + row, stride - row);
    }
    image = (mr_image){width, height, channels, 8, (ptrdiff_t)stride, bytes};
    make_ops(ops, width, height, &refusing);
    assert_int_equal(mr__ops_run(tools, ops, count, false, &image, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "user step refuse gave 7");
    make_ops(ops, width, height, &inverting); /* and goes on working */
    assert_int_equal(mr__ops_run(tools, ops, count, true, &image, &detail), 0);
    mr__op_tools_free(tools);
    free(bytes);
    free(was);
}

static void test_mix(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 7}, {9, 1}, {31, 17}, {64, 5}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t channels = 1; channels <= 3; channels += 2) {
            check_mix(sizes[i][0], sizes[i][1], channels, 0);
            check_mix(sizes[i][0], sizes[i][1], channels, mr__cpu_detect());
        }
}

/* The processor's kernels beside the portable ones, of every length, and nothing behind it is written. */
static void test_kernels(void **state)
{
    (void)state;
    enum { N = 131, ROOM = N + 16 };
    mr__augmix_kernels kernels[2];
    static float sums[2][ROOM];
    static uint8_t in[3][ROOM], out[2][ROOM];
    mr__augmix_kernels_init(&kernels[0], 0);
    mr__augmix_kernels_init(&kernels[1], mr__cpu_detect());
    for (uint32_t n = 0; n <= N; n++) {
        float weights[3] = {(float)n / (N + 1.0f), 0.5f / (float)(n + 2), 0.25f};
        fill_noise(in[0], sizeof in, n);
        memset(in[1], 255, n % 3 == 0 ? ROOM : 0);
        for (size_t k = 0; k < 2; k++) {
            memset(sums[k], 0, sizeof sums[k]);
            memset(out[k], 0x5a, sizeof out[k]);
            kernels[k].begin(sums[k] + 1, in[0] + n % 8, n, weights[0] * 0.5f);
            kernels[k].add(sums[k] + 1, in[1] + n % 5, n, weights[1]);
            kernels[k].end(out[k] + n % 3, sums[k] + 1, in[2] + n % 7, n, weights[2]);
        }
        assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_weights), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_mix),        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
