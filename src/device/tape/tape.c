// SPDX-License-Identifier: Apache-2.0
#include "device/tape/tape.h"

#include <string.h>

enum { LIST_FIRST = 256 };

void mr__tape_init(mr__tape *t, const mr_hooks *hooks, uint8_t *bytes, uint32_t put_nbytes, uint32_t nbytes,
                   uint32_t samples_max)
{
    *t = (mr__tape){.hooks = hooks,
                    .bytes = bytes,
                    .put_nbytes = put_nbytes < nbytes ? put_nbytes : nbytes,
                    .nbytes = nbytes,
                    .samples_max = samples_max};
    mr__tape_begin(t);
}

void mr__tape_fini(mr__tape *t)
{
    if (t->hooks != NULL) {
        mr__free(t->hooks, t->calls);
        mr__free(t->hooks, t->launches);
        mr__free(t->hooks, t->places);
    }
    *t = (mr__tape){0};
}

static uint64_t round_up(uint64_t nbytes)
{
    return (nbytes + 63) / 64 * 64;
}

void mr__tape_begin(mr__tape *t)
{
    uint64_t words = round_up((uint64_t)t->samples_max * sizeof(uint32_t));
    t->room = t->nbytes / 64 * 64;
    t->count = t->level = 0;
    t->lists = 0;
    t->call_count = t->launch_count = t->place_count = 0;
    t->code = words <= t->put_nbytes ? 0 : MR_ENOMEM;
    t->put = t->code == 0 ? (uint32_t)words : 0;
    if (t->code == 0)
        memset(t->bytes, 0, (size_t)words);
}

mr__tape_mark mr__tape_open(mr__tape *t)
{
    t->level = t->spare_count = 0;
    t->code = t->count < t->samples_max ? 0 : MR_ENOMEM;
    return (mr__tape_mark){t->put, t->room, t->lists, t->call_count, t->place_count};
}

void mr__tape_drop(mr__tape *t, mr__tape_mark mark)
{
    t->put = mark.put;
    t->room = mark.room;
    t->lists = mark.lists;
    t->call_count = mark.call_count;
    t->place_count = mark.place_count;
    t->spare_count = 0;
    t->code = 0;
}

uint32_t mr__tape_close(mr__tape *t)
{
    return t->count++;
}

int mr__tape_code(const mr__tape *t)
{
    return t->code;
}

uint32_t mr__tape_status(const mr__tape *t)
{
    return t->count * (uint32_t)sizeof(uint32_t);
}

static uint32_t refuse(mr__tape *t)
{
    t->code = MR_ENOMEM;
    return 0;
}

/* A list with room for one more: itself or a longer one; NULL: there is no memory. */
static void *list_with_room(const mr_hooks *hooks, void *list, size_t count, size_t *max, size_t item_nbytes)
{
    size_t longer = *max != 0 ? 2 * *max : LIST_FIRST;
    if (count < *max)
        return list;
    void *to = mr__alloc_array(hooks, longer, item_nbytes);
    if (to == NULL)
        return NULL;
    if (count != 0)
        memcpy(to, list, count * item_nbytes);
    mr__free(hooks, list);
    *max = longer;
    return to;
}

/* A place that is given; with a guard it is remembered. */
static uint32_t place_at(mr__tape *t, uint32_t at, size_t nbytes)
{
    mr__tape_place *places = t->places;
    if (t->guard == 0)
        return at;
    if ((places = list_with_room(t->hooks, places, t->place_count, &t->place_max, sizeof *places)) == NULL)
        return refuse(t);
    t->places = places;
    t->places[t->place_count++] = (mr__tape_place){at, (uint32_t)nbytes};
    return at;
}

/* What the host can still put there: beside what kernels write, and lists of launches. */
static uint64_t left_to_put(const mr__tape *t)
{
    return (t->put_nbytes < t->room ? t->put_nbytes : t->room) - t->put - t->lists;
}

uint32_t mr__tape_put(mr__tape *t, size_t nbytes, void **bytes)
{
    uint64_t takes = nbytes <= UINT32_MAX ? round_up((uint64_t)nbytes + t->guard) : UINT64_MAX;
    uint32_t at = t->put;
    *bytes = NULL;
    if (t->code != 0 || takes > left_to_put(t))
        return refuse(t);
    t->put += (uint32_t)takes;
    at = place_at(t, at, nbytes);
    *bytes = t->code == 0 ? t->bytes + at : NULL;
    return at;
}

