// SPDX-License-Identifier: Apache-2.0
#include "study/rig.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/sim/sim.h"
#include <math.h>

enum { SLOTS = 3 };

/* A batch in memory. */
typedef struct slot {
    mr__task *tasks;
    mr__rig_sample *samples;
    bool *settled;   /* of each task */
    uint64_t number; /* of the batch */
    uint64_t opened_ns;
    uint32_t open; /* tasks that are not done */
    bool busy, ready;
} slot;

/* Who asks what a task takes. */
typedef struct asker {
    struct rig *rig;
    uint32_t device;
} asker;

typedef struct rig {
    const mr__rig_options *o;
    mr_hooks hooks;
    mr__hardware hardware;
    mr__world *world;
    mr__trainer *trainer;
    mr__work work;
    mr__device *devices[MR__SCHED_DEVICES_MAX];
    const char *names[MR__SCHED_DEVICES_MAX];
    uint64_t launch_ns[MR__SCHED_DEVICES_MAX];
    asker askers[MR__SCHED_DEVICES_MAX];
    uint32_t device_count;
    bool split; /* samples are, between host and accelerator */
    mr__crew *crew;
    slot *slots;
    uint32_t slot_count;
    mr__task *tasks;
    mr__rig_sample *samples;
    bool *settled;
    mr__features *features;
    double *core_ns;
    uint64_t opened, delivered; /* batches */
    uint64_t armed_ns;          /* when the world will wake us; UINT64_MAX: not */
    bool stepping, waits;
    uint64_t counted_from_ns, counted_from; /* iterations that count begin here, */
    uint64_t counted_to_ns;                 /* and end where the last batch is taken */
    double waited_ns, wait_since_ns;
    mr__rig_result *result;
} rig;

static uint64_t now_of(const rig *r)
{
    return mr__world_now_ns(r->world);
}

double mr__rig_bound_ns(const mr__hardware *h, const double *core_ns, size_t count)
{
    double sum = 0, most = 0, speed = 0;
    for (uint32_t d = 0; d < h->device_count; d++)
        speed +=
            (h->devices[d].lanes != 0 ? h->devices[d].lanes : 1) * (h->devices[d].speed > 0 ? h->devices[d].speed : 1);
    for (size_t i = 0; i < count; i++) {
        double best = INFINITY;
        for (uint32_t d = 0; d < h->device_count; d++) {
            double its = h->devices[d].speed > 0 ? h->devices[d].speed : 1;
            double ns = core_ns[i] / its + (double)h->devices[d].launch_ns;
            best = ns < best ? ns : best;
        }
        most = best > most ? best : most;
        sum += core_ns[i];
    }
    return sum / speed > most ? sum / speed : most;
}

/* 1. What devices ask of a task. */

static const mr__rig_sample *sample_of(const mr__task *task)
{
    const slot *s = task->batch;
    return &s->samples[task - s->tasks];
}

static double speed_of(const mr__hardware_device *h)
{
    return h->speed > 0 ? h->speed : 1;
}

/* What a sample takes of a core to get from one state to another. */
static double host_ns(const mr__rig_sample *s, mr__cut from, mr__cut to)
{
    double decode = from == MR__CUT_STORED && to != MR__CUT_STORED ? s->decode_ns : 0;
    return decode + (from != MR__CUT_DONE && to == MR__CUT_DONE ? s->core_ns - s->decode_ns : 0);
}

/* What is left of it for a lane of the accelerator. */
static double device_ns(const mr__rig_cut *cut, const mr__rig_sample *s, mr__cut from)
{
    double decode = from == MR__CUT_STORED ? s->decode_ns / cut->decode_speed : 0;
    return decode + (from != MR__CUT_DONE ? (s->core_ns - s->decode_ns) / cut->steps_speed : 0);
}

static uint64_t crossing_nbytes(const mr__rig_cut *cut, const mr__rig_sample *s, mr__cut at)
{
    uint64_t nbytes = at == MR__CUT_STORED    ? s->stored_nbytes
                      : at == MR__CUT_DECODED ? s->decoded_nbytes
                                              : s->done_nbytes;
    return nbytes + (cut->at_host ? s->done_nbytes : 0);
}

