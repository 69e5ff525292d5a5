// SPDX-License-Identifier: Apache-2.0
#include "route/crew.h"

#include "base/hash.h"
#include "base/memory.h"
#include <math.h>

/* A device that is not the host is believed to be so fast, before it has shown. */
static const double BELIEVED_SPEED = 1;

/* A model that says so many times what it said, or so little, is another one; asked after so many jobs. */
static const double STRAYED = 1.2;
enum { AGAIN_AFTER = 4 };

/* Of a job's time this much at least is its own, not its launch, or nothing is learned from it. */
static const double OWN_LEAST = 0.1, OWN_FIRST = 0.02; /* of the first, of which something has to be */
static const double PICK_LEAST = 0.25;                 /* likewise, of a pick's predicted time */

/*
 * A device that does few jobs in a batch is slower than believed once those that took longer than they should did so by
 * this many sigmas together, of each of which one is chance. (Page's test.)
 */
static const double SLOWER_SIGMAS = 2, SIGMA_LEAST = 0.25;
enum { FEW_JOBS = 10 };

#define SLOW_BACK_NS UINT64_C(10000000)

typedef struct member {
    mr__device *device;
    const char *name;
    double launch_ns;
    bool can_fail;
    bool strayed;              /* what it was believed to take is not what it takes */
    uint32_t learned;          /* jobs since jobs were last predicted anew */
    double per_batch;          /* jobs that it does for each batch, about */
    double slower, slower_log; /* how much longer jobs took than chance explains, and in all, as logarithms; */
    uint32_t slower_count;     /* as many of them */
    uint64_t mishaps[MR__MISHAPS];
} member;

struct mr__crew {
    mr_hooks hooks;
    mr__crew_options options;
    mr__sched *sched;
    member members[MR__SCHED_DEVICES_MAX];
    mr__beside beside;
    mr__cost *costs; /* device x form */
    mr__features *features;
    uint8_t *forms; /* of each job */
    uint64_t tick_ns;
};

const char *mr__mishap_text(mr__mishap mishap)
{
    static const char *const texts[] = {
        "gave its tasks back",      "did not answer in time", "gave bytes that were damaged",
        "had no memory for a task", "was far too slow",       "is well again"};
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
    mr__free(&hooks, c);
}

static int make_sched(mr__crew *c)
{
    mr__sched_device devices[MR__SCHED_DEVICES_MAX] = {0};
    const mr__crew_options *o = &c->options;
    for (uint32_t i = 0; i < o->device_count; i++) {
        mr__device_info info = o->devices[i]->type->info(o->devices[i]);
        member *m = &c->members[i];
        *m = (member){.device = o->devices[i], .name = o->names[i], .can_fail = o->devices[i]->type->abandon != NULL};
        m->launch_ns = o->launch_ns != NULL ? (double)o->launch_ns[i] : 0;
        uint32_t group = m->launch_ns > 0 ? (uint32_t)info.group : 1; // the host's groups are jobs of several samples
        devices[i] = (mr__sched_device){.name = m->name,
                                        .lanes = info.lanes,
                                        .depth = info.lanes,
                                        .group = group,
                                        .launch_ns = m->launch_ns,
                                        .memory_nbytes = info.memory.budget_nbytes,
                                        .can_fail = m->can_fail};
    }
    mr__sched_options options = {.hooks = &c->hooks,
                                 .policy = o->policy,
                                 .devices = devices,
                                 .device_count = o->device_count,
                                 .batches = o->batches,
                                 .jobs = o->jobs,
                                 .deadline_ns = o->deadline_ns,
                                 .back_ns = o->back_ns,
                                 .cut = o->cut};
    return mr__sched_new(&options, &c->sched);
}

