// SPDX-License-Identifier: Apache-2.0
/*
 * Policies beside torchvision's: which operations, with which values, and how often chance takes which. What moves
 * pixels is policy_seen by the move that is noted, all else by its op.
 */
#include "test.h"

#include "../golden/policy_golden.h"
#include "base/rng.h"
#include "policy_seen.h"
#include "step/real.h"
#include "step/step.h"

#include <math.h>
#include <string.h>

enum { VALUES = sizeof golden_values / sizeof *golden_values, CELLS_MAX = 1024 };

static const uint8_t fill[4] = {1, 2, 3, 4};

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* To the last bit, but for angles, which are an arc tangent's. */
static void check_value(policy_seen got, mr__policy_op op, double value)
{
    assert_int_equal(got.op, op);
    if (op == MR__POLICY_SHEAR_X || op == MR__POLICY_SHEAR_Y)
        assert_true(fabs(got.value - value) <= 0x1p-51 * fabs(value));
    else
        assert_true(got.value == value);
}

static void test_values(void **state)
{
    (void)state;
    static policy_bench b;
    for (size_t i = 0; i < VALUES; i++) {
        uint32_t bins = golden_values[i].bins, by = bins > 31 ? 43 : 1, of_each = (bins + by - 1) / by;
        mr__policy_op op = (mr__policy_op)golden_values[i].op;
        const uint64_t *values = golden_numbers + golden_values[i].first;
        for (uint32_t k = 0; k < (mr__policy_signed(op) ? 2 : 1) * of_each; k++) {
            mr__policy_draw draw = {op, bins, k % of_each * by, k >= of_each};
            policy_seen list[16], wanted = {op, number_of(values[k])};
            policy_begin(&b, golden_values[i].width, golden_values[i].height);
            mr__policy_look look = {MR_SAMPLING_BILINEAR, fill};
            assert_int_equal(mr__space_add(&b.chain, golden_values[i].space, draw, look, &b.detail), 0);
            size_t count = policy_see(&b, list);
            assert_int_equal(count, policy_is_neutral(wanted) ? 0 : 1);
            if (count != 0)
                check_value(list[0], op, wanted.value);
        }
    }
}

static void check_order(mr__space_kind kind, const uint8_t *ops, size_t count)
{
    size_t got;
    assert_memory_equal(mr__space_ops(kind, &got), ops, count);
    assert_true(got >= count);
}

static void test_order(void **state)
{
    (void)state;
    check_order(MR__SPACE_RANDAUG, golden_randaug_ops, sizeof golden_randaug_ops);
    check_order(MR__SPACE_TRIVIAL, golden_trivial_ops, sizeof golden_trivial_ops);
    check_order(MR__SPACE_AUGMIX, golden_augmix_ops, sizeof golden_augmix_ops);
    check_order(MR__SPACE_AUGMIX, golden_augmix_few_ops, sizeof golden_augmix_few_ops);
}

/* How pixels are looked up, and what is put where there are none, goes into the op. */
static void test_look(void **state)
{
    (void)state;
    static policy_bench b;
    policy_begin(&b, 100, 80);
    mr__policy_look look = {MR_SAMPLING_BICUBIC, fill};
    assert_int_equal(mr__policy_add(&b.chain, MR__POLICY_ROTATE, 10.0, look, &b.detail), 0);
    assert_int_equal(mr__policy_add(&b.chain, MR__POLICY_SHEAR_Y, 0.25, look, &b.detail), 0);
    assert_int_equal(b.chain.op_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b.chain.op[i].u.warp.sampling, MR_SAMPLING_BICUBIC);
        assert_int_equal(b.chain.op[i].u.warp.fill[0], fill[0]);
    }
}

static const uint64_t *values_of(mr__space_kind space, mr__policy_op op, uint32_t bins)
{
    for (size_t i = 0; i < VALUES; i++)
        if (golden_values[i].space == space && golden_values[i].op == (uint32_t)op && golden_values[i].bins == bins)
            return golden_numbers + golden_values[i].first;
    return NULL;
}

