// SPDX-License-Identifier: Apache-2.0
/* Normal numbers beside the C library's, noise beside its definition and distribution, kernels alike, parts as whole.
 */
#include "test.h"

#include "base/rng.h"
#include "kernel/noise.h"
#include "kernel/normal.h"
#include "picture.h"
#include "step/ops.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t word(void)
{
    return picture_random_below(&seed, 65536) << 16 | picture_random_below(&seed, 65536);
}

static double below_by_libm(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static void chances_are_right(void **state)
{
    (void)state;
    for (int i = -12000; i <= 12000; i++)
        assert_true(fabs(mr__normal_below(i / 1000.0) - below_by_libm(i / 1000.0)) < 1e-12);
    assert_true(mr__normal_below(1e300) == 1.0);
    assert_true(mr__normal_below(-1e300) == 0.0);
}

/* What is passed with a chance that differs by less than the density times 2^-20 is right to 2^-20. */
static void check_normal(uint32_t w)
{
    double x = (double)mr__normal_of(w), p = (double)((w & 0x7fffffffu) | 1u) / 0x1p32;
    double density = exp(-x * x / 2) / sqrt(2 * 3.14159265358979);
    assert_true((x > 0) == (w >> 31 != 0) || fabs(x) < 1e-6);
    assert_true(fabs(below_by_libm(-fabs(x)) - p) < density * 0x1p-20);
}

static void numbers_are_normal(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200000; i++)
        check_normal(word());
    for (uint32_t octave = 0; octave < 31; octave++)
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t v = (uint32_t)(((uint64_t)(64 + i) << octave) >> 6);
            check_normal(v);
            check_normal(v | 0x80000000u);
            check_normal(v - 1);
        }
    assert_true(mr__normal_of(0) == -mr__normal_of(0x80000001u));
    assert_true((double)mr__normal_of(UINT32_MAX) < 1e-6);
}

/* Sums of a million: mean, variance, third and fourth moment, and how many lie beyond 3, 4 and 4.5. */
static void numbers_have_normal_moments(void **state)
{
    enum { GROUPS = 1 << 15 };
    static const double beyond[3] = {0.0026997960632601866, 6.334248366623996e-05, 6.795346249460123e-06};
    const uint32_t key[2] = {5, 6};
    mr__noise_kernels kernels;
    double sums[4] = {0}, n = 32.0 * GROUPS;
    uint32_t tails[3] = {0};
    (void)state;
    mr__noise_kernels_init(&kernels, mr__cpu_detect());
    for (uint32_t g = 0; g < GROUPS; g++) {
        float x[MR__NOISE_GROUP];
        kernels.normals(key, g % 64, g / 64, x);
        for (size_t i = 0; i < MR__NOISE_GROUP; i++) {
            double v = (double)x[i], z = v * v;
            sums[0] += v;
            sums[1] += z;
            sums[2] += z * v;
            sums[3] += z * z;
            tails[0] += fabs(v) > 3;
            tails[1] += fabs(v) > 4;
            tails[2] += fabs(v) > 4.5;
        }
    }
    // Four standard deviations of each.
    assert_true(fabs(sums[0] / n) < 4 * sqrt(1 / n));
    assert_true(fabs(sums[1] / n - 1) < 4 * sqrt(2 / n));
    assert_true(fabs(sums[2] / n) < 4 * sqrt(15 / n));
    assert_true(fabs(sums[3] / n - 3) < 4 * sqrt(96 / n));
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(tails[i] - n * beyond[i]) < 4 * sqrt(n * beyond[i]));
}

/* By the counters that noise.h says. */
static void words_are_philox(void **state)
{
    mr__noise_kernels kernels[2];
    (void)state;
    mr__noise_kernels_init(&kernels[0], 0);
    mr__noise_kernels_init(&kernels[1], mr__cpu_detect());
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t key[2] = {word(), word()}, row = i % 2 ? word() : i, group = word() >> (i % 32),
                 made[2][MR__NOISE_GROUP];
        float normals[2][MR__NOISE_GROUP];
        for (size_t k = 0; k < 2; k++) {
            kernels[k].words(key, row, group, made[k]);
            kernels[k].normals(key, row, group, normals[k]);
        }
        for (uint32_t s = 0; s < MR__NOISE_GROUP; s++) {
            uint32_t counter[4] = {8 * group + s % 8, row, 0, 0}, block[4];
            mr__philox(counter, key, block);
            assert_int_equal(made[0][s], block[s / 8]);
        }
        assert_memory_equal(made[0], made[1], sizeof made[0]);
        assert_memory_equal(normals[0], normals[1], sizeof normals[0]);
    }
}

