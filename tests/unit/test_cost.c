// SPDX-License-Identifier: Apache-2.0
/*
 * What tasks will cost: models against truths that are known, and features against what they are of. Nothing is timed
 * here: times are made from a formula and noise. bench/cost is for those that were taken.
 */
#include "test.h"

#include "base/rng.h"
#include "route/cost.h"

#include <float.h>
#include <math.h>
#include <millrace/millrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 80 };

static double even(mr__rng *rng)
{
    return ((double)mr__rng_u32(rng) + 0.5) * 0x1p-32;
}

static double normal(mr__rng *rng)
{
    return sqrt(-2.0 * log(even(rng))) * cos(6.283185307179586 * even(rng));
}

static mr__rng stream(uint32_t number)
{
    mr__rng rng;
    mr__rng_init(&rng, 10, 0, number, 0);
    return rng;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* A task of some kinds of work, each a share of it that is drawn. */
static mr__features draw_features(mr__rng *rng)
{
    mr__features f = {.ns = {[MR__WORK_TASK] = 5000.0f}};
    for (size_t i = 1; i < MR__WORK_KINDS; i++)
        if (even(rng) < 0.6)
            f.ns[i] = (float)(100000.0 * exp(normal(rng)));
    return f;
}

static double truth(const double *weight, const mr__features *f)
{
    double sum = 0.0;
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        sum += weight[i] * (double)f->ns[i];
    return sum;
}

static void draw_weights(mr__rng *rng, double weight[MR__WORK_KINDS])
{
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        weight[i] = i % 5 == 4 ? 0.0 : exp(1.2 * normal(rng));
}

static uint64_t noisy(mr__rng *rng, double ns, double sigma)
{
    return (uint64_t)(ns * exp(sigma * normal(rng)));
}

static void teach(mr__cost *cost, mr__rng *rng, const double *weight, double factor, double sigma, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        mr__features f = draw_features(rng);
        mr__cost_learn(cost, &f, noisy(rng, factor * truth(weight, &f), sigma));
    }
}

/* The median of |predicted / true - 1|. */
static double error_of(const mr__cost *cost, mr__rng *rng, const double *weight, double factor)
{
    double errors[400];
    for (size_t i = 0; i < 400; i++) {
        mr__features f = draw_features(rng);
        errors[i] = fabs(mr__cost_predict(cost, &f) / (factor * truth(weight, &f)) - 1.0);
    }
    return median(errors, 400);
}

/* How far predictions are off on the whole: the sum of them over the sum of the true ones, less 1. */
static double bias_of(const mr__cost *cost, mr__rng *rng, const double *weight, double factor)
{
    double predicted = 0.0, is = 0.0;
    for (size_t i = 0; i < 400; i++) {
        mr__features f = draw_features(rng);
        predicted += mr__cost_predict(cost, &f);
        is += factor * truth(weight, &f);
    }
    return predicted / is - 1.0;
}

static void assert_sound(const mr__cost *cost)
{
    assert_true(isfinite(cost->scale) && cost->scale > 0.0);
    assert_true(isfinite(mr__cost_sigma(cost)) && mr__cost_sigma(cost) >= 0.0);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        assert_true(isfinite(cost->weight[i]) && cost->weight[i] >= 0.0);
}

static void the_truth_is_found(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 20; turn++) {
        mr__rng rng = stream(turn);
        double weight[MR__WORK_KINDS];
        mr__cost cost;
        draw_weights(&rng, weight);
        mr__cost_init(&cost);
        teach(&cost, &rng, weight, 1.0, 0.0, 500);
        assert_sound(&cost);
        assert_true(error_of(&cost, &rng, weight, 1.0) < 0.05);
        assert_true(mr__cost_sigma(&cost) < 0.25);
        teach(&cost, &rng, weight, 1.0, 0.3, 2000);
        assert_true(error_of(&cost, &rng, weight, 1.0) < 0.10);
        assert_true(mr__cost_sigma(&cost) > 0.2 && mr__cost_sigma(&cost) < 0.4);
    }
}