static mr_step settled(mr_step step)
{
    mr__detail detail = {{0}};
    step.struct_size = sizeof step;
    assert_int_equal(mr__step_type_of(step.kind)->settle(&step, &detail), 0);
    return step;
}

/* x such that floor(n x / 2^64) is k, of which it is the smallest. */
static void draw_for(uint32_t k, uint32_t n, uint32_t draws[2])
{
    uint64_t x = UINT64_MAX / n * k + k;
    while (mr__real_below((uint32_t[2]){(uint32_t)(x >> 32), (uint32_t)x}, n) < k)
        x++;
    draws[0] = (uint32_t)(x >> 32);
    draws[1] = (uint32_t)x;
    assert_int_equal(mr__real_below(draws, n), k);
}

/* One operation of a pair alone: done right below its chance, and not right above. */
static void check_choice(const mr_step *step, uint32_t pair, size_t which, uint32_t below)
{
    static policy_bench b;
    const uint8_t *g = &golden_pairs[step->policy][pair][which].op;
    double chance = g[1] / 10.0;
    uint32_t limit = chance >= 1.0 ? UINT32_MAX : (uint32_t)ceil(chance * 0x1p32);
    uint32_t draws[6] = {0, 0, UINT32_MAX, 0, UINT32_MAX, 0};
    bool never = below && chance == 0.0, always = chance >= 1.0;
    policy_seen list[16];
    if (never)
        return;
    draw_for(pair, 25, draws);
    draws[2 + 2 * which] = below ? limit - 1 : limit;
    draws[3 + 2 * which] = pair % 2 ? 0x80000000u : 0x7fffffffu;
    policy_begin(&b, 224, 160);
    assert_int_equal(mr__step_autoaug.resolve(step, draws, &b.chain, &b.detail), 0);
    size_t count = policy_see(&b, list), other = golden_pairs[step->policy][pair][1 - which].tenths == 10;
    policy_seen got = list[which == 1 && other ? 1 : 0];
    const uint64_t *values = values_of(MR__SPACE_RANDAUG, (mr__policy_op)g[0], 10);
    bool negative = mr__policy_signed((mr__policy_op)g[0]) && pair % 2 == 0;
    policy_seen wanted = {(mr__policy_op)g[0], values != NULL ? number_of(values[g[2] + (negative ? 10 : 0)]) : 0.0};
    assert_int_equal(count, other + ((below || always) && !policy_is_neutral(wanted)));
    if (below || always)
        check_value(got, wanted.op, wanted.value);
}

static void test_pairs(void **state)
{
    (void)state;
    for (uint32_t policy = 0; policy < 3; policy++) {
        mr_step step = settled((mr_step){.kind = MR_STEP_AUTOAUG, .policy = (mr_autoaug)policy});
        assert_int_equal(mr__step_draw_count(&step), 6);
        for (uint32_t pair = 0; pair < 25; pair++)
            for (uint32_t i = 0; i < 4; i++)
                check_choice(&step, pair, i / 2, i % 2);
    }
}

/* Frequencies. */

typedef struct tally {
    double expected[CELLS_MAX]; /* as parts of 1 */
    uint32_t counts[CELLS_MAX];
    size_t cells;
} tally;

/* The chance of so large a sum is about 1 in 10^5: by Wilson and Hilferty, chi-square is a normal number cubed. */
static void check_tally(const tally *t, double n)
{
    double sum = 0.0, all = 0.0;
    size_t free_cells = 0;
    for (size_t i = 0; i < t->cells; i++) {
        double e = t->expected[i] * n, d = t->counts[i] - e;
        all += t->expected[i];
        if (e == 0.0) {
            assert_int_equal(t->counts[i], 0);
            continue;
        }
        assert_true(e >= 5.0);
        sum += d * d / e;
        free_cells++;
    }
    double k = (double)free_cells - 1.0, c = 2.0 / (9.0 * k), z = (cbrt(sum / k) - (1.0 - c)) / sqrt(c);
    assert_true(fabs(all - 1.0) < 1e-9);
    if (!(z < 4.3 && z > -4.3))
        fail_msg("chi-square %g of %g cells", sum, k + 1);
}

