// SPDX-License-Identifier: Apache-2.0
/*
 * An OpenCL device as the loader sees it. A lane is a thread of the host with a deck (player.h): it takes a submission,
 * reads what its tasks need, writes them on a tape, plays that, and waits until an event's callback wakes it. With two
 * lanes the host's part of one submission goes on while the device is at the other's.
 *
 * What the device cannot do of an image that it was given (no kernel for what is stored, no room) the lane does on the
 * host; and what a kernel has refused the lane does again on the host, whose decoder says what is wrong, in its words.
 *
 * Invariants, true whenever the mutex is free:
 * 1. A submission is in the queue, or a lane's, or on its way to `done`.
 * 2. A lane touches its tasks while it is WRITING or ENDING, and nobody else does; while it is PLAYING nobody does, and
 *    they can be taken from it (abandon).
 * 3. A lane never waits for a device that is given up (abandon; or nobody else is there, and it took too long). It is
 *    behind then, and plays nothing until the device has ended what it was given. Beside a host it takes no tasks until
 *    then; else it does them on the host. What the device may still write is the lane's own memory; or, where it writes
 *    into slots, memory that is no slot any more (refuge).
 */
#include "device/opencl/opencl_lane.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * Of the device's memory a lane has no more than this: four times what a batch of photographs takes. Larger images are
 * the host's; a budget that the user gives is shared by all lanes.
 */
#define ARENA_NBYTES     (UINT64_C(256) << 20)
#define ARENA_MIN_NBYTES (UINT64_C(1) << 20)

#define MEND_FIRST_NS UINT64_C(1000000000)
#define MEND_MOST_NS  UINT64_C(60000000000)

enum { LANES = 2, LAUNCHES = 6 };

static mr__opencl *opencl_of(mr__device *device)
{
    return (mr__opencl *)device;
}

static const mr__opencl *const_opencl_of(const mr__device *device)
{
    return (const mr__opencl *)device;
}

/* A submission for each lane, and where nobody deals them out as lanes are free, one that waits. */
static size_t depth_of(const mr__opencl *o)
{
    return (size_t)(o->lane_count + o->alone) * MR__OPENCL_GROUP;
}

/* 1. Submissions that come and go. */

static bool is_held(const mr__opencl *o)
{
    for (uint32_t i = 0; i < o->lane_count; i++)
        if (!o->lanes[i].abandoned && !o->lanes[i].behind)
            return false;
    return !o->hostless;
}

/* The first tasks of a list, as many as a lane takes at once, leave it. */
static mr__opencl_group cut(mr__task **list)
{
    mr__opencl_group group = {.first = *list};
    mr__task *last = NULL;
    for (; *list != NULL && group.count < MR__OPENCL_GROUP; group.count++) {
        last = *list;
        *list = last->next;
    }
    last->next = NULL;
    return group;
}

static int submit(mr__device *device, mr__task *first, size_t count)
{
    mr__opencl *o = opencl_of(device);
    size_t groups = (count + MR__OPENCL_GROUP - 1) / MR__OPENCL_GROUP;
    mr__mutex_lock(&o->mutex);
    int result = o->closing || is_held(o) ? MR_ECLOSED : groups > o->capacity - o->queued ? MR_ELIMIT : 0;
    while (result == 0 && first != NULL) {
        o->queue[(o->head + o->queued++) % o->capacity] = cut(&first);
        mr__condition_wake_all(&o->news); // one of them may be behind, and not take it
    }
    mr__mutex_unlock(&o->mutex);
    return result;
}

/* The mutex is held. */
static bool take_queued(mr__opencl *o, mr__opencl_group *group)
{
    if (o->queued == 0)
        return false;
    *group = o->queue[o->head];
    o->head = (o->head + 1) % o->capacity;
    o->queued--;
    return true;
}

static void give_back(mr__opencl *o, const mr__opencl_group *group, int code, const char *why)
{
    for (mr__task *task = group->first; task != NULL; task = task->next) {
        task->code = code == MR_ECLOSED ? code : mr__fail(&task->detail, code, "the device %s %s", o->name, why);
        task->begun_ns = o->hooks.now_ns(o->hooks.user);
        task->busy_ns = 0;
        task->has_sum = false;
    }
    o->done(o->user, group->first, group->count);
}

