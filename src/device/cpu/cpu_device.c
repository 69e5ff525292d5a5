// SPDX-License-Identifier: Apache-2.0
/*
 * The host's threads as a device. A thread ("lane") takes a group of tasks, and does each from its source to its slot.
 * What is in the page cache it reads at once. A task whose bytes have to be waited for is sent away with its reading,
 * and the lane goes on with the next; whoever is free takes it up again when its bytes are there. So with everything in
 * memory there is nothing but threads that each do all of a task; from a disk, `read_depth` reads are under way.
 *
 * Invariants, true whenever the mutex is free:
 * 1. Each errand is a lane's, or spare, or with the read-ahead: lanes + spare_count + reading = errand_count.
 * 2. If there is something to do (a group and a spare, or a finished read) and a lane waits, one was woken for it.
 * 3. At most one lane waits in the read-ahead, so that one stalled read holds up one lane.
 * 4. With cores that are shared (cores.h), a lane has a core while it has a job, and no lane that waits for one has.
 */
#include "base/clock.h"
#include "base/thread.h"
#include "device/cpu/cores.h"
#include "device/cpu/placement.h"
#include "device/device.h"
#include "device/prepare.h"

#include <stdio.h>
#include <time.h>

/* Tasks of one submission that nobody has begun. */
typedef struct group {
    mr__task *first;
    size_t count;
} group;

typedef struct pool pool;

typedef struct lane {
    pool *pool;
    uint32_t number;
    mr__thread thread;
    mr__hands hands;
    mr__errand *errand;
    atomic_uint_least64_t ordinal; /* what it is busy with; UINT64_MAX: nothing */
    uint32_t core;                 /* of those that are shared; MR__NO_CORE: none */
    uint64_t core_ns;              /* when it has ended */
    bool ended;
} lane;

struct pool {
    mr__device device; /* first */
    mr_hooks hooks;
    const mr__work *work;
    mr__done *done;
    void *user;
    mr__placement placement;
    mr__board *board; /* NULL: cores are not shared */
    mr__device_info info;
    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition news;
    group *groups; /* a ring */
    size_t capacity, first, length;
    mr__errand *errands, **spare;
    size_t errand_count, spare_count, reading;
    mr__read_ahead *ahead;
    bool fetching; /* a lane waits in the read-ahead */
    atomic_bool closing;
    lane *lanes;
    const mr__thread_meter **meters;
    uint32_t alive;
};

static pool *pool_of(mr__device *device)
{
    return (pool *)device;
}

static const pool *const_pool_of(const mr__device *device)
{
    return (const pool *)device;
}

/* When it is, what is not done need not be: a lane that was held up is to end soon, and tells nobody. */
static bool is_closing(const pool *p)
{
    return atomic_load_explicit(&p->closing, memory_order_acquire);
}

/* A lane is woken for a job; not where none could have a core for it. The mutex is held. */
static void wake_lane(pool *p)
{
    if (p->board == NULL || mr__core_any(p->board))
        mr__condition_wake_one(&p->news);
}

static void leave_core(lane *l)
{
    if (l->core != MR__NO_CORE)
        mr__core_leave(l->pool->board, l->core);
    l->core = MR__NO_CORE;
}

/* Whether the lane may take a job: it has a core, or gets one. The mutex is held. */
static bool has_core(lane *l)
{
    pool *p = l->pool;
    if (p->board == NULL)
        return true;
    if (l->core != MR__NO_CORE && !mr__core_check(p->board, l->core))
        leave_core(l);
    bool any = p->length != 0 || p->reading != 0;
    return any && (l->core != MR__NO_CORE || mr__core_take(p->board, &l->core));
}

/* There may be a core for somebody who waits. */
static void on_cores(void *user)
{
    pool *p = user;
    mr__mutex_lock(&p->mutex);
    mr__condition_wake_all(&p->news);
    mr__mutex_unlock(&p->mutex);
}

/* Gives the errand and its reading away, and the lane another. False: there is none to spare. */
static bool send_away(lane *l)
{
    pool *p = l->pool;
    mr__errand *errand = l->errand;
    mr__mutex_lock(&p->mutex);
    bool can = p->spare_count != 0;
    if (can) {
        l->errand = p->spare[--p->spare_count];
        p->reading++;
        errand->away = true;
        atomic_fetch_add_explicit(&l->hands.meter->reads_waited, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&l->hands.meter->read_depth_sum, p->reading, memory_order_relaxed);
        wake_lane(p);
    }
    mr__mutex_unlock(&p->mutex);
    if (can)
        (void)mr__read_ahead_submit(p->ahead, &errand->read); // closed: the device is closing, and nobody will ask
    return can;
}

