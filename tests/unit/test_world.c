// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/thread.h"
#include "device/sim/world.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENTS = 5000 };

static mr__world *new_world(void)
{
    mr_hooks hooks;
    mr__world *world;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__world_new(&hooks, &world), 0);
    return world;
}

/* What happened, in its order. */
typedef struct log {
    mr__world *world;
    uint64_t at_ns[EVENTS], number[EVENTS];
    size_t count;
} log;

static void note(void *user, uint64_t number)
{
    log *l = user;
    l->at_ns[l->count] = mr__world_now_ns(l->world);
    l->number[l->count++] = number;
}

static void events_run_by_time_and_then_by_age(void **state)
{
    (void)state;
    log *l = calloc(1, sizeof *l);
    l->world = new_world();
    uint64_t *times = calloc(EVENTS, sizeof *times);
    mr__rng rng;
    mr__rng_init(&rng, 7, 0, 0, 0);
    assert_false(mr__world_advance(l->world));
    for (uint64_t i = 0; i < EVENTS; i++) {
        times[i] = mr__rng_below(&rng, 200);
        assert_int_equal(mr__world_at(l->world, times[i], note, l, i), 0);
    }
    while (mr__world_advance(l->world))
        ;
    assert_int_equal(l->count, EVENTS);
    for (size_t i = 0; i < EVENTS; i++) {
        assert_int_equal(l->at_ns[i], times[l->number[i]]);
        if (i != 0)
            assert_true(l->at_ns[i - 1] < l->at_ns[i] ||
                        (l->at_ns[i - 1] == l->at_ns[i] && l->number[i - 1] < l->number[i]));
    }
    mr__world_free(l->world);
    free(times);
    free(l);
}

static void what_is_past_happens_now(void **state)
{
    (void)state;
    log *l = calloc(1, sizeof *l);
    l->world = new_world();
    assert_int_equal(mr__world_at(l->world, 50, note, l, 1), 0);
    assert_true(mr__world_advance(l->world));
    assert_int_equal(mr__world_at(l->world, 20, note, l, 2), 0);
    assert_true(mr__world_advance(l->world));
    assert_int_equal(l->at_ns[1], 50);
    assert_false(mr__world_advance(l->world));
    mr__world_free(l->world);
    free(l);
}

/* Random ones are dropped, the others run in their order. */
static void dropped_events_do_not_happen(void **state)
{
    (void)state;
    log *l = calloc(1, sizeof *l);
    l->world = new_world();
    mr__rng rng;
    mr__rng_init(&rng, 8, 0, 0, 0);
    assert_int_equal(mr__world_reserve(l->world, EVENTS), 0);
    mr__world_lock(l->world);
    for (uint64_t i = 0; i < EVENTS; i++)
        mr__world_add(l->world, mr__rng_below(&rng, 1000), note, l, i);
    for (uint64_t i = 0; i < EVENTS; i += 3)
        assert_true(mr__world_drop(l->world, note, l, i));
    assert_false(mr__world_drop(l->world, note, l, 0));
    assert_false(mr__world_drop(l->world, note, NULL, 1));
    mr__world_unlock(l->world);
    while (mr__world_advance(l->world))
        ;
    assert_int_equal(l->count, EVENTS - (EVENTS + 2) / 3);
    for (size_t i = 0; i < l->count; i++) {
        assert_true(l->number[i] % 3 != 0);
        assert_true(i == 0 || l->at_ns[i - 1] <= l->at_ns[i]);
    }
    mr__world_free(l->world);
    free(l);
}

static void who_leaves_is_not_called(void **state)
{
    (void)state;
    log *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    a->world = b->world = new_world();
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(mr__world_at(a->world, i * 7 % 31, note, i % 2 == 0 ? a : b, i), 0);
    mr__world_leave(a->world, a);
    while (mr__world_advance(a->world))
        ;
    assert_true(a->count == 0 && b->count == 50);
    mr__world_free(a->world);
    free(a);
    free(b);
}

/* An event that adds the next, and asks to advance. */
typedef struct chain {
    mr__world *world;
    unsigned left;
    bool advanced;
} chain;

static void go_on(void *user, uint64_t number)
{
    chain *c = user;
    c->advanced |= mr__world_advance(c->world);
    if (c->left-- > 1)
        assert_int_equal(mr__world_at(c->world, mr__world_now_ns(c->world) + 10, go_on, c, number + 1), 0);
}

static void an_event_adds_others_but_does_not_advance(void **state)
{
    (void)state;
    chain c = {.world = new_world(), .left = 1000};
    assert_int_equal(mr__world_at(c.world, 10, go_on, &c, 0), 0);
    while (mr__world_advance(c.world))
        ;
    assert_int_equal(mr__world_now_ns(c.world), 10000);
    assert_false(c.advanced);
    mr__world_free(c.world);
}

/* Whoever advances, one event runs at a time, and time does not go back. */
typedef struct crowd {
    mr__world *world;
    atomic_uint inside, seen;
    uint64_t last_ns;
} crowd;

static void be_alone(void *user, uint64_t number)
{
    crowd *c = user;
    (void)number;
    assert_int_equal(atomic_fetch_add(&c->inside, 1), 0);
    uint64_t now = mr__world_now_ns(c->world);
    assert_true(now >= c->last_ns);
    c->last_ns = now;
    atomic_fetch_add(&c->seen, 1);
    assert_int_equal(atomic_fetch_sub(&c->inside, 1), 1);
}

static void advance_all(void *arg)
{
    crowd *c = arg;
    while (mr__world_advance(c->world))
        ;
}

static void threads_advance_one_after_the_other(void **state)
{
    (void)state;
    crowd c = {.world = new_world()};
    mr__thread threads[4] = {0};
    for (uint64_t i = 0; i < EVENTS; i++)
        assert_int_equal(mr__world_at(c.world, i * 13 % 977, be_alone, &c, i), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mr__thread_start(&threads[i], "advance", advance_all, &c), 0);
    for (size_t i = 0; i < 4; i++)
        mr__thread_join(&threads[i]);
    assert_int_equal(atomic_load(&c.seen), EVENTS);
    mr__world_free(c.world);
}

/* Leaving waits for one's event that another thread runs. */
typedef struct stay {
    mr__world *world;
    atomic_bool began, ended;
} stay;

static void take_time(void *user, uint64_t number)
{
    stay *s = user;
    (void)number;
    atomic_store(&s->began, true);
    usleep(20000);
    atomic_store(&s->ended, true);
}

static void advance_once(void *arg)
{
    stay *s = arg;
    mr__world_advance(s->world);
}

static void leaving_waits_for_the_event_that_runs(void **state)
{
    (void)state;
    stay s = {.world = new_world()};
    mr__thread thread = {0};
    assert_int_equal(mr__world_at(s.world, 1, take_time, &s, 0), 0);
    assert_int_equal(mr__thread_start(&thread, "advance", advance_once, &s), 0);
    while (!atomic_load(&s.began))
        usleep(100);
    mr__world_leave(s.world, &s);
    assert_true(atomic_load(&s.ended));
    mr__thread_join(&thread);
    mr__world_free(s.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_run_by_time_and_then_by_age),
        cmocka_unit_test(what_is_past_happens_now),
        cmocka_unit_test(dropped_events_do_not_happen),
        cmocka_unit_test(who_leaves_is_not_called),
        cmocka_unit_test(an_event_adds_others_but_does_not_advance),
        cmocka_unit_test(threads_advance_one_after_the_other),
        cmocka_unit_test(leaving_waits_for_the_event_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
