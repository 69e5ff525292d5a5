// SPDX-License-Identifier: Apache-2.0
#include "route/policy.h"

#include "base/memory.h"
#include <math.h>
#include <string.h>

#define DEADLINE_NS UINT64_C(1000000000)
#define BACK_NS     UINT64_C(1000000000)
#define BACK_MAX_NS UINT64_C(60000000000)

/* Each time that a job came back there is twice the patience with the next, so many times: predictions may be wrong. */
enum { AGAIN_MAX = 3 };

/* What a batch waits for as its last, is waited for so many times as long as it should take; of a trial, as it would
 * take on the host. */
static const double LATE_TIMES = 4, TRIAL_TIMES = 2;

const char *mr__reason_text(mr__reason reason)
{
    switch (reason) {
    case MR__REASON_ORDER:
        return "its turn";
    case MR__REASON_LARGEST:
        return "the largest that is left, on the fastest device";
    case MR__REASON_FITS:
        return "the largest that ends well before the batch will";
    case MR__REASON_SOONER:
        return "done here before the faster device would have it done";
    case MR__REASON_SMALL:
        return "the smallest: anything larger would end last";
    case MR__REASON_ALONE:
        return "nobody else is at work, or can do it";
    case MR__REASON_PLANNED:
        return "planned for this lane";
    case MR__REASON_STOLEN:
        return "planned for another lane, that would end later";
    case MR__REASON_TRIAL:
        return "a trial: to see how fast the device is, or whether it is well again";
    }
    return "";
}

/* 1. Making one. */

void mr__sched_free(mr__sched *s)
{
    if (s == NULL)
        return;
    mr_hooks hooks = s->hooks;
    mr__free(&hooks, s->pick_memory);
    mr__free(&hooks, s->waiting);
    mr__free(&hooks, s->plan_memory);
    mr__free(&hooks, s->place_memory);
    mr__free(&hooks, s->job_memory);
    mr__free(&hooks, s->queue);
    mr__free(&hooks, s->lots);
    mr__free(&hooks, s);
}

static int allocate(mr__sched *s, uint32_t picks)
{
    size_t batches = s->options.batches, jobs = s->options.jobs, all;
    if (batches == 0 || jobs == 0 || __builtin_mul_overflow(batches, jobs, &all))
        return MR_EARGUMENT;
    s->lots = mr__alloc_array(&s->hooks, batches, sizeof *s->lots);
    s->queue = mr__alloc_array(&s->hooks, batches, sizeof *s->queue);
    s->job_memory = mr__alloc_array(&s->hooks, all, sizeof *s->job_memory);
    s->place_memory = mr__alloc_array(&s->hooks, all, 2 * sizeof *s->place_memory);
    s->plan_memory = mr__alloc_array(&s->hooks, batches, s->lane_count * sizeof *s->plan_memory);
    s->waiting = mr__alloc_array(&s->hooks, s->lane_count, sizeof *s->waiting);
    s->pick_memory = mr__alloc_array(&s->hooks, picks, sizeof *s->pick_memory);
    if (s->lots == NULL || s->queue == NULL || s->job_memory == NULL || s->place_memory == NULL ||
        s->plan_memory == NULL || s->pick_memory == NULL || s->waiting == NULL)
        return MR_ENOMEM;
    for (size_t i = 0; i < batches; i++)
        s->lots[i] = (mr__lot){.jobs = s->job_memory + i * jobs,
                               .order = s->place_memory + 2 * i * jobs,
                               .skip = s->place_memory + (2 * i + 1) * jobs,
                               .plan = s->plan_memory + i * s->lane_count};
    return 0;
}