static void cancel(mr__device *device)
{
    mr__opencl *o = opencl_of(device);
    mr__opencl_group group;
    mr__mutex_lock(&o->mutex);
    while (take_queued(o, &group)) {
        mr__mutex_unlock(&o->mutex);
        give_back(o, &group, MR_ECLOSED, "");
        mr__mutex_lock(&o->mutex);
    }
    mr__mutex_unlock(&o->mutex);
}

/* What a lane plays is taken from it. One that is at its tasks will be through soon, and is waited for. The mutex is
 * held. */
static bool take_played(mr__opencl *o, mr__opencl_group *group)
{
    for (uint32_t i = 0; i < o->lane_count; i++) {
        mr__opencl_lane *l = &o->lanes[i];
        while (l->state == MR__OPENCL_WRITING || l->state == MR__OPENCL_ENDING)
            (void)mr__condition_wait(&o->moved, &o->mutex, MR__FOR_EVER);
        if (l->state != MR__OPENCL_PLAYING || l->abandoned)
            continue;
        *group = l->group;
        l->group = (mr__opencl_group){0};
        l->abandoned = true;
        return true;
    }
    return false;
}

static void abandon(mr__device *device)
{
    mr__opencl *o = opencl_of(device);
    mr__opencl_group group;
    mr__mutex_lock(&o->mutex);
    while (take_queued(o, &group) || take_played(o, &group)) {
        mr__mutex_unlock(&o->mutex);
        give_back(o, &group, MR_EDEVICE, "was abandoned");
        mr__mutex_lock(&o->mutex);
    }
    mr__mutex_unlock(&o->mutex);
}

/* 2. What a lane does. */

static void enter(mr__opencl_lane *l, mr__opencl_state state)
{
    mr__mutex_lock(&l->opencl->mutex);
    l->state = state;
    mr__condition_wake_all(&l->opencl->moved);
    mr__mutex_unlock(&l->opencl->mutex);
}

/* The mutex is held. */
static void set_answer(mr__opencl_lane *l, int code, const char *why, const uint8_t *words)
{
    l->played_code = code;
    l->words = words;
    snprintf(l->why, sizeof l->why, "%s", why != NULL ? why : "");
}

/* The device's word that a tape was played. */
static void on_played(void *user, int code, const char *why, const uint8_t *words)
{
    mr__opencl_lane *l = user;
    mr__opencl *o = l->opencl;
    if (l->kept != NULL)
        mr__cl_keep_end(l->kept);
    mr__mutex_lock(&o->mutex);
    l->played = true;
    if (!l->behind)
        set_answer(l, code, why, words);
    mr__condition_wake_all(&o->moved);
    mr__condition_wake_all(&o->news);
    mr__mutex_unlock(&o->mutex);
}

static void begin_playing(mr__opencl_lane *l, mr__cl_keep *keep)
{
    mr__mutex_lock(&l->opencl->mutex);
    l->played = l->given_up = false;
    l->kept = keep;
    l->state = MR__OPENCL_PLAYING;
    mr__condition_wake_all(&l->opencl->moved);
    mr__mutex_unlock(&l->opencl->mutex);
}

/* It has failed, or is given up. The mutex is held. */
static void note_failure(mr__opencl_lane *l)
{
    mr__opencl *o = l->opencl;
    if (l->given_up)
        set_answer(l, MR_EDEVICE, "it did not answer in time", NULL);
    o->late += l->given_up;
    o->failed += !l->given_up;
    memcpy(o->cause, l->why, sizeof o->cause);
}

