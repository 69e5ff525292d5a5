// SPDX-License-Identifier: Apache-2.0
/* Devices of a simulated machine, blind: what they take, and what befalls them. */
#include "test.h"

#include "base/clock.h"
#include "device/sim/sim.h"
#include "loading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 4096 };

#define MS UINT64_C(1000000)

/* A device, the tasks that were given to it, and when each came back. */
typedef struct desk {
    loading_counter counter;
    mr__work work;
    mr__hardware hardware;
    mr__world *world;
    mr__trainer *trainer;
    mr__device *device;
    mr__sim_options is;
    mr__task tasks[TASKS];
    uint64_t core_ns[TASKS], nbytes[TASKS], memory[TASKS], done_ns[TASKS];
    unsigned done[TASKS], all, calls;
    size_t again; /* tasks from here on are given to it as others are done */
} desk;

static uint64_t core_of(void *user, const mr__task *task)
{
    return ((desk *)user)->core_ns[task->ordinal];
}

static uint64_t nbytes_of(void *user, const mr__task *task)
{
    return ((desk *)user)->nbytes[task->ordinal];
}

static uint64_t memory_of(void *user, const mr__task *task)
{
    return ((desk *)user)->memory[task->ordinal];
}

static int submit(desk *d, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++)
        d->tasks[i].next = i + 1 < from + count ? &d->tasks[i + 1] : NULL;
    return d->device->type->submit(d->device, &d->tasks[from], count);
}

static void on_done(void *user, mr__task *first, size_t count)
{
    desk *d = user;
    size_t told = 0;
    for (mr__task *task = first; task != NULL; task = task->next, told++) {
        d->done[task->ordinal]++;
        d->done_ns[task->ordinal] = mr__world_now_ns(d->world);
    }
    assert_int_equal(told, count);
    d->all += (unsigned)count;
    d->calls++;
    for (; count != 0 && d->again != 0 && d->again < TASKS; count--)
        assert_int_equal(submit(d, d->again++, 1), 0);
}

/* One device of one lane of speed 1, to be changed before it is opened; a task takes 1 ms and 1000 bytes. */
static desk *new_desk(void)
{
    desk *d = calloc(1, sizeof *d);
    mr_hooks hooks = loading_hooks(&d->counter);
    assert_int_equal(mr__hooks_init(&d->work.hooks, &hooks), 0);
    assert_int_equal(mr__world_new(&d->work.hooks, &d->world), 0);
    d->hardware.device_count = 1;
    strcpy(d->hardware.devices[0].name, "sim0");
    d->hardware.devices[0].depth = TASKS;
    d->is = (mr__sim_options){.world = d->world,
                              .hardware = &d->hardware,
                              .core_ns = core_of,
                              .nbytes = nbytes_of,
                              .memory = memory_of,
                              .user = d,
                              .blind = true};
    for (size_t i = 0; i < TASKS; i++) {
        d->tasks[i].ordinal = i;
        d->core_ns[i] = MS;
        d->nbytes[i] = 1000;
    }
    return d;
}

static void open_desk(desk *d)
{
    mr__detail detail;
    mr__device_options options = {.work = &d->work, .done = on_done, .user = d, .sim = &d->is};
    assert_int_equal(mr__device_open(&mr__device_sim, &options, &d->device, &detail), 0);
}

static void close_desk(desk *d)
{
    assert_true(d->device->type->close(d->device, 0));
    mr__trainer_free(d->trainer);
    mr__world_free(d->world);
    free(d);
}

static void run(desk *d)
{
    while (mr__world_advance(d->world))
        ;
}

static mr__fault *add_fault(desk *d, mr__fault fault)
{
    mr__hardware_device *h = &d->hardware.devices[0];
    h->faults[h->fault_count] = fault;
    return &h->faults[h->fault_count++];
}

/* Each of these was done once, with this code. */
static void check_done(desk *d, size_t from, size_t count, int code)
{
    for (size_t i = from; i < from + count; i++) {
        assert_int_equal(d->done[i], 1);
        assert_int_equal(d->tasks[i].code, code);
    }
}

