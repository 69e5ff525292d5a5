// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // F_OFD_SETLK, sched_setaffinity, syscall
#include "device/cpu/cores.h"

#include "base/clock.h"
#include "device/cpu/board.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000 };

bool mr__byte_lock(int fd, off_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int result;
    do
        result = fcntl(fd, F_OFD_SETLK, &lock);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

void mr__byte_unlock(int fd, off_t at)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    (void)fcntl(fd, F_OFD_SETLK, &lock);
}

bool mr__byte_is_locked(int fd, off_t at, off_t count)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = count};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Whoever has it is about to let go: he waits for nothing meanwhile. A stopped process is waited for in vain. */
bool mr__board_lock(mr__board *b, bool wait)
{
    for (int i = 0;; i++) {
        mr__mutex_lock(&b->mutex);
        if (mr__byte_lock(b->fd, MR__LOCK_DECIDE))
            return true;
        mr__mutex_unlock(&b->mutex);
        if (!wait || i == PATIENCE_MS)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void mr__board_unlock(mr__board *b)
{
    mr__byte_unlock(b->fd, MR__LOCK_DECIDE);
    mr__mutex_unlock(&b->mutex);
}

void mr__board_ring(mr__board_file *file, uint32_t number)
{
    if (number == 0 || number > MR__BOARD_MEMBERS)
        return;
    atomic_uint *bell = &file->members[number - 1].bell;
    atomic_fetch_add(bell, 1);
    (void)syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void mr__board_ring_all(mr__board_file *file)
{
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++)
        if (atomic_load(&file->members[i - 1].used) != 0)
            mr__board_ring(file, i);
}

/* Who should have a core now; 0: nobody. */
static uint32_t entitled(const mr__board_core *c)
{
    uint32_t home = atomic_load(&c->home), to = atomic_load(&c->to);
    if (home == 0 || to == 0 || to == home)
        return home;
    return mr__clock_monotonic_ns() < atomic_load(&c->until_ns) ? to : home;
}

static void put_thread(const mr__board_core *c)
{
    int processor = atomic_load(&c->processor);
    uint8_t set[MR__PROCESSORS_MAX / 8] = {0};
    if (processor < 0 || processor >= MR__PROCESSORS_MAX)
        return;
    set[processor / 8] = (uint8_t)(1u << (processor % 8));
    (void)sched_setaffinity(0, sizeof set, (const void *)set); // where that is forbidden, it stays where it may be
}

static bool try_core(mr__board *b, uint32_t core)
{
    const mr__board_core *c = &b->file->cores[core];
    mr__holding *h = &b->holding[core];
    if (atomic_exchange(&h->held, true))
        return false;
    if (!mr__byte_lock(b->fd, MR__LOCK_CORE + (off_t)core)) {
        atomic_store(&h->held, false);
        return false;
    }
    h->borrowed = atomic_load(&c->home) != b->number;
    h->since_ns = mr__clock_monotonic_ns();
    put_thread(c);
    return true;
}

/* Behind the last core that is anybody's. */
static uint32_t top_of(const mr__board *b)
{
    uint32_t top = atomic_load_explicit(&b->file->top, memory_order_relaxed);
    return top < MR__BOARD_CORES ? top : MR__BOARD_CORES;
}

bool mr__core_take(mr__board *b, uint32_t *core)
{
    uint32_t top = top_of(b);
    for (int borrowed = 0; borrowed < 2; borrowed++)
        for (uint32_t i = 0; i < top; i++) {
            const mr__board_core *c = &b->file->cores[i];
            uint32_t home = atomic_load_explicit(&c->home, memory_order_relaxed);
            if (home == 0 || (home != b->number) != borrowed || entitled(c) != b->number || !try_core(b, i))
                continue;
            *core = i;
            return true;
        }
    return false;
}

bool mr__core_any(mr__board *b)
{
    for (uint32_t i = 0, top = top_of(b); i < top; i++) {
        const mr__board_core *c = &b->file->cores[i];
        if (atomic_load_explicit(&c->home, memory_order_relaxed) != 0 && !atomic_load(&b->holding[i].held) &&
            entitled(c) == b->number)
            return true;
    }
    return false;
}

bool mr__core_check(mr__board *b, uint32_t core)
{
    return entitled(&b->file->cores[core]) == b->number;
}

/* Whom it is for is asked once the lock is gone: who was told of it before that has tried in vain. */
void mr__core_leave(mr__board *b, uint32_t core)
{
    mr__board_core *c = &b->file->cores[core];
    mr__holding *h = &b->holding[core];
    bool borrowed = h->borrowed;
    if (borrowed) {
        uint64_t ns = mr__clock_monotonic_ns() - h->since_ns;
        atomic_fetch_add(&b->borrowed_ns, ns);
        atomic_fetch_add(&c->lent_ns, ns);
    }
    mr__byte_unlock(b->fd, MR__LOCK_CORE + (off_t)core);
    atomic_store(&h->held, false);
    uint32_t next = entitled(c);
    if (next == b->number)
        return;
    mr__board_ring(b->file, next);
    if (borrowed)
        atomic_store(&b->expired, true);
}

bool mr__board_expired(mr__board *b)
{
    return atomic_load_explicit(&b->expired, memory_order_relaxed) && atomic_exchange(&b->expired, false);
}

void mr__board_post_own(mr__board *b, const mr__board_post *post)
{
    mr__board_member *m = &b->file->members[b->number - 1];
    atomic_store_explicit(&m->work_ns, post->work_ns, memory_order_relaxed);
    atomic_store_explicit(&m->batch_ns, post->batch_ns, memory_order_relaxed);
    atomic_store_explicit(&m->sample_ns, post->sample_ns, memory_order_relaxed);
    atomic_store_explicit(&m->reserve, post->reserve, memory_order_relaxed);
    atomic_store_explicit(&m->known, post->known, memory_order_relaxed);
}

void mr__board_strike(mr__board_file *file, uint32_t number)
{
    for (uint32_t i = 0; i < MR__BOARD_CORES; i++) {
        mr__board_core *c = &file->cores[i];
        if (atomic_load(&c->to) == number)
            atomic_store(&c->to, 0);
        if (atomic_load(&c->home) == number)
            atomic_store(&c->home, 0);
    }
    atomic_store(&file->members[number - 1].used, 0);
    atomic_fetch_add(&file->joined, 1);
    mr__board_ring_all(file);
}

void mr__board_bury(mr__board *b)
{
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++)
        if (i != b->number && atomic_load(&b->file->members[i - 1].used) != 0 &&
            !mr__byte_is_locked(b->fd, MR__LOCK_ALIVE + (off_t)i, 1))
            mr__board_strike(b->file, i);
}

/* What is on the board, as far as it makes sense. `places` is where a member stands in the view, from 1. */
static void look(mr__board *b, mr__board_view *v, uint16_t *places)
{
    v->now_ns = mr__clock_monotonic_ns();
    v->member_count = v->core_count = 0;
    for (uint16_t i = 0; i < MR__BOARD_MEMBERS; i++) {
        const mr__board_member *m = &b->file->members[i];
        places[i + 1] = 0;
        if (atomic_load(&m->used) == 0)
            continue;
        v->members[v->member_count] = (mr__board_post){.known = atomic_load(&m->known) != 0,
                                                       .work_ns = atomic_load(&m->work_ns),
                                                       .batch_ns = atomic_load(&m->batch_ns),
                                                       .sample_ns = atomic_load(&m->sample_ns),
                                                       .reserve = atomic_load(&m->reserve)};
        v->member_numbers[v->member_count++] = (uint16_t)(i + 1);
        places[i + 1] = (uint16_t)v->member_count;
    }
    for (uint16_t i = 0; i < MR__BOARD_CORES; i++) {
        const mr__board_core *c = &b->file->cores[i];
        uint32_t home = atomic_load(&c->home), to = entitled(c);
        if (home == 0 || home > MR__BOARD_MEMBERS || places[home] == 0)
            continue;
        bool lent = to != home && to != 0 && to <= MR__BOARD_MEMBERS && places[to] != 0;
        v->cores[v->core_count] = (mr__board_loan){.home = places[home] - 1u,
                                                   .to = places[lent ? to : home] - 1u,
                                                   .until_ns = lent ? atomic_load(&c->until_ns) : 0,
                                                   .socket = atomic_load(&c->socket)};
        v->core_numbers[v->core_count++] = i;
    }
}

/* Writes what was changed, and rings those who can have a core now. */
static void apply(mr__board *b, const mr__board_view *v)
{
    bool rung[MR__BOARD_MEMBERS + 1] = {false};
    for (size_t i = 0; i < v->core_count; i++) {
        mr__board_core *c = &b->file->cores[v->core_numbers[i]];
        const mr__board_loan *loan = &v->cores[i];
        uint32_t had = entitled(c), to = loan->to < v->member_count ? v->member_numbers[loan->to] : 0;
        atomic_store(&c->until_ns, loan->until_ns);
        atomic_store(&c->to, loan->to == loan->home ? 0 : to);
        if (to != had)
            rung[to] = true;
    }
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++)
        if (rung[i])
            mr__board_ring(b->file, i);
}