/* True: the tasks are still the lane's. False: they were taken. */
static bool wait_played(mr__opencl_lane *l)
{
    mr__opencl *o = l->opencl;
    mr__mutex_lock(&o->mutex);
    for (int waited = 0; !l->played && !l->abandoned && waited == 0;)
        waited = mr__condition_wait(&o->moved, &o->mutex, l->deadline_ns);
    bool still = !l->abandoned;
    l->behind = !l->played;
    l->given_up = still && l->behind;
    if (l->given_up || (still && l->played_code != 0))
        note_failure(l);
    l->abandoned = false;
    l->state = still ? MR__OPENCL_ENDING : MR__OPENCL_IDLE;
    mr__condition_wake_all(&o->moved);
    mr__mutex_unlock(&o->mutex);
    return still;
}

/* The tape that was written. Returns whether the tasks are still the lane's. */
static bool play(mr__opencl_lane *l)
{
    mr__detail detail = {0};
    begin_playing(l, l->keep);
    int result = mr__tape_end(&l->tape);
    if (l->keep != NULL)
        mr__cl_keep_begin(l->keep, l->deck);
    if (result == 0)
        result =
            mr__cl_deck_play(l->deck, &l->tape, l->batch_nbytes, l->wanted, l->wanted_count, on_played, l, &detail);
    else
        (void)mr__fail(&detail, result, "its memory is too small for a list of launches");
    if (result != 0)
        on_played(l, result, detail.text, NULL);
    bool still = wait_played(l);
    if (still && l->played_code == 0)
        l->mend_at_ns = l->mend_for_ns = 0;
    return still;
}

static bool has_memory(mr__opencl_lane *l)
{
    if (l->deck != NULL)
        return true;
    mr__mutex_lock(&l->opencl->mutex);
    set_answer(l, MR_ENOMEM, "it may take less memory than it needs for any image", NULL);
    mr__mutex_unlock(&l->opencl->mutex);
    return false;
}

/* What was not waited for may have ended: then nothing of where it was to be is used any more. The mutex is held. */
static void catch_up(mr__opencl_lane *l)
{
    if (!l->behind || !l->played)
        return;
    mr__cl_deck_let_go(l->deck);
    l->behind = false;
}

/* Whether what was not waited for has not ended yet. */
static bool is_behind(mr__opencl_lane *l)
{
    mr__mutex_lock(&l->opencl->mutex);
    catch_up(l);
    bool behind = l->behind;
    l->given_up = false;
    if (behind)
        set_answer(l, MR_EDEVICE, "it has not answered yet", NULL);
    mr__mutex_unlock(&l->opencl->mutex);
    return behind;
}

/*
 * A deck that has failed is made anew; where nobody else tries devices again now and then, after 1 s, then 2, 4, up to
 * 60. Meanwhile nobody is at the tasks. Returns whether they are still the lane's.
 */
static bool mend(mr__opencl_lane *l)
{
    uint64_t now = mr__clock_monotonic_ns();
    mr__detail detail = {0};
    if (l->opencl->hostless && now < l->mend_at_ns) {
        mr__mutex_lock(&l->opencl->mutex);
        set_answer(l, MR_EDEVICE, "it has failed a moment ago", NULL);
        mr__mutex_unlock(&l->opencl->mutex);
        return true;
    }
    l->mend_for_ns = l->mend_for_ns == 0             ? MEND_FIRST_NS
                     : l->mend_for_ns < MEND_MOST_NS ? l->mend_for_ns * 2
                                                     : l->mend_for_ns;
    l->mend_at_ns = now + l->mend_for_ns;
    begin_playing(l, NULL);
    int result = mr__cl_deck_mend(l->deck, &detail);
    l->tape.bytes = mr__cl_deck_bytes(l->deck);
    on_played(l, result, detail.text, NULL);
    return wait_played(l);
}

/* One submission, from the queue to `done`. */
static void run_group(mr__opencl_lane *l)
{
    mr__opencl *o = l->opencl;
    mr__hands_lap(&l->hands, MR__AT_IDLE, 1, 0);
    mr__opencl_read(l);
    l->deadline_ns = o->hostless ? mr__clock_deadline_ns(o->patience_ns) : MR__FOR_EVER;
    while (l->next < l->count) {
        bool usable = has_memory(l) && !is_behind(l);
        if (usable && mr__cl_deck_is_broken(l->deck) && !mend(l))
            return;
        bool fit = usable && !mr__cl_deck_is_broken(l->deck);
        if (fit)
            mr__opencl_write(l);
        else
            mr__opencl_forsake(l);
        if (fit && l->tape.count != 0 && !play(l))
            return;
        mr__opencl_settle(l);
        enter(l, MR__OPENCL_WRITING); // what did not fit on the tape
    }
    mr__opencl_end(l);
    mr__opencl_group group = l->group;
    enter(l, MR__OPENCL_IDLE);
    o->done(o->user, group.first, group.count);
    mr__hands_lap(&l->hands, MR__AT_ORDER, group.count, 0);
}