/*
 * Reads all that is wanted of the lane's errand; `there` says that the first read is made already. False: it was sent
 * away, or the device is closing.
 */
static bool read_errand(lane *l, bool there)
{
    pool *p = l->pool;
    bool at_once = p->work->reading == MR_READ_AUTO;
    for (;; there = false) {
        if (!there && !(at_once && mr__read_now(&l->errand->read, &p->hooks))) {
            if (send_away(l))
                return false;
            mr__read_wait(&l->errand->read, &p->hooks);
        }
        if (is_closing(p))
            return false;
        if (!mr__prepare_next(&l->hands, l->errand))
            return true;
    }
}

/* True: the task is done, well or badly. */
static bool run_errand(lane *l, bool there)
{
    mr__task *task = l->errand->task;
    task->lane = l->number;
    task->begun_ns = l->hands.lap_ns; // the lane's last stage ended then
    if (!read_errand(l, there))
        return false;
    mr__thread_meter *meter = l->hands.meter;
    mr__hands_lap(&l->hands, MR__AT_READ, 1, l->errand->read.got);
    atomic_fetch_add_explicit(&meter->stored_nbytes, l->errand->read.got, memory_order_relaxed);
    if (!there)
        atomic_fetch_add_explicit(&meter->reads_cached, 1, memory_order_relaxed);
    (void)mr__prepare_end(&l->hands, l->errand); // its code is in the task
    task->busy_ns = l->hands.lap_ns - task->begun_ns;
    return true;
}

static bool run_task(lane *l, mr__task *task)
{
    atomic_store_explicit(&l->ordinal, task->ordinal, memory_order_relaxed);
    if (mr__prepare_begin(&l->hands, l->errand, task) != 0) {
        task->lane = l->number;
        task->begun_ns = l->hands.lap_ns;
        task->busy_ns = 0;
        return true;
    }
    return run_errand(l, false);
}

/* Tasks are done; what that leads to is the loader's bookkeeping. */
static void tell_done(lane *l, mr__task *first, size_t count)
{
    if (count == 0 || is_closing(l->pool))
        return;
    l->pool->done(l->pool->user, first, count);
    mr__hands_lap(&l->hands, MR__AT_ORDER, count, 0);
}

/* The lane's core is wanted elsewhere: what it has not begun is the next thing to do, for whoever has one. */
static bool put_back(lane *l, group rest)
{
    pool *p = l->pool;
    if (l->core == MR__NO_CORE || mr__core_check(p->board, l->core))
        return false;
    mr__mutex_lock(&p->mutex);
    p->first = p->first != 0 ? p->first - 1 : p->capacity - 1; // there is room: it was taken from there
    p->groups[p->first] = rest;
    p->length++;
    leave_core(l);
    wake_lane(p);
    mr__mutex_unlock(&p->mutex);
    return true;
}

/* A task that was sent away leaves the list, and is done by itself. */
static void run_group(lane *l, group g)
{
    mr__task *done = NULL, **end = &done;
    size_t count = 0;
    for (mr__task *task = g.first, *next; task != NULL && !is_closing(l->pool); task = next, g.count--) {
        if (task != g.first && put_back(l, (group){task, g.count}))
            break;
        next = task->next;
        task->next = NULL;
        if (run_task(l, task)) {
            *end = task;
            end = &task->next;
            count++;
        } else {
            tell_done(l, done, count);
            done = NULL;
            end = &done;
            count = 0;
        }
    }
    tell_done(l, done, count);
}

/* Takes up a task whose bytes have come; the lane's own errand becomes a spare. */
static void resume(lane *l, mr__errand *errand)
{
    pool *p = l->pool;
    mr__mutex_lock(&p->mutex);
    p->spare[p->spare_count++] = l->errand;
    p->reading--;
    errand->away = false;
    wake_lane(p); // for a group that waits for a spare, or to fetch the next
    mr__mutex_unlock(&p->mutex);
    l->errand = errand;
    atomic_store_explicit(&l->ordinal, errand->task->ordinal, memory_order_relaxed);
    mr__task *task = errand->task;
    if (run_errand(l, true))
        tell_done(l, task, 1);
}

