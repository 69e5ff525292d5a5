// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "test.h"

#include "base/pool.h"

#include <millrace/error.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 3, JOBS = 5000, CAPACITY = 2 };

typedef struct board {
    atomic_size_t started, finished, faults;
    atomic_int busy[THREADS];
    atomic_int ran[JOBS];
    char name[16];
    pthread_t runner;
} board;

typedef struct ticket {
    board *board;
    size_t number;
} ticket;

static void run_ticket(void *arg, size_t worker)
{
    ticket *t = arg;
    board *b = t->board;
    atomic_fetch_add(&b->started, 1);
    if (worker >= THREADS || atomic_exchange(&b->busy[worker], 1) != 0)
        atomic_fetch_add(&b->faults, 1); // a worker does one thing at a time
    else
        atomic_store(&b->busy[worker], 0);
    atomic_fetch_add(&b->ran[t->number], 1);
    atomic_fetch_add(&b->finished, 1);
}

static void add_all(mr__pool *pool, board *b, ticket *tickets, size_t threads)
{
    for (size_t i = 0; i < JOBS; i++) {
        tickets[i] = (ticket){b, i};
        assert_int_equal(mr__pool_add(pool, run_ticket, &tickets[i]), 0);
        // Back-pressure: those that are neither finished nor on a worker are in the queue.
        assert_true(i + 1 <= atomic_load(&b->finished) + threads + CAPACITY);
    }
}

static void check_all(const board *b)
{
    assert_int_equal(b->faults, 0);
    assert_int_equal(b->finished, JOBS);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(b->ran[i], 1);
}

static void every_job_runs_once(void **state)
{
    (void)state;
    static board b;
    static ticket tickets[JOBS];
    for (size_t threads = 0; threads <= THREADS; threads++) {
        mr__pool *pool;
        memset(&b, 0, sizeof b);
        assert_int_equal(mr__pool_new(NULL, "test", threads, CAPACITY, &pool), 0);
        add_all(pool, &b, tickets, threads);
        mr__pool_wait(pool);
        check_all(&b);
        mr__pool_wait(pool); // idle already
        mr__pool_free(pool);
    }
}

static void freeing_finishes_what_was_added(void **state)
{
    (void)state;
    static board b;
    static ticket tickets[JOBS];
    mr__pool *pool;
    assert_int_equal(mr__pool_new(NULL, "test", THREADS, CAPACITY, &pool), 0);
    add_all(pool, &b, tickets, THREADS);
    mr__pool_free(pool);
    check_all(&b);
}

static void note_runner(void *arg, size_t worker)
{
    (void)worker;
    board *b = arg;
    b->runner = pthread_self();
    pthread_getname_np(b->runner, b->name, sizeof b->name);
}

static void without_threads_the_adder_does_it(void **state)
{
    (void)state;
    board b = {0};
    mr__pool *pool;
    assert_int_equal(mr__pool_new(NULL, "test", 0, 0, &pool), 0);
    assert_int_equal(mr__pool_add(pool, note_runner, &b), 0);
    assert_true(pthread_equal(b.runner, pthread_self()));
    mr__pool_wait(pool);
    mr__pool_free(pool);
}

static void workers_are_named(void **state)
{
    (void)state;
    board b = {0};
    mr__pool *pool;
    assert_int_equal(mr__pool_new(NULL, "millrace-decode", 1, 1, &pool), 0);
    assert_int_equal(mr__pool_add(pool, note_runner, &b), 0);
    mr__pool_wait(pool);
    assert_string_equal(b.name, "millrace-d0");
    mr__pool_free(pool);
}

static void free_nothing(void *user, void *block)
{
    (void)user, (void)block;
}

static void senseless_arguments_are_refused(void **state)
{
    (void)state;
    mr__pool *pool = NULL;
    mr_hooks half = {.struct_size = sizeof half, .free = free_nothing};
    assert_int_equal(mr__pool_new(NULL, "test", 1, 0, &pool), MR_EARGUMENT);
    assert_int_equal(mr__pool_new(&half, "test", 1, 1, &pool), MR_EARGUMENT);
    assert_null(pool);
    mr__pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_runs_once),
        cmocka_unit_test(freeing_finishes_what_was_added),
        cmocka_unit_test(without_threads_the_adder_does_it),
        cmocka_unit_test(workers_are_named),
        cmocka_unit_test(senseless_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
