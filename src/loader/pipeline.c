// SPDX-License-Identifier: Apache-2.0
/*
 * The spine. A position of the epoch becomes a task (order, draws, a place in a slot); the device prepares it; the last
 * task of a slot makes it ready, once its samples are mixed where the recipe says so; slots are delivered in order, and
 * come back when their consumers let go.
 *
 * There is no thread here. Whoever makes room (a lane that is done with a task, a consumer that releases a batch)
 * dispatches what now fits.
 */
#include "loader/loader.h"

#include "base/clock.h"
#include "dataset/dataset.h"
#include <string.h>
#include <unistd.h>

enum { BACK_AT_ONCE_NS = 100000000 };

/* So long it is seen whether somebody else goes on. */
#define STUCK_NS UINT64_C(2000000000)

/* 1. Order: from positions to tasks. */

static void begin_epoch(mr_loader *l, uint64_t epoch, uint64_t start)
{
    l->epoch = epoch;
    l->deal.start = start;
    l->batches = mr__deal_batches(&l->deal);
    l->next_batch = 0;
}

void mr__loader_seek(mr_loader *l, uint64_t epoch, uint64_t position)
{
    begin_epoch(l, epoch, position);
    l->over = false;
    if (l->batches == 0) // the end of the epoch, or what is left of it is to be dropped
        begin_epoch(l, epoch + 1, 0);
    l->over = l->batches == 0 || l->epoch >= l->end_epoch;
    l->at.epoch = l->epoch;
    l->at.position = l->deal.start;
    l->bad.epoch = UINT64_MAX; // what was bad before is not counted again
}

/* How a batch is mixed, and whose samples that takes. The mutex is held. */
static void plan_mix(mr__slot *slot)
{
    const mr_loader *l = slot->loader;
    const mr_batch *b = &slot->batch;
    uint64_t global = (uint64_t)l->batch * l->ranks.world, left = slot->deal.positions - b->position;
    slot->guests = 0;
    slot->mix = mr__mix_draw(&l->mixing, l->order.seed, b->epoch, b->position);
    if (slot->mix.kind == MR_STEP_NONE)
        return;
    uint64_t *at = slot->positions + b->size;
    slot->guests = mr__mix_partners(&slot->deal, left < global ? left : global, b->count, b->size, slot->partners, at);
    for (uint32_t i = 0; i < slot->guests; i++)
        at[i] += b->position;
}

/* The batch that comes next gets a slot. The mutex is held. */
static mr__slot *open_slot(mr_loader *l)
{
    mr__slot *slot = NULL;
    for (uint32_t i = 0; i < l->slot_count && slot == NULL; i++)
        if (l->slots[i].state == MR__SLOT_FREE)
            slot = &l->slots[i];
    if (slot == NULL || l->over)
        return NULL;
    uint64_t global = (uint64_t)l->batch * l->ranks.world, begin = l->deal.start + l->next_batch * global;
    mr__ring_forget(slot);
    slot->state = MR__SLOT_FILLING;
    slot->deal = l->deal;
    slot->number = l->next_batch++;
    slot->code = 0;
    slot->bad_count = 0;
    slot->bad_position = UINT64_MAX;
    slot->next = 0;
    slot->has_lists = false;
    mr_batch *b = &slot->batch;
    b->epoch = l->epoch;
    b->number = begin / global;
    b->position = begin;
    b->last = l->next_batch == l->batches;
    for (b->count = 0; b->count < b->size;) {
        if (mr__deal_position(&slot->deal, slot->number, b->count) == UINT64_MAX)
            break;
        b->count++;
    }
    plan_mix(slot);
    slot->open = b->count + slot->guests + 1;
    l->queue[(l->first + l->length++) % l->slot_count] = slot;
    if (b->last) {
        begin_epoch(l, l->epoch + 1, 0);
        l->over = l->epoch >= l->end_epoch;
    }
    mr__epoch_order_init(&slot->order, &l->order, b->epoch);
    l->filling = b->count != 0 ? slot : NULL;
    return slot;
}