static int build(mr__crew *c)
{
    const mr__crew_options *o = &c->options;
    if (o->device_count == 0 || o->device_count > MR__SCHED_DEVICES_MAX || o->batches == 0 || o->jobs == 0)
        return MR_EARGUMENT;
    c->options.forms = o->forms != 0 ? o->forms : 1;
    mr__beside_init(&c->beside, &o->beside);
    int result = make_sched(c);
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

mr__cost *mr__crew_cost(mr__crew *c, uint32_t device, uint32_t form)
{
    return &c->costs[(size_t)device * c->options.forms + form];
}

mr__job *mr__crew_open(mr__crew *c, uint32_t *batch)
{
    return mr__sched_open(c->sched, batch);
}

bool mr__crew_split(mr__crew *c, uint32_t batch)
{
    return c->options.told && mr__sched_split(c->sched, batch);
}

static size_t number_of(const mr__crew *c, const mr__job *job)
{
    return (size_t)(job - c->sched->job_memory);
}

/* What a job takes on a device: of one that has not done anything yet, by what the host takes. */
static void predict(mr__crew *c, mr__job *job)
{
    size_t number = number_of(c, job);
    const mr__features *features = &c->features[number];
    double host = mr__cost_predict(mr__crew_cost(c, 0, c->forms[number]), features);
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        const mr__cost *cost = mr__crew_cost(c, d, c->forms[number]);
        double ns = d == 0 ? host : cost->samples != 0 ? mr__cost_predict(cost, features) : host / BELIEVED_SPEED;
        if (!isinf(job->ns[d]))
            job->ns[d] = (float)ns;
    }
}

/* Others take of its memory, and give back. 0 is no bound for the scheduler, and nothing for a device that has some. */
static void read_memory(mr__crew *c, uint32_t device)
{
    mr__device_memory memory = mr__device_read_memory(c->members[device].device);
    mr__sched_memory(c->sched, device,
                     memory.total_nbytes != 0 && memory.budget_nbytes == 0 ? 1 : memory.budget_nbytes);
}

/* Whether it was ever seen at work, by this run or an earlier one. */
static bool is_known(mr__crew *c, uint32_t device)
{
    for (uint32_t f = 0; f < c->options.forms; f++)
        if (mr__crew_cost(c, device, f)->samples != 0)
            return true;
    return false;
}

void mr__crew_add(mr__crew *c, uint32_t batch, uint32_t count, const mr__features *features, const uint8_t *forms,
                  uint64_t now_ns)
{
    mr__job *jobs = c->sched->lots[batch].jobs;
    for (uint32_t i = 0; i < count; i++) {
        size_t number = number_of(c, &jobs[i]);
        jobs[i].open = jobs[i].count;
        jobs[i].back = NULL;
        jobs[i].failed = false;
        jobs[i].busy_ns = 0;
        for (mr__task *task = jobs[i].first; task != NULL; task = task->next)
            task->job = &jobs[i];
        if (c->options.told)
            continue;
        c->features[number] = features[i];
        c->forms[number] = forms != NULL ? forms[i] : 0;
        predict(c, &jobs[i]);
    }
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        read_memory(c, d);
        c->members[d].per_batch /= 2;
        if (!c->options.told && d != 0)
            mr__sched_unseen(c->sched, d, !is_known(c, d));
    }
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

/* A device is not what it was believed to be: what is left of batches under way is predicted anew. */
static void predict_again(mr__crew *c)
{
    bool strayed = false;
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        member *m = &c->members[d];
        strayed = strayed || (m->strayed && m->learned >= AGAIN_AFTER);
    }
    if (!strayed)
        return;
    for (uint32_t i = 0; i < c->sched->queued; i++) {
        mr__lot *lot = &c->sched->lots[c->sched->queue[i]];
        for (uint32_t j = 0; lot->added && j < lot->count; j++)
            if (!lot->jobs[j].taken)
                predict(c, &lot->jobs[j]);
        mr__sched_changed(c->sched, c->sched->queue[i]);
    }
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        c->members[d].strayed = false;
        c->members[d].learned = 0;
    }
}

bool mr__crew_next(mr__crew *c, uint64_t now_ns, mr__gift *gift)
{
    if (!c->options.told)
        predict_again(c);
    for (uint32_t i = c->options.device_count; i-- != 0;) {
        mr__pick *pick = mr__sched_take(c->sched, i, now_ns);
        if (pick == NULL)
            continue;
        *gift = wrap(pick);
        return true;
    }
    return false;
}