static void the_first_samples_set_the_scale(void **state)
{
    (void)state;
    mr__features f = {.ns = {[MR__WORK_TASK] = 5000.0f, [MR__WORK_DECODED] = 100000.0f}};
    mr__cost cost;
    mr__cost_init(&cost);
    assert_true(fabs(mr__cost_predict(&cost, &f) - 105000.0) < 1.0);
    assert_true(mr__cost_sigma(&cost) == 0.5);
    mr__cost_learn(&cost, &f, 105000000);
    assert_true(fabs(mr__cost_predict(&cost, &f) / 105000000.0 - 1.0) < 1e-6);
}

static void a_cost_that_changes_is_followed(void **state)
{
    (void)state;
    static const double factors[] = {4.0, 0.25, 2.0, 0.5, 1.3, 100.0};
    for (uint32_t turn = 0; turn < 60; turn++) {
        mr__rng rng = stream(100 + turn);
        double weight[MR__WORK_KINDS], factor = factors[turn % 6];
        mr__cost cost;
        draw_weights(&rng, weight);
        mr__cost_init(&cost);
        teach(&cost, &rng, weight, 1.0, 0.05, 1000);
        double before = bias_of(&cost, &rng, weight, 1.0);
        teach(&cost, &rng, weight, factor, 0.05, (size_t)3 * BATCH);
        double after = bias_of(&cost, &rng, weight, factor);
        if (fabs(after) > 0.05)
            fail_msg("%g times as dear: %+.3f before, %+.3f after three batches", factor, before, after);
    }
}

/* Where samples are far from each other, the mean of three batches is what can be had. */
static void a_change_is_seen_in_noise(void **state)
{
    (void)state;
    double errors[60];
    for (uint32_t turn = 0; turn < 60; turn++) {
        mr__rng rng = stream(800 + turn);
        double weight[MR__WORK_KINDS], factor = turn % 2 == 0 ? 4.0 : 0.25, mean = exp(0.3 * 0.3 / 2.0);
        mr__cost cost;
        draw_weights(&rng, weight);
        mr__cost_init(&cost);
        teach(&cost, &rng, weight, 1.0, 0.3, 1000);
        teach(&cost, &rng, weight, factor, 0.3, (size_t)3 * BATCH);
        errors[turn] = fabs(bias_of(&cost, &rng, weight, factor * mean));
    }
    assert_true(median(errors, 60) < 0.05);
    assert_true(errors[59] < 0.15);
}

/* A slow device has few samples of a batch: five of 80. */
static void few_samples_are_enough_to_leap(void **state)
{
    (void)state;
    double errors[40];
    for (uint32_t turn = 0; turn < 40; turn++) {
        mr__rng rng = stream(200 + turn);
        double weight[MR__WORK_KINDS], factor = turn % 2 == 0 ? 4.0 : 0.25;
        mr__cost cost;
        draw_weights(&rng, weight);
        mr__cost_init(&cost);
        teach(&cost, &rng, weight, 1.0, 0.1, 1000);
        teach(&cost, &rng, weight, factor, 0.1, 15);
        errors[turn] = fabs(bias_of(&cost, &rng, weight, factor));
    }
    assert_true(median(errors, 40) < 0.05);
    assert_true(errors[39] < 0.2);
}

static void a_new_device_learns_its_own(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 20; turn++) {
        mr__rng rng = stream(300 + turn);
        double weight[MR__WORK_KINDS];
        mr__cost cpu, other;
        draw_weights(&rng, weight);
        mr__cost_init(&cpu);
        teach(&cpu, &rng, weight, 1.0, 0.1, 1000);
        mr__cost_init_like(&other, &cpu, 8.0);
        assert_true(fabs(bias_of(&other, &rng, weight, 0.125)) < 0.06); // where it is so fast, at once
        mr__cost_init_like(&other, &cpu, 8.0);
        teach(&other, &rng, weight, 2.0, 0.1, BATCH / 4); // it is 16 times as slow: within a batch
        assert_true(fabs(bias_of(&other, &rng, weight, 2.0)) < 0.1);
        mr__cost_init_like(&other, &cpu, 0.0); // no speed at all
        assert_sound(&other);
    }
}