static int build(mr__sched *s, const mr__sched_options *o)
{
    uint32_t picks = 0, at = 0;
    s->options = *o;
    s->policy = o->policy != NULL ? o->policy : &mr__policy_auto;
    s->options.deadline_ns = o->deadline_ns != 0 ? o->deadline_ns : DEADLINE_NS;
    s->options.back_ns = o->back_ns != 0 ? o->back_ns : BACK_NS;
    if (o->device_count == 0 || o->device_count > MR__SCHED_DEVICES_MAX)
        return MR_EARGUMENT;
    for (uint32_t i = 0; i < o->device_count; i++) {
        const mr__sched_device *d = &o->devices[i];
        mr__station *st = &s->stations[i];
        if (d->lanes == 0 || d->lanes > MR__SCHED_LANES_MAX)
            return MR_EARGUMENT;
        *st = (mr__station){.device = *d, .lane0 = s->lane_count, .room_ns = UINT64_MAX, .speed = 1};
        st->device.depth = d->depth != 0 ? d->depth : d->lanes;
        st->device.group = d->group != 0 ? d->group : 1;
        st->back_ns = s->options.back_ns;
        mr__budget_init(&st->memory, d->memory_nbytes != 0 ? d->memory_nbytes : MR__BUDGET_ANY);
        st->capacity = st->device.depth > d->lanes ? st->device.depth : d->lanes;
        s->lane_count += d->lanes;
        picks += st->capacity;
    }
    s->station_count = o->device_count;
    int result = allocate(s, picks);
    for (uint32_t i = 0; result == 0 && i < s->station_count; i++) {
        s->stations[i].picks = s->pick_memory + at;
        at += s->stations[i].capacity;
    }
    return result;
}

int mr__sched_new(const mr__sched_options *options, mr__sched **out)
{
    mr_hooks hooks = *options->hooks;
    mr__sched *s = mr__alloc_zero(&hooks, sizeof *s);
    if (s == NULL)
        return MR_ENOMEM;
    s->hooks = hooks;
    int result = build(s, options);
    if (result != 0)
        mr__sched_free(s);
    else
        *out = s;
    return result;
}

/* 2. Batches. */

mr__job *mr__sched_open(mr__sched *s, uint32_t *batch)
{
    for (uint32_t i = 0; i < s->options.batches; i++) {
        mr__lot *lot = &s->lots[i];
        if (lot->open)
            continue;
        lot->open = true;
        lot->added = lot->split = false;
        lot->count = lot->left = lot->undone = 0;
        lot->number = s->opened++;
        s->queue[s->queued++] = i;
        *batch = i;
        return lot->jobs;
    }
    return NULL;
}

/* A job's time on the first device; on the one that is best at it, where the first cannot do it. */
static float work_of(const mr__sched *s, const mr__job *job)
{
    float best = job->ns[0];
    for (uint32_t d = 1; d < s->station_count && isinf(job->ns[0]); d++)
        if (job->ns[d] < best)
            best = job->ns[d];
    return isinf(best) || !(best >= 1) ? 1 : best;
}

/* What a device cannot ever hold, it cannot do. */
static void settle_job(const mr__sched *s, mr__job *job, uint32_t batch)
{
    if (s->lots[batch].split) {
        job->state = MR__CUT_STORED;
        mr__lot_leave(s, &s->lots[batch], job);
    }
    for (uint32_t d = 0; d < s->station_count; d++) {
        if (job->need_nbytes > s->stations[d].memory.limit_nbytes || !(job->ns[d] >= 0))
            job->ns[d] = INFINITY;
    }
    job->work = work_of(s, job);
    job->taken = false;
    job->again = 0;
    job->batch = batch;
    job->pick = NULL;
    job->next = NULL;
}

/* What launching adds to a job of this length, if as many as should be are fused. */
static double launch_share_ns(const mr__sched_device *device, double job_ns)
{
    double fused = job_ns > 0 ? device->launch_ns / (MR__LAUNCH_SHARE * job_ns) : device->group;
    fused = fused > device->group ? device->group : fused < 1 ? 1 : fused;
    return device->launch_ns / fused;
}

static void learn_speeds(mr__sched *s, const mr__lot *lot)
{
    for (uint32_t d = 0; d < s->station_count; d++) {
        double work = 0, ns = 0, count = 0;
        for (uint32_t i = 0; i < lot->count; i++)
            if (!isinf(lot->jobs[i].ns[d]) && !lot->jobs[i].taken) {
                work += lot->jobs[i].work;
                ns += lot->jobs[i].ns[d];
                count++;
            }
        if (ns > 0)
            s->stations[d].speed = work / (ns + count * launch_share_ns(&s->stations[d].device, ns / count));
    }
}

static float key_of(const mr__sched *s, const mr__job *job)
{
    return s->policy->key == MR__KEY_NBYTES ? (float)job->stored_nbytes : job->work;
}