static void speed_is_of_the_lane_and_the_form(void **state)
{
    (void)state;
    desk *d = new_desk();
    mr__hardware_device *h = &d->hardware.devices[0];
    h->speed = 2.0;
    h->speeds[MR_FORM_L3] = 20.0;
    h->lacks_form[MR_FORM_PNG] = h->lacks_step[MR_STEP_ELASTIC] = true;
    d->tasks[0].form = MR_FORM_JPEG;
    d->tasks[1].form = MR_FORM_L3;
    open_desk(d);
    assert_int_equal(submit(d, 0, 2), 0);
    run(d);
    assert_int_equal(d->done_ns[0], MS / 2);
    assert_int_equal(d->done_ns[1], MS / 2 + MS / 20);
    assert_true(d->tasks[1].begun_ns == MS / 2 && d->tasks[1].busy_ns == MS / 20 && d->tasks[1].lane == 0);
    assert_true(mr__device_takes(d->device, MR_FORM_JPEG, MR_STEP_RRC));
    assert_false(mr__device_takes(d->device, MR_FORM_PNG, MR_STEP_RRC));
    assert_false(mr__device_takes(d->device, MR_FORM_JPEG, MR_STEP_ELASTIC));
    close_desk(d);
}

/* 40 tasks in submissions of 8 at most: 5 launches; each task's share has an eighth of one. */
static void a_launch_is_paid_once_a_submission(void **state)
{
    (void)state;
    desk *d = new_desk();
    mr__hardware_device *h = &d->hardware.devices[0];
    h->launch_ns = MS / 2;
    h->group = 8;
    h->depth = 16;
    open_desk(d);
    mr__device_info info = d->device->type->info(d->device);
    assert_true(info.lanes == 1 && info.group == 8 && info.depth == 128);
    assert_int_equal(submit(d, 0, 40), 0);
    run(d);
    assert_int_equal(mr__world_now_ns(d->world), 40 * MS + 5 * MS / 2);
    assert_int_equal(d->calls, 5);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(d->tasks[i].busy_ns, MS + MS / 16);
        assert_int_equal(d->tasks[i].begun_ns, i / 8 * (8 * MS + MS / 2));
    }
    mr__sim_counts counts = mr__sim_tell(d->device);
    assert_true(counts.tasks == 40 && counts.submissions == 5 && counts.busy_ns == mr__world_now_ns(d->world));
    assert_int_equal(submit(d, 40, 3), 0); // fewer than go together: one launch
    run(d);
    assert_int_equal(d->calls, 6);
    close_desk(d);
}