/* What a lane finds to do: a group, or an errand whose bytes are there. */
typedef struct job {
    group group;
    mr__errand *errand;
} job;

/* Waits for a read to end. The mutex is held, and given up meanwhile. */
static void fetch(lane *l, job *j)
{
    pool *p = l->pool;
    mr__read *read;
    p->fetching = true;
    mr__mutex_unlock(&p->mutex);
    if (mr__read_ahead_take_until_closed(p->ahead, &read) == 0)
        j->errand = read->user;
    mr__mutex_lock(&p->mutex);
    p->fetching = false;
}

/* The mutex is held. True: there is something, or the lane waited and should look again. */
static bool find_job(lane *l, job *j)
{
    pool *p = l->pool;
    mr__read *read;
    if (p->reading != 0 && !p->fetching && mr__read_ahead_take_by(p->ahead, 0, &read) == 0) {
        j->errand = read->user;
    } else if (p->length != 0 && p->spare_count != 0) {
        j->group = p->groups[p->first];
        p->first = p->first + 1 < p->capacity ? p->first + 1 : 0;
        p->length--;
        if (p->length != 0 || p->reading != 0)
            wake_lane(p); // there is more, for another
    } else if (p->reading != 0 && !p->fetching) {
        fetch(l, j);
        mr__hands_lap(&l->hands, MR__AT_WAIT, 1, 0);
    } else
        return false;
    return true;
}

/* False: the device is closing. */
static bool get_job(lane *l, job *j)
{
    pool *p = l->pool;
    *j = (job){0};
    mr__mutex_lock(&p->mutex);
    while (!is_closing(p) && j->errand == NULL && j->group.count == 0) {
        if (has_core(l) && find_job(l, j))
            continue;
        leave_core(l);
        mr__stage_id why = p->reading != 0 ? MR__AT_WAIT : MR__AT_IDLE;
        mr__condition_wait(&p->news, &p->mutex, MR__FOR_EVER);
        mr__hands_lap(&l->hands, why, 1, 0);
    }
    mr__mutex_unlock(&p->mutex);
    return !is_closing(p);
}

static void run_lane(void *arg)
{
    lane *l = arg;
    pool *p = l->pool;
    job j;
    mr__placement_apply(&p->placement, l->number);
    mr__hands_start(&l->hands);
    while (get_job(l, &j)) {
        if (j.errand != NULL)
            resume(l, j.errand);
        else
            run_group(l, j.group);
        atomic_store_explicit(&l->ordinal, UINT64_MAX, memory_order_relaxed);
    }
    mr__mutex_lock(&p->mutex);
    leave_core(l);
    l->core_ns = mr__clock_thread_ns();
    l->ended = true;
    p->alive--;
    mr__condition_wake_all(&p->news);
    mr__mutex_unlock(&p->mutex);
}

/* So many bytes of stored images are worth a turn of the lock. */
enum { GROUP_NBYTES = 64 << 10, GROUP_MAX = 32, GROUPS_A_LANE = 2 };

static mr__device_info size_up(const mr__work *work, uint32_t lanes)
{
    size_t mean = work->record_nbytes != 0 ? work->record_nbytes : GROUP_NBYTES;
    size_t some = GROUP_NBYTES / mean;
    some = some < 1 ? 1 : some > GROUP_MAX ? GROUP_MAX : some;
    return (mr__device_info){.lanes = lanes, .group = some, .depth = some * GROUPS_A_LANE * lanes + work->read_depth};
}

static void free_pool(pool *p)
{
    mr_hooks hooks = p->hooks;
    for (uint32_t i = 0; p->lanes != NULL && i < p->info.lanes; i++)
        mr__hands_fini(&p->lanes[i].hands);
    for (size_t i = 0; p->errands != NULL && i < p->errand_count; i++) {
        if (p->errands[i].away) // its bytes came, but nobody wanted them any more
            mr__fetch_leave(&p->errands[i].fetch);
        mr__errand_fini(&p->errands[i], p->work);
    }
    mr__read_ahead_free(p->ahead);
    if (p->ready) {
        mr__condition_fini(&p->news);
        mr__mutex_fini(&p->mutex);
    }
    mr__free(&hooks, p->meters);
    mr__free(&hooks, p->lanes);
    mr__free(&hooks, p->spare);
    mr__free(&hooks, p->errands);
    mr__free(&hooks, p->groups);
    mr__free(&hooks, p);
}

