// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/size.h"

#define HALF ((size_t)1 << (sizeof(size_t) * 4)) // the square root of SIZE_MAX + 1

static void sums_at_the_edge(void **state)
{
    (void)state;
    size_t sum = 7;
    assert_true(mr__size_add(0, 0, &sum) && sum == 0);
    assert_true(mr__size_add(SIZE_MAX, 0, &sum) && sum == SIZE_MAX);
    assert_true(mr__size_add(0, SIZE_MAX, &sum) && sum == SIZE_MAX);
    assert_true(mr__size_add(SIZE_MAX - 5, 5, &sum) && sum == SIZE_MAX);
    sum = 7;
    assert_false(mr__size_add(SIZE_MAX - 5, 6, &sum));
    assert_false(mr__size_add(SIZE_MAX, 1, &sum));
    assert_false(mr__size_add(1, SIZE_MAX, &sum));
    assert_false(mr__size_add(SIZE_MAX, SIZE_MAX, &sum));
    assert_true(sum == 7); // written where it fits only
}

static void products_at_the_edge(void **state)
{
    (void)state;
    size_t product = 7;
    assert_true(mr__size_mul(0, SIZE_MAX, &product) && product == 0);
    assert_true(mr__size_mul(SIZE_MAX, 0, &product) && product == 0);
    assert_true(mr__size_mul(1, SIZE_MAX, &product) && product == SIZE_MAX);
    assert_true(mr__size_mul(HALF - 1, HALF + 1, &product) && product == SIZE_MAX);
    assert_true(mr__size_mul(SIZE_MAX / 3, 3, &product) && product == SIZE_MAX / 3 * 3);
    product = 7;
    assert_false(mr__size_mul(HALF, HALF, &product));
    assert_false(mr__size_mul(SIZE_MAX / 2 + 1, 2, &product));
    assert_false(mr__size_mul(2, SIZE_MAX / 2 + 1, &product));
    assert_false(mr__size_mul(SIZE_MAX, SIZE_MAX, &product));
    assert_true(product == 7);
}

static void products_and_sums(void **state)
{
    (void)state;
    size_t result = 7;
    assert_true(mr__size_mul_add(HALF - 1, HALF + 1, 0, &result) && result == SIZE_MAX);
    assert_true(mr__size_mul_add(3, 5, 7, &result) && result == 22);
    result = 7;
    assert_false(mr__size_mul_add(HALF - 1, HALF + 1, 1, &result));
    assert_false(mr__size_mul_add(HALF, HALF, 0, &result));
    assert_true(result == 7);
}

static void division_rounds_up(void **state)
{
    (void)state;
    assert_int_equal(mr__ceil_div(0, 8), 0);
    assert_int_equal(mr__ceil_div(1, 8), 1);
    assert_int_equal(mr__ceil_div(8, 8), 1);
    assert_int_equal(mr__ceil_div(9, 8), 2);
    assert_int_equal(mr__ceil_div(UINT32_MAX, 1), UINT32_MAX);
    assert_int_equal(mr__ceil_div(UINT32_MAX, 8), 1u << 29);
    assert_int_equal(mr__ceil_div(UINT32_MAX, UINT32_MAX), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_at_the_edge),
        cmocka_unit_test(products_at_the_edge),
        cmocka_unit_test(products_and_sums),
        cmocka_unit_test(division_rounds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
