// SPDX-License-Identifier: Apache-2.0
/*
 * A device of a simulated machine, in a world with a clock of its own. Nothing happens by itself: whoever waits for it
 * calls advance. A lane takes a submission, is busy with it for as long as the hardware says, and at the end of that
 * time its tasks are really prepared (unless it is blind) and told.
 *
 * Invariants, true whenever the world's lock is free:
 * 1. A submission is in the queue, or in one lane, or on its way to `done`.
 * 2. A lane has at most one event in the world (`armed`): its end, or that it may begin again.
 * 3. If something waits, every free lane is held up (frozen, hung) and will be woken, or all is given back now.
 */
#include "device/sim/lanes.h"

#include "base/hash.h"

enum { QUEUE = 64 };

static mr__sim *sim_of(mr__device *device)
{
    return (mr__sim *)device;
}

static const mr__sim *const_sim_of(const mr__device *device)
{
    return (const mr__sim *)device;
}

static void end_turn(void *user, uint64_t number);

static bool close_sim(mr__device *device, uint64_t deadline_ns)
{
    mr__sim *s = sim_of(device);
    mr_hooks hooks = s->work->hooks;
    (void)deadline_ns;
    if (s->world != NULL)
        mr__world_leave(s->world, s);
    if (s->reserved != 0)
        mr__world_unreserve(s->world, s->reserved);
    if (s->own_hardware != NULL) // a world of its own, too
        mr__world_free(s->world);
    mr__hands_fini(&s->hands);
    if (!s->is.blind)
        mr__errand_fini(&s->errand, s->work);
    mr__free(&hooks, s->own_hardware);
    mr__free(&hooks, s->lanes);
    mr__free(&hooks, s->queue);
    mr__free(&hooks, s);
    return true;
}

/* What stands for the options where there are none. */
static int make_plain(mr__sim *s, uint32_t lanes)
{
    const mr_hooks *hooks = &s->work->hooks;
    s->own_hardware = mr__alloc(hooks, sizeof *s->own_hardware);
    if (s->own_hardware == NULL)
        return MR_ENOMEM;
    mr__hardware_plain(s->own_hardware, lanes);
    s->own_hardware->devices[0].depth = QUEUE + 2 * s->own_hardware->devices[0].lanes;
    s->is.hardware = s->own_hardware;
    return mr__world_new(hooks, &s->is.world);
}

static void size_up(mr__sim *s)
{
    const mr__hardware_device *h = s->hardware = &s->is.hardware->devices[s->is.number];
    s->lane_count = h->lanes != 0 ? h->lanes : 1;
    s->group = h->group != 0 ? h->group : 1;
    s->capacity = (size_t)(h->depth != 0 ? h->depth : s->lane_count) * s->group;
    for (uint32_t i = 0; i < h->fault_count; i++) {
        s->has_windows |= h->faults[i].kind == MR__FAULT_SLOW || h->faults[i].kind == MR__FAULT_FREEZE;
        s->has_wrong |= h->faults[i].kind == MR__FAULT_WRONG;
    }
    if (s->is.output_nbytes == 0 && !s->is.blind)
        s->is.output_nbytes = s->work->finish.output.sample_nbytes;
}

static int build(mr__sim *s, const mr__device_options *options, mr__detail *detail)
{
    const mr_hooks *hooks = &s->work->hooks;
    int result = options->sim == NULL ? make_plain(s, options->lanes) : 0;
    if (result == 0) {
        s->world = s->is.world;
        size_up(s);
        s->lanes = mr__alloc_array(hooks, s->lane_count, sizeof *s->lanes);
        s->queue = mr__alloc_array(hooks, s->capacity, sizeof *s->queue);
        result = s->lanes != NULL && s->queue != NULL ? mr__world_reserve(s->world, s->lane_count + 1) : MR_ENOMEM;
    }
    if (result != 0)
        return mr__fail(detail, result, "a sim device: %s", mr_error_text(result));
    s->reserved = s->lane_count + 1;
    if (s->is.blind)
        return 0;
    result = mr__hands_init(&s->hands, s->work, detail);
    s->meters[0] = s->hands.meter;
    return result;
}

