// SPDX-License-Identifier: Apache-2.0
/* A loop over numbers, on several threads, with progress on a terminal. */
#ifndef CLI_PARALLEL_H
#define CLI_PARALLEL_H

#include "progress.h"

#include <stddef.h>

/* Does number `index`, on worker 0 <= `worker` < threads. Must not print. */
typedef void parallel_work(void *user, unsigned worker, size_t index);

/*
 * Calls `work` for 0 to count - 1, each once, in any order; returns when all are done. `verb` ("decoding") names the
 * progress line on stderr, which is there on a terminal only. Where threads are refused, fewer do the work; at least
 * this one.
 */
void parallel_run(const char *verb, unsigned threads, size_t count, parallel_work *work, void *user);

/* Adds what it knows of bytes and refused samples, while the work goes on. */
typedef void parallel_fill(void *user, mr_progress *now);

/* The same, told by a progress of the caller's, whose hold makes the work end early: what is left is not begun. */
void parallel_run_told(progress *p, parallel_fill *fill, const char *verb, unsigned threads, size_t count,
                       parallel_work *work, void *user);

#endif
