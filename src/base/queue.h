// SPDX-License-Identifier: Apache-2.0
/*
 * A bounded queue of items of one size, first in first out, for any number of pushers and poppers. A full queue makes
 * its pushers wait: that is all the back-pressure there is.
 *
 * MR__QUEUE_SINGLE makes its single-threaded twin: the same calls, without locks, that never wait: where the other
 * would, it returns MR_ETIMEOUT at once. Code over a queue runs on either.
 */
#ifndef MR_BASE_QUEUE_H
#define MR_BASE_QUEUE_H

#include "base/memory.h"
#include "base/thread.h"

typedef enum mr__queue_kind { MR__QUEUE_THREADS, MR__QUEUE_SINGLE } mr__queue_kind;

/*
 * Threads: any, several at once (MR__QUEUE_SINGLE: one at a time); init and fini alone.
 * Ownership: mr__queue_fini frees the ring; items are copied in and out, and what is left in it is forgotten.
 * Limits: `capacity` items, allocated at once.
 */
typedef struct mr__queue {
    mr_hooks hooks;
    mr__queue_kind kind;
    bool ready; /* mutex and conditions are made */
    bool closed;
    uint8_t *ring;
    size_t item_nbytes;
    size_t capacity;
    size_t first; /* the oldest item */
    size_t length;
    mr__mutex mutex;
    mr__condition not_empty;
    mr__condition not_full;
} mr__queue;

/* `hooks` are those of mr__hooks_init. MR_EARGUMENT for no capacity or size. After a failure it is all zero. */
int mr__queue_init(mr__queue *queue, const mr_hooks *hooks, mr__queue_kind kind, size_t capacity, size_t item_nbytes);

/* Nobody may be inside a call. An all-zero queue is accepted. */
void mr__queue_fini(mr__queue *queue);

/* Waits while it is full. MR_ECLOSED once it is closed, also for those who wait already. */
int mr__queue_push(mr__queue *queue, const void *item);

/* Waits while it is empty. What was pushed before closing still comes out; then MR_ECLOSED. */
int mr__queue_pop(mr__queue *queue, void *item);

/* The same, but MR_ETIMEOUT where they would wait past the deadline (base/thread.h). */
int mr__queue_push_until(mr__queue *queue, const void *item, uint64_t deadline_ns);
int mr__queue_pop_until(mr__queue *queue, void *item, uint64_t deadline_ns);

/* The same, but MR_ETIMEOUT where they would wait. */
int mr__queue_try_push(mr__queue *queue, const void *item);
int mr__queue_try_pop(mr__queue *queue, void *item);

/* No more pushes; wakes everybody. A second time does nothing. */
void mr__queue_close(mr__queue *queue);

/* How many items are in it at this moment. */
size_t mr__queue_length(mr__queue *queue);

#endif