static int open_sim(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    const mr__sim_options *is = options->sim;
    if (is != NULL && (is->world == NULL || is->hardware == NULL || is->number >= is->hardware->device_count))
        return mr__fail(detail, MR_EARGUMENT, "a sim device wants a world, and a device of some hardware");
    mr__sim *s = mr__alloc_zero(&options->work->hooks, sizeof *s);
    if (s == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a sim device");
    s->device.type = &mr__device_sim;
    s->work = options->work;
    s->done = options->done;
    s->user = options->user;
    if (is != NULL)
        s->is = *is;
    int result = build(s, options, detail);
    if (result != 0)
        close_sim(&s->device, 0);
    else
        *out = &s->device;
    return result;
}

static mr__device_memory tell_memory(mr__device *device)
{
    mr__sim *s = sim_of(device);
    mr__world_lock(s->world);
    mr__device_memory memory = mr__sim_memory(s);
    mr__world_unlock(s->world);
    return memory;
}

static mr__device_info tell_info(const mr__device *device)
{
    const mr__sim *s = const_sim_of(device);
    uint64_t nbytes = s->hardware->memory_nbytes;
    return (mr__device_info){.lanes = s->lane_count,
                             .group = s->group,
                             .depth = s->capacity,
                             .launch_ns = s->hardware->launch_ns,
                             .memory = {nbytes, nbytes, nbytes}};
}

static bool takes(const mr__device *device, mr_form form, mr_step_kind step)
{
    const mr__hardware_device *h = const_sim_of(device)->hardware;
    bool no_form = (unsigned)form < MR__HARDWARE_FORMS && h->lacks_form[form];
    bool no_step = (unsigned)step < MR__HARDWARE_STEPS && h->lacks_step[step];
    return !no_form && !no_step;
}

/* 1. Giving back. */

/* Takes what is the first to be given back: out of a lane that failed, or of the queue as it was. The lock is held. */
static mr__turn take_failed(mr__sim *s, uint64_t until)
{
    for (uint32_t i = 0; i < s->lane_count; i++)
        if (s->lanes[i].failed)
            return mr__sim_take(s, i);
    mr__turn none = {.begun_ns = mr__world_now_ns(s->world)};
    if (s->head < until)
        none.piece = s->queue[s->head++ % s->capacity];
    return none;
}

/* All that it has, begun or not, unless it is being prepared this moment. */
static void give_back(mr__sim *s, const char *why)
{
    mr__world_lock(s->world);
    while (s->preparing)
        mr__world_wait(s->world);
    uint64_t until = s->tail;
    s->giving++;
    for (uint32_t i = 0; i < s->lane_count; i++) {
        mr__lane *l = &s->lanes[i];
        if (l->armed)
            mr__world_drop(s->world, end_turn, s, i);
        l->armed = false;
        l->failed = l->turn.piece.count != 0;
    }
    for (mr__turn t; (t = take_failed(s, until)).piece.count != 0;) {
        s->counts.failed += t.piece.count;
        mr__world_unlock(s->world);
        for (mr__task *task = t.piece.first; task != NULL; task = task->next) {
            task->code = mr__fail(&task->detail, MR_EDEVICE, "the device %s %s", s->hardware->name, why);
            task->lane = t.lane;
            task->begun_ns = t.begun_ns;
            task->busy_ns = 0;
            task->has_sum = false;
        }
        s->done(s->user, t.piece.first, t.piece.count);
        mr__world_lock(s->world);
    }
    s->giving--;
    mr__sim_begin(s, end_turn);
    mr__world_unlock(s->world);
}

static void refuse(void *user, uint64_t number)
{
    mr__sim *s = user;
    (void)number;
    mr__world_lock(s->world);
    s->refusing = false;
    mr__world_unlock(s->world);
    give_back(s, "was lost");
}

static void abandon(mr__device *device)
{
    give_back(sim_of(device), "was abandoned");
}

/* What a lost device has is given back now. The lock is held. */
static void refuse_soon(mr__sim *s)
{
    if (s->refusing || !mr__sim_is_lost(s))
        return;
    s->refusing = true;
    mr__world_add(s->world, 0, refuse, s, UINT64_MAX);
}

static void cancel(mr__device *device)
{
    mr__sim *s = sim_of(device);
    mr__world_lock(s->world);
    for (uint64_t until = s->tail; s->head < until;) {
        mr__piece piece = s->queue[s->head++ % s->capacity];
        mr__world_unlock(s->world);
        for (mr__task *task = piece.first; task != NULL; task = task->next)
            task->code = MR_ECLOSED;
        s->done(s->user, piece.first, piece.count);
        mr__world_lock(s->world);
    }
    mr__world_unlock(s->world);
}

/* 2. Taking on, and doing. */

/* The first tasks of a list, as many as go together, leave it. */
static mr__piece cut(mr__task **list, uint32_t group)
{
    mr__piece piece = {.first = *list};
    mr__task *last = NULL;
    for (; *list != NULL && piece.count < group; piece.count++) {
        last = *list;
        *list = last->next;
    }
    last->next = NULL;
    return piece;
}

static int submit(mr__device *device, mr__task *first, size_t count)
{
    mr__sim *s = sim_of(device);
    size_t pieces = count / s->group + (count % s->group != 0);
    mr__world_lock(s->world);
    bool room = pieces <= s->capacity - (size_t)(s->tail - s->head);
    while (room && first != NULL)
        s->queue[s->tail++ % s->capacity] = cut(&first, s->group);
    if (room) {
        mr__sim_trip(s, end_turn);
        mr__sim_begin(s, end_turn);
        refuse_soon(s);
    }
    mr__world_unlock(s->world);
    return room ? 0 : MR_ELIMIT;
}

/* Tasks of a submission share its time as they share its work. */
static void share_time(const mr__turn *t)
{
    uint64_t before = 0;
    double work = 0.0, ratio = t->work_ns != 0 ? (double)(t->end_ns - t->begun_ns) / (double)t->work_ns : 0.0;
    for (mr__task *task = t->piece.first; task != NULL; task = task->next) {
        work += (double)task->busy_ns + (double)t->launch_ns / t->piece.count;
        uint64_t until = task->next == NULL ? t->end_ns - t->begun_ns : (uint64_t)(work * ratio + 0.5);
        task->busy_ns = until - before;
        task->begun_ns = t->begun_ns;
        task->lane = t->lane;
        task->has_sum = false;
        before = until;
    }
}

static void refuse_memory(mr__sim *s, const mr__turn *t)
{
    for (mr__task *task = t->piece.first; task != NULL; task = task->next)
        task->code = mr__fail(&task->detail, MR_ENOMEM, "the device %s has no memory for a submission of %u tasks",
                              s->hardware->name, t->piece.count);
}

/* An accelerator says what it made; what goes wrong on the way is seen by that. */
static void prepare(mr__sim *s, mr__turn *t)
{
    size_t nbytes = s->work->finish.output.sample_nbytes;
    uint64_t number = t->number;
    for (mr__task *task = t->piece.first, *next; task != NULL; task = next, number++) {
        next = task->next;
        if (mr__prepare(&s->hands, &s->errand, task) != 0)
            continue;
        task->has_sum = s->hardware->kind == MR__HARDWARE_ACCELERATOR || s->has_wrong;
        if (task->has_sum)
            task->sum = mr__hash(task->slot, nbytes);
        if (s->has_wrong && mr__sim_is_wrong(s, number) && nbytes != 0)
            ((uint8_t *)task->slot)[nbytes / 2] ^= 0x10;
    }
}

/* What a lane had is over; the others go on. */
static void end_turn(void *user, uint64_t number)
{
    mr__sim *s = user;
    mr__world_lock(s->world);
    mr__lane *l = &s->lanes[number];
    l->armed = false;
    mr__turn t = l->turn.end_ns <= mr__world_now_ns(s->world) ? mr__sim_take(s, (uint32_t)number) : (mr__turn){0};
    bool well = t.piece.count != 0 && t.code == 0;
    if (t.piece.count != 0) {
        t.number = s->counts.tasks;
        s->counts.tasks += t.piece.count;
        s->counts.submissions++;
        s->counts.busy_ns += t.end_ns - t.begun_ns;
        share_time(&t);
    }
    if (well && !s->is.blind) {
        s->preparing = true;
        mr__world_unlock(s->world);
        prepare(s, &t);
        mr__world_lock(s->world);
        s->preparing = false;
        mr__world_wake(s->world);
    }
    mr__sim_trip(s, end_turn);
    mr__sim_begin(s, end_turn);
    refuse_soon(s);
    mr__world_unlock(s->world);
    if (t.piece.count == 0)
        return;
    if (!well)
        refuse_memory(s, &t);
    else if (s->is.blind)
        for (mr__task *task = t.piece.first; task != NULL; task = task->next)
            task->code = 0;
    s->done(s->user, t.piece.first, t.piece.count);
}

static bool advance(mr__device *device)
{
    return mr__world_advance(sim_of(device)->world);
}

static uint64_t tell_now(const mr__device *device)
{
    return mr__world_now_ns(const_sim_of(device)->world);
}

static const mr__thread_meter *const *tell_meters(const mr__device *device, size_t *count)
{
    *count = const_sim_of(device)->is.blind ? 0 : 1;
    return const_sim_of(device)->meters;
}

mr__sim_counts mr__sim_tell(mr__device *device)
{
    mr__sim *s = sim_of(device);
    mr__world_lock(s->world);
    mr__sim_note_memory(s);
    mr__sim_counts counts = s->counts;
    mr__world_unlock(s->world);
    return counts;
}

const mr__device_type mr__device_sim = {
    .name = "sim",
    .open = open_sim,
    .info = tell_info,
    .memory = tell_memory,
    .takes = takes,
    .submit = submit,
    .cancel = cancel,
    .abandon = abandon,
    .advance = advance,
    .now_ns = tell_now,
    .meters = tell_meters,
    .close = close_sim,
};