static uint64_t tell_core_ns(void *user, const mr__task *task)
{
    const asker *a = user;
    const rig *r = a->rig;
    const mr__rig_sample *s = sample_of(task);
    const mr__job *job = task->job;
    if (r->o->cut == NULL)
        return (uint64_t)s->core_ns;
    mr__cut from = r->split ? (mr__cut)job->state : MR__CUT_STORED, to = r->split ? (mr__cut)job->aim : MR__CUT_DONE;
    if (a->device == 0)
        return (uint64_t)host_ns(s, from, to);
    return (uint64_t)(device_ns(r->o->cut, s, from) * speed_of(&r->hardware.devices[a->device]));
}

static uint64_t tell_nbytes(void *user, const mr__task *task)
{
    const asker *a = user;
    const rig *r = a->rig;
    const mr__job *job = task->job;
    if (r->o->cut == NULL)
        return sample_of(task)->stored_nbytes;
    return crossing_nbytes(r->o->cut, sample_of(task), r->split ? (mr__cut)job->state : MR__CUT_STORED);
}

static uint64_t tell_memory(void *user, const mr__task *task)
{
    (void)user;
    return sample_of(task)->need_nbytes;
}

/* 2. Batches. */

/* What a sample is believed to take at each cut. */
static void add_ways(const rig *r, const mr__rig_sample *s, mr__cut_way ways[MR__CUTS])
{
    const mr__hardware_device *h = &r->hardware.devices[1];
    mr__cut_costs costs = {.host_decode_ns = host_ns(s, MR__CUT_STORED, MR__CUT_DECODED) * s->guess,
                           .host_steps_ns = host_ns(s, MR__CUT_DECODED, MR__CUT_DONE) * s->guess,
                           .stored_nbytes = (double)s->stored_nbytes,
                           .decoded_nbytes = (double)s->decoded_nbytes,
                           .done_nbytes = (double)s->done_nbytes,
                           .link_gbs = h->link_gbs,
                           .copying = h->link_overlaps ? MR__COPYING_WITHIN : MR__COPYING_BEFORE,
                           .at_host = r->o->cut->at_host};
    mr__cut_way of[MR__CUTS];
    costs.device_decode_ns = costs.host_decode_ns / r->o->cut->decode_speed;
    costs.device_steps_ns = costs.host_steps_ns / r->o->cut->steps_speed;
    mr__cut_ways(&costs, of);
    for (int k = 0; k < MR__CUTS; k++) {
        ways[k].host_ns += of[k].host_ns;
        ways[k].device_ns += of[k].device_ns;
    }
}

/* What a job is believed to take: told, or what the model makes of the one number it sees. */
static void describe(rig *r, mr__job *job, mr__features *features)
{
    double guess = 0;
    job->stored_nbytes = job->need_nbytes = 0;
    for (int k = 0; k < MR__CUTS; k++)
        job->ways[k] = (mr__cut_way){0};
    for (const mr__task *t = job->first; t != NULL; t = t->next) {
        const mr__rig_sample *s = sample_of(t);
        guess += s->core_ns * s->guess;
        job->stored_nbytes += s->stored_nbytes;
        job->need_nbytes += s->need_nbytes;
        if (r->o->cut != NULL)
            add_ways(r, s, job->ways);
    }
    for (uint32_t d = 0; d < r->device_count; d++)
        job->ns[d] = (float)(guess / speed_of(&r->hardware.devices[d]));
    if (r->o->cut != NULL)
        job->ns[1] = mr__cut_way_ns(&job->ways[MR__CUT_STORED]);
    *features = (mr__features){0};
    features->ns[MR__WORK_DECODED] = (float)guess;
}

