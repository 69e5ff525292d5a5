// SPDX-License-Identifier: Apache-2.0
/*
 * 1. A deck's queue is in order: what is put into it is done one after the other, so events are for learning how it
 * went and when it ended. A launch waits for the one before it all the same: it fails where that has failed, and does
 * not run on what was never written, which could be anything.
 * 2. The last thing in it waits for the events of all others: one of them that failed makes it fail. Its callback is
 * the only one, and the only place where `played` is called.
 * 3. Nothing that can fail comes after that callback is set.
 * 4. The host writes an arena of its own memory only while it is mapped: from the beginning, and from the end of each
 *    play on, until the next play unmaps it.
 */
#include "device/opencl/cl.h"

#include <stdio.h>
#include <string.h>

/* PAGE: what drivers want of memory that is to be used where it is. ITEMS_MAX: of a launch; some count them in 31 bits.
 */
enum { PAGE = 4096, ITEMS_MAX = 1 << 30, WORDS_FIRST = 256, NO_KERNEL = MR__KERNEL_GUEST + 1 };

struct mr__cl_player {
    mr__cl cl;
    const mr_hooks *hooks;
    mr__cl_found found;
    cl_context context;
    cl_program program;
    bool unified, in_place, simulator;
    uint32_t groups_max;
};

/* A command that was put into the queue. */
typedef struct command {
    cl_event event;
    const char *call;
    uint32_t kernel; /* NO_KERNEL: it is none */
} command;

struct mr__cl_deck {
    mr__cl_player *player;
    cl_command_queue queue;
    cl_kernel kernels[NO_KERNEL];
    uint32_t nbytes, put_nbytes;
    cl_mem arena, staging;
    uint8_t *bytes, *block; /* where the host writes; memory of our own */
    void *mapped;           /* of the arena, or of staging; NULL: it is not */
    cl_mem kept;            /* where kernels write instead; not ours */
    cl_mem out;
    uint64_t out_nbytes;
    bool out_in_place;
    mr__buffer words, commands, waits;
    size_t command_count;
    bool broken;

    mr__cl_played *played;
    void *user;
    int code; /* of a play that failed half way */
    mr__detail why;
};

/* --- the player --- */

static bool is_wanted(void *user, const mr__cl_found *found)
{
    mr__cl_found *wanted = user;
    if (found->entry.number == wanted->entry.number) {
        *wanted = *found;
        return false;
    }
    return true;
}

static int find_device(mr__cl_player *p, uint32_t number, bool simulator, mr__detail *detail)
{
    p->found = (mr__cl_found){.entry = {.number = number}};
    int result = mr__cl_each(&p->cl, is_wanted, &p->found, detail);
    if (result != 0)
        return result;
    if (p->found.device == NULL)
        return mr__fail(detail, MR_EARGUMENT, "there is no OpenCL device %u; `millrace devices` lists what is there",
                        number);
    if (!p->found.entry.usable && !(simulator && p->found.but_for_floats))
        return mr__fail(detail, MR_EUNSUPPORTED, "OpenCL device %u (%.60s) cannot be used: %s", number,
                        p->found.entry.facts.name, p->found.entry.why);
    return 0;
}

static int open_player(mr__cl_player *p, const mr__cl_options *options, mr__detail *detail)
{
    cl_int error;
    int result = mr__cl_load(options, &p->cl, detail);
    if (result == 0)
        result = find_device(p, options->number, options->simulator, detail);
    if (result != 0)
        return result;
    mr__cl_facts *facts = &p->found.entry.facts;
    p->unified = facts->unified && !options->sends;
    p->in_place = facts->is_cpu && options->in_place && !options->sends;
    p->groups_max = options->groups_max;
    p->simulator = options->simulator;
    p->context = p->cl.CreateContext(NULL, 1, &p->found.device, NULL, NULL, &error);
    if (p->context == NULL)
        return mr__cl_fail(detail, "clCreateContext", error);
    return mr__cl_program_build(&p->cl, options, p->context, &p->found, &p->program, &facts->subgroups, detail);
}

