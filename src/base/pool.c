// SPDX-License-Identifier: Apache-2.0
/* Invariant: `open` counts the jobs that are in the queue or run; it goes up before a push and down after a run. */
#include "base/pool.h"

#include "base/queue.h"

#include <millrace/error.h>
#include <stdio.h>

typedef struct job {
    mr__job *run;
    void *arg;
} job;

typedef struct worker {
    mr__pool *pool;
    size_t index;
    mr__thread thread;
} worker;

struct mr__pool {
    mr_hooks hooks;
    mr__queue queue;
    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition idle;
    size_t open;
    worker *workers;
    size_t worker_count;
};

static void change_open(mr__pool *pool, int by)
{
    mr__mutex_lock(&pool->mutex);
    pool->open += (size_t)by;
    if (pool->open == 0)
        mr__condition_wake_all(&pool->idle);
    mr__mutex_unlock(&pool->mutex);
}

static void work(void *arg)
{
    worker *w = arg;
    job next;
    while (mr__queue_pop(&w->pool->queue, &next) == 0) {
        next.run(next.arg, w->index);
        change_open(w->pool, -1);
    }
}

static int make_ready(mr__pool *pool)
{
    int result = mr__mutex_init(&pool->mutex);
    if (result != 0)
        return result;
    result = mr__condition_init(&pool->idle);
    if (result != 0)
        mr__mutex_fini(&pool->mutex);
    pool->ready = result == 0;
    return result;
}

static int start_workers(mr__pool *pool, const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        worker *w = &pool->workers[i];
        char full[32];
        w->pool = pool;
        w->index = i;
        snprintf(full, sizeof full, "%.10s%zu", name, i);
        int result = mr__thread_start(&w->thread, full, work, w);
        if (result != 0)
            return result;
        pool->worker_count++;
    }
    return 0;
}

/* All that a pool with threads needs. After a failure mr__pool_free ends what was begun. */
static int set_up(mr__pool *pool, const char *name, size_t threads, size_t capacity)
{
    int result = make_ready(pool);
    if (result == 0)
        result = mr__queue_init(&pool->queue, &pool->hooks, MR__QUEUE_THREADS, capacity, sizeof(job));
    if (result != 0)
        return result;
    pool->workers = mr__alloc_array(&pool->hooks, threads, sizeof *pool->workers);
    if (pool->workers == NULL)
        return MR_ENOMEM;
    return start_workers(pool, name, threads);
}

int mr__pool_new(const mr_hooks *hooks, const char *name, size_t threads, size_t capacity, mr__pool **out)
{
    mr_hooks h;
    if (mr__hooks_init(&h, hooks) != 0 || (threads != 0 && capacity == 0))
        return MR_EARGUMENT;
    mr__pool *pool = mr__alloc_zero(&h, sizeof *pool);
    if (pool == NULL)
        return MR_ENOMEM;
    pool->hooks = h;
    int result = threads != 0 ? set_up(pool, name, threads, capacity) : 0;
    if (result != 0) {
        mr__pool_free(pool);
        return result;
    }
    *out = pool;
    return 0;
}

void mr__pool_free(mr__pool *pool)
{
    if (pool == NULL)
        return;
    if (pool->worker_count != 0)
        mr__queue_close(&pool->queue);
    for (size_t i = 0; i < pool->worker_count; i++)
        mr__thread_join(&pool->workers[i].thread);
    mr__queue_fini(&pool->queue);
    if (pool->ready) {
        mr__condition_fini(&pool->idle);
        mr__mutex_fini(&pool->mutex);
    }
    mr_hooks hooks = pool->hooks;
    mr__free(&hooks, pool->workers);
    mr__free(&hooks, pool);
}

int mr__pool_add(mr__pool *pool, mr__job *run, void *arg)
{
    if (pool->worker_count == 0) {
        run(arg, 0);
        return 0;
    }
    change_open(pool, 1);
    int result = mr__queue_push(&pool->queue, &(job){run, arg});
    if (result != 0)
        change_open(pool, -1);
    return result;
}

void mr__pool_wait(mr__pool *pool)
{
    if (pool->worker_count == 0)
        return;
    mr__mutex_lock(&pool->mutex);
    while (pool->open != 0)
        mr__condition_wait(&pool->idle, &pool->mutex, MR__FOR_EVER);
    mr__mutex_unlock(&pool->mutex);
}