/* Largest first, equals as they came. (Shell's sort: needs no memory, unlike qsort, and is quick for hundreds.) */
static void sort_lot(const mr__sched *s, mr__lot *lot)
{
    uint32_t n = lot->count, gap = 1;
    for (uint32_t i = 0; i < n; i++)
        lot->order[i] = i;
    if (s->policy->key == MR__KEY_ORDER)
        return;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap != 0; gap /= 3)
        for (uint32_t i = gap; i < n; i++) {
            uint32_t it = lot->order[i], at = i;
            float key = key_of(s, &lot->jobs[it]);
            for (; at >= gap; at -= gap) {
                uint32_t before = lot->order[at - gap];
                float larger = key_of(s, &lot->jobs[before]);
                if (larger > key || (larger == key && before < it))
                    break;
                lot->order[at] = before;
            }
            lot->order[at] = it;
        }
}

static void reset_skips(mr__lot *lot)
{
    for (uint32_t i = 0; i < lot->count; i++)
        lot->skip[i] = i;
    lot->last = lot->count;
}

static void settle_lot(mr__sched *s, mr__lot *lot)
{
    if (lot->left != 0)
        s->mean_work = lot->work / lot->left;
    learn_speeds(s, lot);
    sort_lot(s, lot);
    reset_skips(lot);
    for (uint32_t d = 0; d < s->station_count; d++)
        s->stations[d].rest = 0;
}

void mr__sched_add(mr__sched *s, uint32_t batch, uint32_t count, uint64_t now_ns)
{
    mr__lot *lot = &s->lots[batch];
    lot->count = lot->left = lot->undone = count;
    lot->work = 0;
    lot->added = true;
    lot->choosy = false;
    for (uint32_t i = 0; i < count; i++) {
        settle_job(s, &lot->jobs[i], batch);
        for (uint32_t d = 0; d < s->station_count; d++)
            lot->choosy = lot->choosy || isinf(lot->jobs[i].ns[d]);
        lot->work += lot->jobs[i].work;
    }
    (void)now_ns;
    settle_lot(s, lot);
    lot->stale = true;
}

void mr__sched_changed(mr__sched *s, uint32_t batch)
{
    mr__lot *lot = &s->lots[batch];
    if (!lot->added)
        return;
    lot->work = 0;
    for (uint32_t i = 0; i < lot->count; i++) {
        mr__job *job = &lot->jobs[i];
        if (job->taken)
            continue;
        job->work = work_of(s, job);
        lot->work += job->work;
    }
    settle_lot(s, lot);
    lot->stale = true;
}

/* What waits for the lanes of a device (UINT32_MAX: of any), or is of a batch (UINT32_MAX: any), waits no more. */
static void drop_waiting(mr__sched *s, uint32_t device, uint32_t batch)
{
    for (uint32_t d = 0; d < s->station_count; d++)
        for (uint32_t l = 0; l < s->stations[d].device.lanes; l++) {
            mr__job **job = &s->waiting[s->stations[d].lane0 + l];
            if (*job == NULL || (device != UINT32_MAX && d != device) ||
                (batch != UINT32_MAX && (*job)->batch != batch))
                continue;
            (*job)->taken = false;
            reset_skips(&s->lots[(*job)->batch]);
            *job = NULL;
        }
}

void mr__sched_close(mr__sched *s, uint32_t batch)
{
    uint32_t to = 0;
    drop_waiting(s, UINT32_MAX, batch);
    for (uint32_t i = 0; i < s->queued; i++)
        if (s->queue[i] != batch)
            s->queue[to++] = s->queue[i];
    s->queued = to;
    s->lots[batch].open = s->lots[batch].added = false;
}

uint32_t mr__lot_next(mr__lot *lot, uint32_t place)
{
    uint32_t at = place;
    while (at < lot->count && mr__lot_job(lot, at)->taken)
        at = lot->skip[at] > at ? lot->skip[at] : at + 1;
    for (uint32_t i = place, next; i < at && i < lot->count; i = next) {
        next = lot->skip[i] > i ? lot->skip[i] : i + 1;
        lot->skip[i] = at;
    }
    return at;
}

uint32_t mr__lot_last(mr__lot *lot)
{
    while (lot->last != 0 && mr__lot_job(lot, lot->last - 1)->taken)
        lot->last--;
    return lot->last != 0 ? lot->last - 1 : lot->count;
}

/* 3. Picks. */

/* A free one: of a lane that a job waits for, where there is one. */
static mr__pick *free_pick(const mr__sched *s, const mr__station *st)
{
    mr__pick *found = NULL;
    for (uint32_t i = 0; i < st->capacity; i++) {
        if (st->picks[i].first != NULL)
            continue;
        bool waited_for = s->waiting[st->lane0 + i % st->device.lanes] != NULL;
        if (found == NULL || waited_for)
            found = &st->picks[i];
        if (waited_for)
            break;
    }
    if (found != NULL)
        *found = (mr__pick){.lane = (uint32_t)(found - st->picks) % st->device.lanes};
    return found;
}