static void run_lane(void *arg)
{
    mr__opencl_lane *l = arg;
    mr__opencl *o = l->opencl;
    mr__hands_start(&l->hands);
    mr__mutex_lock(&o->mutex);
    while (!o->closing) {
        catch_up(l);
        if ((l->behind && !o->hostless) || !take_queued(o, &l->group)) {
            (void)mr__condition_wait(&o->news, &o->mutex, MR__FOR_EVER);
            continue;
        }
        l->state = MR__OPENCL_WRITING;
        mr__mutex_unlock(&o->mutex);
        run_group(l);
        mr__mutex_lock(&o->mutex);
    }
    l->ended = true;
    l->core_ns = mr__clock_thread_ns();
    mr__condition_wake_all(&o->moved);
    mr__mutex_unlock(&o->mutex);
}

/* 3. How long a submission of little takes. */

/* Before lanes are started. Of a driver that hangs nothing can be freed. */
static int play_little(mr__opencl *o, mr__opencl_lane *l, uint64_t deadline_ns, mr__detail *detail)
{
    l->played = false;
    int result = mr__opencl_write_little(l);
    if (result == 0)
        result = mr__cl_deck_play(l->deck, &l->tape, 0, NULL, 0, on_played, l, detail);
    if (result != 0)
        return result;
    mr__mutex_lock(&o->mutex);
    while (!l->played && result == 0)
        result = mr__condition_wait(&o->moved, &o->mutex, deadline_ns);
    o->stuck = !l->played;
    result = l->played ? l->played_code : MR_EDEVICE;
    mr__mutex_unlock(&o->mutex);
    return result == 0
               ? 0
               : mr__fail(detail, result, "it did not do as little as an empty launch%s%s",
                          o->stuck ? " in all the time that it had: its driver hangs" : ": ", o->stuck ? "" : l->why);
}

static int measure(mr__opencl *o, uint64_t timeout_ns, mr__detail *detail)
{
    uint64_t deadline = mr__clock_deadline_ns(timeout_ns);
    int result = 0;
    for (uint32_t i = 0; i < LAUNCHES && result == 0; i++) {
        uint64_t begun = mr__clock_monotonic_ns();
        result = play_little(o, &o->lanes[i % o->lane_count], deadline, detail);
        uint64_t took = mr__clock_monotonic_ns() - begun;
        o->launch_ns = i == 0 || took < o->launch_ns ? took : o->launch_ns;
    }
    return result;
}

/* 4. Opening and closing. */

static bool is_at_rest(const mr__opencl_lane *l)
{
    return (!l->thread.started || l->ended) && (!l->behind || l->played);
}

/* Whether all lanes, and the device, have ended by then. The mutex is held. */
static bool wait_ended(mr__opencl *o, uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < o->lane_count; i++)
        while (!is_at_rest(&o->lanes[i]))
            if (mr__condition_wait(&o->moved, &o->mutex, deadline_ns) == MR_ETIMEOUT && !is_at_rest(&o->lanes[i]))
                return false;
    return true;
}

static void free_opencl(mr__opencl *o)
{
    mr_hooks hooks = o->hooks;
    for (uint32_t i = 0; i < o->lane_count; i++)
        mr__opencl_lane_fini(&o->lanes[i]);
    for (size_t i = 0; i < o->keep_count; i++)
        mr__cl_keep_free(o->keeps[i]);
    if (o->player != NULL)
        mr__cl_keep_queues_fini(o->player, &o->keep_queues);
    mr__cl_player_close(o->player);
    if (o->ready) {
        mr__condition_fini(&o->moved);
        mr__condition_fini(&o->news);
        mr__mutex_fini(&o->mutex);
    }
    mr__free(&hooks, o->lanes);
    mr__free(&hooks, o->meters);
    mr__free(&hooks, o->queue);
    mr__free(&hooks, o->keeps);
    mr__free(&hooks, o);
}