static void fill_pad(mr__slot *slot, uint32_t place)
{
    const mr_loader *l = slot->loader;
    size_t nbytes = slot->batch.output.sample_nbytes;
    memcpy(slot->images + place * nbytes, l->blank, nbytes);
    if (slot->targets != NULL)
        mr__task_targets_clear(&slot->targets[place], &slot->batch.output);
    slot->labels[place] = -1;
    slot->ordinals[place] = slot->positions[place] = UINT64_MAX;
    slot->mask[place] = MR_MASK_PAD;
}

static bool is_guest(const mr__slot *slot, const mr__task *task)
{
    return task - slot->tasks >= slot->batch.count;
}

/* Where its sample goes. */
static uint32_t place_of(const mr__slot *slot, const mr__task *task)
{
    uint32_t number = (uint32_t)(task - slot->tasks), pads = slot->batch.size - slot->batch.count;
    return is_guest(slot, task) ? number + pads : number;
}

/* A task's sample: its label, its form, its random numbers. */
static void aim_task(mr__slot *slot, mr__task *task, mr__order_place at)
{
    const mr_loader *l = slot->loader;
    mr_label label;
    uint32_t place = place_of(slot, task), *draws = slot->draws + place * l->draw_count;
    task->ordinal = slot->ordinals[place] = at.ordinal;
    task->form = mr__forms_pick(&l->forms, l->dataset, at.ordinal);
    task->draws = draws;
    task->code = 0;
    bool known = mr__dataset_label(l->dataset, at.ordinal, &label) == 0;
    bool none = !known || label.kind == MR_LABEL_NONE;
    slot->labels[place] = none ? -1 : label.kind == MR_LABEL_INT ? label.integer : 0;
    mr__recipe_draw(l->recipe, l->order.seed, (uint32_t)slot->batch.epoch, at.key, draws);
}

static void fill_task(mr__slot *slot, mr__task *task)
{
    uint32_t place = place_of(slot, task);
    if (!is_guest(slot, task))
        slot->positions[place] = mr__deal_position(&slot->deal, slot->number, place);
    task->position = slot->positions[place];
    task->attempt = 0;
    task->again = task->has_sum = false;
    task->slot = slot->images + place * slot->batch.output.sample_nbytes;
    task->targets = slot->targets != NULL ? &slot->targets[place] : NULL;
    task->keep = slot->keep;
    task->keep_at = place * slot->batch.output.sample_nbytes;
    task->batch = slot;
    slot->mask[place] = MR_MASK_VALID;
    aim_task(slot, task, mr__order_at(&slot->order, task->position));
}

/* The sample that was drawn for the place of a bad one. */
static void fill_substitute(mr__slot *slot, mr__task *task)
{
    const mr_loader *l = slot->loader;
    uint64_t ordinal =
        mr__order_substitute(l->order.seed, slot->batch.epoch, task->position, task->attempt, l->order.samples);
    slot->mask[place_of(slot, task)] = MR_MASK_SKIPPED;
    aim_task(slot, task, (mr__order_place){ordinal, ordinal});
}

/* 2. Dispatch. */

/* Some neighbouring tasks of a slot. */
typedef struct claim {
    mr__slot *slot;
    uint32_t first, count;
    bool opened;   /* the slot is new: its pads are to be made */
    mr__gift gift; /* of a crew: tasks for a device */
} claim;

/* By the crew: a batch to be described to it, or what it has for a device. The mutex is held. */
static bool claim_gift(mr_loader *l, claim *c)
{
    c->slot = open_slot(l);
    c->opened = c->slot != NULL;
    if (c->opened) {
        l->filling = NULL; // all of it is described at once
        l->in_flight++;
        mr__team_begin(l, c->slot);
        return true;
    }
    bool any = mr__crew_next(l->team.crew, mr__team_now_ns(l), &c->gift);
    if (any)
        l->in_flight += c->gift.count;
    return any;
}

