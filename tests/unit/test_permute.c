// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "loader/permute.h"

#include <math.h>
#include <string.h>

/* A generator of the tests' own: xorshift64*. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Chi square of `counts`, all as likely, in standard deviations from what is expected. */
static double deviation(const uint32_t *counts, size_t cells, double trials)
{
    double expected = trials / (double)cells, sum = 0, freedom = (double)cells - 1;
    for (size_t i = 0; i < cells; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return (sum - freedom) / sqrt(2 * freedom);
}

static void check_bijection(uint64_t n, uint64_t seed, uint32_t epoch, uint32_t stream, uint64_t lane)
{
    static unsigned char seen[4096];
    mr__shuffle s;
    assert_in_range(n, 1, sizeof seen);
    memset(seen, 0, sizeof seen);
    mr__shuffle_init(&s, n, seed, epoch, stream);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t to = mr__shuffle_at(&s, i, lane);
        assert_true(to < n);
        assert_false(seen[to]);
        seen[to] = 1;
        assert_true(mr__shuffle_find(&s, to, lane) == i);
    }
}

static void every_small_size_is_permuted(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 600; n++)
        for (uint32_t k = 0; k < 4; k++)
            check_bijection(n, n * 77 + k, k * 3, k % 2, k);
    // Around the change of the number of rounds, and where a square begins.
    for (uint64_t n = 1015; n <= 1100; n++)
        check_bijection(n, 5, 0, 0, n);
    check_bijection(4095, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX);
    check_bijection(4096, 0, 0, 0, 0);
}

/* There is a way back, so no two indexes have the same value. */
static void every_large_size_is_permuted(void **state)
{
    (void)state;
    uint64_t random = 99;
    for (int k = 0; k < 4000; k++) {
        mr__shuffle s;
        uint64_t n = (draw(&random) >> 16 >> (draw(&random) % 47)) + 1;
        if (k < 60)
            n = (UINT64_C(1) << (k % 48 + 1)) - 1 - (k >= 48);
        if (n == 0 || n >= UINT64_C(1) << 48)
            n = (UINT64_C(1) << 48) - 1;
        mr__shuffle_init(&s, n, draw(&random), (uint32_t)draw(&random), k % 2);
        assert_true((uint64_t)s.high * s.low >= n);
        assert_true((uint64_t)s.high * s.low - n < s.high); // so that walks are short
        for (int i = 0; i < 8; i++) {
            uint64_t index = i == 0 ? 0 : i == 1 ? n - 1 : draw(&random) % n, lane = draw(&random) >> (i * 8);
            uint64_t to = mr__shuffle_at(&s, index, lane);
            assert_true(to < n);
            assert_true(mr__shuffle_find(&s, to, lane) == index);
        }
    }
}

