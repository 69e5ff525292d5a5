// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants, true whenever the lock is free:
 * 1. heap[0 .. length) is a heap by (at_ns, order): no event is before its parent, at (i - 1) / 2.
 * 2. No event is before now_ns.
 * 3. reserved <= capacity; and as those who reserve keep to it, there is room for each mr__world_add.
 */
#include "device/sim/world.h"

#include "base/memory.h"
#include "base/thread.h"
#include <millrace/error.h>
#include <stdatomic.h>
#include <string.h>

enum { CAPACITY = 64 };

typedef struct event {
    uint64_t at_ns, order;
    mr__event *run;
    void *user;
    uint64_t number;
} event;

struct mr__world {
    mr_hooks hooks;
    mr__mutex mutex;
    mr__condition news;
    uint32_t waiting; /* threads */
    atomic_uint_least64_t now_ns;
    event *heap;
    size_t capacity, length, reserved;
    size_t guests; /* events of mr__world_at, which nobody has reserved */
    uint64_t order;
    bool running;
    pthread_t runner;
    const void *user; /* whose event runs */
};

static bool is_before(const event *a, const event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

int mr__world_new(const mr_hooks *hooks, mr__world **out)
{
    mr__world *w = mr__alloc_zero(hooks, sizeof *w);
    if (w == NULL)
        return MR_ENOMEM;
    w->hooks = *hooks;
    w->capacity = CAPACITY;
    w->heap = mr__alloc_array(hooks, w->capacity, sizeof *w->heap);
    int result = w->heap != NULL ? mr__mutex_init(&w->mutex) : MR_ENOMEM;
    if (result == 0 && (result = mr__condition_init(&w->news)) != 0)
        mr__mutex_fini(&w->mutex);
    if (result == 0) {
        *out = w;
        return 0;
    }
    mr__free(hooks, w->heap);
    mr__free(hooks, w);
    return result;
}

void mr__world_free(mr__world *w)
{
    if (w == NULL)
        return;
    mr_hooks hooks = w->hooks;
    mr__condition_fini(&w->news);
    mr__mutex_fini(&w->mutex);
    mr__free(&hooks, w->heap);
    mr__free(&hooks, w);
}

uint64_t mr__world_now_ns(const mr__world *w)
{
    return atomic_load_explicit(&w->now_ns, memory_order_relaxed);
}

void mr__world_lock(mr__world *w)
{
    mr__mutex_lock(&w->mutex);
}

void mr__world_unlock(mr__world *w)
{
    mr__mutex_unlock(&w->mutex);
}

void mr__world_wait(mr__world *w)
{
    w->waiting++;
    (void)mr__condition_wait(&w->news, &w->mutex, MR__FOR_EVER);
    w->waiting--;
}

void mr__world_wake(mr__world *w)
{
    if (w->waiting != 0)
        mr__condition_wake_all(&w->news);
}

/* Room for all that is reserved, the guests, and so many more. The lock is held. */
static int make_room(mr__world *w, size_t count)
{
    size_t taken = w->reserved + w->guests;
    if (count > SIZE_MAX / 4 / sizeof *w->heap - taken)
        return MR_ENOMEM;
    if (taken + count <= w->capacity)
        return 0;
    size_t capacity = 2 * w->capacity > taken + count ? 2 * w->capacity : taken + count;
    event *heap = mr__alloc_array(&w->hooks, capacity, sizeof *heap);
    if (heap == NULL)
        return MR_ENOMEM;
    memcpy(heap, w->heap, w->length * sizeof *heap);
    mr__free(&w->hooks, w->heap);
    w->heap = heap;
    w->capacity = capacity;
    return 0;
}

int mr__world_reserve(mr__world *w, size_t count)
{
    mr__mutex_lock(&w->mutex);
    int result = make_room(w, count);
    if (result == 0)
        w->reserved += count;
    mr__mutex_unlock(&w->mutex);
    return result;
}

void mr__world_unreserve(mr__world *w, size_t count)
{
    mr__mutex_lock(&w->mutex);
    w->reserved -= count;
    mr__mutex_unlock(&w->mutex);
}

/* An event at place `at` goes towards the top as far as it belongs. */
static void lift(mr__world *w, size_t at, event e)
{
    while (at != 0 && is_before(&e, &w->heap[(at - 1) / 2])) {
        w->heap[at] = w->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    w->heap[at] = e;
}

/* The last event takes place `at`, which has become free; there is one less. */
static void close_gap(mr__world *w, size_t at)
{
    event e = w->heap[--w->length];
    if (at == w->length)
        return;
    for (size_t child; (child = 2 * at + 1) < w->length; at = child) {
        if (child + 1 < w->length && is_before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!is_before(&w->heap[child], &e))
            break;
        w->heap[at] = w->heap[child];
    }
    lift(w, at, e);
}

/* Events of mr__world_at have an odd order, so that it is known who gives back the room. */
static void put(mr__world *w, uint64_t at_ns, mr__event *run, void *user, uint64_t number, bool guest)
{
    uint64_t now = mr__world_now_ns(w);
    w->order += 2;
    lift(w, w->length++, (event){at_ns > now ? at_ns : now, w->order + guest, run, user, number});
}

void mr__world_add(mr__world *w, uint64_t at_ns, mr__event *run, void *user, uint64_t number)
{
    put(w, at_ns, run, user, number, false);
}

int mr__world_at(mr__world *w, uint64_t at_ns, mr__event *run, void *user, uint64_t number)
{
    mr__mutex_lock(&w->mutex);
    int result = make_room(w, 1);
    if (result == 0) {
        w->guests++;
        put(w, at_ns, run, user, number, true);
    }
    mr__mutex_unlock(&w->mutex);
    return result;
}

static void remove_at(mr__world *w, size_t at)
{
    w->guests -= w->heap[at].order & 1;
    close_gap(w, at);
}

bool mr__world_drop(mr__world *w, mr__event *run, const void *user, uint64_t number)
{
    for (size_t i = 0; i < w->length; i++) {
        const event *e = &w->heap[i];
        if (e->run == run && e->user == user && e->number == number) {
            remove_at(w, i);
            return true;
        }
    }
    return false;
}

static bool runs_here(const mr__world *w)
{
    return w->running && pthread_equal(w->runner, pthread_self());
}

void mr__world_leave(mr__world *w, const void *user)
{
    mr__mutex_lock(&w->mutex);
    for (size_t i = 0; i < w->length;)
        if (w->heap[i].user == user) {
            remove_at(w, i);
            i = 0; // another may have come to a place before
        } else
            i++;
    while (w->running && w->user == user && !runs_here(w))
        mr__world_wait(w);
    mr__mutex_unlock(&w->mutex);
}

bool mr__world_advance(mr__world *w)
{
    mr__mutex_lock(&w->mutex);
    bool here = runs_here(w);
    while (w->running && !here)
        mr__world_wait(w);
    if (here || w->length == 0) {
        mr__mutex_unlock(&w->mutex);
        return false;
    }
    event e = w->heap[0];
    remove_at(w, 0);
    atomic_store_explicit(&w->now_ns, e.at_ns, memory_order_relaxed);
    w->running = true;
    w->runner = pthread_self();
    w->user = e.user;
    mr__mutex_unlock(&w->mutex);
    e.run(e.user, e.number);
    mr__mutex_lock(&w->mutex);
    w->running = false;
    mr__world_wake(w);
    mr__mutex_unlock(&w->mutex);
    return true;
}