static uint32_t how_many(void)
{
    return test_quick() ? 100000 : 1000000;
}

static void run(policy_bench *b, const mr_step *step, uint32_t sample)
{
    uint32_t draws[64];
    mr__rng rng;
    const mr__step_type *type = mr__step_type_of(step->kind);
    uint32_t n = mr__step_draw_count(step);
    assert_true(n <= 64);
    mr__rng_init(&rng, 20261117, 1, sample, 0);
    for (uint32_t i = 0; i < n; i++)
        draws[i] = mr__rng_u32(&rng);
    policy_begin(b, 224, 160);
    assert_int_equal(type->resolve(step, draws, &b->chain, &b->detail), 0);
}

/* Pairs of operations of randaug: 14 x 14, of which 9 have a sign, and Identity is not policy_seen. */
static void test_randaug_draws(void **state)
{
    (void)state;
    static policy_bench b;
    static tally t[2];
    mr_step step = settled((mr_step){.kind = MR_STEP_RANDAUG, .ops = 1});
    mr_step two = settled((mr_step){.kind = MR_STEP_RANDAUG});
    uint32_t n = how_many(), counts[3] = {0, 0, 0};
    policy_seen list[16];
    memset(t, 0, sizeof t);
    assert_int_equal(mr__step_draw_count(&two), 6);
    for (size_t i = 0; i < sizeof golden_randaug_ops; i++) {
        bool sign = mr__policy_signed((mr__policy_op)golden_randaug_ops[i]);
        t[0].expected[2 * golden_randaug_ops[i]] += (sign ? 0.5 : 1.0) / 14.0;
        t[0].expected[2 * golden_randaug_ops[i] + 1] += sign ? 0.5 / 14.0 : 0.0;
    }
    t[0].cells = 2 * MR__POLICY_OPS;
    for (uint32_t i = 0; i < n; i++) {
        run(&b, i % 2 ? &two : &step, i);
        size_t count = policy_see(&b, list);
        if (i % 2 == 0)
            t[0].counts[count == 1 ? policy_cell(list[0]) : 0]++;
        else
            counts[count]++;
    }
    check_tally(&t[0], n / 2);
    for (size_t i = 0; i < 3; i++) {
        static const double parts[3] = {1.0 / 196.0, 26.0 / 196.0, 169.0 / 196.0};
        t[1].expected[i] = parts[i];
        t[1].counts[i] = counts[i];
    }
    t[1].cells = 3;
    check_tally(&t[1], n / 2);
}

static size_t bin_of(const policy_seen *s, uint32_t first, uint32_t last)
{
    const uint64_t *values = values_of(MR__SPACE_TRIVIAL, s->op, 31);
    for (uint32_t i = first; i < last; i++)
        if (fabs(number_of(values[i]) - s->value) < 1e-9)
            return i;
    fail_msg("operation %d with %.17g", (int)s->op, s->value);
    return 0;
}

