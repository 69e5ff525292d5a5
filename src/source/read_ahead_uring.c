// SPDX-License-Identifier: Apache-2.0
/*
 * Reads in flight by io_uring. A file is opened and looked at here and now, which the kernel does from its caches most
 * of the time; what is waited for is the reading. Each read is handed over at once, so that it is on its way.
 *
 * 1. The submission queue is touched with the mutex held; the completion queue by the one thread that fetches, until
 *    ahead->fetching is false again.
 * 2. ahead->outside is how many completions will come with a read in them. A read that the kernel refused to take is
 *    done by hand, and its place in the submission queue becomes a "do nothing", whose completion names no read.
 */
#define _GNU_SOURCE // ppoll
#include "base/clock.h"
#include "base/memory.h"
#include "source/read_ahead_kind.h"

#include <errno.h>
#include <liburing.h>
#include <millrace/error.h>
#include <poll.h>

/* Each read is submitted at once: the submission queue is small. Completions wait until they are fetched. */
enum { SUBMISSIONS = 64, COMPLETIONS_MAX = 32768 };

static int result_of(int error)
{
    return error == ENOMEM ? MR_ENOMEM : error == EMFILE || error == ENFILE ? MR_ESYSTEM : MR_EUNSUPPORTED;
}

static int init(mr__read_ahead *ahead)
{
    struct io_uring *ring = mr__alloc_zero(&ahead->hooks, sizeof *ring);
    if (ring == NULL)
        return MR_ENOMEM;
    size_t completions = ahead->depth < COMPLETIONS_MAX ? ahead->depth : COMPLETIONS_MAX;
    struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP};
    params.cq_entries = (unsigned)(completions > SUBMISSIONS ? completions : SUBMISSIONS);
    int result = io_uring_queue_init_params(SUBMISSIONS, ring, &params);
    // The kernels that have this feature (5.6) have the plain read that is used here; and lose no completion (5.5).
    if (result == 0 && (params.features & IORING_FEAT_RW_CUR_POS) == 0) {
        io_uring_queue_exit(ring);
        result = -ENOSYS;
    }
    if (result != 0) {
        mr__free(&ahead->hooks, ring);
        return result_of(-result);
    }
    ahead->state = ring;
    return 0;
}

static void fini(mr__read_ahead *ahead)
{
    if (ahead->state == NULL)
        return;
    io_uring_queue_exit(ahead->state);
    mr__free(&ahead->hooks, ahead->state);
}

/* Hands over what is in the submission queue. False: the kernel has not taken it. */
static bool hand_over(struct io_uring *ring)
{
    int result;
    do
        result = io_uring_submit(ring);
    while (result == -EINTR);
    return result > 0 && io_uring_sq_ready(ring) == 0;
}

/* Asks for the next piece. False: the kernel does not take it, and it is to be read without. */
static bool ask(struct io_uring *ring, mr__read *read)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    if (entry == NULL)
        return false;
    mr__read_piece piece = mr__read_next(read);
    io_uring_prep_read(entry, piece.fd, piece.bytes, (unsigned)piece.nbytes, piece.offset);
    io_uring_sqe_set_data(entry, read);
    if (hand_over(ring))
        return true;
    io_uring_prep_nop(entry); // it is in the queue, and goes with a later one
    io_uring_sqe_set_data(entry, NULL);
    return false;
}

static void start(mr__read_ahead *ahead, mr__read *read)
{
    bool begun = mr__read_begin(read, &ahead->hooks);
    mr__mutex_lock(&ahead->mutex);
    bool asked = begun && ask(ahead->state, read);
    if (asked) {
        ahead->outside++;
        mr__condition_wake_one(&ahead->has_news); // who waits for nothing in particular can go and fetch now
    }
    mr__mutex_unlock(&ahead->mutex);
    if (asked)
        return;
    if (begun)
        mr__read_rest(read, &ahead->hooks);
    else
        mr__read_end(read);
    mr__mutex_lock(&ahead->mutex);
    mr__read_ahead_finish(ahead, read);
    mr__mutex_unlock(&ahead->mutex);
}

/* By poll and not by liburing, whose waiting until a moment takes a place in the submission queue of older kernels. */
static int wait_until(struct io_uring *ring, uint64_t deadline_ns)
{
    struct pollfd ready = {.fd = ring->ring_fd, .events = POLLIN};
    uint64_t now = mr__clock_monotonic_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    struct timespec time = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
    int result = ppoll(&ready, 1, &time, NULL);
    return result == 0 ? MR_ETIMEOUT : result > 0 || errno == EINTR ? 0 : MR_ESYSTEM;
}

static int wait(mr__read_ahead *ahead, uint64_t deadline_ns)
{
    struct io_uring_cqe *entry;
    int result;
    if (deadline_ns != MR__FOR_EVER)
        return wait_until(ahead->state, deadline_ns);
    do
        result = io_uring_wait_cqe(ahead->state, &entry);
    while (result == -EINTR);
    return result == 0 ? 0 : MR_ESYSTEM;
}

static void wake(mr__read_ahead *ahead)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(ahead->state);
    if (entry != NULL) {
        io_uring_prep_nop(entry);
        io_uring_sqe_set_data(entry, NULL);
    }
    hand_over(ahead->state);
}

/*
 * What the kernel says of one piece. After a failure the rest is read by hand, and fails by itself if it has to: when
 * the thread that submitted has ended, the kernel gives up with ECANCELED or EFAULT, and some files are not to be had
 * without waiting (EAGAIN). Others can go on meanwhile.
 */
static void go_on(mr__read_ahead *ahead, mr__read *read, int result)
{
    bool failed = result < 0;
    bool more = failed || mr__read_more(read, &ahead->hooks, result);
    if (more && !failed && ask(ahead->state, read))
        return;
    ahead->outside--;
    if (more) {
        mr__mutex_unlock(&ahead->mutex);
        mr__read_rest(read, &ahead->hooks);
        mr__mutex_lock(&ahead->mutex);
    } else {
        mr__read_end(read);
    }
    mr__read_ahead_finish(ahead, read);
}

static void fetch(mr__read_ahead *ahead)
{
    struct io_uring_cqe *entry;
    while (io_uring_peek_cqe(ahead->state, &entry) == 0) {
        mr__read *read = io_uring_cqe_get_data(entry);
        int result = entry->res;
        io_uring_cqe_seen(ahead->state, entry);
        if (read != NULL)
            go_on(ahead, read, result);
    }
}

const mr__read_ahead_way mr__read_ahead_uring = {
    .name = "io_uring", .init = init, .fini = fini, .start = start, .wait = wait, .fetch = fetch, .wake = wake};
