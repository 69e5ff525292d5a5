// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_POOL_H
#define MILLRACE_PYTHON_POOL_H

#include <stdatomic.h>
#include <stddef.h>

/*
 * Handles that are free, for whichever thread comes next: readers, decoders, encoders, which serve one caller at a
 * time. Without a lock, so that a forked child may go on with what its parent had.
 */
enum { MR_PY_POOL_PLACES = 16 };

typedef struct mr_py_pool {
    _Atomic(void *) places[MR_PY_POOL_PLACES];
} mr_py_pool;

/* One of them, which is the caller's; NULL: there is none, make one. */
void *mr_py_pool_take(mr_py_pool *pool);

/* Gives one back. NULL, or the handle that there was no place for: to be freed. */
void *mr_py_pool_give(mr_py_pool *pool, void *handle);

#endif
