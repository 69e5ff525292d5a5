// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/rng.h"
#include "loader/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MOST ((UINT64_C(1) << 48) - 1)

static mr__detail detail;

static mr_hooks hooks_of(void)
{
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    return hooks;
}

static mr__order order_of(const mr_loader_options *options, uint64_t samples)
{
    mr__order order;
    mr_hooks hooks = hooks_of();
    mr__detail_clear(&detail);
    assert_int_equal(mr__order_init(&order, &hooks, options, samples, &detail), 0);
    assert_string_equal(detail.text, "");
    return order;
}

static void refused(const mr_loader_options *options, uint64_t samples, const char *words)
{
    mr__order order;
    mr_hooks hooks = hooks_of();
    assert_int_equal(mr__order_init(&order, &hooks, options, samples, &detail), MR_EARGUMENT);
    assert_contains(detail.text, words);
    mr__order_fini(&order); // of one that failed, too
}

/* Every sample once, each with itself as the key. */
static void check_once(const mr__order *order, uint64_t epoch)
{
    unsigned char *seen = calloc(order->samples, 1);
    mr__epoch_order of;
    assert_non_null(seen);
    assert_true(order->positions == order->samples);
    mr__epoch_order_init(&of, order, epoch);
    for (uint64_t p = 0; p < order->positions; p++) {
        mr__order_place place = mr__order_at(&of, p);
        assert_true(place.ordinal < order->samples);
        assert_true(place.key == place.ordinal);
        assert_int_equal(seen[place.ordinal]++, 0);
    }
    free(seen);
}

static void check_row(const mr__order *order, uint64_t epoch, const uint64_t *wanted, size_t count)
{
    mr__epoch_order of;
    mr__epoch_order_init(&of, order, epoch);
    for (size_t p = 0; p < count; p++)
        assert_true(mr__order_at(&of, p).ordinal == wanted[p]);
}

static void shuffled_has_every_sample_once(void **state)
{
    (void)state;
    const mr_loader_options options = {.struct_size = sizeof options, .seed = 42};
    for (uint64_t samples = 1; samples < 300; samples += 7) {
        mr__order order = order_of(&options, samples);
        check_once(&order, 0);
        check_once(&order, UINT32_MAX);
        mr__order_fini(&order);
    }
    mr__order order = order_of(&options, 10);
    check_row(&order, 0, (const uint64_t[]){5, 4, 7, 9, 0, 1, 3, 2, 8, 6}, 10);
    mr__order_fini(&order);
}

static void epochs_and_seeds_differ(void **state)
{
    (void)state;
    mr_loader_options options = {.struct_size = sizeof options, .seed = 42};
    mr__order order = order_of(&options, 1000);
    options.seed = 43;
    mr__order other = order_of(&options, 1000);
    mr__epoch_order a, b, c;
    mr__epoch_order_init(&a, &order, 0);
    mr__epoch_order_init(&b, &order, 1);
    mr__epoch_order_init(&c, &other, 0);
    int epoch_same = 0, seed_same = 0;
    for (uint64_t p = 0; p < 1000; p++) {
        uint64_t ordinal = mr__order_at(&a, p).ordinal;
        epoch_same += mr__order_at(&b, p).ordinal == ordinal;
        seed_same += mr__order_at(&c, p).ordinal == ordinal;
    }
    assert_in_range(epoch_same, 0, 9);
    assert_in_range(seed_same, 0, 9);
}

static void sequential_is_as_stored(void **state)
{
    (void)state;
    const mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_SEQUENTIAL, .seed = 9};
    mr__order order = order_of(&options, SAMPLES_MOST);
    mr__epoch_order of;
    mr__epoch_order_init(&of, &order, 3);
    for (uint64_t p = 1; p < SAMPLES_MOST; p *= 5)
        assert_true(mr__order_at(&of, p).ordinal == p && mr__order_at(&of, p).key == p);
    assert_true(mr__order_at(&of, SAMPLES_MOST - 1).ordinal == SAMPLES_MOST - 1);
}

