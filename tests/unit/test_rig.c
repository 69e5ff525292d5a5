// SPDX-License-Identifier: Apache-2.0
/* What the scheduler makes of batches on simulated hardware, in virtual time: limits are exact. */
#include "test.h"

#include "loading.h"
#include "rigging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1e6

static const double speeds[] = {0.25, 0.5, 1, 2, 4, 8, 16};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

static void heavy_tailed_batches_take_little_more_than_the_bound(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {80, 240, 500};
    for (size_t n = 0; n < 3; n++)
        for (size_t i = 0; i < SPEEDS; i++) {
            rigging *r = rigging_new(4, speeds[i], MR__LOAD_HEAVY, sizes[n], sizes[n] == 80 ? 120 : 50);
            rigging_run(r);
            double most = sizes[n] == 80 ? 1.10 : 1.05;
            if (r->result.span_ratio > most || r->result.span_ratio < 1)
                fail_msg("S %g, batches of %u: %.3f of the bound", speeds[i], sizes[n], r->result.span_ratio);
            free(r);
        }
}

static void the_bound_is_work_over_lanes_or_the_largest_sample(void **state)
{
    (void)state;
    mr__hardware h;
    double even[] = {4, 4, 4, 4, 4, 4}, one[] = {4, 4, 120};
    mr__load_pair(&h, 4, 2, 0);
    assert_true(fabs(mr__rig_bound_ns(&h, even, 6) - 4) < 1e-9);
    assert_true(fabs(mr__rig_bound_ns(&h, one, 3) - 60) < 1e-9);
    mr__load_pair(&h, 4, 2, 100);
    assert_true(fabs(mr__rig_bound_ns(&h, one, 3) - 120) < 1e-9);
}

/* One lane stops for a second: what it has is late, and nothing else is. */
static void a_frozen_lane_holds_up_its_task_alone(void **state)
{
    (void)state;
    for (uint32_t device = 0; device < 2; device++)
        for (size_t i = 0; i < SPEEDS; i++) {
            rigging *r = rigging_new(4, speeds[i], MR__LOAD_HEAVY, 500, 3);
            rigging_run(r);
            double usual = rigging_span(r, 1), from = (double)r->opened_ns[1] + 50 * MS, until = from + 1000 * MS;
            mr__fault freeze = {.kind = MR__FAULT_FREEZE, .lane = 1, .from_ns = (uint64_t)from};
            freeze.until_ns = (uint64_t)until;
            rigging_fault(r, device, freeze);
            rigging_run(r);
            double largest = 0, lost = (device == 0 ? 1 : speeds[i]) / (4 + speeds[i]) * 1000 * MS;
            for (uint64_t n = 500; n < 1000; n++) {
                mr__rig_sample sample;
                mr__load_sample(&r->load, n, &sample);
                largest = sample.core_ns > largest ? sample.core_ns : largest;
            }
            double held = 50 * MS + 1000 * MS + largest / (device == 0 ? 1 : speeds[i]), spread = usual + lost;
            if (rigging_span(r, 1) > 1.05 * (held > spread ? held : spread))
                fail_msg("S %g, device %u: %.1f ms, usually %.1f", speeds[i], device, rigging_span(r, 1) / MS,
                         usual / MS);
            free(r);
        }
}