/* The chance of d, as the definition has it: normal, times sigma, plus mean, cut off towards zero, kept or wrapped. */
static double chance_of(int d, double mean, double sigma, bool wrap)
{
    double sum = 0;
    for (int whole = d - (wrap ? 256 * 140 : 0); whole <= d + (wrap ? 256 * 140 : 0); whole += 256) {
        double from = whole > 0 ? whole : whole - 1, to = whole < 0 ? whole : whole + 1;
        if (!wrap && whole == -255)
            from = -1e9;
        if (!wrap && whole == 255)
            to = 1e9;
        double a = (from - mean) / sigma, b = (to - mean) / sigma;
        sum += a > 0 ? below_by_libm(-a) - below_by_libm(-b) : below_by_libm(b) - below_by_libm(a);
    }
    return sum;
}

/* The slots' chances, put together again: exact to 2^-31, and all of them are 1. */
static void check_slots(double mean, double sigma, bool wrap)
{
    const uint32_t key[2] = {1, 2};
    uint64_t weights[MR__NOISE_SLOTS] = {0}, all = 0;
    mr__noise noise;
    mr__noise_init(&noise, mean, sigma, wrap, key);
    for (uint32_t i = 0; i < MR__NOISE_SLOTS; i++) {
        weights[i] += noise.slots[i] >> 9;
        weights[noise.slots[i] & 511] += (1u << 23) - (noise.slots[i] >> 9);
    }
    for (int i = 0; i < MR__NOISE_SLOTS; i++) {
        int d = i - 255;
        double wanted = d > 255 || (wrap && d < 0) ? 0 : chance_of(d, mean, sigma, wrap);
        all += weights[i];
        assert_true(fabs((double)weights[i] / 0x1p32 - wanted) < (wrap ? 140 : 1) * 0x1p-31);
    }
    assert_true(all == UINT64_C(1) << 32);
}

static void slots_have_the_chances_of_the_definition(void **state)
{
    static const double sigmas[] = {1e-6, 0.01, 0.3, 1, 2.55, 25.5, 51, 127.5, 255, 2550, 255000};
    static const double means[] = {0, 0.5, -0.5, 1, -25.5, 100.2, 255, -254.9, 1000, -255000};
    (void)state;
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
        for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
            check_slots(means[m], sigmas[s], false);
            if (fabs(means[m]) + 7 * sigmas[s] < 32768 && sigmas[s] > 0.1)
                check_slots(means[m], sigmas[s], true);
        }
}

static void without_sigma_one_number_is_added(void **state)
{
    static const struct {
        double mean;
        bool wrap;
        int gives;
    } cases[] = {{0, false, 100},   {10.9, false, 110}, {-10.9, false, 90},
                 {300, false, 255}, {-300, true, 56},   {-1e9, false, 0}};
    const uint32_t key[2] = {1, 2};
    mr__noise_kernels kernels;
    (void)state;
    mr__noise_kernels_init(&kernels, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t samples[MR__NOISE_GROUP];
        mr__noise noise;
        memset(samples, 100, sizeof samples);
        mr__noise_init(&noise, cases[i].mean, 0, cases[i].wrap, key);
        kernels.add(&noise, 1, 2, samples);
        for (size_t k = 0; k < MR__NOISE_GROUP; k++)
            assert_int_equal(samples[k], cases[i].gives);
    }
}