/* 1000 bytes at 1 GB/s are 1 us. */
static void bytes_take_time_on_the_link(void **state)
{
    (void)state;
    const struct {
        bool back, overlaps;
        uint64_t nbytes, wanted_ns;
    } cases[] = {
        {false, false, 1000, MS + 1000}, {true, false, 1000, MS + 1000 + 500000}, {false, true, 1000, MS},
        {false, true, 3000000, 3 * MS},  {true, true, 3000000, 3 * MS + MS / 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        desk *d = new_desk();
        mr__hardware_device *h = &d->hardware.devices[0];
        h->link_gbs = 1.0;
        h->output_back = cases[i].back;
        h->link_overlaps = cases[i].overlaps;
        d->is.output_nbytes = 500000;
        d->nbytes[0] = cases[i].nbytes;
        open_desk(d);
        assert_int_equal(submit(d, 0, 1), 0);
        run(d);
        assert_int_equal(d->done_ns[0], cases[i].wanted_ns);
        assert_int_equal(mr__sim_tell(d->device).link_nbytes, cases[i].nbytes + (cases[i].back ? 500000 : 0));
        close_desk(d);
    }
}

static void run_jitter(uint64_t seed, double sigma, uint64_t *busy)
{
    desk *d = new_desk();
    d->hardware.seed = seed;
    d->hardware.devices[0].jitter = sigma;
    d->hardware.devices[0].lanes = 3;
    open_desk(d);
    for (size_t i = 0; i < TASKS; i++)
        assert_int_equal(submit(d, i, 1), 0);
    run(d);
    check_done(d, 0, TASKS, 0);
    for (size_t i = 0; i < TASKS; i++)
        busy[i] = d->tasks[i].busy_ns;
    close_desk(d);
}

/* Mean 1 and variance e^(sigma^2) - 1, within five of their own deviations. */
static void jitter_has_mean_1_and_is_the_same_again(void **state)
{
    (void)state;
    static uint64_t a[TASKS], b[TASKS];
    double sigma = 0.3, sum = 0.0, squares = 0.0, variance = exp(sigma * sigma) - 1.0;
    run_jitter(5, sigma, a);
    run_jitter(5, sigma, b);
    assert_memory_equal(a, b, sizeof a);
    run_jitter(6, sigma, b);
    assert_memory_not_equal(a, b, sizeof a);
    for (size_t i = 0; i < TASKS; i++) {
        sum += (double)a[i] / (double)MS;
        squares += pow((double)a[i] / (double)MS - 1.0, 2);
    }
    assert_true(fabs(sum / TASKS - 1.0) < 5.0 * sqrt(variance / TASKS));
    assert_true(fabs(squares / TASKS / variance - 1.0) < 0.2);
}

static void a_slow_device_takes_longer(void **state)
{
    (void)state;
    desk *d = new_desk();
    add_fault(d, (mr__fault){.kind = MR__FAULT_SLOW, .factor = 4.0, .from_ns = 5 * MS / 2, .until_ns = 9 * MS / 2});
    open_desk(d);
    assert_int_equal(submit(d, 0, 4), 0);
    run(d);
    assert_true(d->done_ns[0] == MS && d->done_ns[1] == 2 * MS);
    /* Half a ms is left at 2.5 ms, which takes until 4.5 ms. */
    assert_int_equal(d->done_ns[2], 9 * MS / 2);
    assert_int_equal(d->tasks[2].busy_ns, 5 * MS / 2);
    assert_int_equal(d->done_ns[3], 11 * MS / 2);
    close_desk(d);
    d = new_desk(); // and one that is faster for ever
    add_fault(d, (mr__fault){.kind = MR__FAULT_SLOW, .factor = 0.25, .from_ns = MS});
    open_desk(d);
    assert_int_equal(submit(d, 0, 3), 0);
    run(d);
    assert_int_equal(d->done_ns[2], MS + MS / 2);
    close_desk(d);
}

/* What runs in the frozen lane stops, nothing begins there, and the other goes on. */
static void a_frozen_lane_stands_still(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 2;
    add_fault(d, (mr__fault){.kind = MR__FAULT_FREEZE, .lane = 1, .from_ns = MS / 2, .until_ns = 100 * MS + MS / 2});
    open_desk(d);
    assert_int_equal(submit(d, 0, 8), 0);
    run(d);
    check_done(d, 0, 8, 0);
    assert_int_equal(d->done_ns[0], 101 * MS);
    assert_int_equal(d->tasks[0].lane, 0);
    for (size_t i = 1; i < 8; i++)
        assert_true(d->done_ns[i] == i * MS && d->tasks[i].lane == 1);
    close_desk(d);
    d = new_desk(); // frozen with nothing in it: it begins when it can
    add_fault(d, (mr__fault){.kind = MR__FAULT_FREEZE, .from_ns = 0, .until_ns = 7 * MS});
    add_fault(d, (mr__fault){.kind = MR__FAULT_FREEZE, .from_ns = 7 * MS, .until_ns = 9 * MS});
    open_desk(d);
    assert_int_equal(submit(d, 0, 2), 0);
    run(d);
    assert_true(d->done_ns[0] == 10 * MS && d->tasks[0].begun_ns == 9 * MS && d->done_ns[1] == 11 * MS);
    close_desk(d);
}

static void a_lost_device_gives_all_back(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 2;
    add_fault(d, (mr__fault){.kind = MR__FAULT_LOST, .after = 3, .back_ns = 10 * MS});
    d->core_ns[2] = d->core_ns[3] = 2 * MS;
    d->core_ns[4] = 10 * MS;
    open_desk(d);
    assert_int_equal(submit(d, 0, 10), 0);
    run(d);
    check_done(d, 0, 4, 0); // two at 1 ms, two at 3 ms: together
    check_done(d, 4, 6, MR_EDEVICE);
    assert_int_equal(d->done_ns[9], 3 * MS);
    assert_contains(d->tasks[9].detail.text, "sim0 was lost");
    assert_int_equal(submit(d, 10, 1), 0); // it is still lost
    run(d);
    check_done(d, 10, 1, MR_EDEVICE);
    assert_int_equal(mr__sim_tell(d->device).failed, 7);
    close_desk(d);
}

static void nothing(void *user, uint64_t number)
{
    (void)user;
    (void)number;
}

/* Goes to that time. */
static void wait_until(desk *d, uint64_t at_ns)
{
    assert_int_equal(mr__world_at(d->world, at_ns, nothing, NULL, 0), 0);
    while (mr__world_now_ns(d->world) < at_ns)
        assert_true(mr__world_advance(d->world));
}

static void a_lost_device_comes_back(void **state)
{
    (void)state;
    desk *d = new_desk();
    add_fault(d, (mr__fault){.kind = MR__FAULT_LOST, .after = 0, .back_ns = 10 * MS});
    open_desk(d);
    assert_int_equal(submit(d, 0, 1), 0);
    assert_int_equal(d->all, 0); // not from within submit
    run(d);
    check_done(d, 0, 1, MR_EDEVICE);
    wait_until(d, 10 * MS);
    assert_int_equal(submit(d, 1, 2), 0);
    run(d);
    check_done(d, 1, 2, 0);
    assert_int_equal(d->done_ns[2], 12 * MS);
    close_desk(d);
}

static void a_hung_device_says_nothing_until_it_is_abandoned(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 2;
    add_fault(d, (mr__fault){.kind = MR__FAULT_HANG, .after = 2});
    open_desk(d);
    assert_int_equal(submit(d, 0, 6), 0);
    run(d);
    assert_int_equal(d->all, 2); // and there is no event that would say more
    assert_true(mr__device_abandon(d->device));
    check_done(d, 0, 2, 0);
    check_done(d, 2, 4, MR_EDEVICE);
    assert_int_equal(submit(d, 6, 2), 0);
    run(d);
    assert_int_equal(d->all, 6);
    mr__device_cancel(d->device); // nobody has begun them
    check_done(d, 6, 2, MR_ECLOSED);
    close_desk(d);
}

/* One lane hangs, with what it has; its task ends as much later. The other goes on. */
static void a_hung_lane_comes_back(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 2;
    d->core_ns[0] = 4 * MS;
    add_fault(d, (mr__fault){.kind = MR__FAULT_HANG, .lane = 1, .after = 2, .back_ns = 100 * MS});
    open_desk(d);
    assert_int_equal(submit(d, 0, 5), 0);
    run(d);
    check_done(d, 0, 5, 0);
    assert_int_equal(d->done_ns[0], 104 * MS);
    assert_int_equal(d->done_ns[4], 4 * MS);
    close_desk(d);
    d = new_desk(); // abandoned while it hangs, it begins again when it is back
    add_fault(d, (mr__fault){.kind = MR__FAULT_HANG, .after = 0, .back_ns = 50 * MS});
    open_desk(d);
    assert_int_equal(submit(d, 0, 2), 0);
    assert_true(mr__device_abandon(d->device));
    check_done(d, 0, 2, MR_EDEVICE);
    assert_int_equal(submit(d, 2, 1), 0);
    run(d);
    assert_int_equal(d->done_ns[2], 51 * MS);
    close_desk(d);
}

/* What is abandoned comes back once, also when more is submitted from within. */
static void abandoning_takes_what_there_is(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 3;
    open_desk(d);
    assert_int_equal(submit(d, 0, 10), 0);
    d->again = 10;
    assert_true(mr__device_abandon(d->device));
    check_done(d, 0, 10, MR_EDEVICE);
    assert_int_equal(d->all, 10);
    assert_int_equal(d->again, 20);
    d->again = 0;
    run(d);
    check_done(d, 10, 10, 0);
    assert_int_equal(mr__world_now_ns(d->world), 4 * MS);
    close_desk(d);
}

static void memory_is_counted_and_may_be_taken(void **state)
{
    (void)state;
    desk *d = new_desk();
    mr__hardware_device *h = &d->hardware.devices[0];
    h->lanes = 2;
    h->memory_nbytes = 1000;
    h->launch_ns = 100;
    add_fault(d, (mr__fault){.kind = MR__FAULT_MEMORY, .nbytes = 700, .from_ns = 2 * MS, .until_ns = 50 * MS});
    d->memory[0] = d->memory[1] = 400;
    d->memory[2] = 1001;
    d->memory[3] = 600;
    d->memory[4] = 300;
    d->core_ns[3] = 5 * MS;
    open_desk(d);
    mr__device_memory m = mr__device_read_memory(d->device);
    assert_true(m.total_nbytes == 1000 && m.free_nbytes == 1000 && m.budget_nbytes == 1000);
    assert_int_equal(submit(d, 0, 2), 0);
    m = mr__device_read_memory(d->device);
    assert_true(m.total_nbytes == 1000 && m.free_nbytes == 200 && m.budget_nbytes == 1000);
    run(d);
    assert_int_equal(submit(d, 2, 2), 0); // more than it has; and one that is there when memory is taken
    run(d);
    check_done(d, 2, 1, MR_ENOMEM);
    check_done(d, 3, 1, 0);
    assert_int_equal(d->done_ns[2], MS + 200); // that, too, takes a launch
    m = mr__device_read_memory(d->device);
    assert_true(m.total_nbytes == 1000 && m.free_nbytes == 300 && m.budget_nbytes == 300);
    assert_int_equal(submit(d, 4, 1), 0);
    run(d);
    check_done(d, 4, 1, 0);
    mr__sim_counts counts = mr__sim_tell(d->device);
    assert_true(counts.no_memory == 1 && counts.memory_peak_nbytes == 800 && counts.overcommit_nbytes == 300);
    wait_until(d, 50 * MS);
    assert_int_equal(mr__device_read_memory(d->device).free_nbytes, 1000);
    close_desk(d);
}

/* The trainer. */

static void count_step(void *user, uint64_t step)
{
    (void)user;
    (void)step;
}

static void give_trainer(desk *d, uint64_t step_ns, double interference, double jitter)
{
    d->hardware.trainer = (mr__hardware_trainer){1, step_ns, jitter, interference};
    assert_int_equal(mr__trainer_new(&d->work.hooks, d->world, &d->hardware, count_step, d, &d->trainer), 0);
    d->is.trainer = d->trainer;
}

/* d = 0.5, two lanes. Alone a step takes its length; in company, 1 + d b times as long while a share b is busy. */
static void interference_stretches_a_step(void **state)
{
    (void)state;
    const struct {
        uint64_t core_ns[2]; /* of tasks begun with the step; 0: none */
        uint64_t wanted_ns;
    } cases[] = {
        {{0, 0}, 10 * MS},
        {{60 * MS, 60 * MS}, 15 * MS},          /* busy all through */
        {{60 * MS, 0}, 12 * MS + MS / 2},       /* half of it */
        {{6 * MS, 6 * MS}, 12 * MS},            /* 6 ms of it do the work of 4: 6 are left */
        {{5 * MS, 15 * MS}, 5 * MS + 8333333},  /* 5 / 1.5 done, then (10 - 5 / 1.5) 1.25 */
        {{5 * MS, 10 * MS}, 10 * MS + 2666667}, /* then 5 / 1.25 done, 10 - 10/3 - 4 are left */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        desk *d = new_desk();
        d->hardware.devices[0].lanes = 2;
        give_trainer(d, 10 * MS, 0.5, 0.0);
        open_desk(d);
        for (size_t t = 0; t < 2; t++) {
            d->core_ns[t] = cases[i].core_ns[t];
            if (d->core_ns[t] != 0)
                assert_int_equal(submit(d, t, 1), 0);
        }
        mr__trainer_begin_step(d->trainer);
        assert_true(mr__trainer_is_in_step(d->trainer));
        run(d);
        assert_false(mr__trainer_is_in_step(d->trainer));
        mr__trainer_times times = mr__trainer_tell(d->trainer);
        int64_t off = (int64_t)(times.step_ns - cases[i].wanted_ns);
        assert_true(off >= -2 && off <= 2); // nanoseconds, of rounding
        assert_true(times.steps == 1 && times.alone_ns == 10 * MS && times.last_step_ns == times.step_ns);
        close_desk(d);
    }
}

/* Formula of overlap: T = t (1 + d), when the device prepares without a pause. */
static void many_steps_are_stretched_alike(void **state)
{
    (void)state;
    desk *d = new_desk();
    give_trainer(d, 10 * MS, 0.2, 0.0);
    open_desk(d);
    d->again = 1;
    assert_int_equal(submit(d, 0, 1), 0);
    for (unsigned step = 0; step < 100; step++) {
        mr__trainer_begin_step(d->trainer);
        while (mr__trainer_tell(d->trainer).steps == step)
            assert_true(mr__world_advance(d->world));
    }
    mr__trainer_times times = mr__trainer_tell(d->trainer);
    assert_true(fabs((double)times.step_ns / (double)(1000 * MS) - 1.2) < 1e-6);
    assert_int_equal(times.wait_ns, 0);
    close_desk(d);
}

static void a_trainer_counts_what_it_waits(void **state)
{
    (void)state;
    desk *d = new_desk();
    give_trainer(d, 10 * MS, 0.0, 0.1);
    open_desk(d);
    wait_until(d, 3 * MS); // before the first step is no waiting
    uint64_t alone = 0;
    for (unsigned step = 0; step < 50; step++) {
        mr__trainer_begin_step(d->trainer);
        run(d);
        mr__trainer_times times = mr__trainer_tell(d->trainer);
        alone += times.last_step_ns;
        assert_true(times.last_step_ns > 5 * MS && times.last_step_ns < 20 * MS);
        assert_int_equal(times.last_wait_ns, step != 0 ? 2 * MS : 0);
        wait_until(d, mr__world_now_ns(d->world) + 2 * MS);
    }
    mr__trainer_times times = mr__trainer_tell(d->trainer);
    assert_true(times.wait_ns == 49 * 2 * MS && times.first_begun_ns == 3 * MS && times.step_ns == alone);
    assert_int_equal(times.last_over_ns, 3 * MS + times.step_ns + times.wait_ns);
    assert_int_equal(times.step_ns, times.alone_ns);
    close_desk(d);
}

static void two_devices_share_a_world(void **state)
{
    (void)state;
    desk *d = new_desk(), *e = new_desk();
    mr__world_free(e->world);
    e->world = e->is.world = d->world;
    e->hardware.devices[0].speed = 4.0;
    open_desk(d);
    open_desk(e);
    assert_int_equal(submit(d, 0, 4), 0);
    assert_int_equal(submit(e, 0, 4), 0);
    for (unsigned i = 0; i < 5; i++)
        assert_true(mr__device_advance(d->device));
    assert_true(d->all == 1 && e->all == 4 && d->device->type->now_ns(d->device) == MS);
    assert_true(e->device->type->close(e->device, 0));
    run(d);
    check_done(d, 0, 4, 0);
    free(e);
    close_desk(d);
}

static void a_full_queue_is_refused(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].depth = 4;
    open_desk(d);
    assert_int_equal(submit(d, 0, 5), MR_ELIMIT);
    assert_int_equal(submit(d, 0, 4), 0); // one is begun
    assert_int_equal(submit(d, 4, 1), 0);
    assert_int_equal(submit(d, 5, 1), MR_ELIMIT);
    run(d);
    check_done(d, 0, 5, 0);
    close_desk(d);
    d = new_desk();
    mr__detail detail;
    mr__device_options options = {.work = &d->work, .done = on_done, .user = d, .sim = &d->is};
    d->is.number = 1;
    assert_int_equal(mr__device_open(&mr__device_sim, &options, &d->device, &detail), MR_EARGUMENT);
    mr__world_free(d->world);
    free(d);
}

