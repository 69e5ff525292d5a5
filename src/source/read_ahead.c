// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants, true whenever the mutex is free:
 * 1. finished_count + outside <= in_flight <= depth.
 * 2. If a read is outside and nobody fetches, whoever waits for news has been woken, and one of them will fetch.
 */
#include "source/read_ahead.h"

#include "source/read_ahead_kind.h"

#include <millrace/error.h>

static int make_ready(mr__read_ahead *ahead)
{
    int result = mr__mutex_init(&ahead->mutex);
    if (result != 0)
        return result;
    result = mr__condition_init(&ahead->has_place);
    if (result == 0) {
        result = mr__condition_init(&ahead->has_news);
        if (result != 0)
            mr__condition_fini(&ahead->has_place);
    }
    if (result != 0)
        mr__mutex_fini(&ahead->mutex);
    ahead->ready = result == 0;
    return result;
}

/* Frees what is built of it; nothing is in flight. */
static void dismantle(mr__read_ahead *ahead)
{
    if (ahead->state != NULL)
        ahead->way->fini(ahead);
    if (ahead->ready) {
        mr__condition_fini(&ahead->has_news);
        mr__condition_fini(&ahead->has_place);
        mr__mutex_fini(&ahead->mutex);
    }
    mr_hooks hooks = ahead->hooks;
    mr__free(&hooks, ahead->finished);
    mr__free(&hooks, ahead);
}

static int choose_way(mr__read_ahead *ahead, mr__read_ahead_kind kind)
{
    int result = MR_EUNSUPPORTED;
    if (kind != MR__READ_AHEAD_THREADS) {
        ahead->way = &mr__read_ahead_uring;
        result = ahead->way->init(ahead);
    }
    if (result != 0 && kind != MR__READ_AHEAD_URING) {
        ahead->way = &mr__read_ahead_threads;
        result = ahead->way->init(ahead);
    }
    return result;
}

int mr__read_ahead_new(const mr_hooks *hooks, mr__read_ahead_kind kind, size_t depth, mr__read_ahead **out)
{
    mr_hooks h;
    if (depth == 0 || mr__hooks_init(&h, hooks) != 0)
        return MR_EARGUMENT;
    mr__read_ahead *ahead = mr__alloc_zero(&h, sizeof *ahead);
    if (ahead == NULL)
        return MR_ENOMEM;
    ahead->hooks = h;
    ahead->depth = depth;
    ahead->finished = mr__alloc_array(&h, depth, sizeof(mr__read *));
    int result = ahead->finished != NULL ? make_ready(ahead) : MR_ENOMEM;
    if (result == 0)
        result = choose_way(ahead, kind);
    if (result != 0) {
        dismantle(ahead);
        return result;
    }
    *out = ahead;
    return 0;
}

void mr__read_ahead_free(mr__read_ahead *ahead)
{
    if (ahead == NULL)
        return;
    mr__read *read;
    while (mr__read_ahead_take(ahead, &read) == 0)
        ; // the kernel and the threads write into memory of others
    dismantle(ahead);
}

const char *mr__read_ahead_name(const mr__read_ahead *ahead)
{
    return ahead->way->name;
}

int mr__read_ahead_submit(mr__read_ahead *ahead, mr__read *read)
{
    mr__mutex_lock(&ahead->mutex);
    while (!ahead->closed && ahead->in_flight == ahead->depth)
        mr__condition_wait(&ahead->has_place, &ahead->mutex, MR__FOR_EVER);
    bool closed = ahead->closed;
    if (!closed)
        ahead->in_flight++;
    mr__mutex_unlock(&ahead->mutex);
    if (closed)
        return MR_ECLOSED;
    read->ahead = ahead;
    ahead->way->start(ahead, read);
    return 0;
}

void mr__read_ahead_close(mr__read_ahead *ahead)
{
    mr__mutex_lock(&ahead->mutex);
    ahead->closed = true;
    mr__condition_wake_all(&ahead->has_place);
    mr__condition_wake_all(&ahead->has_news);
    if (ahead->fetching)
        ahead->way->wake(ahead);
    mr__mutex_unlock(&ahead->mutex);
}

void mr__read_ahead_finish(mr__read_ahead *ahead, mr__read *read)
{
    size_t room = ahead->depth - ahead->first;
    size_t at = ahead->finished_count < room ? ahead->first + ahead->finished_count : ahead->finished_count - room;
    ahead->finished[at] = read;
    ahead->finished_count++;
    mr__condition_wake_one(&ahead->has_news);
}

/* The oldest finished one. The mutex is held. */
static mr__read *hand_out(mr__read_ahead *ahead)
{
    mr__read *read = ahead->finished[ahead->first];
    ahead->first = ahead->first + 1 < ahead->depth ? ahead->first + 1 : 0;
    ahead->finished_count--;
    ahead->in_flight--;
    mr__condition_wake_one(&ahead->has_place);
    if (ahead->in_flight == 0)
        mr__condition_wake_all(&ahead->has_news); // for others there is nothing to wait for any more
    return read;
}

/* One thread goes out to fetch, without the mutex; when it is back, another may have to go. */
static int fetch(mr__read_ahead *ahead, uint64_t deadline_ns)
{
    ahead->fetching = true;
    mr__mutex_unlock(&ahead->mutex);
    int result = ahead->way->wait(ahead, deadline_ns);
    mr__mutex_lock(&ahead->mutex);
    if (result == 0)
        ahead->way->fetch(ahead);
    ahead->fetching = false;
    mr__condition_wake_all(&ahead->has_news);
    return result;
}

/* Who takes until it is closed does not wait then; who takes what there is does not wait for nothing. */
static bool is_over(const mr__read_ahead *ahead, bool until_closed)
{
    return until_closed ? ahead->closed : ahead->in_flight == 0;
}

static int take(mr__read_ahead *ahead, bool until_closed, uint64_t deadline_ns, mr__read **out)
{
    int result = 0;
    mr__mutex_lock(&ahead->mutex);
    while (result == 0 && ahead->finished_count == 0) {
        if (is_over(ahead, until_closed))
            result = MR_ECLOSED;
        else if (ahead->outside != 0 && !ahead->fetching)
            result = fetch(ahead, deadline_ns);
        else
            result = mr__condition_wait(&ahead->has_news, &ahead->mutex, deadline_ns);
    }
    if (ahead->finished_count != 0 && (result == 0 || result == MR_ETIMEOUT)) {
        *out = hand_out(ahead);
        result = 0;
    }
    mr__mutex_unlock(&ahead->mutex);
    return result;
}

int mr__read_ahead_take(mr__read_ahead *ahead, mr__read **out)
{
    return take(ahead, false, MR__FOR_EVER, out);
}

int mr__read_ahead_take_until_closed(mr__read_ahead *ahead, mr__read **out)
{
    return take(ahead, true, MR__FOR_EVER, out);
}

int mr__read_ahead_take_by(mr__read_ahead *ahead, uint64_t deadline_ns, mr__read **out)
{
    return take(ahead, true, deadline_ns, out);
}

size_t mr__read_ahead_in_flight(mr__read_ahead *ahead)
{
    mr__mutex_lock(&ahead->mutex);
    size_t count = ahead->in_flight;
    mr__mutex_unlock(&ahead->mutex);
    return count;
}

bool mr__read_ahead_quiet(mr__read_ahead *ahead, uint64_t deadline_ns)
{
    mr__read *read;
    int result;
    do
        result = take(ahead, false, deadline_ns, &read);
    while (result == 0);
    return result == MR_ECLOSED;
}