/* Every operation with every magnitude. Those that change nothing are one cell; of posterize, bits are cells. */
static void test_trivialaug_draws(void **state)
{
    (void)state;
    static policy_bench b;
    static tally t;
    mr_step step = settled((mr_step){.kind = MR_STEP_TRIVIALAUG});
    uint32_t n = how_many();
    policy_seen list[16];
    memset(&t, 0, sizeof t);
    t.cells = 64 * MR__POLICY_OPS;
    for (size_t i = 0; i < sizeof golden_trivial_ops; i++) {
        mr__policy_op op = (mr__policy_op)golden_trivial_ops[i];
        bool sign = mr__policy_signed(op);
        const uint64_t *values = values_of(MR__SPACE_TRIVIAL, op, 31);
        for (uint32_t k = 0; k < 62; k++) {
            policy_seen s = {op, values != NULL ? number_of(values[k]) : 0.0};
            size_t cell = values == NULL || policy_is_neutral(s) ? 64 * (size_t)op
                          : op == MR__POLICY_POSTERIZE           ? 64 * (size_t)op + (size_t)s.value
                          : sign && k % 31 == 0                  ? 64 * (size_t)op
                                                                 : 64 * (size_t)op + k;
            if (policy_is_neutral(s))
                cell = 0;
            if (k < 31 || sign)
                t.expected[cell] += 1.0 / 14.0 / (sign ? 62.0 : 31.0);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        run(&b, &step, i);
        size_t count = policy_see(&b, list), cell = 0;
        assert_true(count <= 1);
        if (count == 1 && values_of(MR__SPACE_TRIVIAL, list[0].op, 31) == NULL)
            cell = 64 * (size_t)list[0].op;
        else if (count == 1)
            cell = 64 * (size_t)list[0].op + (list[0].op == MR__POLICY_POSTERIZE
                                                  ? (size_t)list[0].value
                                                  : bin_of(&list[0], 0, mr__policy_signed(list[0].op) ? 62 : 31));
        t.counts[cell]++;
    }
    check_tally(&t, n);
}

/* Of each policy: how often each operation is done first, and how often second. */
static void test_autoaug_draws(void **state)
{
    (void)state;
    static policy_bench b;
    for (uint32_t policy = 0; policy < 3; policy++) {
        static tally t;
        mr_step step = settled((mr_step){.kind = MR_STEP_AUTOAUG, .policy = (mr_autoaug)policy});
        uint32_t n = how_many() / 2;
        policy_seen list[16];
        memset(&t, 0, sizeof t);
        t.cells = 1024;
        for (size_t i = 0; i < 25; i++) { /* a cell for each pair of operations that is done, signs apart */
            for (size_t k = 0; k < 16; k++) {
                size_t cells[2] = {0, 0}, at = 0;
                double part = 1.0 / 25.0 / 4.0;
                for (size_t w = 0; w < 2; w++) {
                    const uint8_t *g = &golden_pairs[policy][i][w].op;
                    bool done = k >> w & 1, negative = k >> (2 + w) & 1;
                    mr__policy_op op = (mr__policy_op)g[0];
                    const uint64_t *values = values_of(MR__SPACE_RANDAUG, op, 10);
                    bool sign = mr__policy_signed(op);
                    policy_seen s = {op, values != NULL ? number_of(values[g[2] + (negative && sign ? 10 : 0)]) : 0.0};
                    part *= done ? g[1] / 10.0 : 1.0 - g[1] / 10.0;
                    if (done && !policy_is_neutral(s))
                        cells[at++] = policy_cell(s) + 1;
                }
                t.expected[cells[0] * 32 + cells[1]] += part;
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            run(&b, &step, i);
            size_t count = policy_see(&b, list);
            size_t first = count > 0 ? policy_cell(list[0]) + 1 : 0, second = count > 1 ? policy_cell(list[1]) + 1 : 0;
            t.counts[first * 32 + second]++;
        }
        check_tally(&t, n);
    }
}

/* Where the draws change their minds. */
static void test_edges(void **state)
{
    (void)state;
    static policy_bench b;
    static const uint32_t signs[2] = {0x7fffffff, 0x80000000};
    mr_step random = settled((mr_step){.kind = MR_STEP_RANDAUG, .ops = 1, .has_magnitude = true, .magnitude = 30});
    mr_step trivial = settled((mr_step){.kind = MR_STEP_TRIVIALAUG});
    for (uint32_t op = 0; op < 14; op++)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t draws[5] = {0}, own = golden_randaug_ops[op];
            policy_seen list[16];
            draw_for(op, 14, draws);
            draws[2] = signs[i];
            policy_begin(&b, 224, 160);
            assert_int_equal(mr__step_randaug.resolve(&random, draws, &b.chain, &b.detail), 0);
            assert_int_equal(policy_see(&b, list), own != MR__POLICY_IDENTITY);
            assert_true(own == MR__POLICY_IDENTITY || list[0].op == own);
            assert_true(!mr__policy_signed((mr__policy_op)own) || policy_cell(list[0]) % 2 == 1 - i);
            draw_for(30, 31, draws + 2);
            draws[4] = signs[i];
            policy_begin(&b, 224, 160);
            assert_int_equal(mr__step_trivialaug.resolve(&trivial, draws, &b.chain, &b.detail), 0);
            assert_int_equal(policy_see(&b, list), own != MR__POLICY_IDENTITY);
            assert_true(!mr__policy_signed((mr__policy_op)own) || policy_cell(list[0]) % 2 == 1 - i);
        }
}

/* What cannot be is refused with words that begin with the step's name. */
static void test_refused(void **state)
{
    (void)state;
    static const mr_step steps[] = {
        {.kind = MR_STEP_RANDAUG, .ops = 17},
        {.kind = MR_STEP_RANDAUG, .bins = 1},
        {.kind = MR_STEP_RANDAUG, .bins = 1001},
        {.kind = MR_STEP_RANDAUG, .has_magnitude = true, .magnitude = 31},
        {.kind = MR_STEP_RANDAUG, .sampling = (mr_sampling)4},
        {.kind = MR_STEP_TRIVIALAUG, .bins = 1},
        {.kind = MR_STEP_TRIVIALAUG, .bins = UINT32_MAX},
        {.kind = MR_STEP_AUTOAUG, .policy = (mr_autoaug)4},
        {.kind = MR_STEP_AUTOAUG, .policy = MR_AUTOAUG_FILE},
        {.kind = MR_STEP_AUTOAUG, .policy = MR_AUTOAUG_SVHN, .path = "x"},
        {.kind = MR_STEP_AUGMIX, .magnitude = 11},
        {.kind = MR_STEP_AUGMIX, .branches = 11},
        {.kind = MR_STEP_AUGMIX, .ops = 4},
        {.kind = MR_STEP_AUGMIX, .alpha = {-1.0}},
        {.kind = MR_STEP_AUGMIX, .alpha = {NAN}},
        {.kind = MR_STEP_AUGMIX, .alpha = {1001.0}},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        mr__detail detail = {{0}};
        mr_step step = steps[i];
        const mr__step_type *type = mr__step_type_of(step.kind);
        assert_int_equal(type->settle(&step, &detail), MR_EARGUMENT);
        assert_memory_equal(detail.text, type->name, strlen(type->name));
    }
}

/* All sizes of images and all draws at their ends: nothing but what the chain itself refuses. */
static void test_extremes(void **state)
{
    (void)state;
    static policy_bench b;
    static const uint32_t sides[] = {1, 2, 7, 16384}, ends[] = {0, 1, 0x7fffffff, 0x80000000, UINT32_MAX};
    const mr_step steps[] = {
        settled((mr_step){.kind = MR_STEP_RANDAUG, .ops = 16, .has_magnitude = true, .magnitude = 999, .bins = 1000}),
        settled((mr_step){.kind = MR_STEP_TRIVIALAUG, .bins = 1000}),
        settled((mr_step){.kind = MR_STEP_AUTOAUG, .policy = MR_AUTOAUG_SVHN}),
        settled((mr_step){.kind = MR_STEP_AUGMIX, .magnitude = 10, .branches = 10, .ops = 3}),
    };
    for (size_t i = 0; i < 4 * 4 * 4 * 5; i++) {
        const mr_step *step = &steps[i % 4];
        uint32_t draws[64];
        for (size_t k = 0; k < 64; k++)
            draws[k] = ends[i / 64];
        policy_begin(&b, sides[i / 4 % 4], sides[i / 16 % 4]);
        assert_int_equal(mr__step_type_of(step->kind)->resolve(step, draws, &b.chain, &b.detail), 0);
    }
}

static void test_atan(void **state)
{
    (void)state;
    for (int i = -4000; i <= 4000; i++) {
        double x = i / 1000.0, got = mr__real_atan(x);
        assert_true(fabs(got - atan(x)) <= 0x1p-52 * fabs(atan(x)));
        assert_true(got == -mr__real_atan(-x));
    }
    assert_true(fabs(mr__real_atan(0x1p100) - 1.5707963267948966) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_look),          cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_randaug_draws), cmocka_unit_test(test_trivialaug_draws),
        cmocka_unit_test(test_autoaug_draws), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_atan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