static void open_batch(rig *r, slot *s)
{
    uint32_t n = r->o->batch, grain = mr__policy_grain(r->o->policy, n, r->o->tiny), count = 0, batch;
    mr__job *jobs = mr__crew_open(r->crew, &batch);
    s->busy = true;
    s->ready = false;
    s->number = r->opened++;
    s->opened_ns = now_of(r);
    s->open = n;
    for (uint32_t i = 0; i < n; i++) {
        s->samples[i] = (mr__rig_sample){.guess = 1};
        s->settled[i] = false;
        r->o->sample(r->o->user, s->number * n + i, &s->samples[i]);
        s->tasks[i] = (mr__task){.ordinal = s->number * n + i, .form = MR_FORM_JPEG, .batch = s};
        if (i % grain != 0)
            s->tasks[i - 1].next = &s->tasks[i];
    }
    for (uint32_t i = 0; i < n; i += grain, count++) {
        jobs[count].first = &s->tasks[i];
        jobs[count].count = n - i < grain ? n - i : grain;
        describe(r, &jobs[count], &r->features[count]);
    }
    r->split = r->o->cut != NULL && mr__crew_split(r->crew, batch);
    mr__crew_add(r->crew, batch, count, r->features, NULL, now_of(r));
}

static slot *slot_of(rig *r, uint64_t number)
{
    for (uint32_t i = 0; i < r->slot_count; i++)
        if (r->slots[i].busy && r->slots[i].number == number)
            return &r->slots[i];
    return NULL;
}

static void fill_slots(rig *r)
{
    for (uint32_t i = 0; i < r->slot_count && r->opened < r->o->batches; i++)
        if (!r->slots[i].busy && (!r->o->apart || r->opened == r->delivered))
            open_batch(r, &r->slots[i]);
}

static void tally_batch(rig *r, const slot *s)
{
    mr__rig_result *result = r->result;
    double span = (double)(now_of(r) - s->opened_ns);
    for (uint32_t i = 0; i < r->o->batch; i++)
        r->core_ns[i] = s->samples[i].core_ns;
    double ratio = span / mr__rig_bound_ns(&r->hardware, r->core_ns, r->o->batch);
    result->span_seconds += span / 1e9;
    result->span_ratio += ratio;
    result->span_worst = ratio > result->span_worst ? ratio : result->span_worst;
}

/* The trainer wants its next batch: it gets it, or waits. */
static void deliver(rig *r)
{
    while (!r->stepping) {
        slot *s = slot_of(r, r->delivered);
        if (s == NULL || !s->ready) {
            if (!r->waits && r->delivered < r->o->batches) {
                r->waits = true;
                r->wait_since_ns = (double)now_of(r);
                mr__crew_waits(r->crew, now_of(r));
            }
            return;
        }
        if (r->waits)
            r->waited_ns += (double)now_of(r) - r->wait_since_ns;
        r->waits = false;
        s->busy = false;
        r->counted_to_ns = now_of(r);
        if (++r->delivered == r->o->batches / 4 + 1) {
            r->counted_from = r->delivered;
            r->counted_from_ns = now_of(r);
            r->waited_ns = 0;
        }
        if (r->trainer != NULL) {
            r->stepping = true;
            mr__crew_steps(r->crew, now_of(r));
            mr__trainer_begin_step(r->trainer);
        }
    }
}

/* 3. Events. */

static void dispatch(rig *r);

static void on_timer(void *user, uint64_t number)
{
    rig *r = user;
    (void)number;
    r->armed_ns = UINT64_MAX;
    uint32_t late = mr__crew_tick(r->crew, now_of(r));
    if (late != UINT32_MAX)
        (void)mr__device_abandon(r->devices[late]);
    dispatch(r);
}

static void arm(rig *r)
{
    uint64_t at = r->delivered < r->o->batches ? mr__crew_wake_ns(r->crew, now_of(r)) : UINT64_MAX;
    if (at == UINT64_MAX || at >= r->armed_ns)
        return; // woken too early, it asks again
    mr__world_lock(r->world);
    if (r->armed_ns != UINT64_MAX)
        (void)mr__world_drop(r->world, on_timer, r, 0);
    mr__world_add(r->world, at, on_timer, r, 0);
    mr__world_unlock(r->world);
    r->armed_ns = at;
}

static void dispatch(rig *r)
{
    mr__gift gift;
    fill_slots(r);
    while (mr__crew_next(r->crew, now_of(r), &gift))
        if (r->devices[gift.device]->type->submit(r->devices[gift.device], gift.first, gift.count) != 0)
            mr__crew_refused(r->crew, &gift, now_of(r));
    arm(r);
}