/* One sample a hundred times as dear, known from its header, in a stream of batches. */
static void a_dear_sample_holds_up_its_batch_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPEEDS; i++) {
        rigging *r = rigging_new(4, speeds[i], MR__LOAD_RANDAUG, 240, 20);
        mr__rig_sample dear;
        r->options.apart = false;
        rigging_run(r);
        uint64_t usual_ns[20];
        memcpy(usual_ns, r->ready_ns, sizeof usual_ns);
        r->load.dear = UINT64_MAX;
        r->load.dear_at = 5 * 240 + 100;
        r->load.times = 100;
        mr__load_sample(&r->load, r->load.dear_at, &dear);
        rigging_run(r);
        double best = dear.core_ns / (speeds[i] > 1 ? speeds[i] : 1), share = dear.core_ns / (4 + speeds[i]);
        for (uint64_t b = 0; b < 20; b++) {
            double late = (double)r->ready_ns[b] - (double)usual_ns[b];
            double most = b < 5 ? 2 * MS : b == 5 ? 1.05 * best : 1.1 * share + 5 * MS;
            if (late > most)
                fail_msg("S %g, batch %u is late by %.1f ms of %.1f", speeds[i], (unsigned)b, late / MS, most / MS);
        }
        free(r);
    }
}

/* Of a batch on the accelerator: its first pick, and its last. */
static void picks_are_fused_and_split_near_the_tail(void **state)
{
    (void)state;
    const double launch = 300000;
    rigging *r = rigging_new(4, 8, MR__LOAD_LIGHT, 240, 40);
    rigging_run(r);
    for (uint64_t b = 0; b < 40; b++) {
        const rigging_pick *first = NULL, *last = NULL;
        for (size_t i = 0; i < r->pick_count; i++)
            if (r->picks[i].batch == b) {
                first = first == NULL ? &r->picks[i] : first;
                last = &r->picks[i];
            }
        assert_non_null(first);
        assert_true(launch <= 0.0501 * first->predicted_ns);                           // worth its launch
        assert_true(first->predicted_ns < launch / 0.05 + 0.25 * first->predicted_ns); // and not much longer
        assert_true(last->count < first->count);
        assert_true(last->predicted_ns < 0.5 * first->predicted_ns);
    }
    free(r);
    r = rigging_new(4, 1, MR__LOAD_HEAVY, 240, 10); // nothing is fused that is long enough
    r->load.off = 0;
    rigging_run(r);
    for (size_t i = 0; i < r->pick_count; i++)
        if (r->picks[i].count > 1)
            assert_true(r->picks[i].predicted_ns / r->picks[i].count < launch / 0.05);
    free(r);
}

static void every_schedule_settles_each_task_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        rigging *r = rigging_new(1 + seed % 7, speeds[seed % SPEEDS], (mr__load_kind)(seed % MR__LOADS), 80, 5);
        r->hardware.seed = seed;
        r->hardware.devices[0].jitter = r->hardware.devices[1].jitter = 0.5;
        r->options.apart = seed % 3 == 0;
        r->options.learns = seed % 2 == 0;
        r->options.policy = mr__policy_at(seed % 8);
        rigging_run(r);
        free(r);
    }
}

static void a_seed_gives_one_schedule_to_the_nanosecond(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (uint64_t seed = 1; seed < 4; seed++) {
        rigging *r = rigging_new(4, 4, MR__LOAD_RANDAUG, 240, 20);
        r->hardware.seed = seed;
        r->hardware.devices[0].jitter = r->hardware.devices[1].jitter = 0.3;
        r->options.apart = false;
        r->options.learns = true;
        rigging_fault(r, 1, (mr__fault){.kind = MR__FAULT_LOST, .after = 500, .back_ns = 300000000});
        rigging_run(r);
        uint64_t hash = r->hash;
        double seconds = r->result.seconds;
        rigging_run(r);
        assert_int_equal(r->hash, hash);
        assert_true(r->result.seconds == seconds);
        assert_int_not_equal(hash, last);
        last = hash;
        free(r);
    }
}

