// SPDX-License-Identifier: Apache-2.0
/* A crew that learns what its devices take, and loses some of them. */
#include "test.h"

#include "rigging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

enum { STEADY = 12, AFTER = 6 };

/* Devices that are of no use, or of little. */
typedef struct useless {
    const char *name;
    double speed;
    uint64_t launch_ns, memory_nbytes;
} useless;

static const useless uselesses[] = {
    {"a hundred times slower", 0.01, 300000, 0}, {"a launch of 50 ms", 1, 50000000, 0},
    {"a fast one, so", 16, 50000000, 0},         {"memory for one image", 4, 300000, 100},
    {"all at once", 0.01, 50000000, 100},
};

/* For told costs, and for ones that are learned from nothing; batches apart, and in a stream. */
static void no_device_makes_it_slower_than_the_best_alone(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 4; way++)
        for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
            for (size_t i = 0; i < sizeof uselesses / sizeof *uselesses; i++) {
                const useless *u = &uselesses[i];
                rigging *r = rigging_new(4, u->speed, kind, i % 2 == 0 ? 80 : 240, 120);
                r->hardware.devices[1].launch_ns = u->launch_ns;
                r->hardware.devices[1].memory_nbytes = u->memory_nbytes;
                r->load.need_nbytes = 100;
                r->options.learns = (way & 1) != 0;
                r->options.apart = (way & 2) != 0;
                double host = rigging_seconds_by(r, "intrabatch"), device = rigging_seconds_by(r, "naive-device");
                double best = host < device ? host : device, ours = rigging_seconds_by(r, "auto");
                if (ours > 1.02 * best)
                    fail_msg("%s, %s, %s, %s: %.3f s; host %.3f, device %.3f", u->name, mr__load_name(kind),
                             r->options.learns ? "learned" : "told", r->options.apart ? "apart" : "a stream", ours,
                             host, device);
                free(r);
            }
}

/* Three batches after a beginning, or a change, the next three take as long as if it had always been so. */
static void check_split(rigging *r, uint64_t at, const double *steady_ns, const double *steady_share, const char *what)
{
    double took = 0, steady = 0, share = 0;
    for (uint64_t b = 3; b < AFTER; b++) {
        took += rigging_span(r, at + b);
        steady += steady_ns[b];
        share += (rigging_share(r, at + b, 1) - steady_share[b]) / 3;
    }
    if (took > 1.05 * steady || fabs(share) > 0.05)
        fail_msg("%s, kind %d, S %g, batches of %u: %.3f of the steady time, share %+.3f", what, (int)r->load.kind,
                 r->hardware.devices[1].speed, r->options.batch, took / steady, share);
}

static void note_steady(const rigging *r, double *ns, double *share)
{
    for (uint64_t b = 0; b < AFTER; b++) {
        ns[b] = rigging_span(r, STEADY + b);
        share[b] = rigging_share(r, STEADY + b, 1);
    }
}

static void it_learns_from_nothing_in_three_batches(void **state)
{
    (void)state;
    static const double speeds[] = {0.25, 1, 4, 16};
    for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
        for (size_t i = 0; i < 8; i++) {
            double ns[AFTER], share[AFTER];
            rigging *r = rigging_new(4, speeds[i / 2], kind, i % 2 == 0 ? 80 : 240, STEADY + AFTER);
            r->options.learns = true;
            rigging_run(r);
            note_steady(r, ns, share);
            r->offset = STEADY * r->options.batch;
            r->options.batches = AFTER;
            rigging_run(r);
            check_split(r, 0, ns, share, "cold");
            free(r);
        }
}

static void it_follows_a_device_that_changes_in_three_batches(void **state)
{
    (void)state;
    static const double speeds[] = {0.25, 1, 4, 16};
    for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
        for (size_t i = 0; i < 16; i++) {
            double ns[AFTER], share[AFTER];
            mr__fault slow = {.kind = MR__FAULT_SLOW, .factor = i % 2 == 0 ? 4 : 0.25};
            rigging *r = rigging_new(4, speeds[i / 4], kind, i % 4 < 2 ? 80 : 240, STEADY + AFTER);
            mr__hardware_device *device = &r->hardware.devices[1];
            r->options.learns = true;
            rigging_fault(r, 1, slow); // as if it had always been so
            rigging_run(r);
            note_steady(r, ns, share);
            device->fault_count = 0;
            rigging_run(r);
            slow.from_ns = r->opened_ns[STEADY];
            rigging_fault(r, 1, slow);
            rigging_run(r);
            check_split(r, STEADY, ns, share, i % 2 == 0 ? "four times slower" : "four times faster");
            free(r);
        }
}

/* The first that a device gets is small, and alone. */
static void an_unseen_device_is_tried_with_a_small_job(void **state)
{
    (void)state;
    rigging *r = rigging_new(4, 4, MR__LOAD_HEAVY, 240, 3);
    r->options.learns = true;
    rigging_run(r);
    assert_int_equal(r->picks[0].reason, MR__REASON_TRIAL);
    assert_int_equal(r->picks[0].count, 1);
    uint32_t smaller = 0;
    for (uint64_t n = 0; n < 240; n++) {
        mr__rig_sample sample;
        mr__load_sample(&r->load, n, &sample);
        smaller += sample.core_ns * sample.guess < r->picks[0].predicted_ns * 0.999;
    }
    assert_int_equal(smaller, 0);
    for (size_t i = 1; i < r->pick_count; i++)
        assert_int_not_equal(r->picks[i].reason, MR__REASON_TRIAL);
    for (uint32_t m = 0; m < MR__MISHAPS; m++)
        assert_int_equal(r->result.mishaps[1][m], 0);
    free(r);
}

