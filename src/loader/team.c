// SPDX-License-Identifier: Apache-2.0
#include "loader/team.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "dataset/dataset.h"
#include "device/need.h"
#include "loader/loader.h"
#include <math.h>
#include <string.h>

uint64_t mr__team_now_ns(const mr_loader *l)
{
    return l->team.world != NULL ? mr__world_now_ns(l->team.world) : l->hooks.now_ns(l->hooks.user);
}

/* 1. What a batch is for the crew. */

void mr__team_begin(mr_loader *l, mr__slot *slot)
{
    mr__slot_jobs *its = &l->team.slots[slot - l->slots];
    its->jobs = mr__crew_open(l->team.crew, &its->batch);
}

/* Which of the loader's forms it is. */
static uint8_t form_of(const mr_loader *l, uint32_t number)
{
    uint8_t i = 0;
    while (i + 1u < l->forms.count && l->forms.numbers[i] != number)
        i++;
    return i;
}

static uint64_t need_of(const mr_loader *l, const mr__header *header, bool one_scan, const mr__chain *chain)
{
    const mr__need_manner manner = {0};
    mr__need_image image = {.form = (mr_form)header->form,
                            .width = header->width,
                            .height = header->height,
                            .channels = header->channels,
                            .orientation = header->orientation,
                            .one_scan = one_scan,
                            .stored_nbytes = header->nbytes};
    mr__need need = mr__need_of(&manner, &image, &l->work.needs, &l->work.finish.output, chain);
    return mr__need_sum(&need);
}

static uint32_t kind_of(const mr__header *header)
{
    return header->form < MR__TEAM_KINDS ? header->form : MR_FORM_NONE;
}

static void describe_need(const mr_loader *l, const mr__chain *chain, const mr__header *header, bool one_scan,
                          mr__task *task)
{
    bool known = header->width != 0 && header->height != 0;
    task->lacked = l->team.lacked[kind_of(header)];
    task->need_nbytes = l->team.counts_memory ? need_of(l, header, one_scan, known ? chain : NULL) : 0;
}

/* What is known of one task is added to its job's. */
static void describe_task(mr_loader *l, mr__slot_jobs *its, mr__task *task, mr__job *job, mr__features *sum)
{
    mr__header header = {0};
    mr__features features;
    bool one_scan = mr__headers_of(l->team.headers, &its->look, l->dataset, task->ordinal, task->form, &header);
    mr__features_of(l->recipe, task->draws, &header, its->chain, &features);
    mr__features_add(sum, &features);
    describe_need(l, its->chain, &header, one_scan, task);
    uint64_t need = task->need_nbytes;
    job->stored_nbytes += header.nbytes;
    job->need_nbytes = need < UINT64_MAX - job->need_nbytes ? job->need_nbytes + need : UINT64_MAX;
}

/* Whether reads had to be waited for since the last batch: more than one in a hundred. The mutex is held. */
static void look_at_reads(mr_loader *l)
{
    mr__team *t = &l->team;
    uint64_t waited = 0, all = 0;
    for (size_t i = 0; i < t->meter_count; i++) {
        waited += atomic_load_explicit(&t->meters[i]->reads_waited, memory_order_relaxed);
        all += atomic_load_explicit(&t->meters[i]->reads_cached, memory_order_relaxed);
    }
    all += waited;
    if (t->world == NULL && all > t->reads_seen)
        mr__crew_read_ahead(t->crew, 100 * (waited - t->waited_seen) > all - t->reads_seen);
    t->waited_seen = waited;
    t->reads_seen = all;
}

/* Of tiny samples nobody asks what each will cost: that would cost more. */
static void describe_tiny(mr_loader *l, mr__job *job, mr__features *features)
{
    job->stored_nbytes = (uint64_t)l->work.record_nbytes * job->count;
    mr__features_of_bytes(job->stored_nbytes, features);
}