/* From tests/support/order_golden.py, which was written from doc/order.md: same seed, same order, for all time. */
static void it_is_as_documented(void **state)
{
    (void)state;
    static const struct {
        uint64_t n, at[4];
    } cases[] = {
        {UINT64_C(1), {UINT64_C(0), UINT64_C(0), UINT64_C(0), UINT64_C(0)}},
        {UINT64_C(2), {UINT64_C(1), UINT64_C(1), UINT64_C(1), UINT64_C(0)}},
        {UINT64_C(3), {UINT64_C(0), UINT64_C(0), UINT64_C(1), UINT64_C(2)}},
        {UINT64_C(9), {UINT64_C(8), UINT64_C(0), UINT64_C(5), UINT64_C(3)}},
        {UINT64_C(1000), {UINT64_C(761), UINT64_C(286), UINT64_C(586), UINT64_C(260)}},
        {UINT64_C(1024), {UINT64_C(763), UINT64_C(959), UINT64_C(693), UINT64_C(90)}},
        {UINT64_C(50000), {UINT64_C(42313), UINT64_C(11423), UINT64_C(3826), UINT64_C(23193)}},
        {UINT64_C(1281167), {UINT64_C(1111316), UINT64_C(65606), UINT64_C(604629), UINT64_C(148515)}},
        {UINT64_C(4294967311),
         {UINT64_C(2972387322), UINT64_C(2103443952), UINT64_C(1690821104), UINT64_C(2113835180)}},
        {UINT64_C(281474976710655),
         {UINT64_C(277512414412342), UINT64_C(64889897006176), UINT64_C(171893805958858), UINT64_C(110821919963733)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__shuffle s;
        mr__shuffle_init(&s, cases[i].n, UINT64_C(0x0123456789abcdef), 7, 3);
        for (uint64_t k = 0; k < 4; k++)
            assert_true(mr__shuffle_at(&s, k * (cases[i].n - 1) / 3, 5) == cases[i].at[k]);
    }
}

/* The rank of a permutation of n among all, by its inversions. */
static size_t number_of(const uint64_t *values, size_t n)
{
    size_t number = 0;
    for (size_t i = 0; i < n; i++) {
        size_t smaller = 0;
        for (size_t j = i + 1; j < n; j++)
            smaller += values[j] < values[i];
        number = number * (n - i) + smaller;
    }
    return number;
}

/* What a trial changes: the seed, the epoch, the stream or the lane alone must be enough. */
typedef enum change { BY_SEED, BY_EPOCH, BY_STREAM, BY_LANE, CHANGES } change;

static uint64_t at_changed(uint64_t n, uint64_t index, change by, uint32_t trial)
{
    mr__shuffle s;
    mr__shuffle_init(&s, n, by == BY_SEED ? trial : 11, by == BY_EPOCH ? trial : 0, by == BY_STREAM ? trial : 0);
    return mr__shuffle_at(&s, index, by == BY_LANE ? trial : 0);
}

static void all_permutations_are_as_likely(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 4, 5};
    uint32_t trials = test_quick() ? 24000 : 240000;
    for (change by = 0; by < CHANGES; by++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            size_t n = sizes[k], cells = n == 2 ? 2 : n == 3 ? 6 : n == 4 ? 24 : 120;
            uint32_t counts[120] = {0};
            for (uint32_t trial = 0; trial < trials; trial++) {
                uint64_t values[5];
                for (size_t i = 0; i < n; i++)
                    values[i] = at_changed(n, i, by, trial);
                counts[number_of(values, n)]++;
            }
            assert_true(fabs(deviation(counts, cells, trials)) < 5);
        }
}

/* Where both sides of the rectangle are odd, rounds alone make even permutations only. */
static void odd_permutations_are_as_likely_as_even_ones(void **state)
{
    (void)state;
    static const size_t sizes[] = {9, 15, 25, 49, 81};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t counts[2] = {0};
        for (uint32_t trial = 0; trial < 2000; trial++) {
            uint64_t values[81];
            unsigned parity = 0;
            for (size_t i = 0; i < sizes[k]; i++) {
                values[i] = at_changed(sizes[k], i, BY_SEED, trial);
                for (size_t j = 0; j < i; j++)
                    parity ^= values[j] > values[i];
            }
            counts[parity]++;
        }
        assert_true(fabs((double)counts[0] - counts[1]) < 5 * sqrt(2000));
    }
}

/* Each element comes to each place as often as to any other. */
static void elements_go_anywhere(void **state)
{
    (void)state;
    enum { TRIALS = 6000 };
    static const uint64_t sizes[] = {7, 12, 37, 64};
    for (change by = 0; by < CHANGES; by++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            uint64_t n = sizes[k];
            uint32_t counts[64 * 64] = {0};
            for (uint32_t trial = 0; trial < TRIALS; trial++)
                for (uint64_t i = 0; i < n; i++)
                    counts[i * n + at_changed(n, i, by, trial)]++;
            double sum = 0;
            for (uint64_t i = 0; i < n; i++) {
                double one = deviation(&counts[i * n], n, TRIALS);
                assert_true(fabs(one) < 6);
                sum += one;
            }
            assert_true(fabs(sum / sqrt((double)n)) < 5);
        }
}