/* A million draws of noise(0.1) on middle gray, with the tails in bins of their own. */
static void draws_have_the_chances(void **state)
{
    enum { ROWS = 1 << 10, SAMPLES = 1 << 10, REACH = 100 };
    static uint8_t row[SAMPLES];
    uint32_t counts[2 * REACH + 1] = {0};
    const uint32_t key[2] = {77, 78};
    mr__noise_kernels kernels;
    mr__noise noise;
    double chi = 0, n = (double)ROWS * SAMPLES;
    (void)state;
    mr__noise_kernels_init(&kernels, mr__cpu_detect());
    mr__noise_init(&noise, 0, 25.5, false, key);
    for (uint32_t y = 0; y < ROWS; y++) {
        memset(row, 128, sizeof row);
        mr__noise_add(&kernels, &noise, y, 0, SAMPLES, row);
        for (size_t i = 0; i < SAMPLES; i++) {
            int d = row[i] - 128;
            counts[REACH + (d < -REACH ? -REACH : d > REACH ? REACH : d)]++;
        }
    }
    for (int d = -REACH; d <= REACH; d++) {
        double p = d == -REACH  ? below_by_libm(-REACH / 25.5)
                   : d == REACH ? below_by_libm(-REACH / 25.5)
                                : chance_of(d, 0, 25.5, false);
        chi += (counts[REACH + d] - n * p) * (counts[REACH + d] - n * p) / (n * p);
    }
    // 200 degrees of freedom: 120 to 290 is left less than once in ten thousand times.
    assert_true(chi > 120 && chi < 290);
}

/* Noise of neighbours, rows and keys has nothing to do with each other. */
static void places_are_independent(void **state)
{
    enum { N = 1 << 17 };
    static float x[3][N];
    const uint32_t keys[2][2] = {{1, 0}, {1, 1}};
    mr__noise_kernels kernels;
    double sums[3] = {0};
    (void)state;
    mr__noise_kernels_init(&kernels, mr__cpu_detect());
    mr__noise_normals(&kernels, keys[0], 0, 0, N, x[0]);
    mr__noise_normals(&kernels, keys[0], 1, 0, N, x[1]);
    mr__noise_normals(&kernels, keys[1], 0, 0, N, x[2]);
    for (size_t i = 0; i + 1 < N; i++) {
        sums[0] += (double)x[0][i] * (double)x[0][i + 1];
        sums[1] += (double)x[0][i] * (double)x[1][i];
        sums[2] += (double)x[0][i] * (double)x[2][i];
    }
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(sums[k]) < 4 * sqrt(N));
}

static void kernels_are_alike(void **state)
{
    mr__noise_kernels portable, best;
    (void)state;
    mr__noise_kernels_init(&portable, 0);
    mr__noise_kernels_init(&best, mr__cpu_detect());
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t key[2] = {word(), word()}, group = word();
        uint8_t samples[2][MR__NOISE_GROUP];
        mr__noise noise;
        if (i % 20 == 0)
            mr__noise_init(&noise, (double)(i % 7) * 20 - 60, 1 + (double)(i % 300), i % 40 == 0, key);
        for (size_t k = 0; k < MR__NOISE_GROUP; k++)
            samples[0][k] = samples[1][k] = (uint8_t)(i % 3 == 0 ? 255 * (word() & 1) : word());
        portable.add(&noise, i, group, samples[0]);
        best.add(&noise, i, group, samples[1]);
        assert_memory_equal(samples[0], samples[1], sizeof samples[0]);
    }
}

/* Of a slot with a share of n, the words below n take its own number, and the others its alias. */
static void slots_end_where_they_say(void **state)
{
    mr__noise_kernels kernels[2];
    const uint32_t key[2] = {8, 9};
    uint32_t words[MR__NOISE_GROUP];
    (void)state;
    mr__noise_kernels_init(&kernels[0], 0);
    mr__noise_kernels_init(&kernels[1], mr__cpu_detect());
    kernels[0].words(key, 1, 1, words);
    for (size_t i = 0; i < MR__NOISE_GROUP; i++)
        for (uint32_t more = 0; more < 2; more++) {
            mr__noise noise = {.key = {8, 9}, .wrap = true};
            uint32_t number = words[i] >> 23, share = (words[i] & 0x7fffff) + more;
            noise.slots[number] = share << 9 | 300;
            for (size_t k = 0; k < 2; k++) {
                uint8_t samples[MR__NOISE_GROUP] = {0};
                kernels[k].add(&noise, 1, 1, samples);
                assert_int_equal(samples[i], (uint8_t)((more != 0 ? number : 300) - 255));
            }
        }
}

enum { WIDTH = 61, HEIGHT = 23 };

