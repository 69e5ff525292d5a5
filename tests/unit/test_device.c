// SPDX-License-Identifier: Apache-2.0
/* What every device keeps (device/device.h), tried on each there is. */
#define _GNU_SOURCE // usleep
#include "test.h"

#include "base/hash.h"
#include "base/thread.h"
#include "device/sim/sim.h"
#include "loader/setup.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 24, SIDE = 8, NBYTES = SIDE * SIDE * 3 };

static test_folder folder;
static mr_dataset *source;

/* A sim device may also be an accelerator of a world of the test's: groups, a launch, a link. */
static const struct {
    const char *name;
    bool accelerator;
} kinds[] = {{"cpu", false}, {"sim", false}, {"sim", true}};

enum { CPU, SIM, ACCELERATOR, KINDS };

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    pack_make_folder(&folder, "source", TASKS, 14);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

/* Tasks of a submitter, and how often each was done. */
typedef struct desk {
    mr_recipe *recipe;
    mr__work work;
    mr__device *device;
    mr__world *world; /* NULL: the device's */
    mr__hardware hardware;
    mr__task tasks[TASKS];
    uint8_t slots[TASKS][NBYTES];
    atomic_uint done[TASKS], all;
} desk;

static void on_done(void *user, mr__task *first, size_t count)
{
    desk *d = user;
    size_t told = 0;
    for (mr__task *task = first; task != NULL; task = task->next, told++)
        atomic_fetch_add(&d->done[task - d->tasks], 1);
    assert_int_equal(told, count);
    atomic_fetch_add(&d->all, (unsigned)count);
}

/* The accelerator's hardware; nothing goes wrong, but for the fault. */
static mr__sim_options make_accelerator(desk *d, uint32_t lanes, mr__fault fault)
{
    mr__hardware_plain(&d->hardware, lanes);
    mr__hardware_device *h = &d->hardware.devices[0];
    h->kind = MR__HARDWARE_ACCELERATOR;
    h->speed = 8.0;
    h->launch_ns = 300000;
    h->link_gbs = 10.0;
    h->memory_nbytes = 64000000;
    h->group = 4;
    h->depth = TASKS;
    h->faults[0] = fault;
    h->fault_count = fault.kind != MR__FAULT_NONE;
    assert_int_equal(mr__world_new(&d->work.hooks, &d->world), 0);
    return (mr__sim_options){.world = d->world, .hardware = &d->hardware};
}

static desk *open_faulty(size_t kind, uint32_t lanes, mr__fault fault)
{
    desk *d = calloc(1, sizeof *d);
    mr__detail detail;
    mr_hooks hooks;
    mr__forms forms;
    mr_recipe *recipe = loading_recipe("center(8) dtype(u8) layout(nhwc)");
    mr_loader_options o = {.struct_size = sizeof o};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__work_init(&d->work, &hooks, source, recipe, &o, &d->recipe, &forms, &detail), 0);
    mr_recipe_free(recipe);
    mr__device_options options = {.work = &d->work, .done = on_done, .user = d, .lanes = lanes};
    mr__sim_options sim = {0};
    if (kinds[kind].accelerator) {
        sim = make_accelerator(d, lanes, fault);
        options.sim = &sim;
    }
    assert_int_equal(mr__device_open(mr__device_type_of(kinds[kind].name), &options, &d->device, &detail), 0);
    for (size_t i = 0; i < TASKS; i++)
        d->tasks[i] =
            (mr__task){.ordinal = i, .form = forms.numbers[0], .draws = (const uint32_t *)"", .slot = d->slots[i]};
    return d;
}

static desk *open_desk(size_t kind, uint32_t lanes)
{
    return open_faulty(kind, lanes, (mr__fault){0});
}

/* `count` tasks from this one on, as one submission. */
static int submit(desk *d, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++)
        d->tasks[i].next = i + 1 < from + count ? &d->tasks[i + 1] : NULL;
    return d->device->type->submit(d->device, &d->tasks[from], count);
}

static void close_desk(desk *d)
{
    assert_true(d->device->type->close(d->device, MR__FOR_EVER));
    mr__world_free(d->world);
    mr_recipe_free(d->recipe);
    free(d);
}

static void wait_for(desk *d, unsigned count)
{
    while (atomic_load(&d->all) < count)
        if (!mr__device_advance(d->device))
            usleep(200);
}

