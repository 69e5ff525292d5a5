// SPDX-License-Identifier: Apache-2.0
/*
 * A fiber: a function on a stack of its own, which stops in its middle and goes on later, while whoever runs it waits.
 * emulate.c has one for each lane. They are contexts of one thread; where the C library has none (musl), threads that
 * take turns.
 *
 * TSan sees each fiber as a thread, and nothing that one does as seen by another, or outside: whoever knows better says
 * so (mr__sync_give, mr__sync_take).
 *
 * Threads: it goes on in the thread that began it.
 */
#ifndef MR_KERNEL_LANE_FIBER_H
#define MR_KERNEL_LANE_FIBER_H

#include "base/memory.h"

typedef struct mr__fiber mr__fiber;

/* NULL: no memory, or no thread. It does nothing yet. */
mr__fiber *mr__fiber_new(const mr_hooks *hooks);

/* One that is in its middle is left there. NULL is accepted. */
void mr__fiber_free(mr__fiber *fiber);

/* What mr__fiber_go is to begin with. Not of one that is in its middle. */
void mr__fiber_begin(mr__fiber *fiber, void (*run)(void *arg), void *arg);

/* Runs it until it waits or ends: true when it has ended. */
bool mr__fiber_go(mr__fiber *fiber);

/* Of the fiber itself: back to whoever called mr__fiber_go, until that is called again. */
void mr__fiber_wait(mr__fiber *fiber);

#endif