/* Whether the policy has anything for this device. */
static bool takes_part(const mr__sched *s, uint32_t device)
{
    mr__policy_who who = s->station_count == 1 || s->options.hostless ? MR__WHO_ALL : s->policy->who;
    return who == MR__WHO_ALL || (who == MR__WHO_HOST) == (device == 0);
}

static bool can_ever(const mr__station *st, uint32_t device, const mr__job *job)
{
    return !isinf(job->ns[device]) && job->need_nbytes <= st->memory.limit_nbytes;
}

/* Whether anybody but this device is open. */
static bool others_work(const mr__sched *s, uint32_t device, uint64_t now_ns)
{
    for (uint32_t d = 0; d < s->station_count; d++)
        if (d != device && takes_part(s, d) && mr__station_is_open(&s->stations[d], now_ns))
            return true;
    return false;
}

/* Whether anybody but this device is open and could do the job. */
static bool others_can(const mr__sched *s, uint32_t device, const mr__job *job, uint64_t now_ns)
{
    for (uint32_t d = 0; d < s->station_count; d++)
        if (d != device && takes_part(s, d) && mr__station_is_open(&s->stations[d], now_ns) &&
            can_ever(&s->stations[d], d, job))
            return true;
    return false;
}

/*
 * Nothing is under way, and yet nobody took anything, each for a better one; or nobody else can. The device takes the
 * first job that is left if it would be done here as soon as anywhere.
 */
static bool pick_alone(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    bool idle = s->under_way == 0 && takes_part(s, device);
    if (!idle && !lot->choosy && others_work(s, device, now_ns))
        return false;
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        bool best = mr__sched_takes(s, device, job, pick);
        double here = s->stations[device].device.launch_ns + job->ns[device];
        for (uint32_t d = 0; best && idle && d < s->station_count; d++)
            if (d != device && takes_part(s, d) && mr__station_is_open(&s->stations[d], now_ns) &&
                can_ever(&s->stations[d], d, job))
                best = here <= s->stations[d].device.launch_ns + job->ns[d];
        if (!best || (!idle && others_can(s, device, job, now_ns)))
            continue;
        mr__pick_add(pick, job);
        pick->reason = MR__REASON_ALONE;
        return true;
    }
    return false;
}

static bool is_tried(const mr__station *st)
{
    return st->trial || st->unseen;
}

/* A device that was set aside, or was never seen, gets one job, a small one, and more when that went well. */
static bool pick_trial(mr__sched *s, mr__lot *lot, uint32_t device, mr__pick *pick)
{
    uint32_t last = mr__lot_last(lot);
    if (s->stations[device].under_way != 0 || last >= lot->count ||
        !mr__sched_takes(s, device, mr__lot_job(lot, last), pick))
        return false;
    mr__pick_add(pick, mr__lot_job(lot, last));
    pick->reason = MR__REASON_TRIAL;
    return true;
}

/* From the oldest batch that there is something of; for a trial from the youngest, which can best wait. */
static bool fill_pick(mr__sched *s, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    bool part = takes_part(s, device), tried = part && is_tried(&s->stations[device]);
    for (uint32_t i = 0; i < s->queued; i++) {
        uint32_t batch = s->queue[tried ? s->queued - 1 - i : i];
        mr__lot *lot = &s->lots[batch];
        if (!lot->added || lot->left == 0)
            continue;
        if (lot->stale && s->policy->plan != NULL)
            s->policy->plan(s, lot, now_ns);
        lot->stale = false;
        pick->batch = batch;
        bool any = tried  ? pick_trial(s, lot, device, pick)
                   : part ? (lot->split ? s->policy->pick_cut : s->policy->pick)(s, lot, device, now_ns, pick)
                          : false;
        if (any || pick_alone(s, lot, device, now_ns, pick))
            return true;
    }
    return false;
}

/* How often a job of it came back, at most. */
static uint32_t pick_again(const mr__pick *pick)
{
    uint32_t most = 0;
    for (const mr__job *job = pick->first; job != NULL; job = job->next)
        most = job->again > most ? job->again : most;
    return most;
}