int mr__cl_player_open(const mr__cl_options *options, mr__cl_player **out, mr__detail *detail)
{
    mr__cl_player *p = mr__alloc_zero(options->hooks, sizeof *p);
    if (p == NULL)
        return mr__fail(detail, MR_ENOMEM, "no memory for an OpenCL device");
    p->hooks = options->hooks;
    int result = open_player(p, options, detail);
    if (result != 0) {
        mr__cl_player_close(p);
        return result;
    }
    *out = p;
    return 0;
}

void mr__cl_player_close(mr__cl_player *p)
{
    if (p == NULL)
        return;
    if (p->program != NULL)
        (void)p->cl.ReleaseProgram(p->program);
    if (p->context != NULL)
        (void)p->cl.ReleaseContext(p->context);
    mr__cl_unload(&p->cl);
    mr__free(p->hooks, p);
}

const mr__cl_facts *mr__cl_player_facts(const mr__cl_player *p)
{
    return &p->found.entry.facts;
}

/* --- a deck --- */

static size_t whole_pages(size_t nbytes)
{
    return (nbytes + PAGE - 1) / PAGE * PAGE;
}

static cl_mem new_buffer(mr__cl_deck *d, cl_bitfield flags, uint64_t nbytes, void *host, mr__detail *detail)
{
    uint64_t most = d->player->found.entry.facts.alloc_nbytes;
    cl_int error = CL_INVALID_BUFFER_SIZE;
    cl_mem mem = NULL;
    if (nbytes <= most)
        mem = d->player->cl.CreateBuffer(d->player->context, CL_MEM_READ_WRITE | flags, (size_t)nbytes, host, &error);
    if (mem == NULL)
        (void)mr__fail(detail, mr__cl_code(error),
                       "OpenCL: clCreateBuffer of %llu MiB failed: %s (the device allows %llu MiB in one)",
                       (unsigned long long)(nbytes >> 20), mr__cl_error_text(error).text,
                       (unsigned long long)(most >> 20));
    d->code = mem == NULL ? mr__cl_code(error) : 0;
    return mem;
}

static void *map(mr__cl_deck *d, cl_mem mem, size_t nbytes, mr__detail *detail)
{
    cl_int error;
    void *at = d->player->cl.EnqueueMapBuffer(d->queue, mem, 1, CL_MAP_WRITE_INVALIDATE_REGION, 0, nbytes, 0, NULL,
                                              NULL, &error);
    if (at == NULL || error != CL_SUCCESS)
        d->code = mr__cl_fail(detail, "clEnqueueMapBuffer", error);
    return d->code == 0 ? at : NULL;
}

/* The arena is host memory. False: it cannot be, and is to be sent. d->code: it failed. */
static bool share_arena(mr__cl_deck *d, mr__detail *detail)
{
    const mr_hooks *hooks = d->player->hooks;
    size_t nbytes = whole_pages(d->nbytes);
    d->block = hooks->alloc(hooks->user, nbytes, PAGE);
    if (d->block == NULL) {
        d->code = mr__fail(detail, MR_ENOMEM, "no memory for an arena of %zu MiB", nbytes >> 20);
        return false;
    }
    d->arena = new_buffer(d, CL_MEM_USE_HOST_PTR, nbytes, d->block, detail);
    d->mapped = d->arena != NULL ? map(d, d->arena, d->put_nbytes, detail) : NULL;
    d->bytes = d->block;
    return d->mapped == d->block;
}

static void drop_arena(mr__cl_deck *d)
{
    const mr__cl *cl = &d->player->cl;
    if (d->mapped != NULL)
        (void)cl->EnqueueUnmapMemObject(d->queue, d->staging != NULL ? d->staging : d->arena, d->mapped, 0, NULL, NULL);
    if (d->queue != NULL)
        (void)cl->Finish(d->queue);
    if (d->arena != NULL)
        (void)cl->ReleaseMemObject(d->arena);
    if (d->staging != NULL)
        (void)cl->ReleaseMemObject(d->staging);
    mr__free(d->player->hooks, d->block);
    d->arena = d->staging = NULL;
    d->mapped = d->bytes = d->block = NULL;
}