static void on_done(void *user, mr__task *first, size_t count)
{
    rig *r = user;
    slot *s = first->batch;
    mr__task *settled;
    (void)count;
    mr__crew_watch(r->crew, first);
    size_t ended = mr__crew_done(r->crew, first, now_of(r), &settled);
    for (const mr__task *t = settled; t != NULL; t = t->next) {
        bool *is_settled = &s->settled[t - s->tasks];
        r->result->failed += t->code != 0;
        r->result->again += *is_settled;
        *is_settled = true;
    }
    r->result->tasks += ended;
    s->open -= (uint32_t)ended;
    if (ended != 0 && s->open == 0) {
        s->ready = true;
        tally_batch(r, s);
        if (r->o->delivered != NULL)
            r->o->delivered(r->o->user, s->number, s->opened_ns, now_of(r));
        deliver(r);
    }
    dispatch(r);
}

static void on_step_over(void *user, uint64_t step)
{
    rig *r = user;
    (void)step;
    r->stepping = false;
    deliver(r);
    dispatch(r);
}

/* 4. Making it, and its end. */

static int open_devices(rig *r, mr__detail *detail)
{
    uint32_t grain = mr__policy_grain(r->o->policy, r->o->batch, r->o->tiny);
    for (uint32_t d = 0; d < r->hardware.device_count; d++) {
        if (r->hardware.devices[d].group < grain)
            r->hardware.devices[d].group = grain; // a lane does a whole job
        r->askers[d] = (asker){r, d};
        bool trains = r->trainer != NULL && r->hardware.trainer.device == d + 1;
        mr__sim_options sim = {.world = r->world,
                               .hardware = &r->hardware,
                               .number = d,
                               .core_ns = tell_core_ns,
                               .nbytes = tell_nbytes,
                               .memory = tell_memory,
                               .user = &r->askers[d],
                               .trainer = trains ? r->trainer : NULL,
                               .blind = true};
        mr__device_options options = {.work = &r->work, .done = on_done, .user = r, .sim = &sim};
        int result = mr__device_open(&mr__device_sim, &options, &r->devices[d], detail);
        if (result != 0)
            return result;
        r->names[d] = r->hardware.devices[d].name;
        r->launch_ns[d] = r->hardware.devices[d].launch_ns;
        r->device_count = d + 1;
    }
    return 0;
}

static int make_crew(rig *r)
{
    const mr__rig_options *o = r->o;
    uint32_t trained = r->hardware.trainer.device;
    mr__crew_options options = {.hooks = &r->hooks,
                                .policy = o->policy,
                                .devices = r->devices,
                                .names = r->names,
                                .launch_ns = r->launch_ns,
                                .device_count = r->device_count,
                                .batches = r->slot_count,
                                .jobs = o->batch,
                                .told = !o->learns,
                                .deadline_ns = o->deadline_ns,
                                .back_ns = o->back_ns,
                                .cut = o->cut != NULL ? o->cut->rule : (mr__cut_rule){0},
                                .has_trainer = r->trainer != NULL && trained != 0,
                                .trained = trained != 0 ? trained - 1 : 0,
                                .beside = {.mode = o->beside, .share = o->beside_share},
                                .seen = o->seen,
                                .user = o->user};
    return mr__crew_new(&options, &r->crew);
}

static int make_slots(rig *r)
{
    size_t n = r->o->batch;
    r->slots = mr__alloc_array(&r->hooks, r->slot_count, sizeof *r->slots);
    r->tasks = mr__alloc_array(&r->hooks, r->slot_count * n, sizeof *r->tasks);
    r->samples = mr__alloc_array(&r->hooks, r->slot_count * n, sizeof *r->samples);
    r->settled = mr__alloc_array(&r->hooks, r->slot_count * n, sizeof *r->settled);
    r->features = mr__alloc_array(&r->hooks, n, sizeof *r->features);
    r->core_ns = mr__alloc_array(&r->hooks, n, sizeof *r->core_ns);
    if (r->slots == NULL || r->tasks == NULL || r->samples == NULL || r->settled == NULL || r->features == NULL ||
        r->core_ns == NULL)
        return MR_ENOMEM;
    for (uint32_t i = 0; i < r->slot_count; i++) {
        r->slots[i].tasks = r->tasks + i * n;
        r->slots[i].samples = r->samples + i * n;
        r->slots[i].settled = r->settled + i * n;
    }
    return 0;
}

