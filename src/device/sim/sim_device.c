// SPDX-License-Identifier: Apache-2.0
/*
 * A device under a virtual clock: lanes that take a fixed time for a task. Nothing happens by itself; whoever waits for
 * it calls advance, which goes to the end of the task that ends first, does its work for real, and says so; of several
 * callers one after the other. The same on every run. (Speeds, jitter and failures come with the scheduler.)
 */
#include "base/thread.h"
#include "device/device.h"
#include "device/prepare.h"

/* Virtual: a core's time for an ImageNet image, about. */
#define TASK_NS UINT64_C(1000000)

enum { LANES = 4, QUEUE = 64 };

/* A task on its way: in the queue, or in a lane until `end_ns`. */
typedef struct turn {
    mr__task *task;
    uint64_t end_ns;
} turn;

typedef struct sim {
    mr__device device; /* first */
    const mr__work *work;
    mr__done *done;
    void *user;
    mr__hands hands;
    mr__errand errand;
    const mr__thread_meter *meters[1];
    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition news;
    bool advancing; /* somebody is, without the mutex */
    uint64_t now_ns;
    uint32_t lane_count;
    turn *lanes; /* a task of NULL: free */
    turn *queue; /* a ring */
    size_t capacity, first, length;
} sim;

static sim *sim_of(mr__device *device)
{
    return (sim *)device;
}

static bool close_sim(mr__device *device, uint64_t deadline_ns)
{
    sim *s = sim_of(device);
    mr_hooks hooks = s->work->hooks;
    (void)deadline_ns;
    mr__hands_fini(&s->hands);
    mr__errand_fini(&s->errand, s->work);
    if (s->ready) {
        mr__condition_fini(&s->news);
        mr__mutex_fini(&s->mutex);
    }
    mr__free(&hooks, s->lanes);
    mr__free(&hooks, s->queue);
    mr__free(&hooks, s);
    return true;
}

static int build(sim *s, mr__detail *detail)
{
    const mr_hooks *hooks = &s->work->hooks;
    s->lanes = mr__alloc_array(hooks, s->lane_count, sizeof *s->lanes);
    s->queue = mr__alloc_array(hooks, s->capacity, sizeof *s->queue);
    int result = s->lanes != NULL && s->queue != NULL ? mr__mutex_init(&s->mutex) : MR_ENOMEM;
    if (result == 0) {
        result = mr__condition_init(&s->news);
        s->ready = result == 0;
        if (result != 0)
            mr__mutex_fini(&s->mutex);
    }
    if (result != 0)
        return mr__fail(detail, result, "a sim device: %s", mr_error_text(result));
    result = mr__hands_init(&s->hands, s->work, detail);
    s->meters[0] = s->hands.meter;
    return result;
}

static int open_sim(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    sim *s = mr__alloc_zero(&options->work->hooks, sizeof *s);
    if (s == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a sim device");
    s->device.type = &mr__device_sim;
    s->work = options->work;
    s->done = options->done;
    s->user = options->user;
    s->lane_count = options->lanes != 0 ? options->lanes : LANES;
    s->capacity = (size_t)QUEUE + 2 * s->lane_count;
    int result = build(s, detail);
    if (result != 0)
        close_sim(&s->device, 0);
    else
        *out = &s->device;
    return result;
}

static mr__device_info tell_info(const mr__device *device)
{
    const sim *s = (const sim *)device;
    return (mr__device_info){.lanes = s->lane_count, .group = 1, .depth = s->capacity};
}

/* Free lanes begin what waits. The mutex is held. */
static void begin_some(sim *s)
{
    for (uint32_t i = 0; i < s->lane_count && s->length != 0; i++) {
        if (s->lanes[i].task != NULL)
            continue;
        s->lanes[i] = (turn){s->queue[s->first].task, s->now_ns + TASK_NS};
        s->first = (s->first + 1) % s->capacity;
        s->length--;
    }
}

static int submit(mr__device *device, mr__task *first, size_t count)
{
    sim *s = sim_of(device);
    mr__mutex_lock(&s->mutex);
    bool room = count <= s->capacity - s->length;
    for (mr__task *task = first; room && task != NULL; task = task->next)
        s->queue[(s->first + s->length++) % s->capacity] = (turn){task, 0};
    begin_some(s);
    mr__mutex_unlock(&s->mutex);
    return room ? 0 : MR_ELIMIT;
}

/* The first that waits; NULL: none does. */
static mr__task *take_waiting(sim *s)
{
    mr__task *task = NULL;
    mr__mutex_lock(&s->mutex);
    if (s->length != 0) {
        task = s->queue[s->first].task;
        s->first = (s->first + 1) % s->capacity;
        s->length--;
    }
    mr__mutex_unlock(&s->mutex);
    return task;
}

static void cancel(mr__device *device)
{
    sim *s = sim_of(device);
    for (mr__task *task; (task = take_waiting(s)) != NULL;) {
        task->code = MR_ECLOSED;
        task->next = NULL;
        s->done(s->user, task, 1);
    }
}

/* The task that ends first leaves its lane, and it is then. The mutex is held. NULL: none is begun. */
static mr__task *take_next(sim *s)
{
    turn *next = NULL;
    for (uint32_t i = 0; i < s->lane_count; i++)
        if (s->lanes[i].task != NULL && (next == NULL || s->lanes[i].end_ns < next->end_ns))
            next = &s->lanes[i];
    if (next == NULL)
        return NULL;
    mr__task *task = next->task;
    s->now_ns = next->end_ns;
    next->task = NULL;
    return task;
}

static bool advance(mr__device *device)
{
    sim *s = sim_of(device);
    mr__mutex_lock(&s->mutex);
    while (s->advancing)
        mr__condition_wait(&s->news, &s->mutex, MR__FOR_EVER);
    mr__task *task = take_next(s);
    s->advancing = task != NULL;
    mr__mutex_unlock(&s->mutex);
    if (task == NULL)
        return false;
    task->next = NULL;
    (void)mr__prepare(&s->hands, &s->errand, task);
    mr__mutex_lock(&s->mutex);
    s->advancing = false;
    begin_some(s);
    mr__condition_wake_all(&s->news);
    mr__mutex_unlock(&s->mutex);
    s->done(s->user, task, 1);
    return true;
}

static uint64_t tell_now(const mr__device *device)
{
    return ((const sim *)device)->now_ns;
}

static const mr__thread_meter *const *tell_meters(const mr__device *device, size_t *count)
{
    *count = 1;
    return ((const sim *)device)->meters;
}

const mr__device_type mr__device_sim = {
    .name = "sim",
    .open = open_sim,
    .info = tell_info,
    .submit = submit,
    .cancel = cancel,
    .advance = advance,
    .now_ns = tell_now,
    .meters = tell_meters,
    .close = close_sim,
};
