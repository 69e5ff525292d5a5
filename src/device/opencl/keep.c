// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/keep.h"

#include "base/thread.h"
#include "device/opencl/cl.h"

struct mr__cl_keep {
    mr__cl_inside in;
    const mr__cl_keep_queues *queues;
    cl_mem mem;
    uint64_t nbytes;
    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition quiet; /* nothing is under way */
    uint32_t under_way;  /* plays, and the end of what is sent */
    mr__buffer sends;    /* events of what was sent for this batch */
    size_t send_count;
    int code; /* why it cannot be there */
    mr__detail why;
    mr__kept *told; /* NULL: nobody asked yet */
    void *user;
};

/* 1. Coming and going. */

static cl_command_queue new_queue(const mr__cl_inside *in, mr__detail *detail)
{
    cl_int error;
    cl_command_queue queue = in->cl->CreateCommandQueue(in->context, in->device, 0, &error);
    if (queue == NULL)
        (void)mr__cl_fail(detail, "clCreateCommandQueue", error);
    return queue;
}

static int open_keep(mr__cl_keep *k, mr__cl_keep_queues *queues, mr__detail *detail)
{
    cl_int error = CL_INVALID_BUFFER_SIZE;
    if (mr__mutex_init(&k->mutex) != 0)
        return mr__fail(detail, MR_ESYSTEM, "the system has no lock for a batch");
    if (mr__condition_init(&k->quiet) != 0) {
        mr__mutex_fini(&k->mutex);
        return mr__fail(detail, MR_ESYSTEM, "the system has no lock for a batch");
    }
    k->ready = true;
    if (queues->sends == NULL)
        queues->sends = new_queue(&k->in, detail);
    if (queues->users == NULL && queues->sends != NULL)
        queues->users = new_queue(&k->in, detail);
    if (queues->users == NULL)
        return MR_EDEVICE;
    if (k->nbytes <= k->in.alloc_nbytes)
        k->mem = k->in.cl->CreateBuffer(k->in.context, CL_MEM_READ_WRITE, (size_t)k->nbytes, NULL, &error);
    if (k->mem == NULL)
        return mr__fail(detail, mr__cl_code(error),
                        "a batch of %llu MiB cannot stay on the device: %s (it allows %llu MiB in one): give a smaller "
                        "batch, or fewer slots",
                        (unsigned long long)(k->nbytes >> 20), mr__cl_error_text(error).text,
                        (unsigned long long)(k->in.alloc_nbytes >> 20));
    return 0;
}

int mr__cl_keep_new(mr__cl_player *player, mr__cl_keep_queues *queues, uint64_t nbytes, mr__cl_keep **out,
                    mr__detail *detail)
{
    mr__cl_inside in = mr__cl_player_inside(player);
    mr__cl_keep *k = mr__alloc_zero(in.hooks, sizeof *k);
    if (k == NULL)
        return mr__fail(detail, MR_ENOMEM, "no memory for a batch that stays on a device");
    k->in = in;
    k->queues = queues;
    k->nbytes = nbytes;
    int result = open_keep(k, queues, detail);
    if (result != 0)
        mr__cl_keep_free(k);
    else
        *out = k;
    return result;
}

static void forget_sends(mr__cl_keep *k)
{
    for (size_t i = 0; i < k->send_count; i++)
        (void)k->in.cl->ReleaseEvent(((cl_event *)(void *)k->sends.bytes)[i]);
    k->send_count = 0;
}

void mr__cl_keep_free(mr__cl_keep *k)
{
    if (k == NULL)
        return;
    if (k->mem != NULL)
        (void)k->in.cl->Finish(k->queues->sends);
    if (k->ready) {
        mr__mutex_lock(&k->mutex); // a callback may come a little later than its event
        while (k->under_way != 0)
            (void)mr__condition_wait(&k->quiet, &k->mutex, MR__FOR_EVER);
        mr__mutex_unlock(&k->mutex);
        mr__condition_fini(&k->quiet);
        mr__mutex_fini(&k->mutex);
    }
    forget_sends(k);
    if (k->mem != NULL)
        (void)k->in.cl->ReleaseMemObject(k->mem);
    mr__buffer_fini(&k->sends, k->in.hooks);
    mr__free(k->in.hooks, k);
}

void mr__cl_keep_queues_fini(mr__cl_player *player, mr__cl_keep_queues *queues)
{
    if (queues->sends != NULL)
        (void)mr__cl_player_inside(player).cl->ReleaseCommandQueue(queues->sends);
    if (queues->users != NULL)
        (void)mr__cl_player_inside(player).cl->ReleaseCommandQueue(queues->users);
    *queues = (mr__cl_keep_queues){0};
}