static bool close_opencl(mr__device *device, uint64_t deadline_ns)
{
    mr__opencl *o = opencl_of(device);
    bool all = true;
    if (o->ready) {
        mr__mutex_lock(&o->mutex);
        o->closing = true;
        mr__condition_wake_all(&o->news);
        all = wait_ended(o, deadline_ns);
        mr__mutex_unlock(&o->mutex);
    }
    for (uint32_t i = 0; i < o->lane_count; i++)
        if (all)
            mr__thread_join(&o->lanes[i].thread);
        else
            mr__thread_detach(&o->lanes[i].thread);
    if (all)
        free_opencl(o);
    return all;
}

/*
 * The memory of each lane: its share of what may be had, less where the device has less. Unless we are told, that is a
 * quarter of it all: some drivers count what is sent to the device and comes from it as its memory, too. Who gives it
 * next to nothing has the work done elsewhere.
 */
static int choose_arena(mr__opencl *o, uint64_t budget_nbytes, mr__detail *detail)
{
    const mr__cl_facts *f = mr__cl_player_facts(o->player);
    uint64_t all = budget_nbytes != 0 ? budget_nbytes : f->memory_nbytes / 4, each = all / o->lane_count;
    each = each < ARENA_NBYTES || budget_nbytes != 0 ? each : ARENA_NBYTES;
    each = each < f->alloc_nbytes ? each : f->alloc_nbytes;
    each = each < UINT32_MAX ? each / 4096 * 4096 : UINT32_MAX / 4096 * 4096;
    if (each < ARENA_MIN_NBYTES && budget_nbytes != 0 && f->alloc_nbytes >= ARENA_MIN_NBYTES) {
        mr__log(&o->hooks, MR_LOG_WARNING,
                "the device %s may take %llu bytes: with less than %llu for each of %u lanes it prepares nothing",
                o->name, (unsigned long long)budget_nbytes, (unsigned long long)ARENA_MIN_NBYTES, o->lane_count);
        return 0;
    }
    if (each < ARENA_MIN_NBYTES)
        return mr__fail(detail, MR_EUNSUPPORTED, "it has %llu bytes for each of %u lanes: at least %llu",
                        (unsigned long long)each, o->lane_count, (unsigned long long)ARENA_MIN_NBYTES);
    o->arena_nbytes = (uint32_t)each;
    return 0;
}

static int make_lanes(mr__opencl *o, mr__detail *detail)
{
    int result = 0;
    for (uint32_t i = 0; i < o->lane_count && result == 0; i++)
        result = mr__opencl_lane_init(&o->lanes[i], o, i, detail);
    for (uint32_t i = 0; i < o->lane_count && result == 0; i++)
        o->meters[i] = o->lanes[i].hands.meter;
    return result;
}

static int start_lanes(mr__opencl *o, mr__detail *detail)
{
    for (uint32_t i = 0; i < o->lane_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "mr-cl%u-%u", o->number % 1000, i % 100);
        if (mr__thread_start(&o->lanes[i].thread, name, run_lane, &o->lanes[i]) != 0)
            return mr__fail(detail, MR_ESYSTEM, "the system has no thread for the device %s", o->name);
    }
    return 0;
}