static int build(rig *r, mr__detail *detail)
{
    const mr__rig_options *o = r->o;
    if (o->batch == 0 || o->batches == 0 || o->sample == NULL || o->hardware->device_count > MR__SCHED_DEVICES_MAX)
        return mr__fail(detail, MR_EARGUMENT, "a rig needs a batch, batches, samples and at most %d devices",
                        MR__SCHED_DEVICES_MAX);
    if (o->cut != NULL && (o->hardware->device_count < 2 || o->learns))
        return mr__fail(detail, MR_EARGUMENT, "a rig cuts between two devices, whose speeds are told");
    r->hardware = *o->hardware;
    r->slot_count = o->apart ? 1 : o->slots != 0 ? o->slots : SLOTS;
    r->armed_ns = UINT64_MAX;
    r->work.hooks = r->hooks;
    int result = mr__world_new(&r->hooks, &r->world);
    if (result == 0 && o->hardware->trainer.step_ns != 0)
        result = mr__trainer_new(&r->hooks, r->world, &r->hardware, on_step_over, r, &r->trainer);
    if (result == 0)
        result = mr__world_reserve(r->world, 1);
    if (result == 0)
        result = make_slots(r);
    if (result != 0)
        return mr__fail(detail, result, "a rig: %s", mr_error_text(result));
    result = open_devices(r, detail);
    return result == 0 ? make_crew(r) : result;
}

static void dismantle(rig *r)
{
    mr__crew_free(r->crew);
    for (uint32_t d = 0; d < r->device_count; d++)
        (void)r->devices[d]->type->close(r->devices[d], MR__FOR_EVER);
    mr__trainer_free(r->trainer);
    if (r->world != NULL)
        mr__world_leave(r->world, r);
    mr__world_free(r->world);
    mr__free(&r->hooks, r->core_ns);
    mr__free(&r->hooks, r->features);
    mr__free(&r->hooks, r->settled);
    mr__free(&r->hooks, r->samples);
    mr__free(&r->hooks, r->tasks);
    mr__free(&r->hooks, r->slots);
}

static void sum_up(rig *r)
{
    mr__rig_result *result = r->result;
    uint64_t jobs = 0, counted = r->delivered - r->counted_from;
    double since = (double)(r->counted_to_ns - r->counted_from_ns);
    result->seconds = (double)now_of(r) / 1e9;
    result->span_ratio /= (double)r->o->batches;
    result->span_seconds /= (double)r->o->batches;
    if (counted != 0) {
        result->iteration_seconds = since / 1e9 / (double)counted;
        result->wait_share = r->waited_ns / since;
    }
    for (uint32_t d = 0; d < r->device_count; d++) {
        result->tally[d] = mr__sched_tally_of(mr__crew_sched(r->crew), d);
        jobs += result->tally[d].jobs;
        result->no_memory += mr__sim_tell(r->devices[d]).no_memory;
        for (int m = 0; m < MR__MISHAPS; m++)
            result->mishaps[d][m] = mr__crew_mishaps(r->crew, d, (mr__mishap)m);
    }
    for (uint32_t d = 0; d < r->device_count; d++)
        result->device_share[d] = jobs != 0 ? (double)result->tally[d].jobs / (double)jobs : 0;
    result->mode = mr__crew_beside(r->crew)->mode;
}

int mr__rig_run(const mr__rig_options *options, mr__rig_result *result, mr__detail *detail)
{
    rig r = {.o = options, .result = result};
    *result = (mr__rig_result){0};
    int code = mr__hooks_init(&r.hooks, options->hooks);
    if (code == 0)
        code = build(&r, detail);
    uint64_t began = mr__clock_monotonic_ns();
    if (code == 0) {
        deliver(&r);
        dispatch(&r);
        while ((r.delivered < options->batches || r.stepping) && mr__world_advance(r.world))
            ;
        if (r.delivered < options->batches)
            code = mr__fail(detail, MR_EINTERNAL, "batch %llu of %llu was never ready", (unsigned long long)r.delivered,
                            (unsigned long long)options->batches);
        sum_up(&r);
    }
    result->real_seconds = (double)(mr__clock_monotonic_ns() - began) / 1e9;
    dismantle(&r);
    return code;
}
