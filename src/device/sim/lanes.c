// SPDX-License-Identifier: Apache-2.0
#include "device/sim/lanes.h"

#include "dataset/dataset.h"

/*
 * Neither a task's work nor its time on the link is longer: some three hours. So the longest submission, of 65,536
 * tasks, stays below 2^61, and what takes longer than that (by a fault) never ends.
 */
#define WORK_NS_MAX UINT64_C(10000000000000)
#define ENDLESS_NS  0x1p61

static uint64_t until_of(const mr__fault *f)
{
    return f->until_ns != 0 ? f->until_ns : MR__WORLD_NEVER;
}

/* `by` 0 is for ever. */
static uint64_t later(uint64_t now, uint64_t by)
{
    return by != 0 && by < MR__WORLD_NEVER - now ? now + by : MR__WORLD_NEVER;
}

static bool befalls(const mr__fault *f, uint32_t lane)
{
    return f->lane == 0 || f->lane == lane + 1;
}

/* 1. What a task takes. */

/* What is known of a task's image. */
typedef struct image {
    mr_form form;
    uint64_t pixels, nbytes;
} image;

static image look_up(const mr__sim *s, const mr__task *task)
{
    mr_record r = {.struct_size = sizeof r};
    if (s->work->dataset == NULL)
        return (image){.form = (mr_form)task->form};
    if (mr_dataset_record(s->work->dataset, task->ordinal, task->form, &r) != 0)
        return (image){0};
    return (image){s->is.blind ? (mr_form)task->form : r.form, (uint64_t)r.width * r.height, r.nbytes};
}

/* Both ways. */
static uint64_t link_ns(mr__sim *s, uint64_t nbytes)
{
    const mr__hardware_device *h = s->hardware;
    if (!(h->link_gbs > 0.0))
        return 0;
    nbytes += h->output_back ? s->is.output_nbytes : 0;
    s->counts.link_nbytes += nbytes;
    double ns = (double)nbytes / h->link_gbs;
    return ns < (double)WORK_NS_MAX ? (uint64_t)(ns + 0.5) : WORK_NS_MAX;
}

/* How long a lane has to do with it, and what it takes of the memory. */
static uint64_t task_ns(mr__sim *s, const mr__task *task, uint64_t *memory)
{
    const mr__sim_options *is = &s->is;
    const mr__hardware_device *h = s->hardware;
    image i = {.form = (mr_form)task->form};
    if (!is->blind || is->core_ns == NULL || (is->nbytes == NULL && s->work->dataset != NULL))
        i = look_up(s, task);
    uint64_t core = is->core_ns != NULL ? is->core_ns(is->user, task)
                                        : mr__hardware_core_ns(is->hardware, task->ordinal, i.form, i.pixels, i.nbytes);
    uint64_t nbytes = is->nbytes != NULL ? is->nbytes(is->user, task) : i.nbytes;
    if (h->memory_nbytes != 0)
        *memory += is->memory != NULL ? is->memory(is->user, task) : i.nbytes + 3 * i.pixels + s->is.output_nbytes;
    double speed = (unsigned)i.form < MR__HARDWARE_FORMS && h->speeds[i.form] > 0.0 ? h->speeds[i.form] : h->speed;
    double factor = mr__hardware_factor(h->jitter, is->hardware->seed, MR__STREAM_JITTER, is->number, s->begun++);
    double ns = (double)core / (speed > 0.0 ? speed : 1.0) * factor;
    uint64_t work = ns < (double)WORK_NS_MAX ? (uint64_t)(ns + 0.5) : WORK_NS_MAX, link = link_ns(s, nbytes);
    return !h->link_overlaps ? work + link : work > link ? work : link;
}

/* 2. What befalls lanes. */