/* The arena is the device's; what is sent there is gathered in memory that the driver can send from. */
static int send_arena(mr__cl_deck *d, mr__detail *detail)
{
    d->arena = new_buffer(d, 0, d->nbytes, NULL, detail);
    if (d->code == 0)
        d->staging = new_buffer(d, CL_MEM_ALLOC_HOST_PTR, d->put_nbytes, NULL, detail);
    if (d->code == 0)
        d->bytes = d->mapped = map(d, d->staging, d->put_nbytes, detail);
    if (d->code == 0 && (uintptr_t)d->bytes % 64 != 0) {
        d->bytes = d->block = mr__alloc(d->player->hooks, d->put_nbytes);
        if (d->block == NULL)
            d->code = mr__fail(detail, MR_ENOMEM, "no memory for an arena's %u MiB", d->put_nbytes >> 20);
    }
    return d->code;
}

static int new_deck(mr__cl_deck *d, mr__detail *detail)
{
    const mr__cl_player *p = d->player;
    cl_int error;
    d->queue = p->cl.CreateCommandQueue(p->context, p->found.device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (d->queue == NULL && error == CL_INVALID_QUEUE_PROPERTIES)
        d->queue = p->cl.CreateCommandQueue(p->context, p->found.device, 0, &error);
    if (d->queue == NULL)
        return mr__cl_fail(detail, "clCreateCommandQueue", error);
    if (p->unified && share_arena(d, detail))
        return 0;
    if (d->code != 0)
        return d->code;
    drop_arena(d);
    return send_arena(d, detail);
}

int mr__cl_deck_new(mr__cl_player *player, uint32_t nbytes, uint32_t put_nbytes, mr__cl_deck **out, mr__detail *detail)
{
    mr__cl_deck *d = mr__alloc_zero(player->hooks, sizeof *d);
    if (d == NULL)
        return mr__fail(detail, MR_ENOMEM, "no memory for a queue of an OpenCL device");
    d->player = player;
    d->nbytes = nbytes != 0 ? nbytes : 1;
    d->put_nbytes = put_nbytes != 0 && put_nbytes < d->nbytes ? put_nbytes : d->nbytes;
    int result = new_deck(d, detail);
    if (result != 0) {
        mr__cl_deck_free(d);
        return result;
    }
    *out = d;
    return 0;
}

static command *commands_of(const mr__cl_deck *d)
{
    return (command *)(void *)d->commands.bytes;
}

static void forget_commands(mr__cl_deck *d)
{
    for (size_t i = 0; i < d->command_count; i++)
        (void)d->player->cl.ReleaseEvent(commands_of(d)[i].event);
    d->command_count = 0;
}

static void drop_out(mr__cl_deck *d)
{
    if (d->out != NULL)
        (void)d->player->cl.ReleaseMemObject(d->out);
    d->out = NULL;
    d->out_nbytes = 0;
}

void mr__cl_deck_free(mr__cl_deck *d)
{
    if (d == NULL)
        return;
    const mr_hooks *hooks = d->player->hooks;
    drop_arena(d);
    forget_commands(d);
    drop_out(d);
    for (size_t k = 0; k < NO_KERNEL; k++)
        if (d->kernels[k] != NULL)
            (void)d->player->cl.ReleaseKernel(d->kernels[k]);
    if (d->queue != NULL)
        (void)d->player->cl.ReleaseCommandQueue(d->queue);
    mr__buffer_fini(&d->words, hooks);
    mr__buffer_fini(&d->commands, hooks);
    mr__buffer_fini(&d->waits, hooks);
    mr__free(hooks, d);
}

mr__cl_inside mr__cl_player_inside(const mr__cl_player *p)
{
    return (mr__cl_inside){&p->cl, p->hooks, p->context, p->found.device, p->found.entry.facts.alloc_nbytes};
}

void mr__cl_deck_keep(mr__cl_deck *deck, cl_mem mem)
{
    deck->kept = mem;
}

uint8_t *mr__cl_deck_bytes(mr__cl_deck *deck)
{
    return deck->bytes;
}

void mr__cl_deck_let_go(mr__cl_deck *deck)
{
    drop_out(deck);
}

bool mr__cl_deck_is_broken(const mr__cl_deck *deck)
{
    return deck->broken;
}

int mr__cl_deck_mend(mr__cl_deck *d, mr__detail *detail)
{
    forget_commands(d);
    drop_out(d);
    drop_arena(d);
    if (d->queue != NULL)
        (void)d->player->cl.ReleaseCommandQueue(d->queue);
    d->queue = NULL;
    d->code = 0;
    int result = new_deck(d, detail);
    d->broken = result != 0;
    return result;
}

/* --- playing --- */

/* One more command is in the queue; or is not: d->code, and nothing more is put there. */
static bool put(mr__cl_deck *d, const char *call, uint32_t kernel, cl_int error, cl_event event)
{
    if (error == CL_SUCCESS)
        commands_of(d)[d->command_count++] = (command){event, call, kernel};
    else if (kernel != NO_KERNEL)
        d->code = mr__fail(&d->why, mr__cl_code(error), "OpenCL: %s (mr_%s) failed: %s", call,
                           mr__kernel_name((mr__kernel)kernel), mr__cl_error_text(error).text);
    else
        d->code = mr__cl_fail(&d->why, call, error);
    return error == CL_SUCCESS;
}

static bool put_other(mr__cl_deck *d, const char *call, cl_int error, cl_event event)
{
    return put(d, call, NO_KERNEL, error, event);
}

static bool put_tape(mr__cl_deck *d, const mr__tape *tape)
{
    const mr__cl *cl = &d->player->cl;
    cl_event event = NULL;
    cl_int error;
    if (d->staging != NULL) {
        error = cl->EnqueueWriteBuffer(d->queue, d->arena, 0, 0, tape->put, d->bytes, 0, NULL, &event);
        return put_other(d, "clEnqueueWriteBuffer", error, event);
    }
    error = cl->EnqueueUnmapMemObject(d->queue, d->arena, d->mapped, 0, NULL, &event);
    d->mapped = NULL;
    return put_other(d, "clEnqueueUnmapMemObject", error, event);
}

static uint32_t groups_at_once(const mr__cl_deck *d, uint32_t lanes)
{
    return d->player->groups_max != 0 ? d->player->groups_max : ITEMS_MAX / lanes;
}

static bool put_launch(mr__cl_deck *d, const mr__launch *launch)
{
    const mr__cl *cl = &d->player->cl;
    cl_kernel kernel = d->kernels[launch->kernel];
    size_t lanes = mr__kernel_lanes(launch->kernel);
    uint32_t most = groups_at_once(d, (uint32_t)lanes);
    for (uint32_t first = 0, groups; first < launch->groups; first += groups) {
        groups = launch->groups - first < most ? launch->groups - first : most;
        uint32_t list = launch->list + first * (uint32_t)sizeof(mr__lane_turn);
        size_t items = groups * lanes;
        cl_event event = NULL;
        cl_int error = cl->SetKernelArg(kernel, 0, sizeof d->arena, &d->arena);
        if (error == CL_SUCCESS)
            error = cl->SetKernelArg(kernel, 1, sizeof d->out, d->kept != NULL ? &d->kept : &d->out);
        if (error == CL_SUCCESS)
            error = cl->SetKernelArg(kernel, 2, sizeof list, &list);
        if (error == CL_SUCCESS)
            error = cl->SetKernelArg(kernel, 3, MR__KERNEL_WORDS_NBYTES, NULL);
        if (error != CL_SUCCESS)
            return put(d, "clSetKernelArg", launch->kernel, error, NULL);
        const cl_event *before = &commands_of(d)[d->command_count - 1].event; // at least what sent the tape
        error = cl->EnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, &lanes, 1, before, &event);
        if (!put(d, "clEnqueueNDRangeKernel", launch->kernel, error, event))
            return false;
    }
    return true;
}