/* Tasks that the same devices can do become jobs, from number `count` on. Returns how many there are then. */
static uint32_t describe_kind(mr_loader *l, mr__slot *slot, uint32_t lacked, uint32_t count)
{
    mr__slot_jobs *its = &l->team.slots[slot - l->slots];
    mr__task **end = NULL;
    bool coarse = l->team.tiny && !l->team.counts_memory; // memory is counted for each
    uint32_t before = count;
    for (uint32_t at = 0; at < slot->batch.count + slot->guests; at++) {
        mr__task *task = &slot->tasks[at];
        if (task->lacked != lacked)
            continue;
        if (end == NULL || its->jobs[count - 1].count == l->team.grain) {
            its->jobs[count] = (mr__job){0};
            its->features[count] = (mr__features){0};
            its->forms[count] = form_of(l, task->form);
            for (uint32_t d = 0; d < l->team.count; d++)
                its->jobs[count].ns[d] = (lacked >> d & 1) != 0 ? INFINITY : 0;
            end = &its->jobs[count++].first;
        }
        *end = task;
        end = &task->next;
        task->next = NULL;
        its->jobs[count - 1].count++;
        if (!coarse)
            describe_task(l, its, task, &its->jobs[count - 1], &its->features[count - 1]);
    }
    for (uint32_t i = before; coarse && i < count; i++)
        describe_tiny(l, &its->jobs[i], &its->features[i]);
    return count;
}

static void find_takers(const mr_loader *l, mr__slot *slot)
{
    for (uint32_t at = 0; at < slot->batch.count + slot->guests; at++) {
        mr__header header = {0};
        mr__task *task = &slot->tasks[at];
        if (l->team.lacking)
            (void)mr__header_of(l->dataset, task->ordinal, task->form, &header);
        task->lacked = l->team.lacked[kind_of(&header)];
    }
}

void mr__team_describe(mr_loader *l, mr__slot *slot)
{
    mr__slot_jobs *its = &l->team.slots[slot - l->slots];
    uint32_t count = 0;
    find_takers(l, slot);
    for (uint32_t k = 0; k < MR__TEAM_KINDS; k++) {
        uint32_t before = 0;
        while (l->team.lacked[before] != l->team.lacked[k])
            before++;
        if (before == k)
            count = describe_kind(l, slot, l->team.lacked[k], count);
    }
    mr__mutex_lock(&l->mutex);
    look_at_reads(l);
    mr__crew_add(l->team.crew, its->batch, count, its->features, its->forms, mr__team_now_ns(l));
    mr__mutex_unlock(&l->mutex);
}

void mr__team_describe_again(mr_loader *l, mr__task *task)
{
    mr__header header = {0};
    mr__chain chain; // a slot's is of who fills it
    mr__features features;
    mr__look look = {0};
    bool one_scan = mr__headers_of(l->team.headers, &look, l->dataset, task->ordinal, task->form, &header);
    mr__look_fini(&look);
    if (l->team.counts_memory)
        mr__features_of(l->recipe, task->draws, &header, &chain, &features);
    describe_need(l, &chain, &header, one_scan, task);
}

/* 2. What comes back, and when something is late. */

void mr__team_submit(mr_loader *l, const mr__gift *gift)
{
    mr__device *device = l->team.devices[gift->device];
    if (device->type->submit(device, gift->first, gift->count) == 0)
        return;
    mr__mutex_lock(&l->mutex); // it is closed, or has no room: others do it, if anybody is there
    mr__crew_refused(l->team.crew, gift, mr__team_now_ns(l));
    l->in_flight -= gift->count;
    if (l->in_flight == 0)
        mr__condition_wake_all(&l->news);
    mr__mutex_unlock(&l->mutex);
}

static mr__mark mark_of(const mr_loader *l, const mr__task *task)
{
    const mr__slot *slot = task->batch;
    return (mr__mark){.begun_ns = task->begun_ns,
                      .busy_ns = task->busy_ns,
                      .sent_ns = task->begun_ns,
                      .seen_ns = mr__team_now_ns(l),
                      .predicted_ns = UINT64_MAX,
                      .ordinal = task->ordinal,
                      .epoch = slot->batch.epoch,
                      .batch = slot->batch.number,
                      .pick = UINT64_MAX,
                      .form = task->form,
                      .lane = (uint16_t)task->lane,
                      .reason = MR__MARK_SUBSTITUTE,
                      .mishap = MR__MISHAPS,
                      .code = (int16_t)task->code,
                      .fused = 1};
}