static void batches_take_no_memory(void **state)
{
    (void)state;
    unsigned allocated[2];
    for (uint32_t p = 0; mr__policy_at(p) != NULL; p++) {
        for (int i = 0; i < 2; i++) {
            loading_counter counter = {0};
            rigging *r = rigging_new(4, 4, MR__LOAD_RANDAUG, 80, i == 0 ? 10 : 200);
            mr_hooks hooks = loading_hooks(&counter);
            r->options.hooks = &hooks;
            r->options.policy = mr__policy_at(p);
            r->options.apart = false;
            r->options.learns = true;
            rigging_fault(r, 1, (mr__fault){.kind = MR__FAULT_LOST, .after = 100, .back_ns = 100000000});
            rigging_run(r);
            allocated[i] = counter.allocated;
            free(r);
        }
        assert_int_equal(allocated[0], allocated[1]);
        assert_true(allocated[0] > 0);
    }
}

/* 64 MB; every other image has 100 megapixels, of which it can hold none. */
static void what_does_not_fit_goes_elsewhere(void **state)
{
    (void)state;
    for (uint32_t p = 0; mr__policy_at(p) != NULL; p++)
        for (uint64_t large = 1; large <= 2; large++) {
            rigging *r = rigging_new(4, 8, MR__LOAD_RANDAUG, 240, 20);
            r->hardware.devices[1].memory_nbytes = 64 << 20;
            r->options.apart = false;
            r->options.policy = mr__policy_at(p);
            r->load.need_nbytes = 3 << 20;
            r->large = large;
            r->large_nbytes = 300000000;
            rigging_run(r);
            assert_int_equal(r->result.no_memory, 0);
            for (uint32_t m = 0; m < MR__MISHAPS; m++)
                assert_int_equal(r->result.mishaps[1][m], 0);
            bool used = r->options.policy->who != MR__WHO_HOST && large == 2 && r->options.policy->grain == 1;
            assert_true(used ? r->result.tally[1].jobs > 0 : large == 2 || r->result.tally[1].jobs == 0);
            free(r);
        }
}

static void several_devices_share_a_batch(void **state)
{
    (void)state;
    for (uint32_t count = 3; count <= MR__SCHED_DEVICES_MAX; count++) {
        rigging *r = rigging_new(4, 2, MR__LOAD_HEAVY, 500, 20);
        for (uint32_t d = 2; d < count; d++) {
            r->hardware.devices[d] = r->hardware.devices[1];
            r->hardware.devices[d].speed = 0.5 * d;
            r->hardware.devices[d].lanes = 1 + d % 3;
            snprintf(r->hardware.devices[d].name, sizeof r->hardware.devices[d].name, "acc%u", d);
        }
        r->hardware.device_count = count;
        rigging_run(r);
        if (r->result.span_ratio > 1.08)
            fail_msg("%u devices: %.3f of the bound", count, r->result.span_ratio);
        for (uint32_t d = 0; d < count; d++)
            assert_true(r->result.device_share[d] > 0);
        free(r);
    }
}

/* Tiny samples go by the job. */
static void a_job_may_be_of_several_samples(void **state)
{
    (void)state;
    rigging *r = rigging_new(4, 4, MR__LOAD_LIGHT, 500, 10);
    r->options.tiny = 32;
    r->hardware.devices[0].group = r->hardware.devices[1].group = 64;
    rigging_run(r);
    assert_int_equal(r->result.tally[0].jobs + r->result.tally[1].jobs, 10 * 16);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heavy_tailed_batches_take_little_more_than_the_bound),
        cmocka_unit_test(the_bound_is_work_over_lanes_or_the_largest_sample),
        cmocka_unit_test(a_frozen_lane_holds_up_its_task_alone),
        cmocka_unit_test(a_dear_sample_holds_up_its_batch_alone),
        cmocka_unit_test(picks_are_fused_and_split_near_the_tail),
        cmocka_unit_test(every_schedule_settles_each_task_once),
        cmocka_unit_test(a_seed_gives_one_schedule_to_the_nanosecond),
        cmocka_unit_test(batches_take_no_memory),
        cmocka_unit_test(what_does_not_fit_goes_elsewhere),
        cmocka_unit_test(several_devices_share_a_batch),
        cmocka_unit_test(a_job_may_be_of_several_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