/* The same the slow way: blocks laid out in a row, each window of it permuted by itself. */
static void check_windowed(const mr__order *order, uint32_t epoch)
{
    uint64_t row[512], at = 0, blocks = (order->samples + order->block - 1) / order->block;
    mr__shuffle s;
    mr__epoch_order of;
    mr__shuffle_init(&s, blocks, order->seed, epoch, 0);
    for (uint64_t i = 0; i < blocks; i++)
        for (uint64_t first = mr__shuffle_at(&s, i, 0) * order->block, k = 0; k < order->block; k++)
            if (first + k < order->samples)
                row[at++] = first + k;
    assert_true(at == order->samples);
    mr__epoch_order_init(&of, order, epoch);
    for (uint64_t first = 0, window = 0; first < order->samples; first += order->window, window++) {
        uint64_t n = order->samples - first < order->window ? order->samples - first : order->window;
        mr__shuffle_init(&s, n, order->seed, epoch, 1);
        for (uint64_t k = 0; k < n; k++)
            assert_true(mr__order_at(&of, first + k).ordinal == row[first + mr__shuffle_at(&s, k, window)]);
    }
}

static void windowed_is_blocks_then_windows(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int k = 0; k < 2000; k++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WINDOWED, .seed = random};
        options.block = random >> 33 & 31;
        options.window = random >> 40 & 127;
        uint64_t samples = 1 + (random >> 47) % 500;
        mr__order order = order_of(&options, samples);
        check_once(&order, (uint64_t)k);
        check_windowed(&order, (uint32_t)k);
    }
    const mr_loader_options options = {
        .struct_size = sizeof options, .order = MR_ORDER_WINDOWED, .block = 3, .window = 8, .seed = 42};
    mr__order order = order_of(&options, 20);
    check_row(&order, 1, (const uint64_t[]){7, 5, 6, 0, 3, 8, 1, 4, 2, 15, 12, 14, 13, 10, 11, 9, 17, 18, 19, 16}, 20);
}

static void windowed_has_defaults_and_bounds(void **state)
{
    (void)state;
    mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WINDOWED};
    mr__order order = order_of(&options, 100000);
    assert_true(order.block == 256 && order.window == 4096);
    check_once(&order, 0);
    options.block = options.window = UINT64_MAX;
    order = order_of(&options, 1000);
    assert_true(order.block == 1000 && order.window == 1000);
    check_once(&order, 0);
    options.window = 0;
    order = order_of(&options, SAMPLES_MOST);
    assert_true(order.window == SAMPLES_MOST);
    mr__epoch_order of;
    mr__epoch_order_init(&of, &order, 0);
    assert_true(mr__order_at(&of, SAMPLES_MOST - 1).ordinal < SAMPLES_MOST);
}

/* What a window reads lies in few blocks: that is what it is for. */
static void a_window_reads_few_blocks(void **state)
{
    (void)state;
    const mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WINDOWED};
    mr__order order = order_of(&options, 256 * 1000 + 17);
    mr__epoch_order of;
    mr__epoch_order_init(&of, &order, 6);
    for (uint64_t first = 0; first < order.samples; first += order.window * 7) {
        unsigned char used[1001] = {0};
        int blocks = 0;
        for (uint64_t p = first; p < first + order.window && p < order.samples; p++)
            blocks += used[mr__order_at(&of, p).ordinal / 256]++ == 0;
        assert_in_range(blocks, 1, 18);
    }
}

/* What the table says of each sample, added up, is its share of the weights. */
static void check_table(const mr__order *order, const double *weights)
{
    long double total = 0, scale = 0x1p64L * (long double)order->samples;
    long double *has = calloc(order->samples, sizeof *has);
    assert_non_null(has);
    for (uint64_t i = 0; i < order->samples; i++) {
        total += weights[i];
        assert_true(order->other[i] < order->samples);
        has[i] += order->accept[i] / scale;
        has[order->other[i]] += (0x1p64L - order->accept[i]) / scale;
    }
    for (uint64_t i = 0; i < order->samples; i++) {
        assert_true(fabsl(has[i] - weights[i] / total) < 1e-15L);
        if (weights[i] == 0)
            assert_true(has[i] == 0);
    }
    free(has);
}