static int build(mr__opencl *o, const mr__device_options *options, mr__detail *detail)
{
    const mr_hooks *hooks = &o->hooks;
    mr__cl_options cl = {.hooks = hooks, .number = o->number, .in_place = true};
    o->lane_count = LANES;
    o->capacity = depth_of(o); // submissions may be of one task each
    o->lanes = mr__alloc_array(hooks, o->lane_count, sizeof *o->lanes);
    o->meters = mr__alloc_array(hooks, o->lane_count, sizeof *o->meters);
    o->queue = mr__alloc_array(hooks, o->capacity, sizeof *o->queue);
    if (o->lanes == NULL || o->meters == NULL || o->queue == NULL) {
        o->lane_count = 0;
        return mr__fail(detail, MR_ENOMEM, "out of memory for the device %s", o->name);
    }
    if (mr__mutex_init(&o->mutex) != 0 || mr__condition_init(&o->news) != 0 || mr__condition_init(&o->moved) != 0)
        return mr__fail(detail, MR_ESYSTEM, "the system has no locks for the device %s", o->name);
    o->ready = true;
    int result = mr__cl_player_open(&cl, &o->player, detail);
    if (result == 0)
        result = choose_arena(o, options->memory_nbytes, detail);
    if (result == 0)
        result = make_lanes(o, detail);
    if (result == 0 && o->arena_nbytes != 0)
        result = measure(o, options->timeout_ns, detail);
    return result == 0 ? start_lanes(o, detail) : result;
}

