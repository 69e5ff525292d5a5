// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/clock.h"
#include "base/queue.h"

#include <millrace/error.h>
#include <stdatomic.h>

static mr_hooks default_hooks(void)
{
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    return hooks;
}

static void make(mr__queue *queue, mr__queue_kind kind, size_t capacity, size_t item_nbytes)
{
    mr_hooks hooks = default_hooks();
    assert_int_equal(mr__queue_init(queue, &hooks, kind, capacity, item_nbytes), 0);
}

static void senseless_sizes_are_refused(void **state)
{
    (void)state;
    mr__queue queue;
    mr_hooks hooks = default_hooks();
    assert_int_equal(mr__queue_init(&queue, &hooks, MR__QUEUE_THREADS, 0, 4), MR_EARGUMENT);
    assert_int_equal(mr__queue_init(&queue, &hooks, MR__QUEUE_THREADS, 4, 0), MR_EARGUMENT);
    assert_int_equal(mr__queue_init(&queue, &hooks, MR__QUEUE_THREADS, SIZE_MAX / 2, 4), MR_ENOMEM);
    mr__queue_fini(&queue); // all zero after a failure
}

/* What both kinds do alike, as long as nobody has to wait. */
static void first_in_first_out(mr__queue_kind kind)
{
    for (size_t capacity = 1; capacity <= 5; capacity++) {
        mr__queue queue;
        make(&queue, kind, capacity, sizeof(int));
        int pushed = 0, popped = 0;
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < round % 7; i++)
                if (pushed - popped < (int)capacity) {
                    assert_int_equal(mr__queue_push(&queue, &pushed), 0);
                    pushed++;
                } else {
                    assert_int_equal(mr__queue_try_push(&queue, &pushed), MR_ETIMEOUT);
                    assert_int_equal(mr__queue_push_until(&queue, &pushed, 1), MR_ETIMEOUT);
                }
            assert_int_equal(mr__queue_length(&queue), pushed - popped);
            for (int i = 0; i < round % 5; i++) {
                int item = -1;
                if (pushed == popped) {
                    assert_int_equal(mr__queue_try_pop(&queue, &item), MR_ETIMEOUT);
                    assert_int_equal(mr__queue_pop_until(&queue, &item, 1), MR_ETIMEOUT);
                    assert_int_equal(item, -1); // written on success only
                } else {
                    assert_int_equal(mr__queue_pop_until(&queue, &item, 1), 0); // late, but it is there
                    assert_int_equal(item, popped);
                    popped++;
                }
            }
        }
        assert_true(popped > 20);
        mr__queue_fini(&queue);
    }
}

static void threads_first_in_first_out(void **state)
{
    (void)state;
    first_in_first_out(MR__QUEUE_THREADS);
}

static void twin_first_in_first_out(void **state)
{
    (void)state;
    first_in_first_out(MR__QUEUE_SINGLE);
}

static void twin_never_waits(void **state)
{
    (void)state;
    mr__queue queue;
    int item = 7;
    make(&queue, MR__QUEUE_SINGLE, 1, sizeof item);
    assert_int_equal(mr__queue_pop(&queue, &item), MR_ETIMEOUT);
    assert_int_equal(mr__queue_push(&queue, &item), 0);
    assert_int_equal(mr__queue_push(&queue, &item), MR_ETIMEOUT);
    assert_int_equal(mr__queue_push_until(&queue, &item, MR__FOR_EVER), MR_ETIMEOUT);
    mr__queue_fini(&queue);
}

static void closing_drains(mr__queue_kind kind)
{
    mr__queue queue;
    make(&queue, kind, 4, sizeof(int));
    for (int i = 0; i < 3; i++)
        assert_int_equal(mr__queue_push(&queue, &i), 0);
    mr__queue_close(&queue);
    mr__queue_close(&queue);
    int item = 9;
    assert_int_equal(mr__queue_push(&queue, &item), MR_ECLOSED);
    assert_int_equal(mr__queue_try_push(&queue, &item), MR_ECLOSED);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mr__queue_pop(&queue, &item), 0);
        assert_int_equal(item, i);
    }
    assert_int_equal(mr__queue_pop(&queue, &item), MR_ECLOSED);
    assert_int_equal(mr__queue_try_pop(&queue, &item), MR_ECLOSED);
    assert_int_equal(mr__queue_pop_until(&queue, &item, 1), MR_ECLOSED);
    mr__queue_fini(&queue);
}

