// SPDX-License-Identifier: Apache-2.0
#include "twin.h"

#include "base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 2, GROUP = 4 };

twin_setup twin_make;

/* A task that is prepared elsewhere than in its slot. */
typedef struct copy {
    mr__task task;  /* first */
    mr__task *real; /* NULL: it was abandoned */
    struct copy *next;
} copy;

typedef struct twin {
    mr__device device; /* first */
    mr__device *inner;
    const mr__work *work;
    mr__done *done;
    void *user;
    mr__mutex mutex;
    copy *copies;
    uint32_t tasks;
} twin;

static size_t sample_nbytes(const twin *t)
{
    return t->work->finish.output.sample_nbytes;
}

/* The mutex is held. */
static void forget(twin *t, const copy *c)
{
    copy **at = &t->copies;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

static void on_done(void *user, mr__task *first, size_t count)
{
    twin *t = user;
    (void)count;
    for (mr__task *task = first, *next; task != NULL; task = next) {
        copy *c = (copy *)task;
        next = task->next;
        mr__mutex_lock(&t->mutex);
        mr__task *real = c->real;
        bool lost = twin_make.lost_after != 0 && ++t->tasks > twin_make.lost_after;
        if (real != NULL) {
            real->code = lost ? MR_EDEVICE : task->code;
            real->detail = task->detail;
            real->lane = task->lane;
            real->begun_ns = task->begun_ns;
            real->busy_ns = task->busy_ns;
            if (real->code == 0)
                memcpy(real->slot, task->slot, sample_nbytes(t));
            real->next = NULL;
        }
        forget(t, c);
        mr__mutex_unlock(&t->mutex);
        free(task->slot);
        free(c);
        if (real != NULL)
            t->done(t->user, real, 1);
    }
}

static int submit(mr__device *device, mr__task *first, size_t count)
{
    twin *t = (twin *)device;
    (void)count;
    for (mr__task *task = first, *next; task != NULL; task = next) {
        copy *c = calloc(1, sizeof *c);
        next = task->next;
        c->task = *task;
        c->task.slot = malloc(sample_nbytes(t));
        c->task.next = NULL;
        c->real = task;
        mr__mutex_lock(&t->mutex);
        c->next = t->copies;
        t->copies = c;
        mr__mutex_unlock(&t->mutex);
        if (t->inner->type->submit(t->inner, &c->task, 1) != 0) { // which only happens while it is closed
            mr__mutex_lock(&t->mutex);
            forget(t, c);
            mr__mutex_unlock(&t->mutex);
            free(c->task.slot);
            free(c);
        }
    }
    return 0;
}

static void abandon(mr__device *device)
{
    twin *t = (twin *)device;
    for (;;) {
        mr__mutex_lock(&t->mutex);
        copy *c = t->copies;
        while (c != NULL && c->real == NULL)
            c = c->next;
        mr__task *real = c != NULL ? c->real : NULL;
        if (c != NULL)
            c->real = NULL;
        mr__mutex_unlock(&t->mutex);
        if (real == NULL)
            return;
        real->code = MR_EDEVICE;
        real->next = NULL;
        t->done(t->user, real, 1);
    }
}

static bool close_twin(mr__device *device, uint64_t deadline_ns)
{
    twin *t = (twin *)device;
    bool left = t->inner->type->close(t->inner, deadline_ns);
    while (left && t->copies != NULL) {
        copy *c = t->copies;
        t->copies = c->next;
        free(c->task.slot);
        free(c);
    }
    if (left) {
        mr__mutex_fini(&t->mutex);
        free(t);
    }
    return left;
}

static int open_twin(const mr__device_options *options, mr__device **out, mr__detail *detail)
{
    uint32_t bit = options->number < 32 ? UINT32_C(1) << options->number : 0;
    if (twin_make.absent || options->number >= twin_make.count)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no twin %u", options->number);
    if (((twin_make.broken | twin_make.failing) & bit) != 0)
        return mr__fail(detail, MR_EDEVICE, "it does not start");
    twin *t = calloc(1, sizeof *t);
    mr__device_options inner = {.work = options->work, .done = on_done, .user = t, .lanes = LANES};
    t->device.type = &twin_device;
    t->work = options->work;
    t->done = options->done;
    t->user = options->user;
    int result = mr__mutex_init(&t->mutex);
    if (result == 0)
        result = mr__device_open(&mr__device_cpu, &inner, &t->inner, detail);
    if (result != 0) {
        free(t);
        return result;
    }
    twin_make.opened++;
    twin_make.asked = options->memory_nbytes;
    twin_make.alone = options->alone;
    *out = &t->device;
    return 0;
}

static mr__device_info info(const mr__device *device)
{
    uint64_t nbytes = twin_make.memory != 0 ? twin_make.memory : UINT64_C(1000000000);
    (void)device;
    return (mr__device_info){
        .lanes = LANES, .group = GROUP, .depth = 2 * GROUP, .launch_ns = 20000, .memory = {nbytes, nbytes, nbytes}};
}

static bool takes(const mr__device *device, mr_form form, mr_step_kind step)
{
    (void)device;
    return !(twin_make.lacks_png && form == MR_FORM_PNG) && (step == MR_STEP_NONE || step != twin_make.lacks);
}

static int list(const mr_hooks *hooks, mr__device_found *found, size_t most, size_t *count, mr__detail *detail)
{
    (void)hooks;
    if (twin_make.absent)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no library of twins");
    for (*count = 0; *count < twin_make.count && *count < most; ++*count)
        found[*count] = (mr__device_found){.number = (uint32_t)*count,
                                           .usable = (twin_make.broken >> *count & 1) == 0,
                                           .is_host = (twin_make.hosts >> *count & 1) != 0};
    return 0;
}

static const mr__thread_meter *const *meters(const mr__device *device, size_t *count)
{
    const twin *t = (const twin *)device;
    return t->inner->type->meters(t->inner, count);
}

const mr__device_type twin_device = {
    .name = "twin",
    .list = list,
    .open = open_twin,
    .info = info,
    .takes = takes,
    .submit = submit,
    .abandon = abandon,
    .meters = meters,
    .close = close_twin,
};