/* How long work takes from `t` on: how many times as long as it should (0: it stands still), and until when so. */
static double factor_at(const mr__sim *s, uint32_t lane, uint64_t t, uint64_t *until)
{
    double factor = 1.0;
    bool frozen = false;
    *until = MR__WORLD_NEVER;
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if ((f->kind != MR__FAULT_SLOW && f->kind != MR__FAULT_FREEZE) || !befalls(f, lane) || t >= until_of(f))
            continue;
        uint64_t change = t < f->from_ns ? f->from_ns : until_of(f);
        *until = change < *until ? change : *until;
        if (t < f->from_ns)
            continue;
        frozen |= f->kind == MR__FAULT_FREEZE;
        factor *= f->kind == MR__FAULT_SLOW ? f->factor : 1.0;
    }
    return frozen ? 0.0 : factor;
}

/* When work is done that is begun now. */
static uint64_t end_of(const mr__sim *s, uint32_t lane, uint64_t now, uint64_t work_ns)
{
    double left = (double)work_ns;
    while (s->has_windows) {
        uint64_t until;
        double factor = factor_at(s, lane, now, &until), takes = left * factor;
        if (factor > 0.0 && (until == MR__WORLD_NEVER || takes <= (double)(until - now))) {
            if (!(takes < ENDLESS_NS))
                return MR__WORLD_NEVER;
            work_ns = (uint64_t)(takes + 0.5);
            break;
        }
        if (until == MR__WORLD_NEVER)
            return until;
        double done = factor > 0.0 ? (double)(until - now) / factor : 0.0;
        left = left > done ? left - done : 0.0;
        now = until;
    }
    return work_ns != 0 ? later(now, work_ns) : now;
}

/* Until when a lane begins nothing; 0: it is free to. */
static uint64_t held_until(const mr__sim *s, uint32_t lane, uint64_t now)
{
    uint64_t held = 0, until = now;
    while (s->has_windows && until != MR__WORLD_NEVER && !(factor_at(s, lane, until, &held) > 0.0))
        until = held;
    held = until > now ? until : 0;
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if (f->kind == MR__FAULT_HANG && s->tripped[i] && befalls(f, lane) && s->back_ns[i] > now &&
            s->back_ns[i] > held)
            held = s->back_ns[i];
    }
    return held;
}

bool mr__sim_is_lost(const mr__sim *s)
{
    for (uint32_t i = 0; i < s->hardware->fault_count; i++)
        if (s->hardware->faults[i].kind == MR__FAULT_LOST && s->tripped[i] &&
            s->back_ns[i] > mr__world_now_ns(s->world))
            return true;
    return false;
}

bool mr__sim_is_wrong(const mr__sim *s, uint64_t number)
{
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if (f->kind != MR__FAULT_WRONG || number < f->after)
            continue;
        uint64_t since = number - f->after;
        if (f->every != 0 ? since % f->every == f->every - 1 : since == 0)
            return true;
    }
    return false;
}

static void arm(mr__sim *s, uint32_t lane, uint64_t at_ns, mr__event *end)
{
    mr__lane *l = &s->lanes[lane];
    if (l->armed)
        mr__world_drop(s->world, end, s, lane);
    l->armed = at_ns != MR__WORLD_NEVER;
    if (l->armed)
        mr__world_add(s->world, at_ns, end, s, lane);
}

/* What runs there stops for as long, or for ever. */
static void hang(mr__sim *s, const mr__fault *f, mr__event *end)
{
    for (uint32_t i = 0; i < s->lane_count; i++) {
        mr__turn *t = &s->lanes[i].turn;
        if (!befalls(f, i) || t->piece.count == 0 || t->end_ns == MR__WORLD_NEVER)
            continue;
        t->end_ns = later(t->end_ns, f->back_ns);
        arm(s, i, t->end_ns, end);
    }
}

void mr__sim_trip(mr__sim *s, mr__event *end)
{
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if ((f->kind != MR__FAULT_LOST && f->kind != MR__FAULT_HANG) || s->tripped[i] || s->counts.tasks < f->after)
            continue;
        s->tripped[i] = true;
        s->back_ns[i] = later(mr__world_now_ns(s->world), f->back_ns);
        if (f->kind == MR__FAULT_HANG)
            hang(s, f, end);
    }
}

