// SPDX-License-Identifier: Apache-2.0
#include "route/crew_inside.h"

#include "base/hash.h"
#include "base/memory.h"
#include <math.h>

/* A device that was only slow is tried again so soon. */
#define SLOW_BACK_NS UINT64_C(10000000)

const char *mr__mishap_text(mr__mishap mishap)
{
    static const char *const texts[] = {"gave its tasks back",
                                        "did not answer in time",
                                        "gave bytes that were damaged",
                                        "had no memory for a task",
                                        "was far too slow",
                                        "is well again",
                                        "wrote outside of the memory it was lent"};
    return (unsigned)mishap < MR__MISHAPS ? texts[mishap] : "";
}

void mr__crew_free(mr__crew *c)
{
    if (c == NULL)
        return;
    mr_hooks hooks = c->hooks;
    mr__sched_free(c->sched);
    mr__free(&hooks, c->costs);
    mr__free(&hooks, c->features);
    mr__free(&hooks, c->forms);
    mr__free(&hooks, c->grants);
    for (uint32_t d = 0; d < c->options.device_count && d < MR__SCHED_DEVICES_MAX; d++)
        mr__lent_free(c->members[d].lent);
    mr__free(&hooks, c);
}

void mr__crew_read_ahead(mr__crew *c, bool ahead)
{
    const mr__station *host = &c->sched->stations[0];
    if (c->options.hostless)
        return;
    mr__sched_depth(c->sched, 0, ahead ? host->capacity : host->device.lanes);
}

static int make_sched(mr__crew *c)
{
    mr__sched_device devices[MR__SCHED_DEVICES_MAX] = {0};
    const mr__crew_options *o = &c->options;
    for (uint32_t i = 0; i < o->device_count; i++) {
        mr__device_info info = o->devices[i]->type->info(o->devices[i]);
        mr__mate *m = &c->members[i];
        size_t grain = o->grain != 0 ? o->grain : 1, group = info.group / grain,
               depth = info.depth / (info.group != 0 ? info.group : 1);
        *m = (mr__mate){.device = o->devices[i],
                        .name = o->names[i],
                        .can_fail = o->devices[i]->type->abandon != NULL,
                        .bounded = info.memory.total_nbytes != 0,
                        .last = MR__MISHAPS};
        m->launch_ns = o->launch_ns != NULL ? (double)o->launch_ns[i] : 0;
        if (!(m->launch_ns > 0) || group == 0)
            group = 1; // the host's groups are jobs of several samples
        devices[i] = (mr__sched_device){.name = m->name,
                                        .lanes = info.lanes,
                                        .depth = (uint32_t)depth,
                                        .group = (uint32_t)group,
                                        .launch_ns = m->launch_ns,
                                        .memory_nbytes = mr__crew_limit_of(c, &info.memory),
                                        .can_fail = m->can_fail};
    }
    mr__sched_options options = {.hooks = &c->hooks,
                                 .policy = o->policy,
                                 .devices = devices,
                                 .device_count = o->device_count,
                                 .hostless = o->hostless,
                                 .batches = o->batches,
                                 .jobs = o->jobs,
                                 .deadline_ns = o->deadline_ns,
                                 .back_ns = o->back_ns,
                                 .cut = o->cut};
    int result = mr__sched_new(&options, &c->sched);
    if (result == 0)
        mr__crew_read_ahead(c, false);
    return result;
}

static int build(mr__crew *c)
{
    const mr__crew_options *o = &c->options;
    if (o->device_count == 0 || o->device_count > MR__SCHED_DEVICES_MAX || o->batches == 0 || o->jobs == 0)
        return MR_EARGUMENT;
    c->options.forms = o->forms != 0 ? o->forms : 1;
    mr__beside_init(&c->beside, &o->beside);
    int result = make_sched(c);
    if (result == 0) {
        uint32_t picks = 0;
        for (uint32_t d = 0; d < o->device_count; d++)
            picks += c->sched->stations[d].capacity;
        c->grants = mr__alloc_array(&c->hooks, picks, sizeof *c->grants);
        result = c->grants != NULL ? 0 : MR_ENOMEM;
    }
    if (result != 0 || o->told)
        return result;
    c->costs = mr__alloc_array(&c->hooks, (size_t)o->device_count * c->options.forms, sizeof *c->costs);
    c->features = mr__alloc_array(&c->hooks, (size_t)o->batches * o->jobs, sizeof *c->features);
    c->forms = mr__alloc_array(&c->hooks, o->batches, o->jobs);
    if (c->costs == NULL || c->features == NULL || c->forms == NULL)
        return MR_ENOMEM;
    for (size_t i = 0; i < (size_t)o->device_count * c->options.forms; i++)
        mr__cost_init(&c->costs[i]);
    return 0;
}