static void threads_closing_drains(void **state)
{
    (void)state;
    closing_drains(MR__QUEUE_THREADS);
}

static void twin_closing_drains(void **state)
{
    (void)state;
    closing_drains(MR__QUEUE_SINGLE);
}

enum { THREADS = 4, EACH = 10000, CAPACITY = 3 };

typedef struct item {
    uint32_t pusher, number;
    uint32_t check; /* of the two, so that a torn copy shows */
} item;

typedef struct crowd {
    mr__queue queue;
    atomic_uint next_pusher;
    atomic_size_t pushed, popping;
    atomic_int faults;
    atomic_uchar seen[THREADS][EACH];
} crowd;

static void expect(crowd *c, bool holds)
{
    if (!holds)
        atomic_fetch_add(&c->faults, 1);
}

static void push_many(void *arg)
{
    crowd *c = arg;
    uint32_t me = atomic_fetch_add(&c->next_pusher, 1);
    for (uint32_t i = 0; i < EACH; i++) {
        int result = mr__queue_push(&c->queue, &(item){me, i, me * 31 + i});
        if (result == MR_ECLOSED)
            return;
        expect(c, result == 0);
        // Bounded: what went in is at most what was asked out, and what the queue holds.
        size_t in = atomic_fetch_add(&c->pushed, 1) + 1;
        expect(c, in <= atomic_load(&c->popping) + CAPACITY);
    }
}

static void pop_many(void *arg)
{
    crowd *c = arg;
    int64_t last[THREADS] = {-1, -1, -1, -1};
    for (;;) {
        item got;
        atomic_fetch_add(&c->popping, 1);
        int result = mr__queue_pop(&c->queue, &got);
        if (result == MR_ECLOSED)
            return;
        expect(c,
               result == 0 && got.pusher < THREADS && got.number < EACH && got.check == got.pusher * 31 + got.number);
        expect(c, last[got.pusher] < (int64_t)got.number); // each pusher's items in its order
        last[got.pusher] = got.number;
        expect(c, atomic_fetch_add(&c->seen[got.pusher][got.number], 1) == 0);
    }
}

static void start_all(mr__thread *threads, size_t count, void (*run)(void *), void *arg)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(mr__thread_start(&threads[i], "queue-test", run, arg), 0);
}

static void join_all(mr__thread *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mr__thread_join(&threads[i]);
}

static size_t count_seen(const crowd *c)
{
    size_t count = 0;
    for (size_t p = 0; p < THREADS; p++)
        for (size_t i = 0; i < EACH; i++)
            count += c->seen[p][i];
    return count;
}

static void many_threads_lose_and_double_nothing(void **state)
{
    (void)state;
    static crowd c;
    mr__thread pushers[THREADS], poppers[THREADS];
    make(&c.queue, MR__QUEUE_THREADS, CAPACITY, sizeof(item));
    start_all(poppers, THREADS, pop_many, &c);
    start_all(pushers, THREADS, push_many, &c);
    join_all(pushers, THREADS);
    mr__queue_close(&c.queue);
    join_all(poppers, THREADS);
    assert_int_equal(c.faults, 0);
    assert_int_equal(count_seen(&c), THREADS * EACH);
    mr__queue_fini(&c.queue);
}