static bool all_left(pool *p, uint64_t deadline_ns)
{
    mr__mutex_lock(&p->mutex);
    int waited = 0;
    while (p->alive != 0 && waited == 0)
        waited = mr__condition_wait(&p->news, &p->mutex, deadline_ns);
    bool left = p->alive == 0;
    mr__mutex_unlock(&p->mutex);
    return left;
}

static bool close_pool(mr__device *device, uint64_t deadline_ns)
{
    pool *p = pool_of(device);
    mr__mutex_lock(&p->mutex);
    atomic_store(&p->closing, true);
    mr__condition_wake_all(&p->news);
    mr__mutex_unlock(&p->mutex);
    mr__read_ahead_close(p->ahead);
    if (p->board != NULL)
        mr__board_deafen(p->board);
    bool left = all_left(p, deadline_ns);
    for (uint32_t i = 0; i < p->info.lanes; i++)
        if (left)
            mr__thread_join(&p->lanes[i].thread);
        else
            mr__thread_detach(&p->lanes[i].thread);
    if (!left || !mr__read_ahead_quiet(p->ahead, deadline_ns))
        return false;
    free_pool(p);
    return true;
}

static int make_ready(pool *p)
{
    int result = mr__mutex_init(&p->mutex);
    if (result == 0) {
        result = mr__condition_init(&p->news);
        if (result != 0)
            mr__mutex_fini(&p->mutex);
    }
    p->ready = result == 0;
    return result;
}

static int allocate(pool *p)
{
    p->capacity = p->info.depth; // groups of one, at worst
    p->errand_count = p->work->read_depth + p->info.lanes;
    p->groups = mr__alloc_array(&p->hooks, p->capacity, sizeof *p->groups);
    p->errands = mr__alloc_array(&p->hooks, p->errand_count, sizeof *p->errands);
    p->spare = mr__alloc_array(&p->hooks, p->errand_count, sizeof *p->spare);
    p->lanes = mr__alloc_array(&p->hooks, p->info.lanes, sizeof *p->lanes);
    p->meters = mr__alloc_array(&p->hooks, p->info.lanes, sizeof *p->meters);
    if (p->groups == NULL || p->errands == NULL || p->spare == NULL || p->lanes == NULL || p->meters == NULL)
        return MR_ENOMEM;
    mr__read_ahead_kind kind = p->work->reading == MR_READ_THREADS ? MR__READ_AHEAD_THREADS : MR__READ_AHEAD_AUTO;
    int result = mr__read_ahead_new(&p->hooks, kind, p->work->read_depth, &p->ahead);
    return result == 0 ? make_ready(p) : result;
}

static int equip_lanes(pool *p, mr__detail *detail)
{
    for (size_t i = p->errand_count; i > p->info.lanes; i--)
        p->spare[p->spare_count++] = &p->errands[i - 1];
    for (uint32_t i = 0; i < p->info.lanes; i++) {
        lane *l = &p->lanes[i];
        int result = mr__hands_init(&l->hands, p->work, detail);
        if (result != 0)
            return result;
        l->pool = p;
        l->number = i;
        l->core = MR__NO_CORE;
        l->errand = &p->errands[i];
        l->ordinal = UINT64_MAX;
        p->meters[i] = l->hands.meter;
    }
    return 0;
}

static int start_lanes(pool *p, mr__detail *detail)
{
    int result = 0;
    for (uint32_t i = 0; i < p->info.lanes && result == 0; i++) {
        char name[24];
        snprintf(name, sizeof name, "mr-cpu-%u", i);
        mr__mutex_lock(&p->mutex);
        p->alive++;
        mr__mutex_unlock(&p->mutex);
        result = mr__thread_start(&p->lanes[i].thread, name, run_lane, &p->lanes[i]);
        if (result != 0) {
            p->alive--; // they wait for work, which nobody gives them
            result = mr__fail(detail, result, "thread %u of %u could not be started: give fewer threads", i + 1,
                              p->info.lanes);
        }
    }
    if (result == 0 && p->board != NULL)
        result = mr__board_listen(p->board, on_cores, p, detail);
    return result;
}