void mr__team_watch(void *user, const mr__sight *sight)
{
    mr_loader *l = user;
    const mr__pick *pick = sight->pick;
    mr__mark mark = mark_of(l, sight->task);
    double launch = (double)l->team.launch_ns[pick->device] / pick->count / sight->job->count;
    double predicted = sight->predicted_ns + launch;
    if (sight->task->code == MR_ECLOSED) // nobody has begun it
        return;
    if (predicted >= 0 && predicted < 1e18)
        mark.predicted_ns = (uint64_t)predicted;
    mark.sent_ns = pick->begun_ns;
    mark.pick = pick->number;
    mark.device = (uint8_t)pick->device;
    mark.reason = sight->task->attempt == 0 ? (uint8_t)pick->reason : MR__MARK_SUBSTITUTE;
    mark.mishap = (uint8_t)sight->mishap;
    mark.fused = (uint16_t)pick->count;
    mr__trace_add(l->team.trace, &mark);
}

bool mr__team_doubts(const mr_loader *l, const mr__task *task)
{
    return l->team.crew != NULL && mr__crew_doubts(l->team.crew, task);
}

/* What an accelerator did that nobody deals to. */
static void count_alone(mr_loader *l, const mr__task *first)
{
    mr__mutex_lock(&l->mutex);
    l->team.alone_submissions++;
    for (const mr__task *task = first; task != NULL; task = task->next) {
        l->team.alone_tasks++;
        l->team.alone_busy_ns += task->busy_ns;
    }
    mr__mutex_unlock(&l->mutex);
}

void mr__team_look(mr_loader *l, mr__task *first)
{
    if (l->team.alone)
        count_alone(l, first);
    if (l->team.crew == NULL)
        return;
    mr__crew_check(first, l->work.finish.output.sample_nbytes);
    mr__keep_send_done(first->batch, first);
    if (l->team.trace == NULL)
        return;
    mr__mutex_lock(&l->mutex);
    mr__crew_watch(l->team.crew, first);
    mr__mutex_unlock(&l->mutex);
}

size_t mr__team_done(mr_loader *l, mr__task *first, size_t count)
{
    mr__task *settled;
    mr__mutex_lock(&l->mutex);
    size_t ended = mr__crew_done(l->team.crew, first, mr__team_now_ns(l), &settled);
    l->in_flight -= count - ended; // what is not settled is left, for other devices
    if (l->in_flight == 0 || mr__crew_is_lent(l->team.crew))
        mr__condition_wake_all(&l->news);
    mr__mutex_unlock(&l->mutex);
    return ended;
}

void mr__team_tick(mr_loader *l)
{
    mr__mutex_lock(&l->mutex);
    uint32_t late = mr__crew_tick(l->team.crew, mr__team_now_ns(l));
    mr__mutex_unlock(&l->mutex);
    if (late != UINT32_MAX)
        (void)mr__device_abandon(l->team.devices[late]);
    mr__loader_dispatch(l);
}

static void on_timer(void *user, uint64_t number)
{
    mr_loader *l = user;
    (void)number;
    mr__mutex_lock(&l->mutex);
    l->team.armed_ns = UINT64_MAX;
    mr__mutex_unlock(&l->mutex);
    mr__team_tick(l);
}

/* The world stops when the crew has something to do. There is one such event, and room for it is reserved. */
static void arm(mr_loader *l)
{
    mr__team *t = &l->team;
    mr__mutex_lock(&l->mutex);
    uint64_t at = mr__crew_wake_ns(t->crew, mr__team_now_ns(l));
    if (at != t->armed_ns) {
        mr__world_lock(t->world);
        (void)mr__world_drop(t->world, on_timer, l, 0);
        if (at != UINT64_MAX)
            mr__world_add(t->world, at, on_timer, l, 0);
        mr__world_unlock(t->world);
        t->armed_ns = at;
    }
    mr__mutex_unlock(&l->mutex);
}

bool mr__team_advance(mr_loader *l)
{
    if (l->team.world == NULL)
        return mr__device_advance(l->device);
    if (l->team.crew != NULL)
        arm(l);
    return mr__world_advance(l->team.world);
}