static void outliers_ruin_nothing(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 20; turn++) {
        mr__rng rng = stream(400 + turn);
        double weight[MR__WORK_KINDS];
        mr__cost cost;
        draw_weights(&rng, weight);
        mr__cost_init(&cost);
        teach(&cost, &rng, weight, 100.0, 0.1, turn % 3); // the very first ones, too
        teach(&cost, &rng, weight, 1.0, 0.1, 1000);
        for (size_t i = 0; i < 20; i++) {
            double before = bias_of(&cost, &rng, weight, 1.0);
            teach(&cost, &rng, weight, 100.0, 0.1, 1);
            double after = bias_of(&cost, &rng, weight, 1.0);
            if (fabs(after) > 0.08 || fabs(after - before) > 0.03)
                fail_msg("an outlier: %+.3f before, %+.3f after, sigma %.3f", before, after, mr__cost_sigma(&cost));
            teach(&cost, &rng, weight, 1.0, 0.1, 50);
        }
        teach(&cost, &rng, weight, 100.0, 0.1, 2); // two in a row
        assert_true(fabs(bias_of(&cost, &rng, weight, 1.0)) < 0.05);
        assert_true(error_of(&cost, &rng, weight, 1.0) < 0.1);
        if (mr__cost_sigma(&cost) > 0.25)
            fail_msg("sigma %.3f", mr__cost_sigma(&cost));
    }
}

static void nothing_drifts(void **state)
{
    (void)state;
    mr__rng rng = stream(500);
    double weight[MR__WORK_KINDS];
    mr__cost cost;
    draw_weights(&rng, weight);
    mr__cost_init(&cost);
    teach(&cost, &rng, weight, 1.0, 0.5, 5000);
    double scale = cost.scale;
    for (size_t i = 0; i < (test_quick() ? 2u : 20u); i++) {
        teach(&cost, &rng, weight, 1.0, 0.5, 10000);
        assert_true(cost.scale < 3.0 * scale && cost.scale > scale / 3.0);
        double mean = exp(0.5 * 0.5 / 2.0) - 1.0; // of the noise, which the mean of times is above the truth by
        assert_true(fabs(bias_of(&cost, &rng, weight, 1.0) - mean) < 0.15);
    }
    mr__features same = draw_features(&rng); // one task over and over tells nothing of the others
    for (size_t i = 0; i < (test_quick() ? 20000u : 200000u); i++)
        mr__cost_learn(&cost, &same, 1000000);
    assert_sound(&cost);
    assert_true(fabs(mr__cost_predict(&cost, &same) / 1e6 - 1.0) < 0.01);
}

static void any_numbers_are_taken(void **state)
{
    (void)state;
    static const float odd[] = {0.0f, 1e-30f, 1.0f, 1e5f, 1e15f, FLT_MAX, NAN, -1.0f, INFINITY, FLT_MIN, 1e-40f, -0.0f};
    static const uint64_t times[] = {0, 1, 2, 1000000, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 53};
    mr__rng rng = stream(600);
    mr__cost cost;
    mr__cost_init(&cost);
    for (size_t i = 0; i < (test_quick() ? 20000u : 200000u); i++) {
        mr__features f;
        uint32_t kinds = i % 3 == 0 ? sizeof odd / sizeof *odd : 6; // all, or those that are numbers
        for (size_t k = 0; k < MR__WORK_KINDS; k++)
            f.ns[k] = odd[mr__rng_below(&rng, kinds)];
        mr__cost_learn(&cost, &f, times[mr__rng_below(&rng, sizeof times / sizeof *times)]);
        double ns = mr__cost_predict(&cost, &f);
        assert_true(isfinite(ns) && ns >= 1.0);
        assert_sound(&cost);
    }
    mr__features none = {{0}};
    assert_true(mr__cost_predict(&cost, &none) >= 1.0);
    double weight[MR__WORK_KINDS] = {NAN, INFINITY, -1.0};
    mr__cost_restore(&cost, weight, NAN, INFINITY, UINT64_MAX);
    assert_sound(&cost);
    mr__cost_learn(&cost, &none, UINT64_MAX);
    assert_sound(&cost);
}

/* --- features --- */

static mr_recipe *recipe_of(const char *text)
{
    mr_recipe *recipe;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    return recipe;
}

