// SPDX-License-Identifier: Apache-2.0
/* The scheduler by itself, played by a test that has a clock and dice. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "route/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3, JOBS = 60, BATCHES = 3, UNDER_WAY = 64 };

/* What a game knows by itself, and compares with what the scheduler says. */
typedef struct game {
    mr__sched *sched;
    const mr__policy *policy;
    mr__rng rng;
    mr__sched_device devices[DEVICES];
    uint64_t now_ns;
    struct {
        mr__pick *pick;
        uint64_t end_ns;
    } under_way[UNDER_WAY];
    size_t count;
    bool in_pick[BATCHES][JOBS];
    unsigned done[BATCHES][JOBS];
    mr__job *jobs[BATCHES];
    uint32_t left[BATCHES];
    uint64_t used_nbytes[DEVICES];
    uint32_t picks[DEVICES];
    uint64_t aside_ns[DEVICES];
    uint64_t finished;
} game;

static uint32_t roll(game *g, uint32_t n)
{
    return mr__rng_below(&g->rng, n);
}

static void open_batch(game *g)
{
    uint32_t batch, count = 1 + roll(g, JOBS);
    mr__job *jobs = mr__sched_open(g->sched, &batch);
    assert_non_null(jobs);
    assert_true(batch < BATCHES);
    g->jobs[batch] = jobs;
    g->left[batch] = count;
    for (uint32_t i = 0; i < count; i++) {
        double work = exp(3.0 * mr__rng_float(&g->rng)) * 1e6;
        jobs[i].first = NULL;
        jobs[i].count = 1;
        jobs[i].stored_nbytes = 1 + roll(g, 1000);
        jobs[i].need_nbytes = roll(g, 10) == 0 ? 2000 : 1 + roll(g, 100); // 2000: no device has it
        jobs[i].ns[0] = (float)work;
        jobs[i].ns[1] = roll(g, 8) == 0 ? INFINITY : (float)(work / 6);
        jobs[i].ns[2] = roll(g, 4) == 0 ? NAN : (float)(work * 3);
        g->done[batch][i] = 0;
        g->in_pick[batch][i] = false;
    }
    mr__sched_add(g->sched, batch, count, g->now_ns);
}

static void check_pick(game *g, const mr__pick *pick, uint32_t device)
{
    const mr__sched_device *d = &g->devices[device];
    uint32_t count = 0;
    uint64_t need = 0;
    assert_int_equal(pick->device, device);
    assert_true(pick->lane < d->lanes);
    assert_true(++g->picks[device] <= d->depth);
    assert_true(g->aside_ns[device] <= g->now_ns);
    for (const mr__job *job = pick->first; job != NULL; job = job->next) {
        size_t i = (size_t)(job - g->jobs[pick->batch]);
        assert_true(i < JOBS && job->batch == pick->batch);
        assert_false(g->in_pick[pick->batch][i]);
        assert_int_equal(g->done[pick->batch][i], 0);
        assert_false(isinf(job->ns[device]) || isnan(job->ns[device]));
        g->in_pick[pick->batch][i] = true;
        need += job->need_nbytes;
        count++;
    }
    assert_int_equal(count, pick->count);
    assert_true(count != 0 && count <= d->group);
    assert_int_equal(need, pick->need_nbytes);
    g->used_nbytes[device] += need;
    assert_true(d->memory_nbytes == 0 || g->used_nbytes[device] <= d->memory_nbytes);
    assert_true(mr__reason_text(pick->reason)[0] != 0);
}

static bool any_left(const game *g)
{
    for (uint32_t b = 0; b < BATCHES; b++)
        if (g->left[b] != 0)
            return true;
    return false;
}

static void ask_all(game *g)
{
    for (uint32_t d = DEVICES; d-- != 0;)
        for (mr__pick *pick; (pick = mr__sched_take(g->sched, d, g->now_ns)) != NULL;) {
            check_pick(g, pick, d);
            assert_true(g->count < UNDER_WAY);
            double took = mr__pick_ns(g->sched, pick, NULL) * (0.3 + 2 * mr__rng_float(&g->rng));
            g->under_way[g->count].pick = pick;
            g->under_way[g->count++].end_ns = g->now_ns + (uint64_t)took;
        }
    bool host = g->aside_ns[0] <= g->now_ns; // which can do all
    assert_true(g->count != 0 || !any_left(g) || !host);
}

