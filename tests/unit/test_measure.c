// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "measure/stages.h"

#include <math.h>
#include <string.h>

#define MS ((uint64_t)1000000)

static void near(double value, double wanted)
{
    assert_true(fabs(value - wanted) <= 1e-9 * (1 + fabs(wanted)));
}

static void threads_are_added_up(void **state)
{
    (void)state;
    static mr__thread_meter a, b;
    static mr__consumer_meter consumer;
    const mr__thread_meter *const meters[] = {&a, &b};
    mr_loader_stats stats;
    memset(&stats, 0xff, sizeof stats); // what stands there before is nothing to it
    stats.seconds = 1;
    mr__stage_add(&a, MR__AT_DECODE, 8 * MS, 8, 800);
    mr__stage_add(&b, MR__AT_DECODE, 3 * MS, 1, 100);
    mr__stage_add(&a, MR__AT_READ, MS, 9, 90);
    mr__stage_add(&b, MR__AT_AUGMENT, 5 * MS, 9, 9000);
    mr__stage_add(&b, MR__AT_ORDER, 2 * MS, 0, 0); // time that is no sample's
    mr__stage_add(&a, MR__AT_WAIT, 40 * MS, 2, 0);
    mr__stage_add(&b, MR__AT_IDLE, 70 * MS, 1, 0);
    atomic_store(&a.reads_cached, 7);
    atomic_store(&b.reads_cached, 1);
    atomic_store(&a.reads_waited, 3);
    atomic_store(&b.reads_waited, 1);
    atomic_store(&a.read_depth_sum, 10);
    atomic_store(&b.stored_nbytes, 12345);
    mr__measure_sum(meters, 2, &consumer, &stats);
    static const char *const names[] = {"read", "decode", "augment", "order"};
    assert_int_equal(stats.stage_count, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(stats.stages[i].name, names[i]);
    const mr_stage_stats *decode = &stats.stages[1];
    assert_true(decode->count == 9 && decode->nbytes == 900);
    near(decode->seconds, 0.011);
    assert_true(fabs(decode->p50_ns - 1e6) < 0.0625e6);
    assert_true(fabs(decode->p99_ns - 3e6) < 0.0625 * 3e6);
    near(stats.stages[0].seconds, 0.001);
    near(stats.stages[2].seconds, 0.005);
    near(stats.stages[3].seconds, 0.002);
    assert_true(stats.stages[3].p50_ns == 0);
    near(stats.thread_wait_seconds, 0.04);
    near(stats.thread_idle_seconds, 0.07);
    assert_true(stats.reads_cached == 8 && stats.reads_waited == 4 && stats.stored_nbytes == 12345);
    near(stats.read_depth_mean, 2.5);
    assert_string_equal(stats.bottleneck, "none");
}

static void the_consumer_is_measured(void **state)
{
    (void)state;
    static mr__consumer_meter consumer;
    mr_loader_stats stats = {.seconds = 1};
    mr__measure_sum(NULL, 0, &consumer, &stats);
    assert_true(stats.ready_mean == 0 && stats.read_depth_mean == 0 && stats.consumer_p99_ns == 0);
    mr__consumer_add(&consumer, 0, 2, 64);
    mr__consumer_add(&consumer, MS, 1, 64); // just no stall
    mr__consumer_add(&consumer, MS + 1, 0, 10);
    mr__consumer_add(&consumer, 5 * MS, 0, 0); // a batch of pads
    mr__measure_sum(NULL, 0, &consumer, &stats);
    assert_true(stats.samples == 138 && stats.batches == 4 && stats.consumer_stalls == 2);
    near(stats.consumer_stall_seconds, 0.007000001);
    near(stats.ready_mean, 0.75);
    assert_true(fabs(stats.consumer_p50_ns - 1e6) < 0.0625e6);
    assert_true(fabs(stats.consumer_p99_ns - 5e6) < 0.0625 * 5e6);
}

static void what_binds_is_named(void **state)
{
    (void)state;
    static const struct {
        uint64_t samples;
        double seconds, stalled, read, decode, wait, idle;
        const char *wanted;
    } cases[] = {
        // Two threads for ten seconds each, in all of these.
        {31, 10, 9, 1, 18, 1, 0, "none"},          {32, 10, 9, 1, 18, 1, 0, "cores"},
        {9999, 10, 9, 1, 18, 1, 0, "cores"},       {9999, 10, 9, 1, 4, 15, 0, "storage"},
        {9999, 10, 9, 5, 5.1, 9.9, 0, "cores"}, // they worked more than they waited
        {9999, 10, 9, 5, 4.9, 10.1, 0, "storage"}, {9999, 10, 0, 1, 4, 0, 15, "consumer"},
        {9999, 10, 0.19, 1, 4, 0, 15, "consumer"}, {9999, 10, 0.21, 1, 4, 0, 15, "cores"}, // the consumer waited
        {9999, 10, 0.1, 1, 18.7, 0, 0.3, "cores"}, // and threads had nothing to spare
        {9999, 10, 0.1, 1, 2, 14, 3, "consumer"},  // it waits for nobody, whatever threads wait for
        {9999, 10, 3, 1, 2, 14, 3, "storage"},     // it does wait
        {9999, 0, 0, 0, 0, 0, 0, "cores"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_loader_stats stats = {.samples = cases[i].samples,
                                 .seconds = cases[i].seconds,
                                 .consumer_stall_seconds = cases[i].stalled,
                                 .thread_wait_seconds = cases[i].wait,
                                 .thread_idle_seconds = cases[i].idle,
                                 .stage_count = 2};
        stats.stages[0].seconds = cases[i].read;
        stats.stages[1].seconds = cases[i].decode;
        assert_string_equal(mr__measure_bottleneck(&stats), cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_added_up),
        cmocka_unit_test(the_consumer_is_measured),
        cmocka_unit_test(what_binds_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