static void each_task_is_done_once(void **state)
{
    (void)state;
    desk *first = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        desk *d = open_desk(i, 3);
        mr__device_info info = d->device->type->info(d->device);
        assert_true(info.lanes == 3 && info.depth >= TASKS && info.group >= 1);
        assert_true(mr__device_takes(d->device, MR_FORM_JPEG, MR_STEP_RRC));
        for (size_t at = 0; at < TASKS; at += 4)
            assert_int_equal(submit(d, at, 4), 0);
        wait_for(d, TASKS);
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&d->done[t]), 1);
            assert_int_equal(d->tasks[t].code, 0);
            assert_true(d->tasks[t].has_sum == (i == ACCELERATOR) && d->tasks[t].lane < 3);
            assert_true(i != ACCELERATOR || d->tasks[t].sum == mr__hash(d->slots[t], NBYTES));
        }
        if (first != NULL)
            assert_memory_equal(first->slots, d->slots, sizeof d->slots);
        size_t count;
        assert_non_null(d->device->type->meters(d->device, &count));
        if (first == NULL)
            first = d;
        else
            close_desk(d);
    }
    close_desk(first);
}

/* Those that are not begun are given back; none is lost or done twice. */
static void what_is_cancelled_is_done_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        desk *d = open_desk(i, 1);
        for (size_t t = 0; t < TASKS; t++)
            assert_int_equal(submit(d, t, 1), 0);
        mr__device_cancel(d->device);
        wait_for(d, TASKS);
        size_t cancelled = 0;
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&d->done[t]), 1);
            cancelled += d->tasks[t].code == MR_ECLOSED;
        }
        assert_true(i == CPU || cancelled == TASKS - 1);
        close_desk(d);
    }
}

/* What can be abandoned is given back at once, and no slot is touched any more. */
static void what_is_abandoned_is_given_back(void **state)
{
    (void)state;
    static const uint8_t zero[NBYTES];
    for (size_t i = 0; i < KINDS; i++) {
        desk *d = open_desk(i, 2);
        bool can = d->device->type->abandon != NULL;
        assert_int_equal(submit(d, 0, TASKS), 0);
        assert_int_equal(mr__device_abandon(d->device), can);
        assert_true(!can || atomic_load(&d->all) == TASKS);
        while (mr__device_advance(d->device))
            ;
        wait_for(d, TASKS);
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&d->done[t]), 1);
            assert_int_equal(d->tasks[t].code, can ? MR_EDEVICE : 0);
            assert_true(!can || memcmp(d->slots[t], zero, NBYTES) == 0);
        }
        d->tasks[0].code = -1; // and it takes tasks again
        assert_int_equal(submit(d, 0, 1), 0);
        wait_for(d, TASKS + 1);
        assert_int_equal(d->tasks[0].code, 0);
        close_desk(d);
    }
}

typedef struct helper {
    desk *desk;
    atomic_bool stop;
} helper;

static void go_on_advancing(void *arg)
{
    helper *h = arg;
    while (!atomic_load(&h->stop))
        if (!mr__device_advance(h->desk->device))
            usleep(20);
}

/* Also by one thread while another advances: each task is given back once, as done or as abandoned. */
static void abandoning_meets_advancing(void **state)
{
    (void)state;
    helper h = {.desk = open_desk(ACCELERATOR, 2)};
    mr__thread thread = {0};
    assert_int_equal(mr__thread_start(&thread, "advance", go_on_advancing, &h), 0);
    for (unsigned round = 1; round <= 100; round++) {
        assert_int_equal(submit(h.desk, 0, TASKS), 0);
        usleep(round % 7 * 30);
        assert_true(mr__device_abandon(h.desk->device));
        while (atomic_load(&h.desk->all) < round * TASKS)
            usleep(20);
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&h.desk->done[t]), round);
            assert_true(h.desk->tasks[t].code == 0 || h.desk->tasks[t].code == MR_EDEVICE);
        }
    }
    atomic_store(&h.stop, true);
    mr__thread_join(&thread);
    close_desk(h.desk);
}