/* Pairs of neighbours land on all pairs of cells as often. */
static void neighbours_part(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1023, 1024, 50000, 1281167, UINT64_C(1) << 33, (UINT64_C(1) << 48) - 1};
    enum { CELLS = 16 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t pairs[CELLS * CELLS] = {0}, gaps[CELLS] = {0};
        uint64_t n = sizes[k], pairs_each = n - 1 < 20000 ? n - 1 : 20000, total = 0;
        for (uint32_t seed = 0; seed < 3 || total < 20000; seed++) {
            mr__shuffle s;
            mr__shuffle_init(&s, n, seed, 1, 0);
            uint64_t before = mr__shuffle_at(&s, 0, 0);
            for (uint64_t i = 1; i <= pairs_each; i++, total++) {
                uint64_t here = mr__shuffle_at(&s, i, 0), gap = here >= before ? here - before : here + n - before;
                pairs[(size_t)((double)before / (double)n * CELLS) * CELLS +
                      (size_t)((double)here / (double)n * CELLS)]++;
                gaps[(size_t)((double)gap / (double)n * CELLS)]++;
                before = here;
            }
        }
        // Without replacement, small ones are a little too even.
        assert_true(deviation(pairs, CELLS * CELLS, (double)total) < 5);
        assert_true(deviation(gaps, CELLS, (double)total) < 5);
    }
}

/* Position and value are not correlated, nor are the values of two epochs, seeds or lanes at one position. */
static void nothing_is_correlated(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1000, 50000, UINT64_C(1) << 40};
    enum { POINTS = 50000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint64_t n = sizes[k], points = n < POINTS ? n : POINTS;
        mr__shuffle a, others[3];
        mr__shuffle_init(&a, n, 4, 4, 0);
        mr__shuffle_init(&others[0], n, 5, 4, 0);
        mr__shuffle_init(&others[1], n, 4, 5, 0);
        mr__shuffle_init(&others[2], n, 4, 4, 1);
        double sums[5] = {0};
        for (uint64_t i = 0; i < points; i++) {
            uint64_t index = n / points * i;
            double x = (double)index / (double)n - 0.5, y = (double)mr__shuffle_at(&a, index, 0) / (double)n - 0.5;
            sums[0] += x * y;
            for (int j = 0; j < 3; j++)
                sums[j + 1] += y * ((double)mr__shuffle_at(&others[j], index, 0) / (double)n - 0.5);
            sums[4] += y * ((double)mr__shuffle_at(&a, index, 1) / (double)n - 0.5);
        }
        // The product of two uniform numbers about 0 has variance 1/144.
        for (int j = 0; j < 5; j++)
            assert_true(fabs(sums[j]) < 5 * sqrt((double)points) / 12);
    }
}

static void few_stay_where_they_are(void **state)
{
    (void)state;
    uint32_t fixed = 0;
    for (uint32_t seed = 0; seed < 400; seed++) {
        mr__shuffle s;
        mr__shuffle_init(&s, 1500, seed, 0, 0);
        for (uint64_t i = 0; i < 1500; i++)
            fixed += mr__shuffle_at(&s, i, 0) == i;
    }
    assert_in_range(fixed, 300, 500); // one in each, on average
}

static void scaling_covers_the_range(void **state)
{
    (void)state;
    assert_true(mr__scale_u64(0, 10) == 0);
    assert_true(mr__scale_u64(UINT64_MAX, 10) == 9);
    assert_true(mr__scale_u64(UINT64_MAX / 2, 10) == 4);
    assert_true(mr__scale_u64(UINT64_C(1) << 63, 10) == 5);
    assert_true(mr__scale_u64(UINT64_MAX, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size_is_permuted),
        cmocka_unit_test(every_large_size_is_permuted),
        cmocka_unit_test(it_is_as_documented),
        cmocka_unit_test(all_permutations_are_as_likely),
        cmocka_unit_test(odd_permutations_are_as_likely_as_even_ones),
        cmocka_unit_test(elements_go_anywhere),
        cmocka_unit_test(neighbours_part),
        cmocka_unit_test(nothing_is_correlated),
        cmocka_unit_test(few_stay_where_they_are),
        cmocka_unit_test(scaling_covers_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