static int open_opencl(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    mr__opencl *o = mr__alloc_zero(&options->work->hooks, sizeof *o);
    if (o == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for an OpenCL device");
    o->device.type = &mr__device_opencl;
    o->hooks = options->work->hooks;
    o->work = options->work;
    o->done = options->done;
    o->user = options->user;
    o->number = options->number;
    o->hostless = options->hostless;
    o->alone = options->alone;
    o->refuge = options->refuge;
    o->patience_ns = options->timeout_ns / 2;
    snprintf(o->name, sizeof o->name, "opencl:%u", o->number);
    int result = build(o, options, detail);
    if (result == 0)
        *out = &o->device;
    else if (!o->stuck)
        (void)close_opencl(&o->device, MR__FOR_EVER);
    return result;
}

/* 5. What it tells. */

static int list_found(const mr_hooks *hooks, mr__device_found *found, size_t most, size_t *count, mr__detail *detail)
{
    const mr__cl_options cl = {.hooks = hooks};
    size_t all = 0;
    mr__cl_entry *entries = mr__alloc_array(hooks, most, sizeof *entries);
    if (entries == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a list of OpenCL devices");
    int result = mr__cl_list(&cl, entries, most, &all, detail);
    for (size_t i = 0; result == 0 && i < all; i++)
        found[i] = (mr__device_found){
            .number = entries[i].number, .usable = entries[i].usable, .is_host = entries[i].facts.is_cpu};
    if (result == 0)
        *count = all;
    mr__free(hooks, entries);
    return result;
}

static mr__device_info tell_info(const mr__device *device)
{
    const mr__opencl *o = const_opencl_of(device);
    uint64_t nbytes = o->arena_nbytes != 0 ? o->arena_nbytes : 1; // 0 would be any number
    return (mr__device_info){.lanes = o->lane_count,
                             .group = MR__OPENCL_GROUP,
                             .depth = depth_of(o),
                             .launch_ns = o->launch_ns,
                             .memory = {nbytes, nbytes, nbytes}};
}

/* Steps of 16-bit pixels are the host's. */
static bool takes(const mr__device *device, mr_form form, mr_step_kind step)
{
    const mr__opencl *o = const_opencl_of(device);
    (void)form; // what there is no kernel for is decoded by the lane
    return o->work->needs.depth == 8 && mr__tape_takes_step(step, mr__cl_player_facts(o->player)->doubles);
}

static mr__device_tally tell_tally(mr__device *device)
{
    mr__opencl *o = opencl_of(device);
    mr__device_tally tally = {.on_host = atomic_load_explicit(&o->on_host, memory_order_relaxed),
                              .refused = atomic_load_explicit(&o->refused, memory_order_relaxed)};
    mr__mutex_lock(&o->mutex);
    tally.failed = o->failed;
    tally.late = o->late;
    memcpy(tally.cause, o->cause, sizeof tally.cause);
    for (uint32_t i = 0; i < o->lane_count; i++)
        tally.aside = tally.aside || o->lanes[i].played_code != 0;
    mr__mutex_unlock(&o->mutex);
    return tally;
}

static const mr__thread_meter *const *tell_meters(const mr__device *device, size_t *count)
{
    *count = const_opencl_of(device)->lane_count;
    return const_opencl_of(device)->meters;
}

static uint64_t tell_core(mr__device *device)
{
    mr__opencl *o = opencl_of(device);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->lane_count; i++) {
        mr__opencl_lane *l = &o->lanes[i];
        clockid_t clock;
        struct timespec t;
        mr__mutex_lock(&o->mutex);
        if (l->ended)
            sum += l->core_ns;
        else if (l->thread.started && pthread_getcpuclockid(l->thread.handle, &clock) == 0 &&
                 clock_gettime(clock, &t) == 0)
            sum += (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
        mr__mutex_unlock(&o->mutex);
    }
    return sum;
}

static bool is_late(mr__device *device, uint32_t lane)
{
    mr__opencl *o = opencl_of(device);
    mr__mutex_lock(&o->mutex);
    bool late = o->lanes[lane].behind;
    mr__mutex_unlock(&o->mutex);
    return late;
}

static bool tell_oldest(mr__device *device, uint64_t *ordinal, const char **doing)
{
    mr__opencl *o = opencl_of(device);
    bool any = false;
    mr__mutex_lock(&o->mutex);
    for (uint32_t i = 0; i < o->lane_count && !any; i++) {
        const mr__opencl_lane *l = &o->lanes[i];
        any = l->group.first != NULL && (l->state == MR__OPENCL_WRITING || l->state == MR__OPENCL_PLAYING);
        if (any) {
            *ordinal = l->group.first->ordinal;
            *doing = l->state == MR__OPENCL_PLAYING ? "an OpenCL device has" : "the bytes are read of";
        }
    }
    mr__mutex_unlock(&o->mutex);
    return any;
}

/* 6. Batches that stay here. */

static int keep_new(mr__device *device, uint64_t nbytes, mr__keep **out, mr__detail *detail)
{
    mr__opencl *o = opencl_of(device);
    mr__cl_keep *keep, **keeps = mr__alloc_array(&o->hooks, o->keep_count + 1, sizeof *keeps);
    if (keeps == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for batches on the device %s", o->name);
    int result = mr__cl_keep_new(o->player, &o->keep_queues, nbytes, &keep, detail);
    if (result != 0) {
        mr__free(&o->hooks, keeps);
        return result;
    }
    if (o->keep_count != 0)
        memcpy(keeps, o->keeps, o->keep_count * sizeof *keeps);
    keeps[o->keep_count++] = keep;
    mr__free(&o->hooks, o->keeps);
    o->keeps = keeps;
    *out = (mr__keep *)keep;
    return 0;
}

static void keep_send(mr__device *device, mr__keep *keep, uint64_t at, const void *bytes, uint64_t nbytes)
{
    (void)device;
    mr__cl_keep_send((mr__cl_keep *)keep, at, bytes, nbytes);
}

static void keep_finish(mr__device *device, mr__keep *keep, mr__kept *told, void *user)
{
    (void)device;
    mr__cl_keep_finish((mr__cl_keep *)keep, told, user);
}

static int keep_read(mr__device *device, mr__keep *keep, uint64_t at, void *to, uint64_t nbytes)
{
    (void)device;
    return mr__cl_keep_read((mr__cl_keep *)keep, at, to, nbytes);
}

static mr_batch_device keep_tell(mr__device *device, const mr__keep *keep)
{
    (void)device;
    return mr__cl_keep_tell((const mr__cl_keep *)keep);
}

const mr__device_type mr__device_opencl = {
    .name = "opencl",
    .list = list_found,
    .open = open_opencl,
    .info = tell_info,
    .takes = takes,
    .submit = submit,
    .cancel = cancel,
    .abandon = abandon,
    .is_late = is_late,
    .tally = tell_tally,
    .keep_new = keep_new,
    .keep_send = keep_send,
    .keep_finish = keep_finish,
    .keep_read = keep_read,
    .keep_tell = keep_tell,
    .meters = tell_meters,
    .core_ns = tell_core,
    .oldest = tell_oldest,
    .close = close_opencl,
};