int mr__crew_new(const mr__crew_options *options, mr__crew **out)
{
    mr_hooks hooks = *options->hooks;
    mr__crew *c = mr__alloc_zero(&hooks, sizeof *c);
    if (c == NULL)
        return MR_ENOMEM;
    c->hooks = hooks;
    c->options = *options;
    c->options.hooks = &c->hooks;
    int result = build(c);
    if (result != 0)
        mr__crew_free(c);
    else
        *out = c;
    return result;
}

mr__job *mr__crew_open(mr__crew *c, uint32_t *batch)
{
    return mr__sched_open(c->sched, batch);
}

bool mr__crew_split(mr__crew *c, uint32_t batch)
{
    return c->options.told && mr__sched_split(c->sched, batch);
}

/* Its tasks are of other samples now: what they need, and who can do them. */
static void describe_again(mr__crew *c, mr__job *job, uint32_t lacked)
{
    job->need_nbytes = 0;
    for (mr__task *task = job->first; task != NULL; task = task->next) {
        uint64_t need = task->need_nbytes;
        job->need_nbytes = need < UINT64_MAX - job->need_nbytes ? job->need_nbytes + need : UINT64_MAX;
        task->again = false;
    }
    for (uint32_t d = 0; d < c->options.device_count; d++)
        job->ns[d] = (lacked >> d & 1) != 0 ? INFINITY : 0;
    mr__crew_bound_need(c, job);
    mr__crew_predict(c, job);
}

void mr__crew_add(mr__crew *c, uint32_t batch, uint32_t count, const mr__features *features, const uint8_t *forms,
                  uint64_t now_ns)
{
    mr__job *jobs = c->sched->lots[batch].jobs;
    for (uint32_t i = 0; i < count; i++) {
        size_t number = mr__crew_number(c, &jobs[i]);
        jobs[i].open = jobs[i].count;
        jobs[i].back = NULL;
        jobs[i].back_count = 0;
        jobs[i].busy_ns = 0;
        jobs[i].failed = false;
        for (mr__task *task = jobs[i].first; task != NULL; task = task->next)
            task->job = &jobs[i];
        if (c->options.told)
            continue;
        c->features[number] = features[i];
        c->forms[number] = forms != NULL ? forms[i] : 0;
        mr__crew_predict(c, &jobs[i]);
    }
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        mr__crew_read_memory(c, d);
        c->members[d].per_batch /= 2;
        if (!c->options.told && d != 0)
            mr__sched_unseen(c->sched, d, !mr__crew_is_known(c, d));
    }
    for (uint32_t i = 0; i < count; i++)
        mr__crew_bound_need(c, &jobs[i]);
    mr__sched_add(c->sched, batch, count, now_ns);
}

/* The tasks of a pick's jobs as one list. */
static mr__gift wrap(const mr__pick *pick)
{
    mr__gift gift = {.device = pick->device};
    mr__task **end = &gift.first;
    for (const mr__job *job = pick->first; job != NULL; job = job->next) {
        *end = job->first;
        gift.count += job->count;
        while (*end != NULL)
            end = &(*end)->next;
    }
    return gift;
}

bool mr__crew_next(mr__crew *c, uint64_t now_ns, mr__gift *gift)
{
    if (!c->options.told)
        mr__crew_predict_again(c);
    for (uint32_t i = c->options.device_count; i-- != 0;) {
        mr__pick *pick = mr__sched_take(c->sched, i, now_ns);
        while (pick != NULL && !mr__crew_grant(c, pick))
            pick = mr__sched_take(c->sched, i, now_ns);
        if (pick == NULL)
            continue;
        *gift = wrap(pick);
        return true;
    }
    return false;
}

void mr__crew_note(mr__crew *c, uint32_t device, mr__mishap mishap)
{
    c->members[device].mishaps[mishap]++;
    if (mishap != MR__MISHAP_BACK)
        c->members[device].last = mishap;
}

/* A device has failed with some of its tasks: it is set aside, once for all that it had. */
static void set_aside(mr__crew *c, uint32_t device, mr__mishap mishap, uint64_t now_ns)
{
    const mr__station *st = &c->sched->stations[device];
    if (st->aside_until_ns > now_ns)
        return;
    mr__crew_note(c, device, mishap);
    if (mishap == MR__MISHAP_MEMORY)
        mr__crew_read_memory(c, device);
    mr__sched_fail(c->sched, device, now_ns);
}

