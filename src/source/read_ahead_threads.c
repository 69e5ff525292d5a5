// SPDX-License-Identifier: Apache-2.0
/* Reads in flight by threads, each with one read at a time. */
#include "base/pool.h"
#include "source/read_ahead_kind.h"

/* More than this many at once do not make a disk quicker, and each is a stack. */
enum { THREADS_MAX = 16 };

static void run(void *arg, size_t worker)
{
    (void)worker;
    mr__read *read = arg;
    mr__read_ahead *ahead = read->ahead;
    mr__read_wait(read, &ahead->hooks);
    mr__mutex_lock(&ahead->mutex);
    mr__read_ahead_finish(ahead, read);
    mr__mutex_unlock(&ahead->mutex);
}

static int init(mr__read_ahead *ahead)
{
    mr__pool *pool;
    size_t threads = ahead->depth < THREADS_MAX ? ahead->depth : THREADS_MAX;
    int result = mr__pool_new(&ahead->hooks, "mr-read", threads, ahead->depth, &pool);
    if (result == 0)
        ahead->state = pool;
    return result;
}

static void fini(mr__read_ahead *ahead)
{
    mr__pool_free(ahead->state);
}

/* The queue has room for all that can be in flight: nobody waits here. */
static void start(mr__read_ahead *ahead, mr__read *read)
{
    if (mr__pool_add(ahead->state, run, read) != 0)
        run(read, 0);
}

const mr__read_ahead_way mr__read_ahead_threads = {.name = "threads", .init = init, .fini = fini, .start = start};