static void note(mr__crew *c, uint32_t device, mr__mishap mishap)
{
    c->members[device].mishaps[mishap]++;
}

/* A device has failed with some of its tasks: it is set aside, once for all that it had. */
static void set_aside(mr__crew *c, uint32_t device, mr__mishap mishap, uint64_t now_ns)
{
    const mr__station *st = &c->sched->stations[device];
    if (st->aside_until_ns > now_ns)
        return;
    note(c, device, mishap);
    if (mishap == MR__MISHAP_MEMORY)
        read_memory(c, device);
    mr__sched_fail(c->sched, device, now_ns);
}

/* Why a task that came back is not to be believed; MR__MISHAPS: it is. */
static mr__mishap judge(const mr__crew *c, const mr__task *task, uint32_t device)
{
    if (!c->members[device].can_fail)
        return MR__MISHAPS;
    if (task->code == MR_EDEVICE)
        return MR__MISHAP_LOST;
    if (task->code == MR_ENOMEM)
        return MR__MISHAP_MEMORY;
    bool fits = task->code != 0 || !task->has_sum || task->sum == mr__hash(task->slot, c->options.sample_nbytes);
    return fits ? MR__MISHAPS : MR__MISHAP_WRONG;
}

/* Errors of one job say little; those of a model that is off by so much, soon, that it is wrong. */
static void compare(mr__crew *c, const mr__job *job, uint32_t device)
{
    member *m = &c->members[device];
    size_t number = number_of(c, job);
    double now = mr__cost_predict(mr__crew_cost(c, device, c->forms[number]), &c->features[number]);
    double then = job->ns[device];
    m->learned++;
    if (now > STRAYED * then || then > STRAYED * now)
        m->strayed = true;
}

/*
 * A device that gets few jobs would be believed to be as fast as it was for many batches, each of which waits for it.
 * So two or three that took far too long are enough to believe the worse, which costs little if it is wrong.
 */
static void notice_slowness(member *m, mr__cost *cost, double ratio)
{
    double sigma = mr__cost_sigma(cost) > SIGMA_LEAST ? mr__cost_sigma(cost) : SIGMA_LEAST;
    m->per_batch++;
    m->slower += log(ratio > 1e-9 ? ratio : 1e-9) - sigma;
    m->slower_log += log(ratio > 1e-9 ? ratio : 1e-9);
    m->slower_count++;
    if (m->slower > SLOWER_SIGMAS * sigma && m->per_batch < 2 * FEW_JOBS && cost->samples != 0) {
        mr__cost_rescale(cost, exp(m->slower_log / m->slower_count));
        m->strayed = true;
        m->learned = AGAIN_AFTER;
        m->slower = 0;
    }
    if (!(m->slower > 0)) {
        m->slower = m->slower_log = 0;
        m->slower_count = 0;
    }
}

static void learn(mr__crew *c, const mr__job *job, const mr__pick *pick)
{
    if (c->options.told || job->back != NULL)
        return;
    double launch = c->members[pick->device].launch_ns / pick->count, busy = (double)job->busy_ns;
    double own = busy - launch;
    size_t number = number_of(c, job);
    mr__cost *cost = mr__crew_cost(c, pick->device, c->forms[number]);
    double all = mr__pick_ns(c->sched, pick, NULL), launching = c->members[pick->device].launch_ns;
    if (cost->samples != 0 && (own < OWN_LEAST * busy || all - launching < PICK_LEAST * all))
        return; // it was launching, mostly: little is seen of the job itself
    own = own > OWN_FIRST * busy ? own : OWN_FIRST * busy;
    notice_slowness(&c->members[pick->device], cost, own / mr__cost_predict(cost, &c->features[number]));
    mr__cost_learn(cost, &c->features[number], own > 1 ? (uint64_t)own : 1);
    compare(c, job, pick->device);
}