/* 3. Memory. */

static uint64_t taken_at(const mr__sim *s, uint64_t t)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if (f->kind == MR__FAULT_MEMORY && t >= f->from_ns && t < until_of(f))
            taken += f->nbytes;
    }
    return taken < s->hardware->memory_nbytes ? taken : s->hardware->memory_nbytes;
}

mr__device_memory mr__sim_memory(const mr__sim *s)
{
    uint64_t total = s->hardware->memory_nbytes, budget = total - taken_at(s, mr__world_now_ns(s->world));
    return (mr__device_memory){total, budget > s->memory_used ? budget - s->memory_used : 0, budget};
}

void mr__sim_note_memory(mr__sim *s)
{
    uint64_t now = mr__world_now_ns(s->world), total = s->hardware->memory_nbytes;
    for (uint32_t i = 0; i < s->hardware->fault_count; i++) {
        const mr__fault *f = &s->hardware->faults[i];
        if (f->kind != MR__FAULT_MEMORY || f->from_ns > now || f->from_ns < s->memory_seen_ns)
            continue;
        uint64_t left = total - taken_at(s, f->from_ns);
        if (s->memory_used > left && s->memory_used - left > s->counts.overcommit_nbytes)
            s->counts.overcommit_nbytes = s->memory_used - left;
    }
    s->memory_seen_ns = now;
}

/* 4. Turns. */

static void begin_turn(mr__sim *s, uint32_t lane, mr__piece piece, mr__event *end)
{
    uint64_t now = mr__world_now_ns(s->world), launch = s->hardware->launch_ns;
    mr__turn t = {.piece = piece, .lane = lane, .begun_ns = now, .launch_ns = launch, .work_ns = launch};
    for (mr__task *task = piece.first; task != NULL; task = task->next) {
        task->busy_ns = task_ns(s, task, &t.memory_nbytes);
        t.work_ns += task->busy_ns;
    }
    if (s->hardware->memory_nbytes != 0 && t.memory_nbytes > mr__sim_memory(s).free_nbytes) { // seen at once
        t.code = MR_ENOMEM;
        t.memory_nbytes = 0;
        t.work_ns = launch;
        s->counts.no_memory += piece.count;
        for (mr__task *task = piece.first; task != NULL; task = task->next)
            task->busy_ns = 0;
    }
    if (t.memory_nbytes != 0) {
        mr__sim_note_memory(s);
        s->memory_used += t.memory_nbytes;
        if (s->memory_used > s->counts.memory_peak_nbytes)
            s->counts.memory_peak_nbytes = s->memory_used;
    }
    t.end_ns = end_of(s, lane, now, t.work_ns);
    s->lanes[lane].turn = t;
    s->busy++;
    arm(s, lane, t.end_ns, end);
}

void mr__sim_begin(mr__sim *s, mr__event *end)
{
    bool may = s->giving == 0 && s->head != s->tail && s->busy < s->lane_count && !mr__sim_is_lost(s);
    for (uint32_t i = 0; may && i < s->lane_count && s->head != s->tail; i++) {
        if (s->lanes[i].turn.piece.count != 0)
            continue;
        uint64_t held = s->hardware->fault_count != 0 ? held_until(s, i, mr__world_now_ns(s->world)) : 0;
        if (held != 0)
            arm(s, i, held, end);
        else
            begin_turn(s, i, s->queue[s->head++ % s->capacity], end);
    }
    if (s->is.trainer != NULL)
        mr__trainer_note_busy(s->is.trainer, s->busy, s->lane_count);
}

mr__turn mr__sim_take(mr__sim *s, uint32_t lane)
{
    mr__turn t = s->lanes[lane].turn;
    s->lanes[lane].turn = (mr__turn){0};
    s->lanes[lane].failed = false;
    if (t.piece.count != 0)
        s->busy--;
    if (t.memory_nbytes != 0) {
        mr__sim_note_memory(s);
        s->memory_used -= t.memory_nbytes;
    }
    return t;
}