static void memory_can_be_read_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        desk *d = open_desk(i, 2);
        mr__device_memory info = d->device->type->info(d->device).memory, now = mr__device_read_memory(d->device);
        assert_int_equal(info.total_nbytes, i == ACCELERATOR ? 64000000 : 0);
        assert_true(now.total_nbytes == info.total_nbytes && now.free_nbytes == info.free_nbytes);
        assert_true(now.free_nbytes <= now.budget_nbytes && now.budget_nbytes <= now.total_nbytes);
        assert_int_equal(submit(d, 0, 4), 0);
        now = mr__device_read_memory(d->device);
        assert_true(i != ACCELERATOR || now.free_nbytes <= now.total_nbytes - 4 * (uint64_t)NBYTES);
        wait_for(d, 4);
        assert_int_equal(mr__device_read_memory(d->device).free_nbytes, info.free_nbytes);
        close_desk(d);
    }
}

/* Every fifth answer is damaged on its way, which its sum tells. */
static void a_wrong_answer_is_seen_by_its_sum(void **state)
{
    (void)state;
    desk *good = open_desk(ACCELERATOR, 1);
    desk *d = open_faulty(ACCELERATOR, 1, (mr__fault){.kind = MR__FAULT_WRONG, .every = 5});
    assert_int_equal(submit(good, 0, TASKS), 0);
    assert_int_equal(submit(d, 0, TASKS), 0);
    wait_for(good, TASKS);
    wait_for(d, TASKS);
    for (size_t t = 0; t < TASKS; t++) {
        bool wrong = t % 5 == 4;
        assert_true(d->tasks[t].has_sum && d->tasks[t].sum == good->tasks[t].sum && d->tasks[t].code == 0);
        assert_int_equal(d->tasks[t].sum != mr__hash(d->slots[t], NBYTES), wrong);
        assert_int_equal(memcmp(d->slots[t], good->slots[t], NBYTES) != 0, wrong);
    }
    close_desk(good);
    close_desk(d);
}

/* By the cost of its image where nothing else is said: here 1 us, 10 ns a pixel, 1 ns a byte; speed 8. */
static void a_real_task_takes_what_its_image_costs(void **state)
{
    (void)state;
    desk *d = open_desk(ACCELERATOR, 1);
    d->hardware.costs[MR_FORM_NONE] = (mr__hardware_cost){.given = true, .us = 1, .ns_per_pixel = 10, .ns_per_byte = 1};
    for (size_t t = 0; t < 4; t++) {
        mr_record r = {.struct_size = sizeof r};
        assert_int_equal(mr_dataset_record(source, t, d->tasks[t].form, &r), 0);
        assert_int_equal(submit(d, t, 1), 0);
        wait_for(d, (unsigned)t + 1);
        uint64_t core = 1000 + 10 * (uint64_t)r.width * r.height + r.nbytes;
        uint64_t wanted = 300000 + (core + 4) / 8 + (r.nbytes + 5) / 10;
        assert_true(r.nbytes != 0 && d->tasks[t].busy_ns == wanted);
    }
    close_desk(d);
}

/* Virtual time depends on tasks and lanes alone. */
static void time_of_sim_is_virtual(void **state)
{
    (void)state;
    for (uint32_t lanes = 1; lanes <= 8; lanes *= 2) {
        desk *d = open_desk(SIM, lanes);
        assert_false(mr__device_advance(d->device));
        assert_int_equal(submit(d, 0, TASKS), 0);
        wait_for(d, TASKS);
        assert_int_equal(d->device->type->now_ns(d->device), UINT64_C(1000000) * TASKS / lanes);
        assert_false(mr__device_advance(d->device));
        close_desk(d);
    }
}

static void a_device_can_be_closed_with_tasks_in_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        for (unsigned n = 0; n < 12; n++) {
            desk *d = open_desk(i, 2);
            assert_int_equal(submit(d, 0, TASKS), 0);
            usleep(n * 40);
            close_desk(d);
        }
}

static void names_are_known(void **state)
{
    (void)state;
    assert_ptr_equal(mr__device_type_of("cpu"), &mr__device_cpu);
    assert_ptr_equal(mr__device_type_of("sim"), &mr__device_sim);
    assert_null(mr__device_type_of("gpu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_done_once),
        cmocka_unit_test(what_is_cancelled_is_done_too),
        cmocka_unit_test(time_of_sim_is_virtual),
        cmocka_unit_test(a_device_can_be_closed_with_tasks_in_it),
        cmocka_unit_test(what_is_abandoned_is_given_back),
        cmocka_unit_test(abandoning_meets_advancing),
        cmocka_unit_test(memory_can_be_read_again),
        cmocka_unit_test(a_wrong_answer_is_seen_by_its_sum),
        cmocka_unit_test(a_real_task_takes_what_its_image_costs),
        cmocka_unit_test(names_are_known),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