/* Pieces i to before *end lie side by side in the batch and in memory. */
static mr__cl_piece run_of(const mr__cl_piece *pieces, size_t count, size_t i, size_t *end)
{
    mr__cl_piece run = pieces[i];
    for (*end = i + 1; *end < count; (*end)++) {
        const mr__cl_piece *next = &pieces[*end];
        if (next->at != run.at + run.nbytes || next->to != (uint8_t *)run.to + run.nbytes)
            break;
        run.nbytes += next->nbytes;
    }
    return run;
}

/* What kernels wrote into the batch itself is there once it was mapped. */
static bool put_view(mr__cl_deck *d, mr__cl_piece run)
{
    const mr__cl *cl = &d->player->cl;
    cl_event event = NULL;
    cl_int error;
    void *at = cl->EnqueueMapBuffer(d->queue, d->out, 0, CL_MAP_READ, (size_t)run.at, (size_t)run.nbytes, 0, NULL,
                                    &event, &error);
    if (!put_other(d, "clEnqueueMapBuffer", error, event))
        return false;
    error = cl->EnqueueUnmapMemObject(d->queue, d->out, at, 0, NULL, &event);
    return put_other(d, "clEnqueueUnmapMemObject", error, event);
}

static bool put_pieces(mr__cl_deck *d, const mr__cl_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count;) {
        mr__cl_piece run = run_of(pieces, count, i, &i);
        cl_event event = NULL;
        if (run.nbytes == 0)
            continue;
        if (d->out_in_place) {
            if (!put_view(d, run))
                return false;
            continue;
        }
        cl_int error = d->player->cl.EnqueueReadBuffer(d->queue, d->out, 0, (size_t)run.at, (size_t)run.nbytes, run.to,
                                                       0, NULL, &event);
        if (!put_other(d, "clEnqueueReadBuffer", error, event))
            return false;
    }
    return true;
}

