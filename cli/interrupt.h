// SPDX-License-Identifier: Apache-2.0
/*
 * Ctrl-C at the right moment. Between hold and release the signals that would end this process wait, and whoever works
 * in between looks now and then whether one does, and tidies up. No handler, so no global state.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

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

#endif
