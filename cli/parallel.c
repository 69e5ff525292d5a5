// SPDX-License-Identifier: Apache-2.0
#include "parallel.h"
#include "text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct shared {
    parallel_work *work;
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

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void draw(const terminal *t, const char *verb, size_t done, size_t count, double elapsed)
{
    double share = (double)done / (double)count;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    unsigned cells = t->width > 80 ? 24 : t->width > 64 ? t->width - 56 : 8; /* it has to fit on one line */
    fprintf(stderr, "\r%s ", verb);
    fputs(t->utf8 ? "▕" : "[", stderr);
    fputs(style_of(t, STYLE_GREEN), stderr);
    put_bar(stderr, t->utf8, share, cells);
    fputs(style_of(t, STYLE_NONE), stderr);
    fputs(t->utf8 ? "▏" : "]", stderr);
    fprintf(stderr, " %3.0f%%  %zu of %zu", share * 100, done, count);
    if (rate > 0) {
        unsigned long left = (unsigned long)((double)(count - done) / rate + 0.5);
        fprintf(stderr, "  %.0f a second  %lu:%02lu left", rate, left / 60, left % 60);
    }
    fputs("\033[K", stderr);
}

/* Redraws ten times a second until all workers have left, then wipes the line. */
static void watch(shared *s, const terminal *t, const char *verb)
{
    double start = seconds();
    draw(t, verb, 0, s->count, 0);
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
        draw(t, verb, atomic_load(&s->done), s->count, seconds() - start);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    draw(t, verb, s->count, s->count, seconds() - start);
    fputs("\r\033[K", stderr);
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

void parallel_run(const char *verb, unsigned threads, size_t count, parallel_work *work, void *user)
{
    terminal t = terminal_of(stderr);
    shared s = {.work = work, .user = user, .count = count};
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
    else if (t.moves && count != 0)
        watch(&s, &t, verb);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    pthread_cond_destroy(&s.left);
    pthread_mutex_destroy(&s.lock);
}
