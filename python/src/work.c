// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/*
 * 1. The work's thread never runs Python, and never waits for whoever does: it leaves what it has done under the lock.
 * 2. The thread that called returns only when the work's thread is gone.
 */

enum { TICK_NS = 50 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000, TICKS_A_SHOW = 2 };

struct mr_py_work_inside {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool done;
    bool stop;
    bool fresh; /* `last` has not been shown */
    mr_progress last;
};

bool mr_py_work_progress(void *user, const mr_progress *progress)
{
    struct mr_py_work_inside *inside = ((mr_py_work *)user)->inside;
    pthread_mutex_lock(&inside->lock);
    inside->last = *progress;
    inside->fresh = true;
    bool go_on = !inside->stop;
    pthread_mutex_unlock(&inside->lock);
    return go_on;
}

static void *run_thread(void *user)
{
    mr_py_work *work = user;
    int code = work->run(work);
    pthread_mutex_lock(&work->inside->lock);
    work->code = code;
    work->inside->done = true;
    pthread_cond_signal(&work->inside->changed);
    pthread_mutex_unlock(&work->inside->lock);
    return NULL;
}

/* A tick, or until it is done. Without the GIL. */
static bool wait_tick(struct mr_py_work_inside *inside)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&inside->lock);
    while (!inside->done && pthread_cond_timedwait(&inside->changed, &inside->lock, &until) == 0)
        continue;
    bool done = inside->done;
    pthread_mutex_unlock(&inside->lock);
    return done;
}

/* What has been done since the last time, by the callable. -1 with its exception. */
static int show(mr_py_work *work)
{
    struct mr_py_work_inside *inside = work->inside;
    if (work->progress == NULL || work->progress == Py_None)
        return 0;
    pthread_mutex_lock(&inside->lock);
    mr_progress now = inside->last;
    bool fresh = inside->fresh;
    inside->fresh = false;
    pthread_mutex_unlock(&inside->lock);
    if (!fresh)
        return 0;
    PyObject *result = PyObject_CallFunction(
        work->progress, "({s:s,s:K,s:K,s:s,s:K,s:K,s:K})", "verb", now.verb, "done", (unsigned long long)now.done,
        "total", (unsigned long long)now.total, "unit", now.unit, "in_nbytes", (unsigned long long)now.in_nbytes,
        "out_nbytes", (unsigned long long)now.out_nbytes, "refused", (unsigned long long)now.refused);
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

static void ask_to_stop(struct mr_py_work_inside *inside)
{
    pthread_mutex_lock(&inside->lock);
    inside->stop = true;
    pthread_mutex_unlock(&inside->lock);
}

/* Waits for the end, whatever comes. -1 with the first exception. */
static int wait_for_end(mr_py_work *work)
{
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    bool done = false;
    for (unsigned tick = 1; !done; tick++) {
        Py_BEGIN_ALLOW_THREADS done = wait_tick(work->inside);
        Py_END_ALLOW_THREADS if (type != NULL) /* it has been asked to stop */
            continue;
        int result = done ? 0 : PyErr_CheckSignals();
        if (result == 0 && (done || tick % TICKS_A_SHOW == 0))
            result = show(work);
        if (result != 0) {
            PyErr_Fetch(&type, &value, &traceback);
            ask_to_stop(work->inside);
        }
    }
    if (type != NULL)
        PyErr_Restore(type, value, traceback);
    return type != NULL ? -1 : 0;
}

/* Signals are for the threads of Python: the new thread, and those that it makes, have none. */
static int start(mr_py_work *work)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&work->inside->thread, NULL, run_thread, work);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int mr_py_work_run(mr_py_work *work)
{
    struct mr_py_work_inside inside;
    pthread_condattr_t monotonic;
    memset(&inside, 0, sizeof inside);
    pthread_mutex_init(&inside.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&inside.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    work->inside = &inside;
    int result = -1;
    if (start(work) == 0) {
        result = wait_for_end(work);
        Py_BEGIN_ALLOW_THREADS pthread_join(inside.thread, NULL);
        Py_END_ALLOW_THREADS result = work->code != 0 ? -1 : result;
    } else {
        work->code = MR_ESYSTEM;
    }
    pthread_cond_destroy(&inside.changed);
    pthread_mutex_destroy(&inside.lock);
    work->inside = NULL;
    return result;
}