static mr__features features_of(const char *text, uint64_t key, const mr__header *header)
{
    static mr__chain chain;
    static uint32_t draws[512];
    mr_recipe *recipe = recipe_of(text);
    mr__features f;
    assert_true(mr__recipe_draw_count(recipe) <= 512);
    mr__recipe_draw(recipe, 1, 0, key, draws);
    mr__features_of(recipe, draws, header, &chain, &f);
    mr_recipe_free(recipe);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        assert_true(isfinite(f.ns[i]) && f.ns[i] >= 0.0f);
    return f;
}

static bool about(float a, double b)
{
    return fabs((double)a - b) <= 1e-3 * (fabs(b) + 1e-9);
}

/* Of a task that is a part of the image, and no more. */
static mr__features features_of_part(mr_rect part, const mr__header *header)
{
    static mr__chain chain;
    mr__detail detail;
    mr__features f;
    mr__chain_init(&chain, header->width, header->height, false, NULL);
    assert_int_equal(mr__chain_crop(&chain, part, &detail), 0);
    mr__chain_narrow(&chain);
    mr__features_of_chain(&chain, header, &f);
    return f;
}

static void decoding_is_counted_by_what_is_gone_through(void **state)
{
    (void)state;
    mr__header h = {.nbytes = 100000, .width = 1000, .height = 800, .form = MR_FORM_JPEG, .channels = 3};
    const mr_rect low = {0, 700, 100, 100}, high = {0, 0, 100, 100};
    mr__features all = features_of_part((mr_rect){0, 0, 1000, 800}, &h), part = features_of_part(low, &h);
    assert_true(about(part.ns[MR__WORK_BYTES], (double)all.ns[MR__WORK_BYTES])); // rows above cost, too
    assert_true(about(part.ns[MR__WORK_DECODED] * 80.0f, (double)all.ns[MR__WORK_DECODED]));
    assert_true(all.ns[MR__WORK_PASSED] == 0.0f && part.ns[MR__WORK_PASSED] > 0.0f);
    h.row_index = true;
    mr__features indexed = features_of_part(low, &h);
    assert_true(about(indexed.ns[MR__WORK_BYTES], (double)part.ns[MR__WORK_BYTES] * 112.0 / 800.0)); // from row 688
    h.row_index = false;
    h.progressive = true;
    mr__features top = features_of_part(high, &h);
    assert_true(top.ns[MR__WORK_BYTES] == 0.0f && top.ns[MR__WORK_WHOLE] > 0.0f && top.ns[MR__WORK_AREA] > 0.0f);
    assert_true(about(top.ns[MR__WORK_WHOLE], (double)features_of_part(low, &h).ns[MR__WORK_WHOLE]));
    h.progressive = false;
    h.form = MR_FORM_L3;
    mr__features tiles = features_of_part(low, &h); // 128 x 160 pixels of tiles
    assert_true(about(tiles.ns[MR__WORK_BYTES], (double)all.ns[MR__WORK_BYTES] * 128.0 * 160.0 / 800000.0));
    h.form = MR_FORM_RAW;
    assert_true(about(features_of_part(low, &h).ns[MR__WORK_BYTES], (double)all.ns[MR__WORK_BYTES] / 80.0));
}

static void steps_are_counted_by_kind(void **state)
{
    (void)state;
    mr__header h = {.nbytes = 100000, .width = 1000, .height = 800, .form = MR_FORM_JPEG, .channels = 3};
    mr__features plain = features_of("short(256) center(224)", 0, &h);
    mr__features one = features_of("short(256) center(224) invert(1)", 0, &h);
    mr__features two = features_of("short(256) center(224) invert(1) posterize(4)", 0, &h);
    assert_true(plain.ns[MR__WORK_TABLE] == 0.0f && one.ns[MR__WORK_TABLE] > 0.0f);
    assert_true(about(two.ns[MR__WORK_TABLE], (double)one.ns[MR__WORK_TABLE])); // one table for both
    assert_true(features_of("short(256) center(224) blur(9)", 0, &h).ns[MR__WORK_NEAR] > 0.0f);
    assert_true(features_of("short(256) center(224) elastic", 0, &h).ns[MR__WORK_SAMPLED] > 0.0f);
    assert_true(features_of("short(256) center(224) jpeg(50)", 0, &h).ns[MR__WORK_HEAVY] > 0.0f);
    assert_true(plain.ns[MR__WORK_SHRUNK] > 0.0f);
    assert_true(features_of("center(224)", 0, &h).ns[MR__WORK_SHRUNK] == 0.0f);
    double cheap = DBL_MAX, dear = 0.0;
    for (uint64_t key = 0; key < 100; key++) {
        mr__features f = features_of("rrc(224) augmix", key, &h);
        double ns = truth((double[MR__WORK_KINDS]){[MR__WORK_TABLE] = 1, 1, 1, 1, 1, 1}, &f);
        cheap = ns < cheap ? ns : cheap;
        dear = ns > dear ? ns : dear;
    }
    assert_true(dear > 1.5 * cheap); // drawn steps are seen
}

