// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // usleep
#include "twin.h"

#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 2, GROUP = 4 };

twin_setup twin_make;

/* A task that is prepared elsewhere than in its slot. */
typedef struct copy {
    mr__task task;  /* first */
    mr__task *real; /* NULL: it was abandoned */
    struct copy *next;
} copy;

/* A batch that stays here. */
struct mr__keep {
    uint8_t *bytes;
    uint64_t nbytes;
    bool failed;
    struct twin *twin;
    mr__kept *told;
    void *user;
    struct mr__keep *next;
};

typedef struct twin {
    mr__device device; /* first */
    mr__device *inner;
    const mr__work *work;
    mr__done *done;
    void *user;
    mr__mutex mutex;
    copy *copies;
    uint32_t tasks;
    mr__keep *keeps;
    atomic_uint tellers; /* threads that are about to tell */
} twin;

static size_t sample_nbytes(const twin *t)
{
    return t->work->finish.output.sample_nbytes;
}

/* A slot's are of another batch by the time that a task which was abandoned is done. */
static const uint32_t *copy_draws(const twin *t, const uint32_t *draws)
{
    size_t nbytes = (mr__recipe_draw_count(t->work->recipe) + 1) * sizeof *draws;
    uint32_t *own = malloc(nbytes);
    memcpy(own, draws, nbytes - sizeof *draws);
    return own;
}

static void free_copy(copy *c)
{
    free((void *)c->task.draws);
    free(c->task.slot);
    free(c);
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
                memcpy(real->keep != NULL ? real->keep->bytes + real->keep_at : real->slot, task->slot,
                       sample_nbytes(t));
            real->next = NULL;
        }
        forget(t, c);
        mr__mutex_unlock(&t->mutex);
        free_copy(c);
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
        c->task.draws = copy_draws(t, task->draws);
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
            free_copy(c);
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
        free_copy(c);
    }
    while (left && atomic_load(&t->tellers) != 0)
        usleep(100);
    for (mr__keep *k = t->keeps, *next; left && k != NULL; k = next) {
        next = k->next;
        free(k->bytes);
        free(k);
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

static int keep_new(mr__device *device, uint64_t nbytes, mr__keep **out, mr__detail *detail)
{
    twin *t = (twin *)device;
    (void)detail;
    mr__keep *k = calloc(1, sizeof *k);
    *k = (mr__keep){.bytes = malloc(nbytes), .nbytes = nbytes, .twin = t, .next = t->keeps};
    memset(k->bytes, 0x5a, nbytes);
    t->keeps = *out = k;
    return 0;
}

static void keep_send(mr__device *device, mr__keep *k, uint64_t at, const void *bytes, uint64_t nbytes)
{
    twin *t = (twin *)device;
    mr__mutex_lock(&t->mutex);
    twin_make.sent++;
    k->failed = k->failed || (twin_make.send_fails != 0 && twin_make.sent >= twin_make.send_fails);
    memcpy(k->bytes + at, bytes, nbytes);
    mr__mutex_unlock(&t->mutex);
}

static void *tell(void *arg)
{
    mr__keep *k = arg;
    twin *t = k->twin;
    if (twin_make.late)
        usleep(500);
    k->told(k->user, k->failed ? MR_EDEVICE : 0, "it did not come");
    atomic_fetch_sub(&t->tellers, 1);
    return NULL;
}

static void keep_finish(mr__device *device, mr__keep *k, mr__kept *told, void *user)
{
    pthread_t thread;
    twin *t = (twin *)device;
    k->told = told;
    k->user = user;
    atomic_fetch_add(&t->tellers, 1);
    if (twin_make.late && pthread_create(&thread, NULL, tell, k) == 0)
        pthread_detach(thread);
    else
        (void)tell(k);
}

static int keep_read(mr__device *device, mr__keep *k, uint64_t at, void *to, uint64_t nbytes)
{
    (void)device;
    memcpy(to, k->bytes + at, nbytes);
    return 0;
}

static mr_batch_device keep_tell(mr__device *device, const mr__keep *k)
{
    return (mr_batch_device){.struct_size = sizeof(mr_batch_device), .memory = k->bytes, .context = device};
}

const mr__device_type twin_device = {
    .name = "twin",
    .list = list,
    .open = open_twin,
    .info = info,
    .takes = takes,
    .submit = submit,
    .abandon = abandon,
    .keep_new = keep_new,
    .keep_send = keep_send,
    .keep_finish = keep_finish,
    .keep_read = keep_read,
    .keep_tell = keep_tell,
    .meters = meters,
    .close = close_twin,
};
