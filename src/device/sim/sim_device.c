// SPDX-License-Identifier: Apache-2.0
/*
 * A device under a virtual clock: lanes that take a fixed time for a task. Nothing happens by itself; whoever waits for
 * it calls advance, which goes to the end of the task that ends first, does its work for real, and says so. One thread,
 * no waiting, the same on every run. (Speeds, jitter and failures come with the scheduler.)
 */
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
    mr__free(&hooks, s->lanes);
    mr__free(&hooks, s->queue);
    mr__free(&hooks, s);
    return true;
}

static int open_sim(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    const mr_hooks *hooks = &options->work->hooks;
    sim *s = mr__alloc_zero(hooks, sizeof *s);
    if (s == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a sim device");
    s->device.type = &mr__device_sim;
    s->work = options->work;
    s->done = options->done;
    s->user = options->user;
    s->lane_count = options->lanes != 0 ? options->lanes : LANES;
    s->capacity = (size_t)QUEUE + 2 * s->lane_count;
    s->lanes = mr__alloc_array(hooks, s->lane_count, sizeof *s->lanes);
    s->queue = mr__alloc_array(hooks, s->capacity, sizeof *s->queue);
    int result = s->lanes != NULL && s->queue != NULL ? mr__hands_init(&s->hands, s->work, detail)
                                                      : mr__fail(detail, MR_ENOMEM, "out of memory for a sim device");
    s->meters[0] = s->hands.meter;
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

/* Free lanes begin what waits. */
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

static int submit(mr__device *device, mr__task *tasks, size_t count)
{
    sim *s = sim_of(device);
    if (count > s->capacity - s->length)
        return MR_ELIMIT;
    for (size_t i = 0; i < count; i++)
        s->queue[(s->first + s->length++) % s->capacity] = (turn){&tasks[i], 0};
    begin_some(s);
    return 0;
}

static void cancel(mr__device *device)
{
    sim *s = sim_of(device);
    while (s->length != 0) {
        mr__task *task = s->queue[s->first].task;
        s->first = (s->first + 1) % s->capacity;
        s->length--;
        task->code = MR_ECLOSED;
        s->done(s->user, task, 1);
    }
}

static bool advance(mr__device *device)
{
    sim *s = sim_of(device);
    turn *next = NULL;
    for (uint32_t i = 0; i < s->lane_count; i++)
        if (s->lanes[i].task != NULL && (next == NULL || s->lanes[i].end_ns < next->end_ns))
            next = &s->lanes[i];
    if (next == NULL)
        return false;
    mr__task *task = next->task;
    s->now_ns = next->end_ns;
    next->task = NULL;
    (void)mr__prepare(&s->hands, &s->errand, task);
    begin_some(s);
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