static bool put_words(mr__cl_deck *d, const mr__tape *tape)
{
    const mr__cl *cl = &d->player->cl;
    size_t nbytes = tape->count * sizeof(uint32_t);
    cl_event event = NULL;
    cl_int error;
    if (nbytes != 0) {
        error = cl->EnqueueReadBuffer(d->queue, d->arena, 0, 0, nbytes, d->words.bytes, 0, NULL, &event);
        if (!put_other(d, "clEnqueueReadBuffer", error, event))
            return false;
    }
    if (d->staging != NULL)
        return true;
    d->mapped = cl->EnqueueMapBuffer(d->queue, d->arena, 0, CL_MAP_WRITE_INVALIDATE_REGION, 0, d->put_nbytes, 0, NULL,
                                     &event, &error);
    return put_other(d, "clEnqueueMapBuffer", error, event);
}

static void put_all(mr__cl_deck *d, const mr__tape *tape, const mr__cl_piece *pieces, size_t count)
{
    if (!put_tape(d, tape))
        return;
    for (size_t i = 0; i < tape->launch_count; i++)
        if (!put_launch(d, &tape->launches[i]))
            return;
    if (put_pieces(d, pieces, count))
        (void)put_words(d, tape);
}

/* Which of the commands it was, and what the device says of it. */
static void find_cause(mr__cl_deck *d, cl_int status)
{
    for (size_t i = 0; i < d->command_count; i++) {
        const command *c = &commands_of(d)[i];
        cl_int of_it = 0;
        if (d->player->cl.GetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof of_it, &of_it, NULL) != 0 ||
            of_it >= 0)
            continue;
        bool is_kernel = c->kernel != NO_KERNEL;
        d->code = mr__fail(&d->why, mr__cl_code(of_it), "OpenCL: what %s%s%s%s started ended with %s", c->call,
                           is_kernel ? " (mr_" : "", is_kernel ? mr__kernel_name((mr__kernel)c->kernel) : "",
                           is_kernel ? ")" : "", mr__cl_error_text(of_it).text);
        return;
    }
    d->code = mr__fail(&d->why, mr__cl_code(status), "OpenCL: the device ended its work with %s",
                       mr__cl_error_text(status).text);
}