/* Also those that depend on boxes, of which nothing is known yet, and those of whole batches. */
static void every_recipe_has_features(void **state)
{
    (void)state;
    static const char *const texts[] = {"ioucrop resize(300) sanitize",
                                        "zoomout scalejitter(512) crop(512)",
                                        "rrc(224) mixup(0.2)",
                                        "rrc(224) autoaug erase(1)",
                                        "rrc(224) trivialaug noise cutout(16)",
                                        "pad(4) crop(32) perspective rotate(45, filter=bicubic)",
                                        "short(480) grayscale(1) permute hue(0.1) shear(10)"};
    mr__header sized = {.nbytes = 50000, .width = 640, .height = 480, .form = MR_FORM_JPEG, .channels = 3};
    mr__header unsized = {.nbytes = 50000, .form = MR_FORM_JPEG};
    mr__cost cost;
    mr__cost_init(&cost);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint64_t turn = 0; turn < 50; turn++) {
            mr__features f = features_of(texts[i], turn, turn % 2 == 0 ? &sized : &unsized);
            assert_true(mr__cost_predict(&cost, &f) > 10000.0);
        }
}

static void odd_headers_have_features(void **state)
{
    (void)state;
    mr__header h = {.nbytes = 120000, .form = MR_FORM_JPEG};
    mr__features unsized = features_of("rrc(224) flip", 3, &h); // about 800 x 600
    assert_true(unsized.ns[MR__WORK_DECODED] > 0.0f && unsized.ns[MR__WORK_MADE] > 0.0f);
    h = (mr__header){.nbytes = 1000, .width = 100, .height = 50, .form = MR_FORM_PNG};
    mr__features small = features_of("crop(224)", 0, &h); // cannot be: it costs its decoding
    assert_true(small.ns[MR__WORK_WHOLE] > 0.0f && small.ns[MR__WORK_MADE] == 0.0f);
    h.orientation = 6;
    h.form = MR_FORM_JPEG;
    mr__features turned = features_of("orient crop(40x90)", 0, &h); // fits when it stands
    assert_true(turned.ns[MR__WORK_MADE] > 0.0f);
    mr__header extremes[] = {{0},
                             {.nbytes = UINT64_MAX},
                             {.nbytes = UINT64_MAX, .width = UINT32_MAX, .height = UINT32_MAX, .form = MR_FORM_L3},
                             {.nbytes = 1, .width = 1, .height = UINT32_MAX, .form = 255, .channels = 255},
                             {.width = UINT32_MAX, .height = 1, .form = MR_FORM_JPEG, .row_index = true}};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        mr__features f = features_of("rrc(224) randaug(2,9)", i, &extremes[i]), sum = f;
        mr__cost cost;
        mr__cost_init(&cost);
        for (size_t k = 0; k < 100; k++)
            mr__features_add(&sum, &sum);
        mr__cost_learn(&cost, &sum, 1);
        assert_true(isfinite(mr__cost_predict(&cost, &sum)));
        assert_sound(&cost);
    }
}

/* --- a set whose bytes do not tell its pixels --- */