static void nothing_is_allocated_once_it_is_open(void **state)
{
    (void)state;
    desk *d = new_desk();
    d->hardware.devices[0].lanes = 100;
    add_fault(d, (mr__fault){.kind = MR__FAULT_FREEZE, .from_ns = MS, .until_ns = 3 * MS});
    add_fault(d, (mr__fault){.kind = MR__FAULT_LOST, .after = 3000, .back_ns = MS});
    give_trainer(d, 10 * MS, 0.5, 0.1);
    open_desk(d);
    unsigned before = atomic_load(&d->counter.allocated);
    assert_true(before != 0);
    mr__trainer_begin_step(d->trainer);
    assert_int_equal(submit(d, 0, TASKS), 0);
    run(d);
    assert_int_equal(d->all, TASKS);
    assert_int_equal(atomic_load(&d->counter.allocated), before);
    close_desk(d);
}

/* Not asserted: how fast it is, with jitter and without. The same task goes through again and again. */
typedef struct mill {
    mr__device *device;
    uint64_t left, done;
} mill;

static void turn(void *user, mr__task *first, size_t count)
{
    mill *m = user;
    m->done += count;
    if (m->left != 0) {
        m->left--;
        m->device->type->submit(m->device, first, count);
    }
}

static void tasks_a_second(void **state)
{
    (void)state;
    for (int jitter = 0; jitter < 2; jitter++) {
        desk *d = new_desk();
        mill m = {.left = test_quick() ? 50000 : 1000000};
        uint64_t all = m.left + 16;
        d->hardware.devices[0].lanes = 8;
        d->hardware.devices[0].jitter = jitter * 0.3;
        mr__detail detail;
        mr__device_options options = {.work = &d->work, .done = turn, .user = &m, .sim = &d->is};
        assert_int_equal(mr__device_open(&mr__device_sim, &options, &d->device, &detail), 0);
        m.device = d->device;
        uint64_t began = mr__clock_monotonic_ns();
        for (size_t i = 0; i < 16; i++)
            assert_int_equal(submit(d, i, 1), 0);
        run(d);
        double seconds = (double)(mr__clock_monotonic_ns() - began) * 1e-9;
        assert_int_equal(m.done, all);
        print_message("%s jitter: %.2f million tasks a second\n", jitter != 0 ? "with" : "without",
                      (double)all / seconds * 1e-6);
        close_desk(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_is_of_the_lane_and_the_form),
        cmocka_unit_test(a_launch_is_paid_once_a_submission),
        cmocka_unit_test(bytes_take_time_on_the_link),
        cmocka_unit_test(jitter_has_mean_1_and_is_the_same_again),
        cmocka_unit_test(a_slow_device_takes_longer),
        cmocka_unit_test(a_frozen_lane_stands_still),
        cmocka_unit_test(a_lost_device_gives_all_back),
        cmocka_unit_test(a_lost_device_comes_back),
        cmocka_unit_test(a_hung_device_says_nothing_until_it_is_abandoned),
        cmocka_unit_test(a_hung_lane_comes_back),
        cmocka_unit_test(abandoning_takes_what_there_is),
        cmocka_unit_test(memory_is_counted_and_may_be_taken),
        cmocka_unit_test(interference_stretches_a_step),
        cmocka_unit_test(many_steps_are_stretched_alike),
        cmocka_unit_test(a_trainer_counts_what_it_waits),
        cmocka_unit_test(two_devices_share_a_world),
        cmocka_unit_test(a_full_queue_is_refused),
        cmocka_unit_test(nothing_is_allocated_once_it_is_open),
        cmocka_unit_test(tasks_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