static void ended(cl_event event, cl_int status, void *user)
{
    mr__cl_deck *d = user;
    (void)event;
    if (status < 0 && d->code == 0)
        find_cause(d, status);
    if (d->code != 0)
        d->broken = true;
    d->played(d->user, d->code, d->code != 0 ? d->why.text : NULL, d->words.bytes);
}

/* Oclgrind forgets callbacks that are set after it has run. */
static void wait_and_tell(mr__cl_deck *d, cl_event last)
{
    cl_int status = CL_COMPLETE, error = d->player->cl.Finish(d->queue);
    if (error == CL_SUCCESS)
        error = d->player->cl.GetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    ended(last, error != CL_SUCCESS ? error : status, d);
}

/* After all that was put: the callback. On failure nothing is being played, and it will not come. */
static int put_end(mr__cl_deck *d, mr__detail *detail)
{
    const mr__cl *cl = &d->player->cl;
    cl_event *waits = (cl_event *)(void *)d->waits.bytes, last = NULL;
    for (size_t i = 0; i < d->command_count; i++)
        waits[i] = commands_of(d)[i].event;
    const char *call = "clEnqueueMarkerWithWaitList";
    cl_int error = cl->EnqueueMarkerWithWaitList(d->queue, (cl_uint)d->command_count, waits, &last);
    if (error == CL_SUCCESS) {
        commands_of(d)[d->command_count++] = (command){last, call, NO_KERNEL};
        call = "clFlush";
        error = cl->Flush(d->queue);
    }
    if (error == CL_SUCCESS && d->player->simulator) {
        wait_and_tell(d, last);
    } else if (error == CL_SUCCESS) {
        call = "clSetEventCallback";
        error = cl->SetEventCallback(last, CL_COMPLETE, ended, d);
    }
    if (error == CL_SUCCESS)
        return 0;
    (void)cl->Finish(d->queue);
    d->broken = true;
    if (d->code == 0)
        return mr__cl_fail(detail, call, error);
    *detail = d->why;
    return d->code;
}

/* --- what a play needs before anything is put into the queue --- */

static bool is_in_place(const mr__cl_deck *d, const mr__cl_piece *pieces, size_t count)
{
    if (!d->player->in_place || count == 0)
        return false;
    uintptr_t base = (uintptr_t)pieces[0].to - (uintptr_t)pieces[0].at;
    for (size_t i = 1; i < count; i++)
        if ((uintptr_t)pieces[i].to - (uintptr_t)pieces[i].at != base)
            return false;
    return base % MR__ALIGN == 0;
}

static int prepare_out(mr__cl_deck *d, uint64_t nbytes, const mr__cl_piece *pieces, size_t count, mr__detail *detail)
{
    bool in_place = is_in_place(d, pieces, count);
    if (d->kept != NULL)
        return count == 0 ? 0 : mr__fail(detail, MR_EARGUMENT, "what is kept on the device has no pieces here");
    for (size_t i = 0; i < count; i++)
        if (pieces[i].at > nbytes || pieces[i].nbytes > nbytes - pieces[i].at)
            return mr__fail(detail, MR_EARGUMENT, "piece %zu is not inside of the batch", i);
    if (d->out != NULL && !in_place && !d->out_in_place && d->out_nbytes >= nbytes)
        return 0;
    drop_out(d);
    d->out_in_place = in_place;
    d->out_nbytes = nbytes != 0 ? nbytes : 64; /* kernels are always given one */
    if (in_place)
        d->out = new_buffer(d, CL_MEM_USE_HOST_PTR, nbytes, (uint8_t *)pieces[0].to - pieces[0].at, detail);
    else
        d->out = new_buffer(d, 0, d->out_nbytes, NULL, detail);
    return d->code;
}

