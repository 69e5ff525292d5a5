// SPDX-License-Identifier: Apache-2.0
#include "dataset/parallel.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include <millrace/error.h>
#include <millrace/system.h>

enum { TICK_NS = 200 * 1000 * 1000 };

typedef struct loop {
    const mr__parallel *p;
    atomic_size_t next;
    mr__mutex lock;
    mr__condition ended;
    size_t running;
    size_t failed; /* the lowest number that has an error */
    int result;
} loop;

typedef struct helper {
    loop *loop;
    size_t worker;
    mr__thread thread;
} helper;

static void note(loop *l, size_t number, int result)
{
    atomic_store(l->p->stop, true);
    mr__mutex_lock(&l->lock);
    /* Who stopped because another failed has nothing to say. */
    bool first = l->result == 0 || (l->result == MR_ECLOSED && result != MR_ECLOSED);
    if (first || (number < l->failed && result != MR_ECLOSED)) {
        l->failed = number;
        l->result = result;
    }
    mr__mutex_unlock(&l->lock);
}

static void go(void *arg)
{
    helper *h = arg;
    loop *l = h->loop;
    while (!atomic_load(l->p->stop)) {
        size_t number = atomic_fetch_add(&l->next, 1);
        if (number >= l->p->count)
            break;
        int result = l->p->work(l->p->arg, number, h->worker);
        if (result != 0)
            note(l, number, result);
    }
    mr__mutex_lock(&l->lock);
    l->running--;
    mr__condition_wake_all(&l->ended);
    mr__mutex_unlock(&l->lock);
}

size_t mr__parallel_threads(const mr__parallel *p)
{
    size_t wanted = p->threads != 0 ? p->threads : mr_threads_default();
    if (wanted > p->count)
        wanted = p->count;
    return wanted != 0 ? wanted : 1;
}

static void watch(loop *l)
{
    const mr__parallel *p = l->p;
    mr__mutex_lock(&l->lock);
    while (l->running != 0) {
        uint64_t deadline = p->tick != NULL ? mr__clock_deadline_ns(TICK_NS) : MR__FOR_EVER;
        if (mr__condition_wait(&l->ended, &l->lock, deadline) != MR_ETIMEOUT)
            continue;
        mr__mutex_unlock(&l->lock);
        if (!p->tick(p->arg))
            atomic_store(p->stop, true);
        mr__mutex_lock(&l->lock);
    }
    mr__mutex_unlock(&l->lock);
}

static int run(loop *l, helper *helpers, size_t threads)
{
    for (size_t i = 0; i < threads; i++) {
        helpers[i] = (helper){.loop = l, .worker = i};
        mr__mutex_lock(&l->lock);
        l->running++;
        mr__mutex_unlock(&l->lock);
        if (mr__thread_start(&helpers[i].thread, "mr-loop", go, &helpers[i]) == 0)
            continue;
        if (i == 0) /* at least this thread does the work */
            go(&helpers[i]);
        else {
            mr__mutex_lock(&l->lock);
            l->running--;
            mr__mutex_unlock(&l->lock);
        }
        break;
    }
    watch(l);
    for (size_t i = 0; i < threads; i++)
        mr__thread_join(&helpers[i].thread);
    if (l->p->tick != NULL)
        l->p->tick(l->p->arg);
    return l->result == 0 && atomic_load(&l->next) < l->p->count ? MR_ECLOSED : l->result;
}

int mr__parallel_run(const mr__parallel *p)
{
    loop l = {.p = p};
    size_t threads = mr__parallel_threads(p);
    helper *helpers = mr__alloc_array(p->hooks, threads, sizeof *helpers);
    if (helpers == NULL)
        return MR_ENOMEM;
    int result = mr__mutex_init(&l.lock);
    if (result == 0) {
        result = mr__condition_init(&l.ended);
        if (result == 0) {
            result = run(&l, helpers, threads);
            mr__condition_fini(&l.ended);
        }
        mr__mutex_fini(&l.lock);
    }
    mr__free(p->hooks, helpers);
    return result;
}