/* The mutex is held. False: there is nothing to dispatch, or no room. */
static bool claim_tasks(mr_loader *l, claim *c)
{
    *c = (claim){0};
    if (l->held || l->stopped || l->code != 0)
        return false;
    if (l->team.crew != NULL)
        return claim_gift(l, c);
    if (l->in_flight >= l->info.depth)
        return false;
    if (l->filling == NULL) {
        c->slot = open_slot(l);
        c->opened = c->slot != NULL;
        l->in_flight += c->opened;
        return c->opened;
    }
    mr__slot *slot = c->slot = l->filling;
    uint32_t tasks = slot->batch.count + slot->guests;
    size_t left = tasks - slot->next, room = l->info.depth - l->in_flight, group = l->info.group;
    c->first = slot->next;
    c->count = (uint32_t)(left < group ? left : group);
    if (c->count > room && l->team.alone)
        return false; // to an accelerator parts of a group cost as much as a group
    if (c->count > room)
        c->count = (uint32_t)room;
    slot->next += c->count;
    l->in_flight += c->count;
    if (slot->next == tasks)
        l->filling = NULL;
    return true;
}

/*
 * Whether a slot whose tasks are settled is not ready yet. It is to be mixed, but not where nobody will see it; it is
 * to be on its device, in any case, since what is on its way there must not come later. The mutex is held.
 */
static bool is_to_be_finished(const mr_loader *l, const mr__slot *slot)
{
    bool mix = slot->mix.kind != MR_STEP_NONE && slot->code == 0 && !l->held && !l->stopped;
    return slot->state == MR__SLOT_FILLING && (mix || slot->keep != NULL);
}

/* So much of a slot, at least 1, is settled. True: it was the last, and the caller is to finish the slot. */
static bool settle(mr_loader *l, mr__slot *slot, size_t count)
{
    mr__mutex_lock(&l->mutex);
    l->progress_ns = mr__clock_monotonic_ns();
    l->settled_ns = mr__team_now_ns(l);
    l->moves++;
    slot->open -= (uint32_t)count;
    l->in_flight -= count;
    bool finish = slot->open == 0 && is_to_be_finished(l, slot);
    if (finish) {
        slot->state = MR__SLOT_MIXING;
        slot->open++;
        l->in_flight++;
    } else if (slot->open == 0) {
        slot->state = MR__SLOT_READY;
    }
    if (slot->open == 0 || l->in_flight == 0)
        mr__condition_wake_all(&l->news);
    mr__mutex_unlock(&l->mutex);
    return finish;
}

/* The device's word that a batch is where it is to stay. */
static void on_kept(void *user, int code, const char *why)
{
    mr__slot *slot = user;
    mr_loader *l = slot->loader;
    if (code != 0) {
        mr__mutex_lock(&l->mutex);
        if (slot->code == 0)
            slot->code = mr__fail(&slot->detail, code, "a batch cannot be put where it is to stay: %.200s", why);
        mr__mutex_unlock(&l->mutex);
    }
    (void)settle(l, slot, 1);
}

/* Without the mutex: other threads go on with other batches. */
static void finish_slot(mr_loader *l, mr__slot *slot)
{
    const mr_batch *b = &slot->batch;
    if (slot->keep != NULL) {
        mr__keep_finish(slot, on_kept);
        return;
    }
    for (uint32_t i = 0; i < b->size; i++) {
        bool pad = i >= b->count;
        slot->partner_labels[i] = pad ? -1 : slot->labels[slot->partners[i]];
        slot->partner_ordinals[i] = pad ? UINT64_MAX : slot->ordinals[slot->partners[i]];
    }
    mr__mix_run(&l->mixing, &slot->mix, slot->images, slot->partners, b->count);
    (void)settle(l, slot, 1);
}

/* A slot of a device that is alone may get new memory at any time (mr__ring_refuge), but not now. */
static void hold_slots(mr_loader *l)
{
    if (l->team.alone)
        mr__mutex_lock(&l->mutex);
}

static void let_slots(mr_loader *l)
{
    if (l->team.alone)
        mr__mutex_unlock(&l->mutex);
}

