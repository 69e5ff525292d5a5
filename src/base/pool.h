// SPDX-License-Identifier: Apache-2.0
/* Worker threads over a bounded queue of jobs. */
#ifndef MR_BASE_POOL_H
#define MR_BASE_POOL_H

#include <millrace/hooks.h>
#include <stddef.h>

/*
 * `worker` (from 0) is the thread it runs on: what a thread keeps for itself is found by it. A job may not add to its
 * own pool, or wait for it: with the queue full, it would wait for itself.
 */
typedef void mr__job(void *arg, size_t worker);

/*
 * Threads: add and wait from any thread, several at once (without workers: one at a time); new and free alone.
 * Ownership: mr__pool_free joins the workers and frees it; `arg` stays the adder's.
 * Limits: at most `capacity` jobs wait; the adder of one more waits for a place.
 */
typedef struct mr__pool mr__pool;

/*
 * 0 threads: every job runs inside mr__pool_add, as worker 0. `hooks` may be NULL. The threads are called `name` and
 * their number.
 */
int mr__pool_new(const mr_hooks *hooks, const char *name, size_t threads, size_t capacity, mr__pool **out);

/* Finishes all jobs that were added, then ends. NULL is accepted. */
void mr__pool_free(mr__pool *pool);

/* Waits while the queue is full. */
int mr__pool_add(mr__pool *pool, mr__job *job, void *arg);

/* Waits until every job added before this call, and any added meanwhile, is finished. */
void mr__pool_wait(mr__pool *pool);

#endif
