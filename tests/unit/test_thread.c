// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "test.h"

#include "base/clock.h"
#include "base/thread.h"

#include <millrace/error.h>
#include <signal.h>
#include <string.h>

typedef struct report {
    char name[16];
    bool interrupt_blocked, fault_blocked;
} report;

static void look_around(void *arg)
{
    report *r = arg;
    sigset_t mask;
    pthread_getname_np(pthread_self(), r->name, sizeof r->name);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    r->interrupt_blocked = sigismember(&mask, SIGINT);
    r->fault_blocked = sigismember(&mask, SIGSEGV);
}

static void it_runs_under_its_name(void **state)
{
    (void)state;
    report r = {0};
    mr__thread thread;
    assert_int_equal(mr__thread_start(&thread, "a-name-of-more-than-15", look_around, &r), 0);
    mr__thread_join(&thread);
    assert_string_equal(r.name, "a-name-of-more-");
}

static void signals_stay_with_the_program(void **state)
{
    (void)state;
    report r = {0};
    mr__thread thread;
    sigset_t interrupt, after;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
    assert_int_equal(mr__thread_start(&thread, "t", look_around, &r), 0);
    mr__thread_join(&thread);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_true(r.interrupt_blocked);
    assert_false(r.fault_blocked);
    assert_false(sigismember(&after, SIGINT));
}

static void joining_what_never_started_is_fine(void **state)
{
    (void)state;
    mr__thread thread = {0};
    mr__thread_join(&thread);
    report r;
    assert_int_equal(mr__thread_start(&thread, "t", look_around, &r), 0);
    mr__thread_join(&thread);
    mr__thread_join(&thread);
}

typedef struct gate {
    mr__mutex mutex;
    mr__condition condition;
    bool open;
} gate;

static void open_gate(void *arg)
{
    gate *g = arg;
    mr__mutex_lock(&g->mutex);
    g->open = true;
    mr__condition_wake_all(&g->condition);
    mr__mutex_unlock(&g->mutex);
}

static void a_condition_wakes(void **state)
{
    (void)state;
    gate g = {0};
    mr__thread thread;
    assert_int_equal(mr__mutex_init(&g.mutex), 0);
    assert_int_equal(mr__condition_init(&g.condition), 0);
    mr__mutex_lock(&g.mutex);
    assert_int_equal(mr__thread_start(&thread, "opener", open_gate, &g), 0);
    while (!g.open)
        assert_int_equal(mr__condition_wait(&g.condition, &g.mutex, MR__FOR_EVER), 0);
    mr__mutex_unlock(&g.mutex);
    mr__thread_join(&thread);
    mr__condition_fini(&g.condition);
    mr__mutex_fini(&g.mutex);
}

static void a_deadline_is_monotonic_time(void **state)
{
    (void)state;
    gate g = {0};
    assert_int_equal(mr__mutex_init(&g.mutex), 0);
    assert_int_equal(mr__condition_init(&g.condition), 0);
    mr__mutex_lock(&g.mutex);
    // Long past by the monotonic clock, and by any other.
    assert_int_equal(mr__condition_wait(&g.condition, &g.mutex, 1), MR_ETIMEOUT);
    // Not yet: the wait lasts until then, by the clock it is given in.
    uint64_t deadline = mr__clock_deadline_ns(5000000);
    int result;
    while ((result = mr__condition_wait(&g.condition, &g.mutex, deadline)) == 0) {
    }
    assert_int_equal(result, MR_ETIMEOUT);
    assert_true(mr__clock_monotonic_ns() >= deadline);
    mr__mutex_unlock(&g.mutex);
    mr__condition_fini(&g.condition);
    mr__mutex_fini(&g.mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_under_its_name),
        cmocka_unit_test(signals_stay_with_the_program),
        cmocka_unit_test(joining_what_never_started_is_fine),
        cmocka_unit_test(a_condition_wakes),
        cmocka_unit_test(a_deadline_is_monotonic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