static mr__header draw_header(mr__rng *rng)
{
    double side = 240.0 * pow(7.5, even(rng)), bits = 0.3 * pow(20.0, even(rng)); // of a pixel, whatever its size
    mr__header h = {.width = (uint32_t)side, .height = (uint32_t)(side * (0.6 + 0.8 * even(rng)))};
    h.nbytes = (uint64_t)(h.width * (double)h.height * bits / 8.0);
    if (even(rng) < 0.5)
        h.nbytes = 90000;
    h.form = MR_FORM_JPEG;
    h.channels = 3;
    h.progressive = even(rng) < 0.3;
    return h;
}

/* Not what features are made of: powers, and a price for each op by its name. */
static double simulate(const mr__chain *chain, const mr__header *h)
{
    mr_rect region = mr__pass_region(&chain->pass[0]);
    double rows = h->progressive ? 1.0 : (region.y + region.height) / (double)h->height;
    double ns = 20000.0 + 3.1 * pow((double)h->nbytes * rows, 1.02) * (h->progressive ? 2.5 : 1.0);
    ns += 0.3 * pow((double)h->width * h->height * rows, 1.03) + 0.9 * region.width * region.height;
    for (size_t i = 0; i < chain->count; i++)
        ns += 0.8 * chain->pass[i].canvas_width * chain->pass[i].canvas_height;
    for (size_t i = 0; i < chain->op_count; i++) {
        double each = chain->op[i].kind == MR__OP_WARP ? 4.0 + 0.3 * (i % 2) : 0.5 + 0.15 * chain->op[i].kind;
        ns += each * chain->op[i].to_width * chain->op[i].to_height;
    }
    return ns;
}

static void check_set(const char *text)
{
    enum { LEARNED = 500, LOOKED = 1000 };
    static double by_bytes[LOOKED], by_all[LOOKED];
    static mr__chain chain;
    uint32_t draws[512];
    mr__rng rng = stream(700);
    mr_recipe *recipe = recipe_of(text);
    mr__cost bytes, all;
    mr__cost_init(&bytes);
    mr__cost_init(&all);
    for (uint64_t i = 0; i < LEARNED + LOOKED; i++) {
        mr__header h = draw_header(&rng);
        mr__features f, b;
        mr__recipe_draw(recipe, 1, 0, i, draws);
        mr__features_of(recipe, draws, &h, &chain, &f);
        mr__features_of_bytes(h.nbytes, &b);
        uint64_t actual = noisy(&rng, simulate(&chain, &h), 0.1);
        if (i >= LEARNED) {
            by_all[i - LEARNED] = fabs(mr__cost_predict(&all, &f) / (double)actual - 1.0);
            by_bytes[i - LEARNED] = fabs(mr__cost_predict(&bytes, &b) / (double)actual - 1.0);
        }
        mr__cost_learn(&all, &f, actual);
        mr__cost_learn(&bytes, &b, actual);
    }
    double ours = median(by_all, LOOKED), theirs = median(by_bytes, LOOKED);
    printf("%s: median error after %d samples %.0f %%, by bytes alone %.0f %%\n", text, LEARNED, 100.0 * ours,
           100.0 * theirs);
    assert_true(ours <= 0.25);
    assert_true(theirs > 1.5 * ours);
    mr_recipe_free(recipe);
}

static void sizes_and_steps_tell_what_bytes_do_not(void **state)
{
    (void)state;
    check_set("rrc(224) flip normalize(imagenet)");
    check_set("rrc(224) flip randaug(2,9) normalize(imagenet)");
    check_set("short(256) center(224) normalize(imagenet)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_found),
        cmocka_unit_test(the_first_samples_set_the_scale),
        cmocka_unit_test(a_cost_that_changes_is_followed),
        cmocka_unit_test(a_change_is_seen_in_noise),
        cmocka_unit_test(few_samples_are_enough_to_leap),
        cmocka_unit_test(a_new_device_learns_its_own),
        cmocka_unit_test(outliers_ruin_nothing),
        cmocka_unit_test(nothing_drifts),
        cmocka_unit_test(any_numbers_are_taken),
        cmocka_unit_test(decoding_is_counted_by_what_is_gone_through),
        cmocka_unit_test(steps_are_counted_by_kind),
        cmocka_unit_test(every_recipe_has_features),
        cmocka_unit_test(odd_headers_have_features),
        cmocka_unit_test(sizes_and_steps_tell_what_bytes_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