/* Why a task that came back is not to be believed; MR__MISHAPS: it is. Memory of the host is everybody's. */
static mr__mishap judge(const mr__crew *c, const mr__task *task, uint32_t device)
{
    const mr__mate *m = &c->members[device];
    if (!m->can_fail)
        return MR__MISHAPS;
    if (task->code == MR_EDEVICE)
        return MR__MISHAP_LOST;
    if (task->code == MR_ENOMEM && m->bounded)
        return MR__MISHAP_MEMORY;
    return task->wrong ? MR__MISHAP_WRONG : MR__MISHAPS;
}

bool mr__crew_doubts(const mr__crew *c, const mr__task *task)
{
    const mr__job *job = task->job;
    return task->code == MR_ECLOSED || judge(c, task, job->pick->device) != MR__MISHAPS;
}

void mr__crew_check(mr__task *first, size_t sample_nbytes)
{
    for (mr__task *task = first; task != NULL; task = task->next)
        task->wrong = task->code == 0 && task->has_sum && task->sum != mr__hash(task->slot, sample_nbytes);
}

/* What is not done of a job is left again: all that the same devices can do. The others follow when that is done. */
static void leave_again(mr__crew *c, mr__job *job, uint64_t now_ns)
{
    mr__task *all = job->back, **end = &job->first;
    uint32_t lacked = all->lacked, device = job->pick->device;
    bool again = false, back = false;
    job->back = NULL;
    job->count = job->back_count = 0;
    for (mr__task *task = all, *next; task != NULL; task = next) {
        next = task->next;
        task->next = job->back;
        if (task->lacked != lacked) {
            job->back = task;
            job->back_count++;
            continue;
        }
        *end = task;
        end = &task->next;
        job->count++;
        again = again || task->again;
        back = back || !task->again;
    }
    *end = NULL;
    job->open = job->count;
    job->busy_ns = 0;
    job->failed = false;
    if (again)
        describe_again(c, job, lacked);
    mr__sched_return(c->sched, job, now_ns);
    c->sched->stations[device].tally.returned -= c->resting || !back; // it was not its fault
    job->again -= !back;                                              // nor does it take longer by it
}

/* The host's part of a job is done: it is left again, for the accelerator to go on with. */
static void end_part(mr__crew *c, mr__job *job, uint64_t now_ns)
{
    job->first = job->back;
    job->count = job->open = job->back_count;
    job->back = NULL;
    job->back_count = 0;
    job->busy_ns = 0;
    mr__sched_part_done(c->sched, job, now_ns);
}

/* The last task of a job has come back. */
static void end_job(mr__crew *c, mr__job *job, uint64_t now_ns)
{
    uint32_t device = job->pick->device, batch = job->batch;
    mr__crew_learn(c, job, job->pick);
    mr__crew_end_grant(c, job->pick);
    if (job->back != NULL) {
        if (job->failed)
            leave_again(c, job, now_ns);
        else
            end_part(c, job, now_ns);
        return;
    }
    if (c->sched->stations[device].trial)
        mr__crew_note(c, device, MR__MISHAP_BACK);
    if (mr__sched_done(c->sched, job, now_ns))
        mr__sched_close(c->sched, batch);
}

static void watch(const mr__crew *c, const mr__task *task, const mr__job *job, mr__mishap mishap)
{
    mr__sight sight = {task, job, job->pick, job->ns[job->pick->device] / job->count, mishap};
    if (c->options.seen != NULL)
        c->options.seen(c->options.user, &sight);
}

/* It came back because the loader goes elsewhere: that says nothing about its device. */
static bool is_gone(const mr__crew *c, const mr__task *task)
{
    return c->resting && (task->code == MR_EDEVICE || task->code == MR_ECLOSED);
}

void mr__crew_watch(const mr__crew *c, const mr__task *first)
{
    for (const mr__task *task = first; task != NULL; task = task->next) {
        const mr__job *job = task->job;
        if (!is_gone(c, task))
            watch(c, task, job, judge(c, task, job->pick->device));
    }
}

/* True: the task's code is final. `mishap` is why it is not to be believed; MR__MISHAPS: it is. */
static bool end_task(mr__crew *c, mr__task *task, mr__mishap mishap, uint64_t now_ns)
{
    mr__job *job = task->job;
    uint32_t device = job->pick->device;
    bool gone = is_gone(c, task), good = mishap == MR__MISHAPS && !task->again && !gone;
    bool is_part = good && task->code == 0 && mr__sched_is_part(c->sched, job), is_final = good && !is_part;
    job->busy_ns += task->busy_ns;
    job->failed = job->failed || task->code != 0 || task->again;
    c->members[device].busy_ns += task->busy_ns;
    c->members[device].tasks += is_final;
    if (mishap != MR__MISHAPS && !gone) {
        c->members[device].lost++;
        set_aside(c, device, mishap, now_ns);
    }
    if (is_final) {
        task->job = NULL;
    } else {
        task->code = 0;
        task->has_sum = false;
        task->next = job->back;
        job->back = task;
        job->back_count++;
    }
    if (--job->open == 0)
        end_job(c, job, now_ns);
    return is_final;
}