/* Of a slot that was just opened: its pads; and for a crew, all of its tasks. */
static void fill_slot(mr_loader *l, mr__slot *slot)
{
    for (uint32_t i = 0; l->team.crew != NULL && i < slot->batch.count + slot->guests; i++)
        fill_task(slot, &slot->tasks[i]);
    if (l->team.crew != NULL)
        mr__team_describe(l, slot);
    hold_slots(l);
    for (uint32_t place = slot->batch.count; place < slot->batch.size; place++)
        fill_pad(slot, place);
    let_slots(l);
    mr__keep_send(slot, slot->batch.count, slot->batch.size - slot->batch.count);
    if (settle(l, slot, 1)) // others were quicker with all of its tasks
        finish_slot(l, slot);
}

void mr__loader_dispatch(mr_loader *l)
{
    bool any = false;
    for (claim c, last = {0};; last = c) {
        mr__mutex_lock(&l->mutex);
        l->dispatching -= any;
        any = claim_tasks(l, &c);
        l->dispatching += any;
        l->moves += any;
        bool did = last.opened || last.count != 0 || last.gift.count != 0; // who waits, waits for its events
        if (!any && did && (l->steps || l->stopped))
            mr__condition_wake_all(&l->news);
        mr__mutex_unlock(&l->mutex);
        if (!any)
            return;
        if (c.opened) {
            fill_slot(l, c.slot);
            continue;
        }
        if (l->team.crew != NULL) {
            mr__team_submit(l, &c.gift);
            continue;
        }
        mr__task *first = c.slot->tasks + c.first;
        hold_slots(l);
        for (uint32_t i = 0; i < c.count; i++) {
            fill_task(c.slot, first + i);
            first[i].next = i + 1 < c.count ? first + i + 1 : NULL;
        }
        let_slots(l);
        (void)l->device->type->submit(l->device, first, c.count); // fails only while it is closed
    }
}

/* 3. Batch: tasks that are done. */

static void replace(mr__slot *slot, const mr__task *task)
{
    uint32_t place = place_of(slot, task);
    memcpy(task->slot, slot->loader->blank, slot->batch.output.sample_nbytes);
    mr__keep_send(slot, place, 1);
    if (task->targets != NULL)
        mr__task_targets_clear(task->targets, &slot->batch.output);
    slot->labels[place] = -1;
    slot->mask[place] = MR_MASK_REPLACED;
}

/*
 * What is told of a batch is of its first bad position, whichever was found first; a failure before all else. A guest
 * counts with the rank whose it is.
 */
static void note_bad(mr__slot *slot, const mr__task *task, bool fails)
{
    mr_loader *l = slot->loader;
    mr__mutex_lock(&l->mutex);
    slot->bad_count += (task->attempt == 0 || fails) && !is_guest(slot, task);
    bool earlier = task->position <= slot->bad_position, worse = fails && slot->code == 0;
    if (worse || (earlier && fails == (slot->code != 0))) {
        slot->code = fails ? task->code : 0;
        slot->bad_position = task->position;
        slot->detail = task->detail;
    }
    mr__mutex_unlock(&l->mutex);
}

/* A crew gives a substitute to whom it likes. */
static bool submit_substitute(mr_loader *l, mr__task *task)
{
    task->again = l->team.crew != NULL;
    if (task->again)
        mr__team_describe_again(l, task);
    task->next = task->again ? task->next : NULL;
    return task->again || l->device->type->submit(l->device, task, 1) == 0;
}

/* True: the place is settled. False: a substitute is under way, or will be. */
static bool mend(mr__slot *slot, mr__task *task)
{
    mr_loader *l = slot->loader;
    mr__verdict verdict = mr__bad_judge(l, task, is_guest(slot, task));
    if (verdict != MR__VERDICT_GONE)
        note_bad(slot, task, verdict == MR__VERDICT_FAIL);
    switch (verdict) {
    case MR__VERDICT_AGAIN:
        task->attempt++;
        fill_substitute(slot, task);
        return !submit_substitute(l, task); // the device is closed, and so nobody will see it
    case MR__VERDICT_REPLACE:
        replace(slot, task);
        return true;
    case MR__VERDICT_FAIL:
    case MR__VERDICT_GONE: // the loader is being put elsewhere, and its slots are emptied
        break;
    }
    return true;
}