static void decide(mr__board *b, mr__board_judge *judge, void *user, bool wait)
{
    uint16_t places[MR__BOARD_MEMBERS + 1];
    atomic_store(&b->file->again, 1);
    while (atomic_load(&b->file->again) != 0) {
        if (!mr__board_lock(b, wait))
            return;
        atomic_store(&b->file->again, 0);
        mr__board_bury(b);
        if (judge != NULL) {
            look(b, &b->view, places);
            judge(user, &b->view);
            apply(b, &b->view);
        }
        mr__board_unlock(b);
    }
}

void mr__board_decide(mr__board *b, mr__board_judge *judge, void *user)
{
    decide(b, judge, user, false);
}

void mr__board_decide_again(mr__board *b, bool wait)
{
    decide(b, b->judge, b->judge_user, wait);
}

mr__board_totals mr__board_total(mr__board *b)
{
    mr__board_totals t = {.own = b->own, .borrowed_ns = atomic_load(&b->borrowed_ns)};
    for (uint32_t i = 0; i < MR__BOARD_MEMBERS; i++)
        t.members += atomic_load(&b->file->members[i].used) != 0;
    for (uint32_t i = 0; i < MR__BOARD_CORES; i++) {
        t.held += atomic_load(&b->holding[i].held);
        if (atomic_load(&b->file->cores[i].home) == b->number)
            t.lent_ns += atomic_load(&b->file->cores[i].lent_ns);
    }
    return t;
}

uint32_t mr__board_lanes(uint32_t own)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t all = online < 1 ? 1 : online > MR__BOARD_CORES ? MR__BOARD_CORES : (uint32_t)online;
    return own > all ? own : all;
}
