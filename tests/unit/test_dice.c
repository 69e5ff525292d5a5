// SPDX-License-Identifier: Apache-2.0
/* Beta, Dirichlet and normal numbers: their distributions, by Kolmogorov and Smirnov and by moments. */
#include "test.h"

#include "step/dice.h"

#include <math.h>
#include <string.h>

enum { STEPS = 4096 };

static uint32_t how_many(void)
{
    return test_quick() ? 50000 : 300000;
}

static mr__dice dice_of(uint32_t number)
{
    mr__dice dice;
    mr__dice_init(&dice, (uint32_t[2]){number * 2654435761u, 12345});
    return dice;
}

/* How many numbers are below each of STEPS places from low to high. */
typedef struct curve {
    uint32_t counts[STEPS];
    double low, high;
} curve;

static void count(curve *c, double x)
{
    double at = (x - c->low) / (c->high - c->low) * STEPS;
    c->counts[at < 0.0 ? 0 : at >= STEPS ? STEPS - 1 : (size_t)at]++;
}

/* The largest distance from the curve that it should be, times the root of n: above 2.2 once in 10^4. */
static void check_curve(const curve *c, double n, double (*should)(double))
{
    double sum = 0.0, worst = 0.0;
    for (size_t i = 0; i + 1 < STEPS; i++) {
        double x = c->low + (c->high - c->low) * (double)(i + 1) / STEPS;
        sum += c->counts[i];
        worst = fmax(worst, fabs(sum / n - should(x)));
    }
    if (!(worst * sqrt(n) < 2.2 && worst * sqrt(n) > 0.2))
        fail_msg("a distance of %g", worst * sqrt(n));
}

static double line(double x)
{
    return x;
}

static double arcsine(double x) /* Beta(1/2, 1/2) */
{
    return asin(sqrt(x)) / asin(1.0);
}

static double beta_2(double x)
{
    return x * x * (3.0 - 2.0 * x);
}

static double one_of_three(double x) /* of Dirichlet(1, 1, 1): Beta(1, 2) */
{
    return 1.0 - (1.0 - x) * (1.0 - x);
}

static double bell(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static void check_beta(double alpha, double (*should)(double))
{
    static curve c;
    double n = how_many(), sum = 0.0, squares = 0.0;
    mr__dice dice = dice_of((uint32_t)(alpha * 1000.0));
    memset(&c, 0, sizeof c);
    c.high = 1.0;
    for (uint32_t i = 0; i < how_many(); i++) {
        double x = mr__dice_beta(&dice, alpha);
        assert_true(x >= 0.0 && x <= 1.0);
        sum += x - 0.5;
        squares += (x - 0.5) * (x - 0.5);
        count(&c, x);
    }
    double variance = 1.0 / (4.0 * (2.0 * alpha + 1.0));
    assert_true(fabs(sum / n) < 4.0 * sqrt(variance / n));
    assert_true(fabs(squares / n - variance) < 4.0 * 0.25 / sqrt(n));
    if (should != NULL)
        check_curve(&c, n, should);
}

static void test_beta(void **state)
{
    (void)state;
    check_beta(1.0, line);
    check_beta(0.5, arcsine);
    check_beta(2.0, beta_2);
    check_beta(0.2, NULL);
    check_beta(17.0, NULL);
    check_beta(MR__DICE_ALPHA_MIN, NULL);
    check_beta(MR__DICE_ALPHA_MAX, NULL);
}

/* Sums of 1; the marginal of the last; the covariance of the first two, -1 / (k^2 (k alpha + 1)). */
static void test_dirichlet(void **state)
{
    (void)state;
    static curve c;
    double n = how_many(), products = 0.0, parts[10];
    mr__dice dice = dice_of(3);
    memset(&c, 0, sizeof c);
    c.high = 1.0;
    for (uint32_t i = 0; i < how_many(); i++) {
        mr__dice_dirichlet(&dice, 1.0, 3, parts);
        assert_true(fabs(parts[0] + parts[1] + parts[2] - 1.0) < 1e-14);
        products += (parts[0] - 1.0 / 3.0) * (parts[1] - 1.0 / 3.0);
        count(&c, parts[2]);
    }
    check_curve(&c, n, one_of_three);
    assert_true(fabs(products / n + 1.0 / 36.0) < 4.0 * 0.08 / sqrt(n));
    mr__dice_dirichlet(&dice, 0.5, 1, parts);
    assert_true(parts[0] == 1.0);
    mr__dice_dirichlet(&dice, MR__DICE_ALPHA_MIN, 10, parts);
    for (size_t i = 0; i < 10; i++)
        assert_true(parts[i] >= 0.0 && parts[i] <= 1.0);
}

static void test_normal(void **state)
{
    (void)state;
    static curve c = {.low = -6.0, .high = 6.0};
    mr__dice dice = dice_of(4);
    for (uint32_t i = 0; i < how_many(); i++)
        count(&c, mr__dice_normal(&dice));
    check_curve(&c, how_many(), bell);
}

static void test_unit(void **state)
{
    (void)state;
    static curve c = {.high = 1.0};
    uint32_t counts[7] = {0};
    mr__dice dice = dice_of(5);
    for (uint32_t i = 0; i < how_many(); i++) {
        double x = mr__dice_unit(&dice);
        assert_true(x > 0.0 && x < 1.0);
        count(&c, x);
        counts[mr__dice_below(&dice, 7)]++;
    }
    check_curve(&c, how_many(), line);
    for (size_t i = 0; i < 7; i++)
        assert_true(fabs(counts[i] - how_many() / 7.0) < 4.0 * sqrt(how_many() / 7.0));
}

/* The same on every machine: these were seen on x86-64, and are made by our own functions alone. */
static void test_fixed(void **state)
{
    (void)state;
    mr__dice dice, copy;
    mr__dice_init(&dice, (uint32_t[2]){1, 2});
    copy = dice;
    double sum = 0.0;
    for (int i = 0; i < 1000; i++)
        sum += mr__dice_beta(&dice, 0.3) + mr__dice_normal(&dice) + mr__dice_log_gamma(&dice, 5.5);
    assert_true(sum == 0x1.0cd85d92c310fp+11);
    assert_true(mr__dice_unit(&copy) == 0x1.8d30d3d10e9fap-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beta), cmocka_unit_test(test_dirichlet), cmocka_unit_test(test_normal),
        cmocka_unit_test(test_unit), cmocka_unit_test(test_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