static void run_op(mr__cpu_flags cpu, mr_rect part, uint32_t channels, uint8_t *pixels)
{
    mr__op op = {.kind = MR__OP_NOISE, .amount = 0.05, .more = 0.2, .whole = 1, .key = {3, 4}};
    mr_image image = {part.width, part.height, channels, 8, (ptrdiff_t)((size_t)part.width * channels), pixels};
    mr__op_work work = {.op = &op, .from = image, .to = image};
    mr_hooks hooks;
    op.width = op.to_width = WIDTH;
    op.height = op.to_height = HEIGHT;
    op.from = op.to = part;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, cpu, &work.tools), 0);
    assert_int_equal(mr__op_noise.run(&work), 0);
    mr__op_tools_free(work.tools);
}

static void parts_equal_the_whole(void **state)
{
    static uint8_t whole[3 * WIDTH * HEIGHT];
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t channels = i % 2 ? 3 : 1;
        mr_rect r = {picture_random_below(&seed, WIDTH), picture_random_below(&seed, HEIGHT), 0, 0};
        r.width = 1 + picture_random_below(&seed, WIDTH - r.x);
        r.height = 1 + picture_random_below(&seed, HEIGHT - r.y);
        size_t row = (size_t)r.width * channels;
        uint8_t *part = malloc(row * r.height);
        assert_non_null(part);
        memset(whole, 90, sizeof whole);
        memset(part, 90, row * r.height);
        run_op(0, (mr_rect){0, 0, WIDTH, HEIGHT}, channels, whole);
        run_op(mr__cpu_detect(), r, channels, part);
        for (uint32_t y = 0; y < r.height; y++)
            assert_memory_equal(part + y * row, whole + ((size_t)(r.y + y) * WIDTH + r.x) * channels, row);
        free(part);
    }
}

/* The same numbers on every machine, in every version. */
static void noise_is_what_it_was(void **state)
{
    static uint8_t whole[3 * WIDTH * HEIGHT];
    uint64_t hash = 0;
    (void)state;
    memset(whole, 90, sizeof whole);
    run_op(mr__cpu_detect(), (mr_rect){0, 0, WIDTH, HEIGHT}, 3, whole);
    for (size_t i = 0; i < sizeof whole; i++)
        hash = (hash ^ whole[i]) * UINT64_C(0x100000001b3);
    for (uint32_t i = 0; i < 1000; i++) {
        float x = mr__normal_of(i * 0x9e3779b1u);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    if (hash != UINT64_C(0x9b46cf50a7688460))
        print_message("0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0x9b46cf50a7688460));
}

static void refuses(mr_step step, const char *words)
{
    mr__detail detail;
    step.kind = MR_STEP_NOISE;
    mr__detail_clear(&detail);
    assert_int_equal(mr__step_noise.settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "noise");
    assert_contains(detail.text, words);
}

static void parameters_are_checked(void **state)
{
    mr_step step = {.kind = MR_STEP_NOISE};
    mr__shape shape = {.channels = 4, .depth = 8};
    mr__detail detail;
    (void)state;
    refuses((mr_step){.sigma = {-0.1}}, "sigma=-0.1");
    refuses((mr_step){.sigma = {(double)NAN}}, "nan");
    refuses((mr_step){.sigma = {1001}}, "1000");
    refuses((mr_step){.center_value = -1e9}, "mean");
    refuses((mr_step){.sigma = {20}, .unclipped = true}, "wrap");
    assert_int_equal(mr__step_noise.settle(&step, &detail), 0);
    assert_true(step.sigma[0] == 0.1);
    assert_int_equal(mr__step_noise.shape(&step, &shape, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "convert(rgb)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_right),
        cmocka_unit_test(numbers_are_normal),
        cmocka_unit_test(numbers_have_normal_moments),
        cmocka_unit_test(words_are_philox),
        cmocka_unit_test(slots_have_the_chances_of_the_definition),
        cmocka_unit_test(without_sigma_one_number_is_added),
        cmocka_unit_test(draws_have_the_chances),
        cmocka_unit_test(places_are_independent),
        cmocka_unit_test(kernels_are_alike),
        cmocka_unit_test(slots_end_where_they_say),
        cmocka_unit_test(parts_equal_the_whole),
        cmocka_unit_test(noise_is_what_it_was),
        cmocka_unit_test(parameters_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