void mr__loader_on_done(void *user, mr__task *first, size_t count)
{
    mr_loader *l = user;
    mr__slot *slot = first->batch;
    size_t settled = count;
    mr__team_look(l, first);
    for (mr__task *task = first, *next; task != NULL; task = next) {
        next = task->next; // a substitute is a list of its own
        bool ended = task->code == 0 || mr__team_doubts(l, task) || mend(slot, task);
        settled -= !ended;
        if (ended && l->team.alone)
            mr__ring_gather(slot, task);
    }
    if (l->team.crew != NULL)
        settled = mr__team_done(l, first, count);
    bool finish = settled != 0 && settle(l, slot, settled);
    mr__loader_dispatch(l); // first, so that others have something to do
    if (finish) {
        finish_slot(l, slot);
        mr__loader_dispatch(l);
    }
    mr__share_progress(l, slot);
}

/* 4. Deliver. */

int mr__loader_here(const mr_loader *l)
{
    return l == NULL ? MR_EARGUMENT : l->pid == getpid() ? 0 : MR_EFORKED;
}

static uint64_t now(const mr_loader *l)
{
    return mr__team_now_ns(l);
}

static bool is_ready(const mr_loader *l)
{
    return l->length != 0 && l->queue[l->first]->state == MR__SLOT_READY;
}

/* Whether who asks for a batch need not wait. The mutex is held. */
static bool has_answer(const mr_loader *l)
{
    return l->code != 0 || l->stopped || (!l->held && (is_ready(l) || (l->over && l->length == 0)));
}

/* Nothing moves because consumers have all there is: that is their affair, and over when one lets go. */
static bool all_lent(const mr_loader *l)
{
    for (uint32_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].state != MR__SLOT_LENT)
            return false;
    return true;
}

/* The mutex is held, and given up for a while. */
static int fail_timeout(mr_loader *l)
{
    mr_sample sample = {.struct_size = sizeof sample};
    char trouble[120];
    const char *doing = mr__team_trouble(l, trouble, sizeof trouble) ? trouble : "nobody is at work";
    uint64_t ordinal = UINT64_MAX;
    double seconds = (double)l->timeout_ns / 1e9;
    if (all_lent(l))
        return mr__fail(&l->detail, MR_ETIMEOUT,
                        "all %u batches have been held for %.3g s: release one, or have more slots", l->slot_count,
                        seconds);
    mr__mutex_unlock(&l->mutex);
    bool busy = mr__team_oldest(l, &ordinal, &doing);
    if (!busy || mr_dataset_sample(l->dataset, ordinal, &sample) != 0)
        sample.key = "";
    mr__mutex_lock(&l->mutex);
    if (l->code != 0)
        return l->code;
    return l->code = mr__fail(&l->detail, MR_ETIMEOUT, "nothing moved for %.3g s: %s%s%s", seconds, doing,
                              *sample.key != '\0' ? " " : "", sample.key);
}

/* Runs what a device under a virtual clock has to do next. The mutex is held, and given up meanwhile. */
static bool advance(mr_loader *l)
{
    if (l->device->type->advance == NULL || l->held)
        return false;
    mr__mutex_unlock(&l->mutex);
    bool moved = mr__team_advance(l);
    mr__mutex_lock(&l->mutex);
    return moved;
}

/* Waits until then; the crew, where it has something to do before, is seen to. The mutex is held. */
static int wait_beside_crew(mr_loader *l, uint64_t until_ns)
{
    uint64_t at = l->team.crew != NULL ? mr__crew_wake_ns(l->team.crew, now(l)) : MR__FOR_EVER;
    if (at == MR__FOR_EVER)
        return mr__condition_wait(&l->news, &l->mutex, until_ns);
    uint64_t here = now(l), its = mr__clock_deadline_ns(at > here ? at - here : 0);
    int result = mr__condition_wait(&l->news, &l->mutex, its < until_ns ? its : until_ns);
    if (result != MR_ETIMEOUT || its >= until_ns)
        return result;
    mr__mutex_unlock(&l->mutex);
    mr__team_tick(l);
    mr__mutex_lock(&l->mutex);
    return 0;
}