static int prepare_kernels(mr__cl_deck *d, const mr__tape *tape, mr__detail *detail)
{
    for (size_t i = 0; i < tape->launch_count; i++) {
        mr__kernel k = tape->launches[i].kernel;
        char name[64];
        cl_int error;
        if (d->kernels[k] != NULL)
            continue;
        snprintf(name, sizeof name, "mr_%s", mr__kernel_name(k));
        d->kernels[k] = d->player->cl.CreateKernel(d->player->program, name, &error);
        if (d->kernels[k] == NULL)
            return mr__cl_fail(detail, "clCreateKernel", error);
    }
    return 0;
}

/* How many commands there are at most. */
static size_t commands_most(const mr__cl_deck *d, const mr__tape *tape, size_t pieces)
{
    size_t count = 2 * pieces + 4;
    for (size_t i = 0; i < tape->launch_count; i++)
        count += 1 + tape->launches[i].groups / groups_at_once(d, mr__kernel_lanes(tape->launches[i].kernel));
    return count;
}

static int prepare(mr__cl_deck *d, const mr__tape *tape, uint64_t nbytes, const mr__cl_piece *pieces, size_t count,
                   mr__detail *detail)
{
    const mr_hooks *hooks = d->player->hooks;
    size_t most = commands_most(d, tape, count);
    if (d->broken)
        return mr__fail(detail, MR_EDEVICE, "OpenCL: the device has failed before");
    if (tape->put > d->put_nbytes || tape->nbytes > d->nbytes)
        return mr__fail(detail, MR_EARGUMENT, "the tape is longer than the deck's arena");
    forget_commands(d);
    d->code = 0;
    if (mr__buffer_reserve(&d->commands, hooks, most * sizeof(command)) != 0 ||
        mr__buffer_reserve(&d->waits, hooks, most * sizeof(cl_event)) != 0 ||
        mr__buffer_reserve(&d->words, hooks, (tape->count + WORDS_FIRST) * sizeof(uint32_t)) != 0)
        return mr__fail(detail, MR_ENOMEM, "no memory for %zu commands of an OpenCL queue", most);
    int result = prepare_out(d, nbytes, pieces, count, detail);
    return result == 0 ? prepare_kernels(d, tape, detail) : result;
}

int mr__cl_deck_play(mr__cl_deck *d, const mr__tape *tape, uint64_t nbytes, const mr__cl_piece *pieces, size_t count,
                     mr__cl_played *played, void *user, mr__detail *detail)
{
    int result = prepare(d, tape, nbytes, pieces, count, detail);
    if (result != 0)
        return result;
    d->played = played;
    d->user = user;
    put_all(d, tape, pieces, count);
    if (d->command_count == 0) {
        d->broken = true;
        *detail = d->why;
        return d->code;
    }
    return put_end(d, detail);
}

uint64_t mr__cl_deck_kernel_ns(const mr__cl_deck *d, mr__kernel kernel)
{
    const mr__cl *cl = &d->player->cl;
    uint64_t sum = 0;
    for (size_t i = 0; i < d->command_count; i++) {
        const command *c = &commands_of(d)[i];
        cl_ulong from = 0, to = 0;
        if (c->kernel != NO_KERNEL && (kernel == MR__KERNELS_ALL || c->kernel == kernel) &&
            cl->GetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) == CL_SUCCESS &&
            cl->GetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) == CL_SUCCESS &&
            to > from)
            sum += to - from;
    }
    return sum;
}
