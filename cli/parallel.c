// SPDX-License-Identifier: Apache-2.0
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct shared {
    parallel_work *work;
    parallel_fill *fill;
    progress *progress;
    const char *verb;
    void *user;
    size_t count;
    atomic_size_t next;
    atomic_size_t done;
    pthread_mutex_t lock; /* of `working` */
    pthread_cond_t left;
    unsigned working;
} shared;

typedef struct worker {
    shared *shared;
    unsigned number;
    pthread_t thread;
} worker;

static void *run_worker(void *argument)
{
    worker *w = argument;
    shared *s = w->shared;
    size_t index;
    while ((index = atomic_fetch_add(&s->next, 1)) < s->count) {
        s->work(s->user, w->number, index);
        atomic_fetch_add(&s->done, 1);
    }
    pthread_mutex_lock(&s->lock);
    s->working--;
    pthread_cond_signal(&s->left);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static bool tell(shared *s, size_t done)
{
    mr_progress now = {.verb = s->verb, .done = done, .total = s->count, .unit = "files"};
    if (s->fill != NULL)
        s->fill(s->user, &now);
    return progress_hook(s->progress, &now);
}

/* Tells ten times a second until all workers have left. */
static void watch(shared *s)
{
    tell(s, 0);
    pthread_mutex_lock(&s->lock);
    while (s->working != 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 100 * 1000 * 1000;
        if (until.tv_nsec >= 1000 * 1000 * 1000) {
            until.tv_nsec -= 1000 * 1000 * 1000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&s->left, &s->lock, &until);
        pthread_mutex_unlock(&s->lock);
        if (!tell(s, atomic_load(&s->done)))
            atomic_store(&s->next, s->count);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    tell(s, atomic_load(&s->done));
}

static void init_shared(shared *s)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->left, &attributes);
    pthread_condattr_destroy(&attributes);
}

void parallel_run_told(progress *p, parallel_fill *fill, const char *verb, unsigned threads, size_t count,
                       parallel_work *work, void *user)
{
    shared s = {.work = work, .fill = fill, .progress = p, .verb = verb, .user = user, .count = count};
    worker *workers = calloc(threads, sizeof *workers);
    worker here = {.shared = &s};
    unsigned started = 0;
    init_shared(&s);
    s.working = workers != NULL ? threads : 0;
    while (workers != NULL && started < threads) {
        workers[started] = (worker){.shared = &s, .number = started};
        if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) != 0)
            break;
        started++;
    }
    pthread_mutex_lock(&s.lock);
    s.working -= workers != NULL ? threads - started : 0;
    s.working += started == 0; /* this thread */
    pthread_mutex_unlock(&s.lock);
    if (started == 0)
        run_worker(&here);
    else if ((p->kind != PROGRESS_NONE || p->holds) && count != 0)
        watch(&s);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    pthread_cond_destroy(&s.left);
    pthread_mutex_destroy(&s.lock);
}

void parallel_run(const char *verb, unsigned threads, size_t count, parallel_work *work, void *user)
{
    progress p;
    progress_init(&p, NULL);
    parallel_run_told(&p, NULL, verb, threads, count, work, user);
    progress_fini(&p);
}