static void send_pick(mr__sched *s, mr__pick *pick, uint64_t now_ns)
{
    mr__station *st = &s->stations[pick->device];
    mr__lot *lot = &s->lots[pick->batch];
    double ns = mr__pick_ns(s, pick, NULL);
    uint64_t whole = ns < 1e15 ? (uint64_t)ns : UINT64_C(1000000000000000);
    pick->begun_ns = now_ns;
    pick->due_ns = now_ns + whole;
    uint32_t again = pick_again(pick) < AGAIN_MAX && pick->device != 0 ? pick_again(pick) : AGAIN_MAX; // the host: most
    uint64_t patience = (2 * whole + s->options.deadline_ns) << again;
    pick->deadline_ns = st->device.can_fail ? now_ns + patience : UINT64_MAX;
    pick->number = st->tally.picks;
    pick->open = pick->count;
    if (lot->split)
        mr__lot_give(lot, pick);
    lot->left -= pick->count;
    lot->work = lot->left != 0 && lot->work > pick->work ? lot->work - pick->work : 0;
    st->under_way++;
    s->under_way++;
    (void)mr__budget_take(&st->memory, pick->need_nbytes); // which fits: mr__sched_takes has looked
    st->tally.picks++;
}

mr__pick *mr__sched_take(mr__sched *s, uint32_t device, uint64_t now_ns)
{
    mr__station *st = &s->stations[device];
    if (s->queued == 0 || st->blocked || st->under_way >= st->device.depth || !mr__station_is_open(st, now_ns))
        return NULL;
    mr__pick *pick = free_pick(s, st);
    if (pick == NULL)
        return NULL;
    pick->device = device;
    if (!fill_pick(s, device, now_ns, pick)) {
        pick->first = NULL;
        return NULL;
    }
    send_pick(s, pick, now_ns);
    return pick;
}

/* One job less in its pick. */
static void leave_pick(mr__sched *s, mr__job *job)
{
    mr__pick *pick = job->pick;
    mr__station *st = &s->stations[pick->device];
    job->pick = NULL;
    if (--pick->open != 0)
        return;
    st->under_way--;
    s->under_way--;
    (void)mr__budget_give(&st->memory, pick->need_nbytes);
    st->blocked = false;
    pick->first = NULL;
}

void mr__sched_untake(mr__sched *s, mr__pick *pick, bool never)
{
    mr__station *st = &s->stations[pick->device];
    mr__lot *lot = &s->lots[pick->batch];
    for (mr__job *job = pick->first; job != NULL; job = job->next) {
        job->pick = NULL;
        job->taken = false;
        lot->left++;
        lot->work += job->work;
        if (never)
            job->ns[pick->device] = INFINITY;
    }
    st->under_way--;
    s->under_way--;
    st->tally.picks--;
    st->tally.refused++;
    (void)mr__budget_give(&st->memory, pick->need_nbytes);
    st->blocked = !never;
    pick->first = NULL;
    reset_skips(lot);
}

bool mr__sched_done(mr__sched *s, mr__job *job, uint64_t now_ns)
{
    mr__station *st = &s->stations[job->pick->device];
    (void)now_ns;
    st->tally.jobs++;
    st->trial = st->unseen = false;
    st->back_ns = s->options.back_ns;
    leave_pick(s, job);
    return --s->lots[job->batch].undone == 0;
}

/* A job of a pick is left again. */
static void put_back(mr__sched *s, mr__job *job)
{
    mr__lot *lot = &s->lots[job->batch];
    leave_pick(s, job);
    job->taken = false;
    if (lot->split) {
        lot->given[job->aim] -= job->state == MR__CUT_STORED;
        mr__lot_leave(s, lot, job);
        job->work = work_of(s, job);
    }
    lot->left++;
    lot->work += job->work;
    lot->stale = true;
    reset_skips(lot);
}

void mr__sched_part_done(mr__sched *s, mr__job *job, uint64_t now_ns)
{
    (void)now_ns;
    s->stations[0].tally.parts++;
    s->stations[0].trial = s->stations[0].unseen = false;
    job->state = job->aim;
    put_back(s, job);
}

void mr__sched_return(mr__sched *s, mr__job *job, uint64_t now_ns)
{
    (void)now_ns;
    s->stations[job->pick->device].tally.returned++;
    put_back(s, job);
    job->again++;
}

/* 4. Devices that fail, and what they may. */

/* Who is there is not who was there when batches were planned. */
static void spoil_plans(mr__sched *s)
{
    for (uint32_t i = 0; i < s->queued; i++)
        s->lots[s->queue[i]].stale = true;
}