void mr__team_cancel(mr_loader *l)
{
    for (uint32_t d = 0; d < l->team.count; d++) {
        mr__device_cancel(l->team.devices[d]);
        if (l->team.crew != NULL)
            (void)mr__device_abandon(l->team.devices[d]); // one that hangs would never come to rest
    }
}

/* 3. Beside a trainer. */

void mr__team_arrive(mr_loader *l)
{
    while (l->team.trainer != NULL && mr__trainer_is_in_step(l->team.trainer))
        if (!mr__team_advance(l))
            return;
}

bool mr__team_waits(mr_loader *l)
{
    if (l->team.crew != NULL)
        mr__crew_waits(l->team.crew, mr__team_now_ns(l));
    return l->team.crew != NULL;
}

void mr__team_steps(mr_loader *l)
{
    if (l->team.crew != NULL)
        mr__crew_steps(l->team.crew, mr__team_now_ns(l));
}

void mr__team_leave(mr_loader *l)
{
    if (l->team.trainer == NULL)
        return;
    mr__mutex_lock(&l->mutex); // of several consumers that got a batch at once, one begins the step
    if (!mr__trainer_is_in_step(l->team.trainer))
        mr__trainer_begin_step(l->team.trainer);
    mr__mutex_unlock(&l->mutex);
}

/* 4. What is kept and told. */

static mr__cost_key cost_key(const mr_loader *l)
{
    return (mr__cost_key){.dataset = l->at.dataset, .recipe = l->at.recipe, .machine = mr__cost_machine()};
}

/* The models of all routes, by name. */
static size_t name_routes(mr_loader *l, mr__cost_route *routes)
{
    size_t count = 0;
    for (uint32_t d = 0; d < l->team.count; d++)
        for (uint32_t f = 0; f < l->forms.count && count < MR__COST_ROUTES; f++) {
            mr_dataset_form form = {.struct_size = sizeof form};
            (void)mr_dataset_get_form(l->dataset, l->forms.numbers[f], &form);
            snprintf(routes[count].name, sizeof routes[count].name, "%.20s@%.40s", form.name, l->team.names[d]);
            routes[count++].cost = *mr__crew_cost(l->team.crew, d, f);
        }
    return count;
}

/* A simulated machine gives the same run each time: what an earlier one has learned would make it another. */
static bool keeps_costs(const mr_loader *l)
{
    return l->team.world == NULL;
}

void mr__team_save(mr_loader *l)
{
    mr__detail detail = {0};
    if (l->team.crew == NULL || !keeps_costs(l))
        return;
    mr__cost_route *routes = mr__alloc_array(&l->hooks, MR__COST_ROUTES, sizeof *routes);
    mr__cost_key key = cost_key(l);
    if (routes != NULL) {
        mr__mutex_lock(&l->mutex); // lanes go on to learn
        size_t count = name_routes(l, routes);
        mr__mutex_unlock(&l->mutex);
        if (mr__cost_save(&l->hooks, NULL, &key, routes, count, &detail) != 0)
            mr__log(&l->outer, MR_LOG_WARNING, "what tasks cost was not kept for the next run: %s", detail.text);
    }
    mr__free(&l->hooks, routes);
}

static void load_costs(mr_loader *l)
{
    mr__cost_route *routes = mr__alloc_array(&l->hooks, MR__COST_ROUTES, sizeof *routes);
    mr__cost_key key = cost_key(l);
    if (routes != NULL) {
        size_t count = name_routes(l, routes), at = 0;
        (void)mr__cost_load(&l->hooks, NULL, &key, routes, count);
        for (uint32_t d = 0; d < l->team.count; d++)
            for (uint32_t f = 0; f < l->forms.count && at < count; f++)
                *mr__crew_cost(l->team.crew, d, f) = routes[at++].cost;
    }
    mr__free(&l->hooks, routes);
}