static void weights_make_a_table(void **state)
{
    (void)state;
    uint64_t random = 77;
    static double weights[2000];
    for (int k = 0; k < 400; k++) {
        uint64_t samples = 1 + (uint64_t)k * 5;
        for (uint64_t i = 0; i < samples; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            double unit = (double)(random >> 11) * 0x1p-53;
            weights[i] = k % 4 == 0   ? 1.5
                         : k % 4 == 1 ? unit
                         : k % 4 == 2 ? (unit < 0.7 ? 0 : unit)
                                      : ldexp(unit, (int)(random % 1200) - 1000);
        }
        weights[samples / 2] = k % 4 == 3 ? 0x1p1000 : 2;
        mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights};
        mr__order order = order_of(&options, samples);
        check_table(&order, weights);
        mr__order_fini(&order);
    }
}

static void the_table_is_as_documented(void **state)
{
    (void)state;
    static const double weights[] = {0.5, 0, 3, 1e-3, 2.25};
    static const uint64_t accept[] = {UINT64_C(8018928913975635374), 0, UINT64_C(808308034528744045),
                                      UINT64_C(16037857827951271), UINT64_MAX};
    static const uint64_t other[] = {2, 2, 4, 2, 4};
    const mr_loader_options options = {
        .struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights, .seed = 42};
    mr__order order = order_of(&options, 5);
    assert_memory_equal(order.accept, accept, sizeof accept);
    assert_memory_equal(order.other, other, sizeof other);
    check_row(&order, 2, (const uint64_t[]){4, 2, 4, 4, 0, 2, 0, 2, 2, 2, 4, 4, 4, 4, 0, 2}, 16);
    mr__order_fini(&order);
}

/* A giver that is left with just what a cell holds gives no more. */
static void a_giver_that_is_even_is_done(void **state)
{
    (void)state;
    static const double weights[] = {0, 2, 0, 2};
    static const uint64_t accept[] = {0, UINT64_MAX, 0, UINT64_MAX}, other[] = {1, 1, 3, 3};
    const mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights};
    mr__order order = order_of(&options, 4);
    assert_memory_equal(order.accept, accept, sizeof accept);
    assert_memory_equal(order.other, other, sizeof other);
    mr__order_fini(&order);
}

static void weighted_draws_by_weight(void **state)
{
    (void)state;
    static const double weights[] = {1, 0, 2, 3, 4, 0, 10};
    mr_loader_options options = {
        .struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights, .draws = 200000, .seed = 8};
    mr__order order = order_of(&options, 7);
    mr__epoch_order of;
    double counts[7] = {0}, sum = 0;
    mr__epoch_order_init(&of, &order, 4);
    assert_true(order.positions == 200000);
    for (uint64_t p = 0; p < order.positions; p++) {
        mr__order_place place = mr__order_at(&of, p);
        counts[place.ordinal]++;
        assert_true(place.key == 7 + p); // a sample that comes twice has other random numbers
    }
    for (int i = 0; i < 7; i++) {
        double expected = 200000 * weights[i] / 20;
        if (expected == 0)
            assert_true(counts[i] == 0);
        else
            sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    assert_true(sum < 4 + 5 * sqrt(8));
    mr__order_fini(&order);
    options.draws = 0;
    order = order_of(&options, 7);
    assert_true(order.positions == 7);
    mr__order_fini(&order);
}

static void weights_that_cannot_be_are_named(void **state)
{
    (void)state;
    double weights[4] = {1, 2, 3, 4};
    mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights};
    weights[2] = NAN;
    refused(&options, 4, "the weight of sample 2 is not a number");
    weights[2] = -0.5;
    refused(&options, 4, "the weight of sample 2 is negative");
    weights[2] = INFINITY;
    refused(&options, 4, "the weight of sample 2 is infinite");
    weights[2] = -INFINITY;
    refused(&options, 4, "the weight of sample 2 is infinite");
    memset(weights, 0, sizeof weights);
    refused(&options, 4, "all 4 weights are 0");
    weights[3] = 0x1p-1074; // the least there is
    mr__order order = order_of(&options, 4);
    check_row(&order, 0, (const uint64_t[]){3, 3, 3, 3}, 4);
    mr__order_fini(&order);
    options.draws = SAMPLES_MOST - 3;
    refused(&options, 4, "below 2^48");
    options.draws = 0;
    options.weights = NULL;
    refused(&options, 4, "needs weights, one for each of 4");
}