static double worst_span(const rigging *r)
{
    double worst = 0;
    for (uint64_t b = 0; b < r->options.batches; b++)
        worst = rigging_span(r, b) > worst ? rigging_span(r, b) : worst;
    return worst;
}

typedef struct misfortune {
    const char *name;
    mr__fault fault;
    mr__mishap mishap;
    bool comes_back;
} misfortune;

static const misfortune misfortunes[] = {
    {"lost", {.kind = MR__FAULT_LOST, .after = 300}, MR__MISHAP_LOST, false},
    {"lost and back", {.kind = MR__FAULT_LOST, .after = 300, .back_ns = 700000000}, MR__MISHAP_LOST, true},
    {"hangs", {.kind = MR__FAULT_HANG, .after = 300}, MR__MISHAP_LATE, false},
    {"hangs for a while", {.kind = MR__FAULT_HANG, .after = 300, .back_ns = 3000000000}, MR__MISHAP_LATE, true},
    {"memory taken back",
     {.kind = MR__FAULT_MEMORY, .from_ns = 1010000000, .until_ns = 2000000000, .nbytes = 6400},
     MR__MISHAP_MEMORY,
     true},
    {"half of it", {.kind = MR__FAULT_MEMORY, .from_ns = 1010000000, .nbytes = 3200}, MR__MISHAP_MEMORY, true},
};

/* The device fails; each batch is there within twice its usual time and the deadline. */
static void batches_survive_their_device(void **state)
{
    (void)state;
    for (uint32_t p = 0; mr__policy_at(p) != NULL; p++)
        for (size_t i = 0; i < 2 * sizeof misfortunes / sizeof *misfortunes; i++) {
            const misfortune *m = &misfortunes[i / 2];
            rigging *r = rigging_new(4, 4, MR__LOAD_HEAVY, 240, 40);
            r->hardware.devices[1].memory_nbytes = 6400;
            r->load.need_nbytes = 100;
            r->options.policy = mr__policy_at(p);
            r->options.apart = false;
            r->options.learns = i % 2 != 0;
            rigging_run(r);
            double usual = worst_span(r);
            bool used = r->result.tally[1].jobs != 0;
            rigging_fault(r, 1, m->fault);
            rigging_run(r);
            if (worst_span(r) > 2 * usual + (double)SECOND)
                fail_msg("%s, %s: %.0f ms, usually %.0f", r->options.policy->name, m->name, worst_span(r) / 1e6,
                         usual / 1e6);
            const uint64_t *mishaps = r->result.mishaps[1];
            bool slow = m->mishap == MR__MISHAP_LATE && mishaps[MR__MISHAP_SLOW] != 0;
            if (used && m->mishap != MR__MISHAP_MEMORY)
                assert_true(mishaps[m->mishap] != 0 || slow);
            if (used && m->comes_back)
                assert_true(rigging_share(r, 39, 1) > 0);
            free(r);
        }
}

/* One that never comes back is tried after 1 s, 2, 4, ...: seldom. */
static void a_lost_device_is_tried_less_and_less(void **state)
{
    (void)state;
    rigging *r = rigging_new(4, 4, MR__LOAD_HEAVY, 240, 200);
    rigging_fault(r, 1, (mr__fault){.kind = MR__FAULT_LOST, .after = 300});
    rigging_run(r);
    uint64_t tries = r->result.mishaps[1][MR__MISHAP_LOST];
    double log2_seconds = log2(r->result.seconds);
    assert_true((double)tries <= log2_seconds + 2 && (double)tries >= log2_seconds - 1);
    assert_int_equal(r->result.mishaps[1][MR__MISHAP_BACK], 0);
    assert_int_equal(r->result.tally[1].failures, tries);
    free(r);
}

/* A device that is slow once is not waited for by a batch that has nothing else. */
static void a_batch_does_not_wait_for_a_slow_device_alone(void **state)
{
    (void)state;
    rigging *r = rigging_new(4, 4, MR__LOAD_HEAVY, 240, 6);
    rigging_run(r);
    uint64_t from = r->opened_ns[2] + 10000000;
    double usual = rigging_span(r, 2);
    rigging_fault(r, 1,
                  (mr__fault){.kind = MR__FAULT_SLOW, .factor = 1000, .from_ns = from, .until_ns = from + SECOND});
    rigging_run(r);
    assert_true(r->result.mishaps[1][MR__MISHAP_SLOW] != 0);
    assert_true(rigging_span(r, 2) < 2.5 * usual);
    free(r);
}

static void mishaps_have_words(void **state)
{
    (void)state;
    for (int m = 0; m < MR__MISHAPS; m++)
        assert_true(mr__mishap_text((mr__mishap)m)[0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_device_makes_it_slower_than_the_best_alone),
        cmocka_unit_test(it_learns_from_nothing_in_three_batches),
        cmocka_unit_test(it_follows_a_device_that_changes_in_three_batches),
        cmocka_unit_test(an_unseen_device_is_tried_with_a_small_job),
        cmocka_unit_test(batches_survive_their_device),
        cmocka_unit_test(a_lost_device_is_tried_less_and_less),
        cmocka_unit_test(a_batch_does_not_wait_for_a_slow_device_alone),
        cmocka_unit_test(mishaps_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