static void end_pick(game *g, size_t at, bool well)
{
    mr__pick *pick = g->under_way[at].pick;
    uint32_t batch = pick->batch, device = pick->device;
    g->under_way[at] = g->under_way[--g->count];
    g->picks[device]--;
    g->used_nbytes[device] -= pick->need_nbytes;
    for (mr__job *job = pick->first, *next; job != NULL; job = next) {
        size_t i = (size_t)(job - g->jobs[batch]);
        next = job->next;
        g->in_pick[batch][i] = false;
        if (!well) {
            mr__sched_return(g->sched, job, g->now_ns);
            continue;
        }
        g->done[batch][i]++;
        bool last = mr__sched_done(g->sched, job, g->now_ns);
        assert_int_equal(last, --g->left[batch] == 0);
        if (last) {
            mr__sched_close(g->sched, batch);
            g->finished++;
        }
    }
}

static void fail_device(game *g, uint32_t device)
{
    mr__sched_fail(g->sched, device, g->now_ns);
    g->aside_ns[device] = g->sched->stations[device].aside_until_ns;
    assert_true(g->aside_ns[device] > g->now_ns);
    for (size_t i = g->count; i-- != 0;)
        if (g->under_way[i].pick->device == device)
            end_pick(g, i, false);
}

/* The next thing that happens. */
static void advance(game *g)
{
    size_t first = 0;
    uint64_t next = mr__sched_next_ns(g->sched, g->now_ns);
    for (size_t i = 1; i < g->count; i++)
        if (g->under_way[i].end_ns < g->under_way[first].end_ns)
            first = i;
    if (g->count != 0 && g->under_way[first].end_ns <= next) {
        g->now_ns = g->under_way[first].end_ns;
        end_pick(g, first, true);
    } else {
        assert_int_not_equal(next, UINT64_MAX);
        g->now_ns = next > g->now_ns ? next : g->now_ns;
        uint32_t device = mr__sched_overdue(g->sched, g->now_ns);
        if (device != UINT32_MAX)
            fail_device(g, device);
    }
    if (roll(g, 200) == 0)
        fail_device(g, 1 + roll(g, DEVICES - 1));
    if (roll(g, 50) == 0)
        for (uint32_t b = 0; b < BATCHES; b++)
            if (g->left[b] != 0)
                mr__sched_changed(g->sched, b);
    if (roll(g, 50) == 0)
        mr__sched_allow(g->sched, 1, roll(g, 3) == 0 ? 0 : roll(g, 2) == 0 ? 5000000 : UINT64_MAX);
}

static void play(const mr__policy *policy, uint64_t seed)
{
    game *g = calloc(1, sizeof *g);
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__rng_init(&g->rng, seed, 0, 0, 0);
    g->policy = policy;
    g->devices[0] = (mr__sched_device){.name = "cpu", .lanes = 1 + roll(g, 8), .group = 1};
    g->devices[1] = (mr__sched_device){
        .name = "a", .lanes = 1 + roll(g, 2), .group = 16, .launch_ns = 300000, .memory_nbytes = 300, .can_fail = true};
    g->devices[2] = (mr__sched_device){.name = "b", .lanes = 1, .depth = 2, .group = 1, .can_fail = true};
    for (uint32_t d = 0; d < DEVICES; d++)
        g->devices[d].depth = g->devices[d].depth != 0 ? g->devices[d].depth : g->devices[d].lanes;
    mr__sched_options options = {.hooks = &hooks,
                                 .policy = policy,
                                 .devices = g->devices,
                                 .device_count = DEVICES,
                                 .batches = BATCHES,
                                 .jobs = JOBS,
                                 .deadline_ns = 50000000,
                                 .back_ns = 20000000};
    assert_int_equal(mr__sched_new(&options, &g->sched), 0);
    for (int steps = 0; g->finished < 30; steps++) {
        assert_true(steps < 100000);
        uint32_t batch = 0;
        while (batch < BATCHES && g->left[batch] != 0)
            batch++;
        if (batch < BATCHES && roll(g, 3) == 0)
            open_batch(g);
        ask_all(g);
        if (g->count != 0 || any_left(g))
            advance(g);
    }
    mr__sched_free(g->sched);
    free(g);
}

static void every_job_is_done_once_whatever_befalls(void **state)
{
    (void)state;
    for (uint32_t p = 0; mr__policy_at(p) != NULL; p++)
        for (uint64_t seed = 1; seed <= 40; seed++)
            play(mr__policy_at(p), seed);
}

static mr__sched *new_sched(const mr__sched_device *devices, uint32_t count)
{
    static mr_hooks hooks;
    mr__sched *sched;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__sched_options options = {.hooks = &hooks, .devices = devices, .device_count = count, .batches = 2, .jobs = 16};
    assert_int_equal(mr__sched_new(&options, &sched), 0);
    return sched;
}

static uint32_t add_jobs(mr__sched *sched, const double *ms, uint32_t count, double speed)
{
    uint32_t batch;
    mr__job *jobs = mr__sched_open(sched, &batch);
    assert_non_null(jobs);
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (mr__job){.count = 1, .stored_nbytes = 1};
        jobs[i].ns[0] = (float)(ms[i] * 1e6);
        jobs[i].ns[1] = (float)(ms[i] * 1e6 / speed);
    }
    mr__sched_add(sched, batch, count, 0);
    return batch;
}