/* By a clock that goes as far as one likes: whether nothing was settled for a whole timeout. The mutex is held. */
static bool is_late(const mr_loader *l, uint64_t asked_ns)
{
    uint64_t from_ns = l->settled_ns > asked_ns ? l->settled_ns : asked_ns;
    bool waits = l->team.world != NULL && l->length != 0 && !has_answer(l) && !l->held;
    return waits && now(l) - from_ns >= l->timeout_ns;
}

/* Whether nobody has anything in a world where nothing is to happen: that will not change, but others may be about to
 * dispatch. The mutex is held. */
static bool is_stuck(const mr_loader *l)
{
    return l->team.world != NULL && l->in_flight == 0 && l->length != 0 && !has_answer(l) && !l->held;
}

/*
 * Waits for something to happen, or for `until_ns`. The mutex is held. MR_ETIMEOUT when nothing has moved for a whole
 * timeout, since the caller came or since a task was last settled.
 */
static int wait_for_news(mr_loader *l, const mr__visit *visit, uint64_t until_ns)
{
    uint64_t before = l->moves;
    bool went = advance(l);
    if (is_late(l, visit->asked_ns))
        return fail_timeout(l);
    if (went || l->moves != before || has_answer(l))
        return 0; // others may have gone on meanwhile
    uint64_t from_ns = l->progress_ns > visit->came_ns ? l->progress_ns : visit->came_ns;
    uint64_t deadline = l->timeout_ns < MR__FOR_EVER - from_ns ? from_ns + l->timeout_ns : MR__FOR_EVER;
    uint64_t soon = is_stuck(l) ? mr__clock_deadline_ns(STUCK_NS) : MR__FOR_EVER;
    deadline = soon < deadline ? soon : deadline;
    int result = wait_beside_crew(l, deadline < until_ns ? deadline : until_ns);
    bool moved = l->progress_ns > from_ns || l->moves != before || has_answer(l) || l->held;
    return result != MR_ETIMEOUT || moved || until_ns < deadline ? 0 : fail_timeout(l);
}

/* Takes the first of the queue, which is ready. The mutex is held. */
static int deliver(mr_loader *l, mr_batch **out)
{
    mr__slot *slot = l->queue[l->first];
    if (slot->code == 0 && !mr__bad_allow(l, slot->batch.epoch, slot->bad_count))
        slot->code = mr__bad_refuse(l, slot->batch.epoch, &slot->detail);
    if (slot->code != 0) {
        l->detail = slot->detail;
        return slot->code;
    }
    l->first = (l->first + 1) % l->slot_count;
    l->length--;
    slot->state = MR__SLOT_LENT;
    uint64_t global = (uint64_t)l->batch * l->ranks.world;
    l->at.epoch = slot->batch.epoch + slot->batch.last;
    l->at.position = slot->batch.last ? 0 : slot->batch.position + global;
    *out = &slot->batch;
    return 0;
}

/* The crew is told that somebody waits: a device may be used now that was not before. The mutex is held. */
static void tell_waiting(mr_loader *l)
{
    if (is_ready(l) || l->held || l->stopped || !mr__team_waits(l))
        return;
    mr__mutex_unlock(&l->mutex);
    mr__loader_dispatch(l);
    mr__mutex_lock(&l->mutex);
}

/* The mutex is held. While the loader is put elsewhere, nothing is delivered. */
static int wait_for_batch(mr_loader *l, const mr__visit *visit, mr_batch **out)
{
    int result = 0;
    tell_waiting(l);
    while (result == 0 && l->code == 0) {
        if (l->stopped)
            return MR_ECLOSED;
        if (is_ready(l) && !l->held)
            return l->code = deliver(l, out);
        if (l->over && l->length == 0 && !l->held) {
            *out = NULL;
            return 0;
        }
        result = wait_for_news(l, visit, MR__FOR_EVER);
    }
    return l->code != 0 ? l->code : result;
}

static uint64_t count_ready(const mr_loader *l)
{
    uint64_t ready = 0;
    for (uint32_t i = 0; i < l->length; i++)
        ready += l->queue[(l->first + i) % l->slot_count]->state == MR__SLOT_READY;
    return ready;
}

