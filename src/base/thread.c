// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // pthread_setname_np
#include "base/thread.h"

#include <errno.h>
#include <millrace/error.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static int result_of(int error)
{
    if (error == 0)
        return 0;
    return error == ENOMEM ? MR_ENOMEM : MR_ESYSTEM;
}

static void *begin(void *arg)
{
    mr__thread *thread = arg;
    pthread_setname_np(pthread_self(), thread->name);
    thread->run(thread->arg);
    return NULL;
}

/* All but what a thread raises itself by a fault, and what profilers sample with. */
static void fill_blocked(sigset_t *set)
{
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    sigfillset(set);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        sigdelset(set, open[i]);
}

int mr__thread_start(mr__thread *thread, const char *name, void (*run)(void *arg), void *arg)
{
    *thread = (mr__thread){.run = run, .arg = arg};
    snprintf(thread->name, sizeof thread->name, "%s", name);
    sigset_t blocked, before;
    fill_blocked(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before); // a thread inherits the mask it is made under
    int error = pthread_create(&thread->handle, NULL, begin, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->started = error == 0;
    return result_of(error);
}

void mr__thread_join(mr__thread *thread)
{
    if (!thread->started)
        return;
    pthread_join(thread->handle, NULL);
    thread->started = false;
}

void mr__thread_detach(mr__thread *thread)
{
    if (thread->started)
        pthread_detach(thread->handle);
    thread->started = false;
}

int mr__mutex_init(mr__mutex *mutex)
{
    return result_of(pthread_mutex_init(&mutex->pthread, NULL));
}

void mr__mutex_fini(mr__mutex *mutex)
{
    pthread_mutex_destroy(&mutex->pthread);
}

void mr__mutex_lock(mr__mutex *mutex)
{
    pthread_mutex_lock(&mutex->pthread);
}

void mr__mutex_unlock(mr__mutex *mutex)
{
    pthread_mutex_unlock(&mutex->pthread);
}

int mr__condition_init(mr__condition *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error != 0)
        return result_of(error);
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (error == 0)
        error = pthread_cond_init(&condition->pthread, &attributes);
    pthread_condattr_destroy(&attributes);
    return result_of(error);
}

void mr__condition_fini(mr__condition *condition)
{
    pthread_cond_destroy(&condition->pthread);
}

void mr__condition_wake_one(mr__condition *condition)
{
    pthread_cond_signal(&condition->pthread);
}

void mr__condition_wake_all(mr__condition *condition)
{
    pthread_cond_broadcast(&condition->pthread);
}

int mr__condition_wait(mr__condition *condition, mr__mutex *mutex, uint64_t deadline_ns)
{
    if (deadline_ns == MR__FOR_EVER)
        return result_of(pthread_cond_wait(&condition->pthread, &mutex->pthread));
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
    int error = pthread_cond_timedwait(&condition->pthread, &mutex->pthread, &until);
    return error == ETIMEDOUT ? MR_ETIMEOUT : result_of(error);
}
