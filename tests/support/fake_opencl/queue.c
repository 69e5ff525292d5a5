// SPDX-License-Identifier: Apache-2.0
/* Each queue has a thread, which does what is flushed, in order. What is to happen to launches on purpose happens here.
 */
#include "fake.h"

#include <time.h>

/* 1. Events. */

/* Whoever asked is called once, without the mutex. */
static void call_back(cl_event event)
{
    while (event->callback_count != 0) {
        fake_callback callback = event->callbacks[--event->callback_count];
        cl_int status = event->status;
        fake_leave();
        callback.call(event, status, callback.user);
        (void)pthread_mutex_lock(&fake.mutex);
    }
}

static void end_event(cl_event event, cl_int status)
{
    event->status = status;
    (void)pthread_cond_broadcast(&fake.changed);
    call_back(event);
}

cl_int fake_wait_for(cl_event event)
{
    event->object.busy++;
    while (event->status > CL_COMPLETE)
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    cl_int status = event->status;
    fake_unbusy(event);
    return status;
}

/* 2. What commands do; the mutex is held, and given up for the work itself. */

static void sleep_us(int64_t us)
{
    struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    if (us != 0)
        (void)nanosleep(&time, NULL);
}

/* How much longer a launch is to take. */
static int64_t delay_us(int64_t number)
{
    const fake_settings *s = &fake.settings;
    uint64_t chance = ((uint64_t)number + (uint64_t)s->seed * 31 + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    return s->slow_ms * 1000 + (s->jitter_us > 0 ? (int64_t)(chance % ((uint64_t)s->jitter_us + 1)) : 0);
}

static cl_int emulate(const fake_command *c, uint64_t seed, mr__detail *detail)
{
    mr_hooks hooks;
    mr__launch launch = {c->kernel, c->list, c->groups};
    (void)mr__hooks_init(&hooks, NULL);
    mr__emulation emulation = {.hooks = &hooks, .seed = seed};
    if (c->own.run != NULL)
        return mr__emulate_function(&emulation, &c->own, c->list, c->groups, c->mem->data, c->out->data, detail);
    return mr__emulate(&emulation, &launch, 1, c->mem->data, c->out->data, detail);
}

/* What this launch is to come to, by the settings; 0: nothing happens to it. */
static cl_int accident(int64_t number)
{
    const fake_settings *s = &fake.settings;
    while (s->hang != 0 && number == s->hang && !fake.going_on)
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    if (s->lost >= 0 && number > s->lost)
        fake.lost = true;
    if (fake.lost)
        return FAKE_NOT_AVAILABLE;
    return number == s->resources_quiet ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static void jump_time(cl_event event, int64_t number)
{
    const uint64_t day_ns = UINT64_C(86400) * 1000000000;
    if (number == fake.settings.time_ahead)
        event->end_ns += day_ns;
    if (number == fake.settings.time_back)
        event->end_ns = event->start_ns / 2;
}

static bool is_written_mapped(const struct cl_mem_of *mem)
{
    for (uint32_t i = 0; i < mem->map_count; i++)
        if ((mem->maps[i].flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0)
            return true;
    return false;
}

static cl_int launch(fake_command *c)
{
    int64_t number = ++fake.launches, slow_us = delay_us(number);
    cl_int status = accident(number);
    mr__detail detail = {""};
    uint64_t seed = fake.settings.seed >= 0 ? (uint64_t)fake.settings.seed : (uint64_t)number;
    if (status != CL_SUCCESS)
        return status;
    if (is_written_mapped(c->mem) || is_written_mapped(c->out))
        fake_wrong("launch %lld has a buffer that is mapped for writing", (long long)number);
    c->event->start_ns = fake_now_ns();
    fake_leave();
    sleep_us(slow_us);
    status = emulate(c, seed, &detail);
    (void)pthread_mutex_lock(&fake.mutex);
    c->event->end_ns = fake_now_ns();
    jump_time(c->event, number);
    if (status != 0)
        fake_wrong("launch %lld: %s", (long long)number, detail.text);
    fake_mem_check(c->mem, "by a kernel");
    fake_mem_check(c->out, "by a kernel");
    return status != 0 ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

/* The middle byte of what the host gets. */
static void spoil_read(uint8_t *to, size_t nbytes)
{
    if (nbytes != 0 && ++fake.reads == fake.settings.wrong)
        to[nbytes / 2] ^= 1;
}

static void copy(fake_command *c)
{
    fake_map *r = &c->region;
    if (is_written_mapped(c->mem))
        fake_wrong("buffer %u is copied while it is mapped for writing", c->mem->object.number);
    fake_leave();
    if (c->work == FAKE_READ)
        memcpy(r->to, c->mem->data + r->at, r->nbytes);
    else
        memcpy(c->mem->data + r->at, r->to, r->nbytes);
    (void)pthread_mutex_lock(&fake.mutex);
    if (c->work == FAKE_READ)
        spoil_read(r->to, r->nbytes);
}

static void map(fake_command *c)
{
    if (c->mem->map_count == FAKE_MAPS) {
        fake_wrong("buffer %u is mapped too often", c->mem->object.number);
        return;
    }
    c->mem->maps[c->mem->map_count++] = c->region;
    fake_leave();
    fake_map_copy(c->mem, &c->region);
    (void)pthread_mutex_lock(&fake.mutex);
    if ((c->region.flags & CL_MAP_READ) != 0)
        spoil_read(c->region.to, c->region.nbytes);
}

static void unmap(fake_command *c)
{
    cl_mem mem = c->mem;
    uint32_t i = 0;
    while (i < mem->map_count && mem->maps[i].to != c->region.to)
        i++;
    if (i == mem->map_count && fake.lost)
        return; // the map was lost too
    if (i == mem->map_count) {
        fake_wrong("buffer %u is unmapped where it is not mapped", mem->object.number);
        return;
    }
    fake_map was = mem->maps[i];
    mem->maps[i] = mem->maps[--mem->map_count];
    fake_leave();
    fake_unmap_copy(mem, &was);
    (void)pthread_mutex_lock(&fake.mutex);
}

static cl_int run(fake_command *c)
{
    if (c->work != FAKE_LAUNCH && fake.lost && c->work != FAKE_UNMAP)
        return FAKE_NOT_AVAILABLE;
    switch (c->work) {
    case FAKE_LAUNCH:
        return launch(c);
    case FAKE_READ:
    case FAKE_WRITE:
        copy(c);
        break;
    case FAKE_MAP:
        map(c);
        break;
    case FAKE_UNMAP:
        unmap(c);
        break;
    case FAKE_MARKER:
        break;
    }
    return CL_SUCCESS;
}

/* 3. The queue. */

static cl_int wait_for_all(const fake_command *c)
{
    cl_int status = CL_SUCCESS;
    for (uint32_t i = 0; i < c->after_count; i++)
        if (fake_wait_for(c->after[i]) < 0)
            status = FAKE_WAITED_FOR_ERROR;
    return status;
}

static void command_free(fake_command *c)
{
    for (uint32_t i = 0; i < c->after_count; i++)
        fake_unbusy(c->after[i]);
    fake_unbusy(c->mem);
    fake_unbusy(c->out);
    fake_unbusy(c->object);
    fake_unbusy(c->event);
    free(c->after);
    free(c);
}

static void do_command(cl_command_queue queue)
{
    fake_command *c = queue->running = queue->first;
    queue->first = c->next;
    queue->last = queue->first != NULL ? queue->last : NULL;
    c->event->status = FAKE_RUNNING;
    cl_int status = wait_for_all(c);
    c->event->start_ns = c->event->end_ns = fake_now_ns();
    if (status == CL_SUCCESS)
        status = run(c);
    else if (c->work == FAKE_UNMAP)
        unmap(c); // or it would count as mapped for ever
    if (c->work != FAKE_LAUNCH)
        c->event->end_ns = fake_now_ns();
    queue->running = NULL;
    /* The buffers are free before anybody hears of it. */
    fake_unbusy(c->mem);
    fake_unbusy(c->out);
    c->mem = c->out = NULL;
    end_event(c->event, status);
    command_free(c);
}

static void *serve(void *arg)
{
    cl_command_queue queue = arg;
    (void)pthread_mutex_lock(&fake.mutex);
    for (;;) {
        while ((queue->first == NULL && !queue->closing) || (queue->first != NULL && !queue->first->flushed))
            (void)pthread_cond_wait(&fake.changed, &fake.mutex);
        if (queue->first == NULL)
            break;
        do_command(queue);
    }
    fake.threads--;
    (void)pthread_cond_broadcast(&fake.changed);
    (void)pthread_mutex_unlock(&fake.mutex);
    return NULL;
}

/* Its thread is nobody's: one that hangs for ever does not keep the process. */
cl_command_queue fake_queue_new(cl_context context, bool profiling, cl_int *error)
{
    pthread_t thread;
    pthread_attr_t attributes;
    cl_command_queue queue = fake_make(FAKE_QUEUE, sizeof *queue);
    if (queue == NULL) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    queue->context = context;
    queue->profiling = profiling;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&thread, &attributes, serve, queue);
    (void)pthread_attr_destroy(&attributes);
    if (result == 0) {
        fake.threads++;
        return queue;
    }
    queue->object.refs = 0;
    queue->closing = true;
    *error = CL_OUT_OF_RESOURCES;
    return NULL;
}

bool fake_queue_is_idle(const struct cl_queue_of *queue)
{
    return queue->first == NULL && queue->running == NULL;
}

void fake_queue_flush(cl_command_queue queue)
{
    for (fake_command *c = queue->first; c != NULL; c = c->next)
        c->flushed = true;
    (void)pthread_cond_broadcast(&fake.changed);
}

/* What a command uses is kept until it has ended. */
static bool hold(fake_command *c, cl_uint count, const cl_event *after)
{
    c->event = fake_make(FAKE_EVENT, sizeof *c->event);
    c->after = count != 0 ? malloc(count * sizeof *after) : NULL;
    if (c->event == NULL || (count != 0 && c->after == NULL))
        return false;
    for (c->after_count = 0; c->after_count < count; c->after_count++) {
        c->after[c->after_count] = after[c->after_count];
        after[c->after_count]->object.busy++;
    }
    c->event->status = FAKE_QUEUED;
    c->event->object.busy++;
    if (c->mem != NULL)
        c->mem->object.busy++;
    if (c->out != NULL)
        c->out->object.busy++;
    if (c->object != NULL)
        c->object->object.busy++;
    return true;
}

static void append(cl_command_queue queue, fake_command *c)
{
    if (queue->last != NULL)
        queue->last->next = c;
    else
        queue->first = c;
    queue->last = c;
}

cl_int fake_put(cl_command_queue queue, const fake_command *command, cl_uint count, const cl_event *after, bool wait,
                cl_event *event)
{
    fake_command *c = malloc(sizeof *c);
    for (cl_uint i = 0; i < count; i++)
        if (fake_use(after[i], FAKE_EVENT, FAKE_EnqueueMarkerWithWaitList) == NULL) {
            free(c);
            return FAKE_INVALID_EVENT;
        }
    if (c == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    *c = *command;
    if (!hold(c, count, after)) {
        free(c->after);
        free(c);
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_event own = c->event;
    own->profiled = queue->profiling;
    append(queue, c);
    if (event != NULL)
        *event = own;
    own->object.refs = event != NULL ? 1 : 0;
    if (!wait)
        return CL_SUCCESS;
    fake_queue_flush(queue);
    return fake_wait_for(own);
}