/* The first call of a consumer begins the work. */
static void begin(mr_loader *l)
{
    mr__mutex_lock(&l->mutex);
    bool first = !l->begun;
    l->begun = true;
    if (first)
        l->begun_ns = now(l);
    mr__mutex_unlock(&l->mutex);
    if (first)
        mr__loader_dispatch(l);
}

/* Since when somebody waits: who left a moment ago never did. The mutex is held. */
static mr__visit arrive(const mr_loader *l)
{
    uint64_t asked = now(l);
    if (l->visit.came_ns != 0 && asked - l->visit.left_ns < BACK_AT_ONCE_NS)
        return l->visit;
    return (mr__visit){.came_ns = mr__clock_monotonic_ns(), .asked_ns = asked, .ready = count_ready(l)};
}

/* A consumer is there: others that share cores are told if he has to wait. The mutex is held, and given up for that. */
static void begin_wait(mr_loader *l)
{
    l->waiting++;
    if (l->share == NULL || has_answer(l))
        return;
    mr__mutex_unlock(&l->mutex);
    mr__share_post(l);
    mr__mutex_lock(&l->mutex);
}

int mr_loader_next(mr_loader *l, mr_batch **out)
{
    int result = out != NULL ? mr__loader_here(l) : MR_EARGUMENT;
    if (result != 0)
        return result;
    begin(l);
    mr__team_arrive(l);
    mr__mutex_lock(&l->mutex);
    mr__visit visit = arrive(l);
    l->visit = (mr__visit){0};
    begin_wait(l);
    result = wait_for_batch(l, &visit, out);
    l->waiting--;
    bool got = result == 0 && *out != NULL;
    if (got) {
        uint64_t left = now(l);
        mr__team_steps(l);
        l->first_ns = l->first_ns == 0 ? left : l->first_ns;
        mr__consumer_add(&l->consumer, left - visit.asked_ns, visit.ready, (*out)->count);
    }
    if (l->code != 0)
        mr__condition_wake_all(&l->news); // others who wait, wait for nothing
    mr__mutex_unlock(&l->mutex);
    if (got)
        mr__team_leave(l);
    mr__share_post(l);
    return result;
}

int mr_loader_wait(mr_loader *l, uint64_t timeout_ns)
{
    int result = mr__loader_here(l);
    if (result != 0)
        return result;
    uint64_t until = mr__clock_deadline_ns(timeout_ns);
    bool late = false, failed = false;
    begin(l);
    mr__mutex_lock(&l->mutex);
    mr__visit visit = arrive(l);
    begin_wait(l);
    tell_waiting(l);
    while (!has_answer(l) && !failed && !late) {
        failed = wait_for_news(l, &visit, until) != 0; // which mr_loader_next then says, at once
        late = mr__clock_monotonic_ns() >= until;
    }
    l->waiting--;
    result = has_answer(l) || failed ? 0 : MR_ETIMEOUT;
    visit.left_ns = now(l);
    l->visit = visit;
    mr__mutex_unlock(&l->mutex);
    return result;
}

void mr_batch_release(mr_batch *batch)
{
    mr__slot *slot = (mr__slot *)batch;
    if (slot == NULL || mr__loader_here(slot->loader) != 0)
        return;
    mr_loader *l = slot->loader;
    mr__mutex_lock(&l->mutex);
    bool lent = slot->state == MR__SLOT_LENT;
    if (lent)
        slot->state = MR__SLOT_FREE;
    mr__mutex_unlock(&l->mutex);
    if (!lent)
        return;
    mr__loader_dispatch(l);
    mr__share_post(l);
}

void mr_loader_stop(mr_loader *l)
{
    if (mr__loader_here(l) != 0)
        return;
    mr__mutex_lock(&l->mutex);
    if (!l->stopped && l->code == 0)
        mr__fail(&l->detail, MR_ECLOSED, "the loader was stopped");
    l->stopped = true;
    mr__condition_wake_all(&l->news);
    mr__mutex_unlock(&l->mutex);
}