/* The worked example of doc/policies.md. */
static void the_largest_goes_to_the_fastest(void **state)
{
    (void)state;
    const mr__sched_device devices[] = {{.name = "cpu", .lanes = 2}, {.name = "acc", .lanes = 1, .can_fail = true}};
    const double ms[] = {2, 12, 3, 4, 3, 8};
    mr__sched *sched = new_sched(devices, 2);
    uint32_t batch = add_jobs(sched, ms, 6, 4);
    assert_int_equal(mr__sched_ready_ns(sched, batch, 0), 32000000 / 6);
    mr__pick *acc = mr__sched_take(sched, 1, 0);
    assert_true(acc->first == &sched->lots[batch].jobs[1] && acc->reason == MR__REASON_LARGEST);
    mr__pick *one = mr__sched_take(sched, 0, 0), *two = mr__sched_take(sched, 0, 0);
    assert_non_null(one);
    assert_non_null(two);
    assert_true(one->first->ns[0] <= 4e6 && two->first->ns[0] <= 4e6); // not the one of 8
    assert_null(mr__sched_take(sched, 0, 0));
    assert_null(mr__sched_take(sched, 1, 0));
    mr__sched_free(sched);
}

static void a_device_that_would_end_last_takes_nothing(void **state)
{
    (void)state;
    const mr__sched_device devices[] = {{.name = "cpu", .lanes = 2}, {.name = "acc", .lanes = 1, .can_fail = true}};
    const double ms[] = {4, 4, 4, 4};
    mr__sched *sched = new_sched(devices, 2);
    (void)add_jobs(sched, ms, 4, 0.01);
    assert_null(mr__sched_take(sched, 1, 0));
    assert_non_null(mr__sched_take(sched, 0, 0));
    mr__sched_free(sched);
}

static void what_is_closed_gets_nothing_and_the_rest_goes_on(void **state)
{
    (void)state;
    const mr__sched_device devices[] = {{.name = "cpu", .lanes = 1}, {.name = "acc", .lanes = 1, .can_fail = true}};
    const double ms[] = {4, 4, 4, 4};
    mr__sched *sched = new_sched(devices, 2);
    (void)add_jobs(sched, ms, 4, 8);
    mr__sched_allow(sched, 1, 0);
    assert_null(mr__sched_take(sched, 1, 0));
    assert_non_null(mr__sched_take(sched, 0, 0));
    mr__sched_allow(sched, 1, UINT64_MAX);
    mr__sched_depth(sched, 1, 0);
    assert_null(mr__sched_take(sched, 1, 0));
    mr__sched_depth(sched, 1, 9); // more than it has
    assert_non_null(mr__sched_take(sched, 1, 0));
    assert_null(mr__sched_take(sched, 1, 0));
    mr__sched_free(sched);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__sched *sched = NULL;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    const mr__sched_device none = {.name = "none"}, one = {.name = "one", .lanes = 1};
    mr__sched_options options = {.hooks = &hooks, .devices = &one, .device_count = 1, .batches = 1, .jobs = 0};
    assert_int_equal(mr__sched_new(&options, &sched), MR_EARGUMENT);
    options.jobs = 1;
    options.device_count = 0;
    assert_int_equal(mr__sched_new(&options, &sched), MR_EARGUMENT);
    options.device_count = MR__SCHED_DEVICES_MAX + 1;
    assert_int_equal(mr__sched_new(&options, &sched), MR_EARGUMENT);
    options.device_count = 1;
    options.devices = &none;
    assert_int_equal(mr__sched_new(&options, &sched), MR_EARGUMENT);
    assert_null(sched);
}

static void policies_have_names(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (; mr__policy_at(count) != NULL; count++) {
        const mr__policy *policy = mr__policy_at(count);
        assert_true(mr__policy_of(policy->name) == policy);
        assert_true(policy->summary[0] != 0);
    }
    assert_int_equal(count, 8);
    assert_null(mr__policy_of("none"));
    assert_int_equal(mr__policy_grain(&mr__policy_interbatch, 240, 0), 240);
    assert_int_equal(mr__policy_grain(&mr__policy_fusion, 240, 0), 4);
    assert_int_equal(mr__policy_grain(&mr__policy_auto, 240, 0), 1);
    assert_int_equal(mr__policy_grain(&mr__policy_auto, 240, 32), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_done_once_whatever_befalls),
        cmocka_unit_test(the_largest_goes_to_the_fastest),
        cmocka_unit_test(a_device_that_would_end_last_takes_nothing),
        cmocka_unit_test(what_is_closed_gets_nothing_and_the_rest_goes_on),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(policies_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