static void fill_device(const mr__team *t, uint32_t d, mr_device_stats *is)
{
    mr__sched_tally tally = mr__sched_tally_of(mr__crew_sched(t->crew), d);
    *is = (mr_device_stats){.name = t->names[d],
                            .lanes = t->devices[d]->type->info(t->devices[d]).lanes,
                            .samples = mr__crew_tasks(t->crew, d),
                            .jobs = tally.jobs,
                            .submissions = tally.picks,
                            .busy_seconds = mr__crew_busy_seconds(t->crew, d),
                            .failures = tally.failures,
                            .gave_back = mr__crew_mishaps(t->crew, d, MR__MISHAP_LOST),
                            .late = mr__crew_mishaps(t->crew, d, MR__MISHAP_LATE) +
                                    mr__crew_mishaps(t->crew, d, MR__MISHAP_SLOW),
                            .damaged = mr__crew_mishaps(t->crew, d, MR__MISHAP_WRONG),
                            .no_memory = mr__crew_mishaps(t->crew, d, MR__MISHAP_MEMORY),
                            .recovered = mr__crew_mishaps(t->crew, d, MR__MISHAP_BACK),
                            .aside = tally.aside,
                            .returned = mr__crew_lost(t->crew, d)};
    is->mishap = mr__crew_last_mishap(t->crew, d);
}

/* Where nobody else is, a device that fails is not the crew's to count: its lanes go on by themselves. */
static void add_tally(const mr__team *t, uint32_t d, mr_device_stats *is)
{
    mr__device_tally tally = mr__device_read_tally(t->devices[d]);
    is->on_host = tally.on_host;
    is->refused = tally.refused;
    is->lacks = t->lacks[d];
    memcpy(is->cause, tally.cause, sizeof is->cause);
    if (!t->hostless)
        return;
    is->failures += tally.failed + tally.late;
    is->gave_back += tally.failed;
    is->late += tally.late;
    is->aside = is->aside || tally.aside;
    if (is->mishap == NULL && tally.failed + tally.late != 0)
        is->mishap = mr__mishap_text(tally.late != 0 ? MR__MISHAP_LATE : MR__MISHAP_LOST);
}

void mr__team_fill(mr_loader *l, mr_loader_stats *s)
{
    const mr__team *t = &l->team;
    s->simulated = t->world != NULL;
    s->policy = t->crew != NULL ? t->policy->name : t->alone ? "naive-device" : "intrabatch";
    s->device_count = t->crew != NULL || t->alone ? t->count : 0;
    if (t->crew != NULL && t->trainer != NULL)
        s->beside = mr__beside_mode_name(mr__crew_beside(t->crew)->mode);
    for (uint32_t d = 0; t->crew != NULL && d < t->count; d++)
        fill_device(t, d, &s->devices[d]);
    if (t->alone)
        s->devices[0] = (mr_device_stats){.name = t->names[0],
                                          .lanes = l->info.lanes,
                                          .samples = t->alone_tasks,
                                          .jobs = t->alone_tasks,
                                          .submissions = t->alone_submissions,
                                          .busy_seconds = (double)t->alone_busy_ns / 1e9};
    for (uint32_t d = 0; d < s->device_count; d++)
        add_tally(t, d, &s->devices[d]);
    s->left_out = t->named.left_out.text;
    s->traced = t->trace != NULL ? mr__trace_count(t->trace) : 0;
    s->forgotten = t->trace != NULL ? mr__trace_forgotten(t->trace) : 0;
}

uint64_t mr__team_core_ns(const mr_loader *l)
{
    uint64_t sum = 0;
    for (uint32_t d = 0; d < l->team.count; d++) {
        mr__device *device = l->team.devices[d];
        sum += device->type->core_ns != NULL ? device->type->core_ns(device) : 0;
    }
    return sum;
}

bool mr__team_oldest(const mr_loader *l, uint64_t *ordinal, const char **doing)
{
    for (uint32_t d = 0; d < l->team.count; d++) {
        mr__device *device = l->team.devices[d];
        if (device->type->oldest != NULL && device->type->oldest(device, ordinal, doing))
            return true;
    }
    return false;
}

bool mr__team_trouble(const mr_loader *l, char *text, size_t nbytes)
{
    const mr__team *t = &l->team;
    for (uint32_t d = 0; t->crew != NULL && d < t->count; d++) {
        const char *mishap = mr__crew_last_mishap(t->crew, d);
        if (mishap == NULL)
            continue;
        snprintf(text, nbytes, "the device %s %s", t->names[d], mishap);
        return true;
    }
    return false;
}

void mr__team_ready(mr_loader *l)
{
    if (l->team.crew != NULL && keeps_costs(l))
        load_costs(l);
}
