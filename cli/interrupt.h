// SPDX-License-Identifier: Apache-2.0
/*
 * Ctrl-C at the right moment. Between hold and release the signals that would end this process wait, and whoever works
 * in between looks now and then whether one does, and tidies up. No handler, so no global state.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct interrupts {
    sigset_t held;
    sigset_t before;
} interrupts;

/* For this thread, and for threads that it starts from now on. */
void interrupts_hold(interrupts *i);

/* Whether one waits that would not without this hold: where holds lie inside each other, the outer one looks. */
bool interrupts_wait(const interrupts *i);

/* One that waits ends the process here. */
void interrupts_release(const interrupts *i);

/*
 * A thread that waits for one, for those who wait in a place that does not look: `act` is called once, from it, and the
 * signal goes on waiting.
 */
typedef struct watcher {
    int signals; /* a descriptor that can be read once one waits; -1: none, only interrupts_wait tells */
    int quit[2];
    bool running;
    pthread_t thread;
    void (*act)(void *user);
    void *user;
} watcher;

void interrupts_watch(const interrupts *i, watcher *w, void (*act)(void *user), void *user);
void interrupts_unwatch(watcher *w);

#endif
