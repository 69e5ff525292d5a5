// SPDX-License-Identifier: Apache-2.0
/* What every device keeps (device/device.h), tried on each there is. */
#define _GNU_SOURCE // usleep
#include "test.h"

#include "device/device.h"
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
static const char *const names[] = {"cpu", "sim"};

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

static desk *open_desk(const char *name, uint32_t lanes)
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
    assert_int_equal(mr__device_open(mr__device_type_of(name), &options, &d->device, &detail), 0);
    for (size_t i = 0; i < TASKS; i++)
        d->tasks[i] =
            (mr__task){.ordinal = i, .form = forms.numbers[0], .draws = (const uint32_t *)"", .slot = d->slots[i]};
    return d;
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        desk *d = open_desk(names[i], 3);
        mr__device_info info = d->device->type->info(d->device);
        assert_true(info.lanes == 3 && info.depth >= TASKS && info.group >= 1);
        assert_true(mr__device_takes(d->device, MR_FORM_JPEG, MR_STEP_RRC));
        for (size_t at = 0; at < TASKS; at += 4)
            assert_int_equal(submit(d, at, 4), 0);
        wait_for(d, TASKS);
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&d->done[t]), 1);
            assert_int_equal(d->tasks[t].code, 0);
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        desk *d = open_desk(names[i], 1);
        for (size_t t = 0; t < TASKS; t++)
            assert_int_equal(submit(d, t, 1), 0);
        mr__device_cancel(d->device);
        wait_for(d, TASKS);
        size_t cancelled = 0;
        for (size_t t = 0; t < TASKS; t++) {
            assert_int_equal(atomic_load(&d->done[t]), 1);
            cancelled += d->tasks[t].code == MR_ECLOSED;
        }
        assert_true(i == 0 || cancelled == TASKS - 1);
        close_desk(d);
    }
}

/* Virtual time depends on tasks and lanes alone. */
static void time_of_sim_is_virtual(void **state)
{
    (void)state;
    for (uint32_t lanes = 1; lanes <= 8; lanes *= 2) {
        desk *d = open_desk("sim", lanes);
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned n = 0; n < 12; n++) {
            desk *d = open_desk(names[i], 2);
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
        cmocka_unit_test(each_task_is_done_once), cmocka_unit_test(what_is_cancelled_is_done_too),
        cmocka_unit_test(time_of_sim_is_virtual), cmocka_unit_test(a_device_can_be_closed_with_tasks_in_it),
        cmocka_unit_test(names_are_known),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
