// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "measure/histogram.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static uint64_t random_state = 1;

static uint64_t draw(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return random_state >> 32 << 32 | (random_state * 77) >> 32;
}

static void an_empty_one_says_0(void **state)
{
    (void)state;
    mr__histogram h = {0};
    assert_true(mr__histogram_total(&h) == 0);
    assert_true(mr__histogram_quantile(&h, 0.5) == 0);
    mr__histogram_add(&h, 7, 0);
    assert_true(mr__histogram_total(&h) == 0);
    assert_true(mr__histogram_quantile(&h, 1) == 0);
}

static void check_value(uint64_t value)
{
    mr__histogram h = {0};
    mr__histogram_add(&h, value, 1);
    assert_true(mr__histogram_total(&h) == 1);
    double said = mr__histogram_quantile(&h, 0.5);
    assert_true(value < 16 ? said == (double)value : fabs(said - (double)value) <= 0.0625 * (double)value);
    assert_true(mr__histogram_quantile(&h, 0) == said);
    assert_true(mr__histogram_quantile(&h, 1) == said);
}

static void every_value_is_right_to_six_percent(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 3000; value++)
        check_value(value);
    for (int bit = 10; bit < 64; bit++)
        for (uint64_t eighth = 8; eighth < 16; eighth++) {
            check_value(eighth << (bit - 3));
            check_value((eighth << (bit - 3)) - 1);
            check_value((eighth << (bit - 3)) + 1);
        }
    check_value(UINT64_MAX);
}

/* Each part is used, larger values never come into earlier parts. */
static void parts_are_in_order(void **state)
{
    (void)state;
    mr__histogram h = {0};
    for (uint64_t value = 0; value < 16; value++)
        mr__histogram_add(&h, value, 1);
    for (int bit = 4; bit < 64; bit++)
        for (uint64_t eighth = 8; eighth < 16; eighth++)
            mr__histogram_add(&h, eighth << (bit - 3), 1);
    for (size_t i = 0; i < MR__HISTOGRAM_PARTS; i++)
        assert_true(atomic_load(&h.count[i]) == 1);
    double before = -1;
    for (size_t i = 1; i <= MR__HISTOGRAM_PARTS; i++) {
        double here = mr__histogram_quantile(&h, ((double)i - 0.5) / MR__HISTOGRAM_PARTS);
        assert_true(here > before);
        before = here;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
    (void)state;
    static uint64_t values[5000];
    static const double shares[] = {0.01, 0.1, 0.5, 0.9, 0.99, 1};
    for (int k = 0; k < 20; k++) {
        mr__histogram h = {0};
        size_t count = 1 + draw() % 5000;
        for (size_t i = 0; i < count; i++) {
            values[i] = draw() >> (draw() % 60);
            mr__histogram_add(&h, values[i], 1);
        }
        qsort(values, count, sizeof *values, by_value);
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            size_t at = (size_t)ceil(shares[i] * (double)count) - 1;
            double wanted = (double)values[at], said = mr__histogram_quantile(&h, shares[i]);
            assert_true(fabs(said - wanted) <= 0.0625 * wanted);
        }
    }
}

static void times_and_merging_add_up(void **state)
{
    (void)state;
    mr__histogram a = {0}, b = {0};
    mr__histogram_add(&a, 10, 3);
    mr__histogram_add(&a, 1000, 1);
    mr__histogram_add(&b, 10, UINT64_C(1) << 40);
    mr__histogram_merge(&a, &b);
    assert_true(mr__histogram_total(&a) == (UINT64_C(1) << 40) + 4);
    assert_true(mr__histogram_total(&b) == UINT64_C(1) << 40);
    assert_true(mr__histogram_quantile(&a, 0.99) == 10);
    mr__histogram c = {0};
    mr__histogram_add(&c, 1, 50);
    mr__histogram_add(&c, 2, 50);
    assert_true(mr__histogram_quantile(&c, 0.5) == 1);
    assert_true(mr__histogram_quantile(&c, 0.51) == 2);
}

static void *add_many(void *to)
{
    for (uint64_t i = 0; i < 200000; i++)
        mr__histogram_add(to, i % 1000, 1);
    return NULL;
}

/* One adds, another reads meanwhile: nothing goes back, and in the end all is there. */
static void it_can_be_read_meanwhile(void **state)
{
    (void)state;
    static mr__histogram h;
    pthread_t thread;
    uint64_t before = 0;
    assert_int_equal(pthread_create(&thread, NULL, add_many, &h), 0);
    for (int i = 0; i < 200; i++) {
        uint64_t total = mr__histogram_total(&h);
        assert_true(total >= before);
        before = total;
        double median = mr__histogram_quantile(&h, 0.5);
        assert_true(median >= 0 && median < 1100);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(mr__histogram_total(&h) == 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_says_0),      cmocka_unit_test(every_value_is_right_to_six_percent),
        cmocka_unit_test(parts_are_in_order),       cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
        cmocka_unit_test(times_and_merging_add_up), cmocka_unit_test(it_can_be_read_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