size_t mr__crew_done(mr__crew *c, mr__task *first, uint64_t now_ns, mr__task **settled)
{
    mr__task **end = settled;
    size_t count = 0;
    *settled = NULL;
    for (mr__task *task = first, *next; task != NULL; task = next) {
        const mr__job *job = task->job;
        next = task->next;
        task->next = NULL;
        if (!end_task(c, task, judge(c, task, job->pick->device), now_ns))
            continue;
        *end = task;
        end = &task->next;
        count++;
    }
    return count;
}

void mr__crew_refused(mr__crew *c, const mr__gift *gift, uint64_t now_ns)
{
    for (mr__task *task = gift->first, *next; task != NULL; task = next) {
        next = task->next;
        task->code = MR_EDEVICE;
        task->lane = 0;
        task->begun_ns = now_ns;
        task->busy_ns = 0;
        (void)end_task(c, task, MR__MISHAP_LOST, now_ns);
    }
}

/* What is allowed to the device that trains. */
static void open_or_shut(mr__crew *c, uint64_t now_ns)
{
    if (!c->options.has_trainer)
        return;
    uint64_t room = mr__beside_room_ns(&c->beside, now_ns);
    if (room == 0 && c->options.needed && c->beside.waiting)
        room = UINT64_MAX; // or it would wait for ever
    mr__sched_allow(c->sched, c->options.trained, room);
}

void mr__crew_waits(mr__crew *c, uint64_t now_ns)
{
    mr__beside_waits(&c->beside, now_ns);
    open_or_shut(c, now_ns);
}

void mr__crew_steps(mr__crew *c, uint64_t now_ns)
{
    mr__beside_steps(&c->beside, now_ns);
    open_or_shut(c, now_ns);
}

uint64_t mr__crew_wake_ns(mr__crew *c, uint64_t now_ns)
{
    uint64_t sched = mr__sched_next_ns(c->sched, now_ns), window = UINT64_MAX;
    if (c->options.has_trainer)
        window = mr__beside_next_ns(&c->beside, now_ns);
    return sched < window ? sched : window;
}

uint32_t mr__crew_tick(mr__crew *c, uint64_t now_ns)
{
    open_or_shut(c, now_ns);
    uint32_t device = mr__sched_overdue(c->sched, now_ns);
    if (device == UINT32_MAX)
        return device;
    bool late = false;
    const mr__station *st = &c->sched->stations[device];
    for (uint32_t i = 0; i < st->capacity; i++)
        late = late || (st->picks[i].first != NULL && st->picks[i].deadline_ns <= now_ns);
    if (!late)
        mr__crew_learn_slowness(c, device, now_ns);
    else if (device == 0)
        mr__crew_learn_lateness(c, now_ns);
    bool tried = st->trial || st->unseen;
    set_aside(c, device, late ? MR__MISHAP_LATE : MR__MISHAP_SLOW, now_ns);
    if (!late && !tried && !c->options.told)
        mr__sched_retry(c->sched, device, now_ns + SLOW_BACK_NS); // now that it is known to be slow
    return device;
}

void mr__crew_rest(mr__crew *c)
{
    c->resting = true;
}

void mr__crew_clear(mr__crew *c)
{
    c->resting = false;
    while (c->sched->queued != 0)
        mr__sched_close(c->sched, c->sched->queue[0]);
}

mr__sched *mr__crew_sched(mr__crew *c)
{
    return c->sched;
}

const mr__beside *mr__crew_beside(const mr__crew *c)
{
    return &c->beside;
}

uint64_t mr__crew_mishaps(const mr__crew *c, uint32_t device, mr__mishap mishap)
{
    return c->members[device].mishaps[mishap];
}

uint64_t mr__crew_tasks(const mr__crew *c, uint32_t device)
{
    return c->members[device].tasks;
}

uint64_t mr__crew_lost(const mr__crew *c, uint32_t device)
{
    return c->members[device].lost;
}

const char *mr__crew_last_mishap(const mr__crew *c, uint32_t device)
{
    mr__mishap last = c->members[device].last;
    return last != MR__MISHAPS ? mr__mishap_text(last) : NULL;
}

double mr__crew_busy_seconds(const mr__crew *c, uint32_t device)
{
    return (double)c->members[device].busy_ns / 1e9;
}
