// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants, true whenever the mutex is free:
 * 1. length <= capacity; the items are at first, first + 1, ... modulo capacity.
 * 2. Each push wakes one popper and each pop one pusher, so a sleeper is woken for every item and every place there is.
 *    One that is woken and finds nothing has lost it to a thread that did not have to sleep.
 * 3. closed never goes back to false.
 */
#include "base/queue.h"

#include <millrace/error.h>
#include <string.h>

/* A deadline that is always past: look, but do not wait. */
#define AT_ONCE 0

static int make_ready(mr__queue *queue)
{
    int result = mr__mutex_init(&queue->mutex);
    if (result != 0)
        return result;
    result = mr__condition_init(&queue->not_empty);
    if (result == 0) {
        result = mr__condition_init(&queue->not_full);
        if (result != 0)
            mr__condition_fini(&queue->not_empty);
    }
    if (result != 0)
        mr__mutex_fini(&queue->mutex);
    queue->ready = result == 0;
    return result;
}

int mr__queue_init(mr__queue *queue, const mr_hooks *hooks, mr__queue_kind kind, size_t capacity, size_t item_nbytes)
{
    *queue = (mr__queue){.hooks = *hooks, .kind = kind, .capacity = capacity, .item_nbytes = item_nbytes};
    int result = capacity != 0 && item_nbytes != 0 ? 0 : MR_EARGUMENT;
    if (result == 0) {
        queue->ring = mr__alloc_array(hooks, capacity, item_nbytes);
        result = queue->ring != NULL ? 0 : MR_ENOMEM;
    }
    if (result == 0 && kind == MR__QUEUE_THREADS)
        result = make_ready(queue);
    if (result != 0)
        mr__queue_fini(queue);
    return result;
}

void mr__queue_fini(mr__queue *queue)
{
    if (queue->ready) {
        mr__condition_fini(&queue->not_full);
        mr__condition_fini(&queue->not_empty);
        mr__mutex_fini(&queue->mutex);
    }
    if (queue->ring != NULL)
        mr__free(&queue->hooks, queue->ring);
    memset(queue, 0, sizeof *queue);
}

static void lock(mr__queue *queue)
{
    if (queue->kind == MR__QUEUE_THREADS)
        mr__mutex_lock(&queue->mutex);
}

static void unlock(mr__queue *queue)
{
    if (queue->kind == MR__QUEUE_THREADS)
        mr__mutex_unlock(&queue->mutex);
}

static int wait(mr__queue *queue, mr__condition *condition, uint64_t deadline_ns)
{
    if (queue->kind == MR__QUEUE_SINGLE || deadline_ns == AT_ONCE)
        return MR_ETIMEOUT; // nobody could change anything meanwhile, or nobody is to be waited for
    return mr__condition_wait(condition, &queue->mutex, deadline_ns);
}

/* Woken with the mutex held: a popper that frees the queue at once then finds nobody in it. */
static void wake(mr__queue *queue, mr__condition *condition)
{
    if (queue->kind == MR__QUEUE_THREADS)
        mr__condition_wake_one(condition);
}

int mr__queue_push_until(mr__queue *queue, const void *item, uint64_t deadline_ns)
{
    int result = 0;
    lock(queue);
    while (!queue->closed && queue->length == queue->capacity && result == 0)
        result = wait(queue, &queue->not_full, deadline_ns);
    if (queue->closed) {
        result = MR_ECLOSED;
    } else if (queue->length < queue->capacity) {
        size_t room = queue->capacity - queue->first;
        size_t at = queue->length < room ? queue->first + queue->length : queue->length - room;
        memcpy(queue->ring + at * queue->item_nbytes, item, queue->item_nbytes);
        queue->length++;
        wake(queue, &queue->not_empty);
        result = 0; // a place that came with the deadline is taken
    }
    unlock(queue);
    return result;
}

int mr__queue_pop_until(mr__queue *queue, void *item, uint64_t deadline_ns)
{
    int result = 0;
    lock(queue);
    while (!queue->closed && queue->length == 0 && result == 0)
        result = wait(queue, &queue->not_empty, deadline_ns);
    if (queue->length != 0) {
        memcpy(item, queue->ring + queue->first * queue->item_nbytes, queue->item_nbytes);
        queue->first = queue->first + 1 < queue->capacity ? queue->first + 1 : 0;
        queue->length--;
        wake(queue, &queue->not_full);
        result = 0; // an item that came with the deadline is taken
    } else if (queue->closed) {
        result = MR_ECLOSED;
    }
    unlock(queue);
    return result;
}

int mr__queue_push(mr__queue *queue, const void *item)
{
    return mr__queue_push_until(queue, item, MR__FOR_EVER);
}

int mr__queue_pop(mr__queue *queue, void *item)
{
    return mr__queue_pop_until(queue, item, MR__FOR_EVER);
}

int mr__queue_try_push(mr__queue *queue, const void *item)
{
    return mr__queue_push_until(queue, item, AT_ONCE);
}

int mr__queue_try_pop(mr__queue *queue, void *item)
{
    return mr__queue_pop_until(queue, item, AT_ONCE);
}

void mr__queue_close(mr__queue *queue)
{
    lock(queue);
    queue->closed = true;
    if (queue->kind == MR__QUEUE_THREADS) {
        mr__condition_wake_all(&queue->not_empty);
        mr__condition_wake_all(&queue->not_full);
    }
    unlock(queue);
}

size_t mr__queue_length(mr__queue *queue)
{
    lock(queue);
    size_t length = queue->length;
    unlock(queue);
    return length;
}