/* What is taken from a device because it is too slow has taken so long at least. */
static void learn_slowness(mr__crew *c, uint32_t device, uint64_t now_ns)
{
    const mr__station *st = &c->sched->stations[device];
    for (uint32_t i = 0; !c->options.told && i < st->capacity; i++) {
        const mr__pick *pick = &st->picks[i];
        double whole = pick->first != NULL ? mr__pick_ns(c->sched, pick, NULL) : 0;
        for (const mr__job *job = pick->first; job != NULL; job = job->next) {
            size_t number = number_of(c, job);
            mr__cost *cost = mr__crew_cost(c, device, c->forms[number]);
            double ns = (double)(now_ns - pick->begun_ns) * job->ns[device] / whole;
            double ratio = ns / mr__cost_predict(cost, &c->features[number]);
            notice_slowness(&c->members[device], cost, ratio);
            if (ratio > 1)
                mr__cost_learn(cost, &c->features[number], (uint64_t)ns);
        }
    }
}

/* The last task of a job has come back. */
static void end_job(mr__crew *c, mr__job *job, uint64_t now_ns)
{
    learn(c, job, job->pick);
    if (job->back != NULL) {
        job->first = job->back;
        job->count = job->open = job->back_count;
        job->back = NULL;
        job->busy_ns = 0;
        if (job->failed)
            mr__sched_return(c->sched, job, now_ns);
        else
            mr__sched_part_done(c->sched, job, now_ns);
        job->failed = false;
        return;
    }
    uint32_t device = job->pick->device, batch = job->batch;
    if (c->sched->stations[device].trial)
        note(c, device, MR__MISHAP_BACK);
    if (mr__sched_done(c->sched, job, now_ns))
        mr__sched_close(c->sched, batch);
}

static void watch(const mr__crew *c, const mr__task *task, const mr__job *job)
{
    mr__sight sight = {task, job, job->pick, job->ns[job->pick->device] / job->count};
    if (c->options.seen != NULL)
        c->options.seen(c->options.user, &sight);
}

/* True: the task's code is final. */
static bool end_task(mr__crew *c, mr__task *task, uint64_t now_ns)
{
    mr__job *job = task->job;
    if (job == NULL) // a substitute, which nobody scheduled
        return true;
    uint32_t device = job->pick->device;
    mr__mishap mishap = judge(c, task, device);
    bool is_part = mishap == MR__MISHAPS && task->code == 0 && mr__sched_is_part(c->sched, job);
    bool is_final = mishap == MR__MISHAPS && !is_part;
    watch(c, task, job);
    job->busy_ns += task->busy_ns;
    if (is_final) {
        task->job = NULL;
    } else {
        if (!is_part) {
            set_aside(c, device, mishap, now_ns);
            job->failed = true; // and with it what else of the job is half done: it is begun again
        }
        if (job->back == NULL)
            job->back_count = 0;
        task->code = 0;
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
        next = task->next;
        task->next = NULL;
        if (!end_task(c, task, now_ns))
            continue;
        *end = task;
        end = &task->next;
        count++;
    }
    return count;
}

void mr__crew_refused(mr__crew *c, const mr__gift *gift, uint64_t now_ns)
{
    mr__task *settled;
    for (mr__task *task = gift->first; task != NULL; task = task->next)
        task->code = MR_EDEVICE;
    (void)mr__crew_done(c, gift->first, now_ns, &settled);
}

/* What is allowed to the device that trains. */
static void open_or_shut(mr__crew *c, uint64_t now_ns)
{
    if (c->options.has_trainer)
        mr__sched_allow(c->sched, c->options.trained, mr__beside_room_ns(&c->beside, now_ns));
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
        learn_slowness(c, device, now_ns);
    bool tried = st->trial || st->unseen;
    set_aside(c, device, late ? MR__MISHAP_LATE : MR__MISHAP_SLOW, now_ns);
    if (!late && !tried && !c->options.told)
        mr__sched_retry(c->sched, device, now_ns + SLOW_BACK_NS); // now that it is known to be slow
    return device;
}

void mr__crew_clear(mr__crew *c)
{
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