static int open_pool(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    const mr__work *work = options->work;
    pool *p = mr__alloc_zero(&work->hooks, sizeof *p);
    if (p == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the loader's threads");
    p->device.type = &mr__device_cpu;
    p->hooks = work->hooks;
    p->work = work;
    p->done = options->done;
    p->user = options->user;
    p->board = options->board;
    p->info = size_up(work, options->lanes);
    int result =
        mr__placement_init(&p->placement, options->pinning, options->has_numa_node, options->numa_node, detail);
    if (result == 0) {
        result = allocate(p);
        if (result != 0)
            mr__fail(detail, result, "the loader's threads: %s", mr_error_text(result));
    }
    if (result == 0)
        result = equip_lanes(p, detail);
    if (result == 0 && (result = start_lanes(p, detail)) != 0) {
        (void)close_pool(&p->device, MR__FOR_EVER);
        return result;
    }
    if (result != 0)
        free_pool(p);
    else
        *out = &p->device;
    return result;
}

static mr__device_info tell_info(const mr__device *device)
{
    return const_pool_of(device)->info;
}

static int submit(mr__device *device, mr__task *first, size_t count)
{
    pool *p = pool_of(device);
    mr__mutex_lock(&p->mutex);
    bool closing = is_closing(p), room = p->length < p->capacity;
    if (!closing && room) {
        size_t to_end = p->capacity - p->first;
        p->groups[p->length < to_end ? p->first + p->length : p->length - to_end] = (group){first, count};
        p->length++;
        wake_lane(p);
    }
    mr__mutex_unlock(&p->mutex);
    return closing ? MR_ECLOSED : room ? 0 : MR_ELIMIT;
}

static void cancel(mr__device *device)
{
    pool *p = pool_of(device);
    for (;;) {
        mr__mutex_lock(&p->mutex);
        group g = {0};
        if (p->length != 0) {
            g = p->groups[p->first];
            p->first = p->first + 1 < p->capacity ? p->first + 1 : 0;
            p->length--;
        }
        mr__mutex_unlock(&p->mutex);
        if (g.count == 0)
            return;
        for (mr__task *task = g.first; task != NULL; task = task->next)
            task->code = MR_ECLOSED;
        p->done(p->user, g.first, g.count);
    }
}

static const mr__thread_meter *const *tell_meters(const mr__device *device, size_t *count)
{
    const pool *p = const_pool_of(device);
    *count = p->info.lanes;
    return p->meters;
}

static uint64_t core_ns(mr__device *device)
{
    pool *p = pool_of(device);
    uint64_t sum = 0;
    mr__mutex_lock(&p->mutex);
    for (uint32_t i = 0; i < p->info.lanes; i++) {
        lane *l = &p->lanes[i];
        clockid_t clock;
        struct timespec t = {0};
        if (!l->ended && pthread_getcpuclockid(l->thread.handle, &clock) == 0)
            clock_gettime(clock, &t);
        sum += l->ended ? l->core_ns : (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
    }
    mr__mutex_unlock(&p->mutex);
    return sum;
}

static bool oldest(mr__device *device, uint64_t *ordinal, const char **doing)
{
    pool *p = pool_of(device);
    for (uint32_t i = 0; i < p->info.lanes; i++) {
        *ordinal = atomic_load_explicit(&p->lanes[i].ordinal, memory_order_relaxed);
        if (*ordinal == UINT64_MAX)
            continue;
        *doing = "a thread is held up with";
        return true;
    }
    bool found = false;
    mr__mutex_lock(&p->mutex);
    for (size_t i = 0; i < p->errand_count && !found; i++)
        if (p->errands[i].away) {
            *ordinal = p->errands[i].task->ordinal;
            *doing = "the disk has not given the bytes of";
            found = true;
        }
    mr__mutex_unlock(&p->mutex);
    return found;
}

const mr__device_type mr__device_cpu = {
    .name = "cpu",
    .open = open_pool,
    .info = tell_info,
    .submit = submit,
    .cancel = cancel,
    .meters = tell_meters,
    .core_ns = core_ns,
    .oldest = oldest,
    .close = close_pool,
};
