// SPDX-License-Identifier: Apache-2.0
/*
 * The two threads of a board. One waits for this member's bell, and for the end of loans. The other waits for the end
 * of processes: their locks are gone by then, but nobody would look.
 */
#define _GNU_SOURCE // syscall
#include "device/cpu/board.h"

#include "base/clock.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 100, LOOK_NS = 10000000 };

static void poke_watch(mr__board *b)
{
    const uint64_t one = 1;
    ssize_t wrote = write(b->event, &one, sizeof one);
    (void)wrote; // full: it is awake already
}

/* When the next of its own cores comes home; UINT64_MAX: none is lent. */
static uint64_t next_return(const mr__board *b)
{
    uint64_t first = UINT64_MAX, now = mr__clock_monotonic_ns();
    for (uint32_t i = 0; i < MR__BOARD_CORES; i++) {
        const mr__board_core *c = &b->file->cores[i];
        uint64_t until = atomic_load(&c->until_ns);
        if (atomic_load(&c->home) == b->number && atomic_load(&c->to) != 0 && until > now && until < first)
            first = until;
    }
    return first;
}

/* Until somebody rings, or that moment comes. */
static void wait_for_bell(mr__board *b, uint32_t seen, uint64_t until)
{
    struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    // FUTEX_WAIT_BITSET takes a moment of CLOCK_MONOTONIC, not a length of time
    (void)syscall(SYS_futex, &b->file->members[b->number - 1].bell, FUTEX_WAIT_BITSET, seen,
                  until != UINT64_MAX ? &t : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void run_bell(void *arg)
{
    mr__board *b = arg;
    uint32_t joined = atomic_load(&b->file->joined) - 1; // the watch may have looked before that
    for (;;) {
        uint32_t seen = atomic_load(&b->file->members[b->number - 1].bell), now = atomic_load(&b->file->joined);
        if (atomic_load(&b->stopping))
            return;
        if (now != joined)
            poke_watch(b);
        joined = now;
        if (b->judge != NULL && atomic_load(&b->file->again) != 0)
            mr__board_decide_again(b, false);
        // before the news: who looks after a core that comes back meanwhile does not find it yet, and waits for this
        uint64_t until = next_return(b);
        b->news(b->user);
        wait_for_bell(b, seen, until);
    }
}

/* A descriptor for each process of another member, that can be read from when it has ended. */
static nfds_t open_watched(mr__board *b, struct pollfd *polled, uint32_t *numbers)
{
    nfds_t count = 0;
    polled[count++] = (struct pollfd){.fd = b->event, .events = POLLIN};
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++) {
        const mr__board_member *m = &b->file->members[i - 1];
        int pid = atomic_load(&m->pid);
        if (i == b->number || atomic_load(&m->used) == 0 || pid <= 0 || pid == getpid() || pid == b->skipped[i - 1])
            continue;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
            continue; // it has ended, or is in another namespace: who decides next looks at its lock
        numbers[count] = i;
        polled[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    return count;
}

/* A process is gone and its lock is not: soon, or a child that it forked has it for as long as that lives. */
static void wait_for_lock(mr__board *b, uint32_t number)
{
    if (++b->looks[number - 1] < LOOKS) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        return;
    }
    b->skipped[number - 1] = atomic_load(&b->file->members[number - 1].pid);
    b->looks[number - 1] = 0;
}

/* Buries who died. */
static void look_after(mr__board *b, const struct pollfd *polled, const uint32_t *numbers, nfds_t count, bool any)
{
    uint64_t sum;
    if (polled[0].revents != 0) {
        ssize_t got = read(b->event, &sum, sizeof sum);
        (void)got;
    }
    for (nfds_t i = 1; i < count; i++) {
        if (polled[i].revents != 0 && mr__byte_is_locked(b->fd, MR__LOCK_ALIVE + (off_t)numbers[i], 1))
            wait_for_lock(b, numbers[i]);
        any |= polled[i].revents != 0;
        close(polled[i].fd);
    }
    if (any)
        mr__board_decide_again(b, true);
}

/* Whether somebody is gone already, whose process there is nothing to wait for any more. */
static bool is_any_gone(const mr__board *b)
{
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++)
        if (i != b->number && atomic_load(&b->file->members[i - 1].used) != 0 &&
            !mr__byte_is_locked(b->fd, MR__LOCK_ALIVE + (off_t)i, 1))
            return true;
    return false;
}

/* It looks once all processes are watched: who ends before that is seen at once, who ends later ends the wait. */
static void run_watch(void *arg)
{
    mr__board *b = arg;
    struct pollfd polled[MR__BOARD_MEMBERS + 1];
    uint32_t numbers[MR__BOARD_MEMBERS + 1];
    while (!atomic_load(&b->stopping)) {
        nfds_t count = open_watched(b, polled, numbers);
        bool gone = is_any_gone(b);
        while (poll(polled, count, gone ? 0 : -1) < 0 && errno == EINTR) {
        }
        look_after(b, polled, numbers, count, gone);
    }
}

int mr__board_listen(mr__board *b, void (*news)(void *user), void *user, mr__detail *detail)
{
    b->news = news;
    b->user = user;
    b->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = b->event >= 0 ? 0 : MR_ESYSTEM;
    if (result == 0)
        result = mr__thread_start(&b->bell, "mr-bell", run_bell, b);
    if (result == 0)
        result = mr__thread_start(&b->watch, "mr-watch", run_watch, b);
    if (result != 0)
        mr__board_deafen(b);
    return result == 0 ? 0 : mr__fail(detail, result, "the threads that wait for shared cores could not be started");
}

void mr__board_deafen(mr__board *b)
{
    atomic_store(&b->stopping, true);
    if (b->event >= 0)
        poke_watch(b);
    if (b->bell.started)
        mr__board_ring(b->file, b->number);
    mr__thread_join(&b->bell);
    mr__thread_join(&b->watch);
}