static void repeated_takes_each_in_a_row(void **state)
{
    (void)state;
    mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_REPEATED, .seed = 42};
    mr__order order = order_of(&options, 10);
    options.order = MR_ORDER_SHUFFLED;
    mr__order plain = order_of(&options, 10);
    mr__epoch_order of, of_plain;
    assert_true(order.repeats == 3 && order.positions == 10);
    mr__epoch_order_init(&of, &order, 0);
    mr__epoch_order_init(&of_plain, &plain, 0);
    for (uint64_t p = 0; p < 10; p++) {
        mr__order_place place = mr__order_at(&of, p), wanted = mr__order_at(&of_plain, p / 3);
        assert_true(place.ordinal == wanted.ordinal);
        assert_true(place.key == wanted.ordinal + p % 3 * 10);
        assert_true(place.key == mr__order_key(10, place.ordinal, (uint32_t)(p % 3)));
    }
    options.order = MR_ORDER_REPEATED;
    options.repeats = 2;
    refused(&options, UINT64_C(1) << 47, "must be below 2^48");
    order = order_of(&options, (UINT64_C(1) << 47) - 1);
    assert_true(mr__order_key(order.samples, order.samples - 1, 1) <= MR__RNG_SAMPLE_MAX);
}

static void what_cannot_be_ordered_is_refused(void **state)
{
    (void)state;
    mr_loader_options options = {.struct_size = sizeof options};
    refused(&options, 0, "no samples");
    refused(&options, SAMPLES_MOST + 1, "fewer than 2^48");
    options.order = (mr_order_kind)17;
    refused(&options, 5, "order 17");
}

static void substitutes_are_drawn(void **state)
{
    (void)state;
    assert_true(mr__order_substitute(42, 3, 1000, 1, 50000) == 16442);
    assert_true(mr__order_substitute(42, 3, 1000, 2, 50000) == 2889);
    assert_true(mr__order_substitute(42, 3, 1000, 3, 50000) == 2207);
    double counts[10] = {0}, sum = 0;
    for (uint64_t p = 0; p < 20000; p++)
        counts[mr__order_substitute(1, 0, p, 1 + p % 3, 10)]++;
    for (int i = 0; i < 10; i++)
        sum += (counts[i] - 2000) * (counts[i] - 2000) / 2000;
    assert_true(sum < 9 + 5 * sqrt(18));
    assert_true(mr__order_substitute(1, 2, 3, 4, 1) == 0);
    assert_true(mr__order_substitute(1, 2, SAMPLES_MOST, UINT32_MAX, SAMPLES_MOST) < SAMPLES_MOST);
}