uint32_t mr__tape_copy(mr__tape *t, const void *from, size_t nbytes)
{
    void *bytes;
    uint32_t at = mr__tape_put(t, nbytes, &bytes);
    if (bytes != NULL && nbytes != 0)
        memcpy(bytes, from, nbytes);
    return at;
}

void mr__tape_cut(mr__tape *t, uint32_t at, uint32_t nbytes)
{
    uint64_t end = at + round_up((uint64_t)nbytes + t->guard);
    if (t->code == 0 && end < t->put)
        t->put = (uint32_t)end;
}

/* The smallest spare room that is large enough. False: there is none. */
static bool take_spare(mr__tape *t, uint64_t nbytes, uint32_t *at)
{
    uint32_t best = t->spare_count;
    for (uint32_t i = 0; i < t->spare_count; i++)
        if (t->spares[i].nbytes >= nbytes && (best == t->spare_count || t->spares[i].nbytes < t->spares[best].nbytes))
            best = i;
    if (best == t->spare_count)
        return false;
    *at = t->spares[best].at;
    t->spares[best] = t->spares[--t->spare_count];
    return true;
}

uint32_t mr__tape_room(mr__tape *t, uint64_t nbytes)
{
    uint64_t takes = nbytes <= UINT32_MAX ? round_up(nbytes + t->guard) : UINT64_MAX;
    uint32_t at;
    if (t->code == 0 && take_spare(t, takes, &at))
        return place_at(t, at, (size_t)nbytes);
    if (t->code != 0 || takes > t->room - t->put - t->lists)
        return refuse(t);
    t->room -= (uint32_t)takes;
    return place_at(t, t->room, (size_t)nbytes);
}

void mr__tape_leave(mr__tape *t, const mr__sheet *sheet)
{
    uint64_t nbytes = round_up((uint64_t)sheet->stride * sheet->height + t->guard);
    bool whole = sheet->stride == sheet->width * sheet->channels && sheet->at % 64 == 0;
    if (t->code == 0 && whole && sheet->at >= t->room && nbytes <= UINT32_MAX && t->spare_count < MR__TAPE_SPARES)
        t->spares[t->spare_count++] = (mr__tape_spare){sheet->at, (uint32_t)nbytes};
}

mr__sheet mr__tape_sheet(mr__tape *t, uint32_t width, uint32_t height, uint32_t channels)
{
    uint64_t stride = (uint64_t)width * channels;
    mr__sheet sheet = {.stride = (uint32_t)stride, .width = width, .height = height, .channels = channels};
    sheet.at = stride <= UINT32_MAX ? mr__tape_room(t, stride * height) : refuse(t);
    return sheet;
}