void mr__sched_fail(mr__sched *s, uint32_t device, uint64_t now_ns)
{
    mr__station *st = &s->stations[device];
    st->tally.failures++;
    st->aside_until_ns = now_ns + st->back_ns;
    st->back_ns = st->back_ns < BACK_MAX_NS / 2 ? 2 * st->back_ns : BACK_MAX_NS;
    st->trial = true;
    drop_waiting(s, device, UINT32_MAX);
    spoil_plans(s);
}

void mr__sched_retry(mr__sched *s, uint32_t device, uint64_t at_ns)
{
    mr__station *st = &s->stations[device];
    st->aside_until_ns = at_ns < st->aside_until_ns ? at_ns : st->aside_until_ns;
}

void mr__sched_allow(mr__sched *s, uint32_t device, uint64_t room_ns)
{
    if ((room_ns != 0) != (s->stations[device].room_ns != 0))
        spoil_plans(s);
    s->stations[device].room_ns = room_ns;
    if (room_ns == 0)
        drop_waiting(s, device, UINT32_MAX);
}

void mr__sched_memory(mr__sched *s, uint32_t device, uint64_t nbytes)
{
    mr__station *st = &s->stations[device];
    if (nbytes < st->memory.limit_nbytes)
        for (uint32_t i = 0; i < s->queued; i++)
            s->lots[s->queue[i]].choosy = true; // what fitted may do so no more
    mr__budget_limit(&st->memory, nbytes);
    st->blocked = false;
}

void mr__sched_unseen(mr__sched *s, uint32_t device, bool unseen)
{
    s->stations[device].unseen = unseen;
}

void mr__sched_depth(mr__sched *s, uint32_t device, uint32_t depth)
{
    mr__station *st = &s->stations[device];
    st->device.depth = depth < st->capacity ? depth : st->capacity;
}

/* Whether there is something to be dealt out. */
static bool has_left(const mr__sched *s)
{
    for (uint32_t i = 0; i < s->queued; i++)
        if (s->lots[s->queue[i]].added && s->lots[s->queue[i]].left != 0)
            return true;
    return false;
}

/*
 * When a device is to be abandoned because of a pick. If a batch waits for nothing else, patience is short: for so much
 * of the host's time in a trial, and else for so much of its own.
 */
static uint64_t patience_ns(const mr__sched *s, const mr__station *st, const mr__pick *pick, uint64_t now_ns)
{
    uint64_t until = pick->deadline_ns;
    if (until == UINT64_MAX || st == s->stations || s->lots[pick->batch].undone != pick->open || st->under_way != 1 ||
        pick_again(pick) != 0)
        return until;
    for (const mr__job *job = pick->first; job != NULL; job = job->next)
        if (!others_can(s, pick->device, job, now_ns))
            return until; // it is waited for in any case
    double ns = pick->reason == MR__REASON_TRIAL ? TRIAL_TIMES * (double)pick->work
                                                 : LATE_TIMES * (double)(pick->due_ns - pick->begun_ns);
    uint64_t soon = ns < 1e18 ? pick->begun_ns + (uint64_t)ns : until;
    return soon < until ? soon : until;
}

uint64_t mr__sched_next_ns(const mr__sched *s, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX, tick = s->policy->tick_ns;
    if (tick != 0 && has_left(s))
        next = (now_ns / tick + 1) * tick;
    for (uint32_t d = 0; d < s->station_count; d++) {
        const mr__station *st = &s->stations[d];
        if (st->aside_until_ns > now_ns && st->aside_until_ns < next)
            next = st->aside_until_ns;
        for (uint32_t i = 0; st->device.can_fail && st->under_way != 0 && i < st->capacity; i++) {
            uint64_t until = st->picks[i].first != NULL ? patience_ns(s, st, &st->picks[i], now_ns) : UINT64_MAX;
            next = until < next ? until : next;
        }
    }
    return next;
}

uint32_t mr__sched_overdue(const mr__sched *s, uint64_t now_ns)
{
    for (uint32_t d = 0; d < s->station_count; d++) {
        const mr__station *st = &s->stations[d];
        for (uint32_t i = 0; i < st->capacity; i++)
            if (st->picks[i].first != NULL && patience_ns(s, st, &st->picks[i], now_ns) <= now_ns)
                return d;
    }
    return UINT32_MAX;
}

mr__sched_tally mr__sched_tally_of(const mr__sched *s, uint32_t device)
{
    mr__sched_tally tally = s->stations[device].tally;
    tally.aside = s->stations[device].trial;
    return tally;
}