static void closing_under_load_keeps_what_was_pushed(void **state)
{
    (void)state;
    static crowd c;
    mr__thread pushers[THREADS], poppers[THREADS];
    make(&c.queue, MR__QUEUE_THREADS, CAPACITY, sizeof(item));
    start_all(pushers, THREADS, push_many, &c);
    start_all(poppers, THREADS, pop_many, &c);
    while (atomic_load(&c.popping) < EACH / 2)
        sched_yield();
    mr__queue_close(&c.queue);
    join_all(pushers, THREADS);
    join_all(poppers, THREADS);
    assert_int_equal(c.faults, 0);
    assert_int_equal(count_seen(&c), c.pushed);
    mr__queue_fini(&c.queue);
}

typedef struct sleeper {
    mr__queue *queue;
    uint64_t deadline_ns;
    atomic_int ready, result;
} sleeper;

static void sleep_in_pop(void *arg)
{
    sleeper *s = arg;
    int got;
    atomic_store(&s->ready, 1);
    atomic_store(&s->result, mr__queue_pop_until(s->queue, &got, s->deadline_ns));
}

static void sleep_in_push(void *arg)
{
    sleeper *s = arg;
    int given = 5;
    atomic_store(&s->ready, 1);
    atomic_store(&s->result, mr__queue_push_until(s->queue, &given, s->deadline_ns));
}

/* However they happen to interleave: with the close before, in or after the wait, the answer is the same. */
static void closing_wakes(void (*sleep)(void *), size_t fill)
{
    for (int timed = 0; timed < 2; timed++) {
        mr__queue queue;
        make(&queue, MR__QUEUE_THREADS, 1, sizeof(int));
        for (size_t i = 0; i < fill; i++)
            assert_int_equal(mr__queue_push(&queue, &(int){1}), 0);
        uint64_t deadline = timed ? mr__clock_deadline_ns(UINT64_C(3600000000000)) : MR__FOR_EVER;
        sleeper s[3] = {{&queue, deadline, 0, 1}, {&queue, deadline, 0, 1}, {&queue, deadline, 0, 1}};
        mr__thread threads[3];
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(mr__thread_start(&threads[i], "sleeper", sleep, &s[i]), 0);
        for (size_t i = 0; i < 3; i++)
            while (!atomic_load(&s[i].ready))
                sched_yield();
        mr__queue_close(&queue);
        join_all(threads, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(s[i].result, MR_ECLOSED);
        mr__queue_fini(&queue);
    }
}

static void closing_wakes_all_poppers(void **state)
{
    (void)state;
    closing_wakes(sleep_in_pop, 0);
}

static void closing_wakes_all_pushers(void **state)
{
    (void)state;
    closing_wakes(sleep_in_push, 1);
}

static void a_timed_wait_ends_with_the_item_or_the_deadline(void **state)
{
    (void)state;
    mr__queue queue;
    make(&queue, MR__QUEUE_THREADS, 1, sizeof(int));
    int got = 0;
    uint64_t soon = mr__clock_deadline_ns(2000000);
    assert_int_equal(mr__queue_pop_until(&queue, &got, soon), MR_ETIMEOUT);
    assert_true(mr__clock_monotonic_ns() >= soon);
    sleeper s = {&queue, mr__clock_deadline_ns(UINT64_C(3600000000000)), 0, 1};
    mr__thread thread;
    assert_int_equal(mr__thread_start(&thread, "sleeper", sleep_in_push, &s), 0);
    assert_int_equal(mr__queue_pop_until(&queue, &got, s.deadline_ns), 0);
    assert_int_equal(got, 5);
    mr__thread_join(&thread);
    assert_int_equal(s.result, 0);
    mr__queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senseless_sizes_are_refused),
        cmocka_unit_test(threads_first_in_first_out),
        cmocka_unit_test(twin_first_in_first_out),
        cmocka_unit_test(twin_never_waits),
        cmocka_unit_test(threads_closing_drains),
        cmocka_unit_test(twin_closing_drains),
        cmocka_unit_test(many_threads_lose_and_double_nothing),
        cmocka_unit_test(closing_under_load_keeps_what_was_pushed),
        cmocka_unit_test(closing_wakes_all_poppers),
        cmocka_unit_test(closing_wakes_all_pushers),
        cmocka_unit_test(a_timed_wait_ends_with_the_item_or_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