mr__sheet mr__tape_image(mr__tape *t, const mr_image *image)
{
    size_t row = mr_image_row_nbytes(image);
    mr__sheet sheet = {
        .stride = (uint32_t)row, .width = image->width, .height = image->height, .channels = image->channels};
    void *bytes = NULL;
    if (image->depth == 8 && row <= UINT32_MAX)
        sheet.at = mr__tape_put(t, row * image->height, &bytes);
    else
        sheet.at = refuse(t);
    for (uint32_t y = 0; bytes != NULL && y < image->height; y++)
        memcpy((uint8_t *)bytes + y * row, (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride, row);
    return sheet;
}

static void add_call(mr__tape *t, uint32_t level, mr__kernel kernel, const void *order, size_t nbytes, uint64_t items)
{
    uint32_t at = mr__tape_copy(t, order, nbytes);
    mr__tape_call *calls = NULL;
    if (t->code == 0 && items <= UINT32_MAX)
        calls = list_with_room(t->hooks, t->calls, t->call_count, &t->call_max, sizeof *calls);
    if (calls == NULL) {
        (void)refuse(t);
        return;
    }
    uint64_t list = round_up(items * sizeof(mr__lane_turn) + t->guard);
    t->calls = calls;
    if (list > left_to_put(t)) {
        (void)refuse(t);
        return;
    }
    t->lists += list;
    t->calls[t->call_count++] = (mr__tape_call){kernel, level, at, (uint32_t)items};
}

void mr__tape_call_of(mr__tape *t, mr__kernel kernel, const void *order, size_t order_nbytes, uint64_t items)
{
    if (items != 0)
        add_call(t, t->level++, kernel, order, order_nbytes, items);
}

void mr__tape_call_beside(mr__tape *t, mr__kernel kernel, const void *order, size_t order_nbytes, uint64_t items)
{
    if (t->level == 0)
        mr__tape_call_of(t, kernel, order, order_nbytes, items);
    else if (items != 0)
        add_call(t, t->level - 1, kernel, order, order_nbytes, items);
}

void mr__tape_call_at(mr__tape *t, uint32_t level, mr__kernel kernel, const void *order, size_t order_nbytes,
                      uint64_t items)
{
    if (items == 0)
        return;
    add_call(t, level, kernel, order, order_nbytes, items);
    t->level = level >= t->level ? level + 1 : t->level;
}

mr__tape_fork mr__tape_fork_begin(mr__tape *t)
{
    mr__tape_fork fork = {.first = t->level, .last = t->level};
    mr__tape_fork_next(t, &fork);
    return fork;
}

/* Spare room goes to the fork: the branch that comes next may be at work before those that have left it are done. */
void mr__tape_fork_next(mr__tape *t, mr__tape_fork *fork)
{
    for (uint32_t i = 0; i < t->spare_count && fork->spare_count < MR__TAPE_SPARES; i++)
        fork->spares[fork->spare_count++] = t->spares[i];
    t->spare_count = 0;
    fork->last = t->level > fork->last ? t->level : fork->last;
    t->level = fork->first;
}

void mr__tape_fork_end(mr__tape *t, const mr__tape_fork *fork)
{
    t->level = fork->last;
    memcpy(t->spares, fork->spares, fork->spare_count * sizeof *fork->spares);
    t->spare_count = fork->spare_count;
}

/* The calls of one level and kernel, from `from` on, as one launch. */
static bool add_launch(mr__tape *t, uint32_t level, mr__kernel kernel)
{
    uint64_t groups = 0;
    void *bytes;
    for (size_t i = 0; i < t->call_count; i++)
        if (t->calls[i].level == level && t->calls[i].kernel == kernel)
            groups += t->calls[i].items;
    if (groups == 0)
        return true;
    if (groups > UINT32_MAX / sizeof(mr__lane_turn) || t->launch_count == t->launch_max)
        return false;
    uint32_t list = mr__tape_put(t, (size_t)groups * sizeof(mr__lane_turn), &bytes);
    mr__lane_turn *turn = bytes;
    for (size_t i = 0; turn != NULL && i < t->call_count; i++)
        if (t->calls[i].level == level && t->calls[i].kernel == kernel)
            for (uint32_t item = 0; item < t->calls[i].items; item++)
                *turn++ = (mr__lane_turn){t->calls[i].order, item};
    t->launches[t->launch_count++] = (mr__launch){kernel, list, (uint32_t)groups};
    return turn != NULL;
}

static bool reserve_launches(mr__tape *t)
{
    if (t->launch_max >= t->call_count)
        return true;
    mr__free(t->hooks, t->launches);
    t->launch_max = 0;
    t->launches = mr__alloc_array(t->hooks, t->call_max, sizeof *t->launches);
    if (t->launches != NULL)
        t->launch_max = t->call_max;
    return t->launches != NULL;
}

int mr__tape_end(mr__tape *t)
{
    uint32_t levels = 0;
    t->code = 0;
    t->lists = 0; // they are put there now
    for (size_t i = 0; i < t->call_count; i++)
        levels = t->calls[i].level >= levels ? t->calls[i].level + 1 : levels;
    bool all = reserve_launches(t);
    for (uint32_t level = 0; level < levels && all; level++) {
        uint64_t used[MR__KERNEL_GUEST / 64 + 1] = {0};
        for (size_t i = 0; i < t->call_count; i++)
            if (t->calls[i].level == level)
                used[t->calls[i].kernel / 64] |= UINT64_C(1) << t->calls[i].kernel % 64;
        for (uint32_t k = 0; k <= MR__KERNEL_GUEST && all; k++)
            if ((used[k / 64] >> k % 64 & 1) != 0)
                all = add_launch(t, level, (mr__kernel)k);
    }
    if (!all)
        (void)refuse(t);
    return t->code;
}