/* 2. What is under way. */

/* One less: the last tells, if somebody waits for it. */
static void leave(mr__cl_keep *k)
{
    mr__detail why = {0};
    mr__kept *told = NULL;
    void *user = NULL;
    int code = 0;
    mr__mutex_lock(&k->mutex);
    if (--k->under_way == 0) {
        told = k->told;
        user = k->user;
        code = k->code;
        why = k->why;
        if (told != NULL) { // the memory is for the next batch now
            forget_sends(k);
            k->told = NULL;
            k->code = 0;
        }
        mr__condition_wake_all(&k->quiet);
    }
    mr__mutex_unlock(&k->mutex);
    if (told != NULL)
        told(user, code, why.text);
}

void mr__cl_keep_begin(mr__cl_keep *k, mr__cl_deck *deck)
{
    mr__mutex_lock(&k->mutex);
    k->under_way++;
    mr__mutex_unlock(&k->mutex);
    mr__cl_deck_keep(deck, k->mem);
}

void mr__cl_keep_end(mr__cl_keep *k)
{
    leave(k);
}

static void fail(mr__cl_keep *k, const char *call, cl_int error)
{
    mr__mutex_lock(&k->mutex);
    if (k->code == 0)
        k->code = mr__cl_fail(&k->why, call, error);
    mr__mutex_unlock(&k->mutex);
}

void mr__cl_keep_send(mr__cl_keep *k, uint64_t at, const void *bytes, uint64_t nbytes)
{
    cl_event event = NULL;
    mr__mutex_lock(&k->mutex);
    size_t used = k->send_count * sizeof event;
    if (k->code == 0 && mr__buffer_grow(&k->sends, k->in.hooks, used, used + sizeof event) != 0)
        k->code = mr__fail(&k->why, MR_ENOMEM, "no memory for what is sent");
    if (k->code == 0) {
        cl_int error = k->in.cl->EnqueueWriteBuffer(k->queues->sends, k->mem, 0, (size_t)at, (size_t)nbytes, bytes, 0,
                                                    NULL, &event);
        if (error != CL_SUCCESS)
            k->code = mr__cl_fail(&k->why, "clEnqueueWriteBuffer", error);
        else
            ((cl_event *)(void *)k->sends.bytes)[k->send_count++] = event;
    }
    mr__mutex_unlock(&k->mutex);
}

static void on_sent(cl_event event, cl_int status, void *user)
{
    mr__cl_keep *k = user;
    (void)event;
    if (status < 0)
        fail(k, "clEnqueueWriteBuffer", status);
    leave(k);
}

/* The end of all that was sent. False: nobody will call. Without the mutex: a driver may call at once, from here. */
static bool mark_end(mr__cl_keep *k)
{
    const mr__cl *cl = k->in.cl;
    cl_event last = NULL;
    const char *call = "clEnqueueMarkerWithWaitList";
    if (k->send_count == 0)
        return false;
    cl_int error = cl->EnqueueMarkerWithWaitList(k->queues->sends, (cl_uint)k->send_count,
                                                 (const cl_event *)(void *)k->sends.bytes, &last);
    if (error == CL_SUCCESS) {
        call = "clFlush";
        error = cl->Flush(k->queues->sends);
    }
    if (error == CL_SUCCESS) {
        call = "clSetEventCallback";
        error = cl->SetEventCallback(last, CL_COMPLETE, on_sent, k);
    }
    if (last != NULL)
        (void)cl->ReleaseEvent(last);
    if (error == CL_SUCCESS)
        return true;
    fail(k, call, error);
    (void)cl->Finish(k->queues->sends);
    return false;
}

void mr__cl_keep_finish(mr__cl_keep *k, mr__kept *told, void *user)
{
    mr__mutex_lock(&k->mutex);
    k->told = told;
    k->user = user;
    k->under_way += 2; // one is this call's
    mr__mutex_unlock(&k->mutex);
    if (!mark_end(k))
        leave(k);
    leave(k);
}

/* 3. For who looks at it. */

int mr__cl_keep_read(mr__cl_keep *k, uint64_t at, void *to, uint64_t nbytes)
{
    cl_int error =
        k->in.cl->EnqueueReadBuffer(k->queues->sends, k->mem, 1, (size_t)at, (size_t)nbytes, to, 0, NULL, NULL);
    return error == CL_SUCCESS ? 0 : mr__cl_code(error);
}

mr_batch_device mr__cl_keep_tell(const mr__cl_keep *k)
{
    return (mr_batch_device){.struct_size = sizeof(mr_batch_device),
                             .memory = k->mem,
                             .context = k->in.context,
                             .device = k->in.device,
                             .queue = k->queues->users};
}