/* All that an order is a function of changes its hash; what other orders use does not. */
static void the_hash_says_what_differs(void **state)
{
    (void)state;
    static const double even[] = {1, 1, 1, 1}, uneven[] = {1, 1, 1, 2}, double_even[] = {2, 2, 2, 2};
    const mr_loader_options options[] = {
        {.order = MR_ORDER_SHUFFLED},
        {.order = MR_ORDER_SHUFFLED, .seed = 1},
        {.order = MR_ORDER_SEQUENTIAL},
        {.order = MR_ORDER_WINDOWED},
        {.order = MR_ORDER_WINDOWED, .block = 2},
        {.order = MR_ORDER_WINDOWED, .window = 3},
        {.order = MR_ORDER_WEIGHTED, .weights = even},
        {.order = MR_ORDER_WEIGHTED, .weights = uneven},
        {.order = MR_ORDER_WEIGHTED, .weights = even, .draws = 9},
        {.order = MR_ORDER_REPEATED},
        {.order = MR_ORDER_REPEATED, .repeats = 2},
        // The same as some before.
        {.order = MR_ORDER_SHUFFLED, .block = 3, .repeats = 7, .draws = 9, .epoch = 5, .batch = 3},
        {.order = MR_ORDER_WINDOWED, .block = 256},
        {.order = MR_ORDER_WEIGHTED, .weights = double_even},
        {.order = MR_ORDER_REPEATED, .repeats = 3},
    };
    enum { COUNT = sizeof options / sizeof *options, DIFFERENT = 11 };
    static const size_t same_as[] = {0, 3, 6, 9};
    uint64_t hashes[COUNT + 1];
    for (size_t i = 0; i < COUNT; i++) {
        mr__order order = order_of(&options[i], 4);
        hashes[i] = mr__order_hash(&order);
        mr__order_fini(&order);
    }
    for (size_t i = 0; i < DIFFERENT; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    for (size_t i = DIFFERENT; i < COUNT; i++)
        assert_true(hashes[i] == hashes[same_as[i - DIFFERENT]]);
    mr__order more = order_of(&options[0], 5);
    assert_true(mr__order_hash(&more) != hashes[0]);
}

/* A state that was saved with one build is read by the next. */
static void the_hash_stays(void **state)
{
    (void)state;
    static const double weights[] = {0.5, 0, 3, 1e-3, 2.25};
    const mr_loader_options options = {
        .struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights, .seed = 42};
    mr__order order = order_of(&options, 5);
    assert_true(mr__order_hash(&order) == UINT64_C(0xfdf9f9e795dc7e4d));
    mr__order_fini(&order);
}

static void *no_memory(void *user, size_t nbytes, size_t align)
{
    (void)nbytes;
    (void)align;
    int *left = user;
    return (*left)-- > 0 ? aligned_alloc(64, 64) : NULL;
}

static void give_back(void *user, void *block)
{
    (void)user;
    free(block);
}

static void without_memory_there_is_no_table(void **state)
{
    (void)state;
    static const double weights[] = {1, 2};
    const mr_loader_options options = {.struct_size = sizeof options, .order = MR_ORDER_WEIGHTED, .weights = weights};
    for (int granted = 0; granted < 3; granted++) {
        int left = granted;
        mr_hooks given = {.struct_size = sizeof given, .user = &left, .alloc = no_memory, .free = give_back}, hooks;
        mr__order order;
        assert_int_equal(mr__hooks_init(&hooks, &given), 0);
        assert_int_equal(mr__order_init(&order, &hooks, &options, 2, &detail), granted < 2 ? MR_ENOMEM : 0);
        if (granted < 2)
            assert_contains(detail.text, "the weights of 2 samples");
        mr__order_fini(&order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_has_every_sample_once),
        cmocka_unit_test(epochs_and_seeds_differ),
        cmocka_unit_test(sequential_is_as_stored),
        cmocka_unit_test(windowed_is_blocks_then_windows),
        cmocka_unit_test(windowed_has_defaults_and_bounds),
        cmocka_unit_test(a_window_reads_few_blocks),
        cmocka_unit_test(weights_make_a_table),
        cmocka_unit_test(the_table_is_as_documented),
        cmocka_unit_test(a_giver_that_is_even_is_done),
        cmocka_unit_test(weighted_draws_by_weight),
        cmocka_unit_test(weights_that_cannot_be_are_named),
        cmocka_unit_test(repeated_takes_each_in_a_row),
        cmocka_unit_test(what_cannot_be_ordered_is_refused),
        cmocka_unit_test(substitutes_are_drawn),
        cmocka_unit_test(the_hash_says_what_differs),
        cmocka_unit_test(the_hash_stays),
        cmocka_unit_test(without_memory_there_is_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
