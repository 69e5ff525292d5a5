// SPDX-License-Identifier: Apache-2.0
/* A loop over numbers, on several threads, with progress on a terminal. */
#ifndef CLI_PARALLEL_H
#define CLI_PARALLEL_H

#include <stddef.h>

/* Does number `index`, on worker 0 <= `worker` < threads. Must not print. */
typedef void parallel_work(void *user, unsigned worker, size_t index);

/*
 * Calls `work` for 0 to count - 1, each once, in any order; returns when all are done. `verb` ("decoding") names the
 * progress line on stderr, which is there on a terminal only. Where threads are refused, fewer do the work; at least
 * this one.
 */
void parallel_run(const char *verb, unsigned threads, size_t count, parallel_work *work, void *user);

#endif
