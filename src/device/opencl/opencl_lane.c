// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_lane.h"

#include "kernel/lane/pass.h"
#include "step/chain.h"

#include <string.h>

static uint64_t now(const mr__opencl *o)
{
    return o->hooks.now_ns(o->hooks.user);
}

int mr__opencl_lane_init(mr__opencl_lane *l, mr__opencl *o, uint32_t number, mr__detail *detail)
{
    l->opencl = o;
    l->number = number;
    int result = mr__hands_init(&l->hands, o->work, detail);
    if (result == 0 && o->arena_nbytes == 0)
        return 0; // it has no memory, and plays nothing
    if (result == 0)
        result = mr__cl_deck_new(o->player, o->arena_nbytes, o->arena_nbytes, &l->deck, detail);
    if (result != 0)
        return result;
    size_t nbytes = o->work->finish.output.sample_nbytes * MR__OPENCL_GROUP;
    if (!o->alone && mr__buffer_reserve(&l->out, &o->hooks, nbytes) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory for what the device %s makes", o->name);
    mr__tape_init(&l->tape, &o->hooks, mr__cl_deck_bytes(l->deck), o->arena_nbytes, o->arena_nbytes, MR__OPENCL_GROUP);
    mr__tape_writer_init(&l->writer, &o->hooks, &l->tape, &o->work->finish);
    return 0;
}

void mr__opencl_lane_fini(mr__opencl_lane *l)
{
    mr__opencl *o = l->opencl;
    if (o == NULL)
        return;
    mr__tape_writer_fini(&l->writer);
    mr__tape_fini(&l->tape);
    mr__cl_deck_free(l->deck);
    mr__read_ahead_free(l->ahead);
    for (size_t i = 0; i < MR__OPENCL_GROUP; i++)
        mr__errand_fini(&l->pieces[i].errand, o->work);
    mr__hands_fini(&l->hands);
    mr__buffer_fini(&l->out, &o->hooks);
    *l = (mr__opencl_lane){0};
}

/* 1. Reading. */

static void begin_piece(mr__opencl_lane *l, mr__opencl_piece *p, mr__task *task)
{
    p->task = task;
    p->on_tape = false;
    p->weight = 1;
    p->read = mr__prepare_begin(&l->hands, &p->errand, task) == 0;
}

/* The reads that have to be waited for, all at once. */
static void read_ahead(mr__opencl_lane *l, const bool *there)
{
    const mr_hooks *hooks = &l->opencl->hooks;
    size_t away = 0;
    mr__read *read;
    if (l->ahead == NULL && mr__read_ahead_new(hooks, MR__READ_AHEAD_AUTO, MR__OPENCL_GROUP, &l->ahead) != 0)
        l->ahead = NULL; // one after the other, then
    for (size_t i = 0; i < l->count; i++) {
        mr__opencl_piece *p = &l->pieces[i];
        if (!p->read || there[i])
            continue;
        if (l->ahead != NULL && mr__read_ahead_submit(l->ahead, &p->errand.read) == 0)
            away++;
        else
            mr__read_wait(&p->errand.read, hooks);
        atomic_fetch_add_explicit(&l->hands.meter->reads_waited, 1, memory_order_relaxed);
    }
    while (away != 0 && mr__read_ahead_take(l->ahead, &read) == 0)
        away--;
}

/* What a first read has shown to be needed is read now. */
static void read_rest(mr__opencl_lane *l, mr__opencl_piece *p)
{
    const mr_hooks *hooks = &l->opencl->hooks;
    while (mr__prepare_next(&l->hands, &p->errand))
        if (!mr__read_now(&p->errand.read, hooks))
            mr__read_wait(&p->errand.read, hooks);
    atomic_fetch_add_explicit(&l->hands.meter->stored_nbytes, p->errand.read.got, memory_order_relaxed);
}

void mr__opencl_read(mr__opencl_lane *l)
{
    bool there[MR__OPENCL_GROUP] = {false}, all = true, at_once = l->opencl->work->reading == MR_READ_AUTO;
    uint64_t nbytes = 0;
    l->begun_ns = now(l->opencl);
    l->count = l->next = 0;
    l->keep = (mr__cl_keep *)l->group.first->keep;
    for (mr__task *task = l->group.first; task != NULL && l->count < MR__OPENCL_GROUP; task = task->next) {
        mr__opencl_piece *p = &l->pieces[l->count];
        begin_piece(l, p, task);
        if (p->read)
            there[l->count] = at_once && mr__read_now(&p->errand.read, &l->opencl->hooks);
        all = all && (there[l->count] || !p->read);
        l->count++;
    }
    if (!all)
        read_ahead(l, there);
    for (size_t i = 0; i < l->count; i++) {
        mr__opencl_piece *p = &l->pieces[i];
        if (!p->read)
            continue;
        read_rest(l, p);
        nbytes += p->errand.read.got;
        atomic_fetch_add_explicit(&l->hands.meter->reads_cached, there[i], memory_order_relaxed);
    }
    mr__hands_lap(&l->hands, MR__AT_READ, l->count, nbytes);
}

/* 2. Writing. */

/* The host does all of it. */
static void do_here(mr__opencl_lane *l, mr__opencl_piece *p)
{
    atomic_fetch_add_explicit(&l->opencl->on_host, 1, memory_order_relaxed);
    (void)mr__prepare_make(&l->hands, &p->errand);
    p->read = false;
    if (l->keep != NULL && p->task->code == 0)
        mr__cl_keep_send(l->keep, p->task->keep_at, p->task->slot, l->opencl->work->finish.output.sample_nbytes);
}

static uint64_t weigh(const mr__opencl_piece *p)
{
    mr_rect region = mr__pass_region(&p->errand.chain.pass[0]);
    return 1 + (uint64_t)region.width * region.height;
}

/* Where its sample goes, counted from the batch's first byte: that of the slots, or of the lane's own memory. */
static uint64_t place_of(const mr__opencl_lane *l, const mr__opencl_piece *p, const uint8_t *base)
{
    size_t nbytes = l->opencl->work->finish.output.sample_nbytes;
    if (l->keep != NULL)
        return p->task->keep_at;
    return l->opencl->alone ? (uint64_t)((const uint8_t *)p->task->slot - base) : (uint64_t)(p - l->pieces) * nbytes;
}

/* Of those that are on no tape yet: the others may be elsewhere by now (refuge). */
static const uint8_t *first_slot(const mr__opencl_lane *l)
{
    const uint8_t *first = l->pieces[l->next].task->slot;
    for (size_t i = l->next + 1; i < l->count; i++)
        first = (const uint8_t *)l->pieces[i].task->slot < first ? l->pieces[i].task->slot : first;
    return first;
}

static void want(mr__opencl_lane *l, mr__opencl_piece *p, uint64_t at)
{
    uint64_t nbytes = l->opencl->work->finish.output.sample_nbytes;
    if (l->keep != NULL)
        return;
    void *to = l->opencl->alone ? p->task->slot : l->out.bytes + at;
    l->wanted[l->wanted_count++] = (mr__cl_piece){at, nbytes, to};
    l->batch_nbytes = at + nbytes > l->batch_nbytes ? at + nbytes : l->batch_nbytes;
}

/* False: the tape is full, and the task is for the next one. */
static bool write_piece(mr__opencl_lane *l, mr__opencl_piece *p, const uint8_t *base)
{
    uint64_t at = place_of(l, p, base);
    if (!p->read || mr__prepare_open(&l->hands, &p->errand) != 0) {
        p->read = false;
        return true;
    }
    p->weight = weigh(p);
    int result = mr__tape_sample(&l->writer, &l->hands, &p->errand, at, &p->number);
    if (result == MR_ENOMEM && l->tape.count != 0)
        return false;
    if (result == 0) {
        p->on_tape = true;
        want(l, p, at);
    } else {
        do_here(l, p);
    }
    return true;
}

void mr__opencl_write(mr__opencl_lane *l)
{
    const uint8_t *base = first_slot(l);
    size_t first = l->next;
    mr__tape_writer_begin(&l->writer);
    l->wanted_count = 0;
    l->batch_nbytes = 0;
    while (l->next < l->count && write_piece(l, &l->pieces[l->next], base))
        l->next++;
    mr__hands_lap(&l->hands, MR__AT_DECODE, l->next - first, l->tape.put);
}

/* 3. Settling. */

void mr__opencl_forsake(mr__opencl_lane *l)
{
    for (; l->next < l->count; l->next++) {
        mr__opencl_piece *p = &l->pieces[l->next];
        p->read = p->on_tape = p->read && mr__prepare_open(&l->hands, &p->errand) == 0;
    }
}

/* On the host, but not where the device may yet write. */
static void do_here_instead(mr__opencl_lane *l, mr__opencl_piece *p)
{
    mr__opencl *o = l->opencl;
    p->task->lane = l->number;
    if (l->given_up && o->alone && l->keep == NULL && !o->refuge(o->user, p->task))
        p->task->code =
            mr__fail(&p->task->detail, MR_ENOMEM, "out of memory for a batch that the device %s holds", o->name);
    else
        do_here(l, p);
}

/* The device has failed and nobody else is there, or a kernel has refused: the host's decoder knows more. */
static void settle_piece(mr__opencl_lane *l, mr__opencl_piece *p)
{
    mr__opencl *o = l->opencl;
    size_t nbytes = o->work->finish.output.sample_nbytes;
    bool refused = l->played_code == 0 && mr__tape_refused(l->words, p->number);
    p->on_tape = false;
    atomic_fetch_add_explicit(&o->refused, refused, memory_order_relaxed);
    if (refused || (l->played_code != 0 && o->hostless)) {
        do_here_instead(l, p);
    } else if (l->played_code != 0) {
        p->task->code = mr__fail(&p->task->detail, l->played_code, "the device %s: %s", o->name, l->why);
    } else if (!o->alone && l->keep == NULL) {
        memcpy(p->task->slot, l->out.bytes + place_of(l, p, NULL), nbytes);
    }
    p->read = false;
}

void mr__opencl_settle(mr__opencl_lane *l)
{
    size_t count = 0, nbytes = l->opencl->work->finish.output.sample_nbytes;
    mr__hands_start(&l->hands); // the device's time is not the host's
    for (size_t i = 0; i < l->count; i++)
        if (l->pieces[i].on_tape) {
            settle_piece(l, &l->pieces[i]);
            count++;
        }
    mr__hands_lap(&l->hands, MR__AT_AUGMENT, count, count * nbytes);
}

void mr__opencl_end(mr__opencl_lane *l)
{
    uint64_t sum = 0, before = 0, all = now(l->opencl) - l->begun_ns, shared = 0;
    for (size_t i = 0; i < l->count; i++)
        sum += l->pieces[i].weight;
    for (size_t i = 0; i < l->count; i++) {
        mr__task *task = l->pieces[i].task;
        shared += l->pieces[i].weight;
        uint64_t until = (uint64_t)((double)all * ((double)shared / (double)sum));
        task->lane = l->number;
        task->begun_ns = l->begun_ns;
        task->busy_ns = until - before;
        task->has_sum = false;
        before = until;
    }
}

/* 4. Next to nothing. */

int mr__opencl_write_little(mr__opencl_lane *l)
{
    mr__order_place place = {.in_arena = 1,
                             .to_row = 1,
                             .to_pixel = 1,
                             .to_plane = 1,
                             .number_nbytes = 1,
                             .canvas_width = 1,
                             .canvas_height = 1,
                             .from = {.channels = 1, .width = 1, .height = 1, .stride = 1}};
    mr__tape_writer_begin(&l->writer);
    (void)mr__tape_open(&l->tape);
    place.to = mr__tape_room(&l->tape, 1);
    for (uint32_t i = 0; i < 4; i++)
        mr__tape_call_of(&l->tape, MR__KERNEL_place, &place, sizeof place, 1);
    (void)mr__tape_close(&l->tape);
    return mr__tape_end(&l->tape);
}
