// SPDX-License-Identifier: Apache-2.0
/*
 * Threads, mutexes, conditions: pthread with errors instead of surprises. Deadlines are CLOCK_MONOTONIC nanoseconds
 * (base/clock.h), which the kernel waits by; a replaced hooks->now_ns measures, but nothing sleeps by it.
 */
#ifndef MR_BASE_THREAD_H
#define MR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is a thread that was not started. It stays where it is between start and join. */
typedef struct mr__thread {
    pthread_t handle;
    bool started;
    void (*run)(void *arg);
    void *arg;
    char name[16]; /* what the kernel keeps: 15 letters */
} mr__thread;

/*
 * Starts `run(arg)`. The name is cut at 15 letters. MR_ESYSTEM when the system has no thread to give. Signals meant for
 * the process are blocked in it, so that the program's handlers run in threads of its own.
 */
int mr__thread_start(mr__thread *thread, const char *name, void (*run)(void *arg), void *arg);

/* Waits for its end. A thread that was not started, or is joined already, is accepted. */
void mr__thread_join(mr__thread *thread);

/* Leaves it to itself: one that is held up for ever. What it uses has to stay. */
void mr__thread_detach(mr__thread *thread);

typedef struct mr__mutex {
    pthread_mutex_t pthread;
} mr__mutex;

int mr__mutex_init(mr__mutex *mutex);
void mr__mutex_fini(mr__mutex *mutex);
void mr__mutex_lock(mr__mutex *mutex);
void mr__mutex_unlock(mr__mutex *mutex);

typedef struct mr__condition {
    pthread_cond_t pthread;
} mr__condition;

#define MR__FOR_EVER UINT64_MAX

int mr__condition_init(mr__condition *condition);
void mr__condition_fini(mr__condition *condition);
void mr__condition_wake_one(mr__condition *condition);
void mr__condition_wake_all(mr__condition *condition);

/*
 * Gives up the mutex, waits to be woken, takes it again. May also return 0 for no reason: wait in a loop over what is
 * waited for, and look once more after MR_ETIMEOUT. MR__FOR_EVER is no deadline.
 */
int mr__condition_wait(mr__condition *condition, mr__mutex *mutex, uint64_t deadline_ns);

#endif
