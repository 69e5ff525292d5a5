// SPDX-License-Identifier: Apache-2.0
#include "device/tape/chain.h"

#include "kernel/lane/pass.h"
#include "step/fuse.h"
#include "step/resize.h"

void mr__tape_writer_init(mr__tape_writer *w, const mr_hooks *hooks, mr__tape *tape, const mr__finish *finish)
{
    *w = (mr__tape_writer){.hooks = hooks, .tape = tape, .finish = *finish};
    mr__finisher_init(&w->finisher, finish, 0);
    mr__resample_init(&w->kernels, 0); // axes come without tables for processors
    mr__axis_cache_init(&w->axes, hooks, &w->kernels);
}

void mr__tape_writer_fini(mr__tape_writer *w)
{
    if (w->hooks != NULL)
        mr__axis_cache_trim(&w->axes);
    *w = (mr__tape_writer){0};
}

void mr__tape_writer_begin(mr__tape_writer *w)
{
    const mr__finisher *f = &w->finisher;
    mr__tape_begin(w->tape);
    w->table = 0;
    if (f->dtype == MR_F32)
        w->table = mr__tape_copy(w->tape, f->floats, f->channels * sizeof f->floats[0]);
    else if (f->dtype != MR_U8)
        w->table = mr__tape_copy(w->tape, f->halves, f->channels * sizeof f->halves[0]);
}

static int fail_room(mr__detail *detail)
{
    return mr__fail(detail, MR_ENOMEM, "it does not fit into the device's memory");
}

static int end_of(const mr__tape_writer *w, mr__detail *detail)
{
    return mr__tape_code(w->tape) == 0 ? 0 : fail_room(detail);
}

/* Weights of a side, in the tape. A side that stays as it is: along nothing. */
static int put_axis(mr__tape_writer *w, mr__resample_side side, bool x, mr__axis_at *at, mr__detail *detail)
{
    const mr__resample_axis *axis;
    mr__axis_key key = {side, x ? 1 : 0};
    *at = (mr__axis_at){.along = MR__ALONG_NOTHING};
    if (side.in == side.out)
        return 0;
    int result = mr__axis_cache_get(&w->axes, &key, detail, &axis);
    if (result != 0)
        return result == MR_ENOMEM ? mr__fail(detail, MR_ENOMEM, "out of memory for weights") : result;
    at->along = x ? MR__ALONG_X : MR__ALONG_Y;
    at->pitch = (uint32_t)axis->pitch;
    at->first = mr__tape_copy(w->tape, axis->first, axis->out * sizeof *axis->first);
    at->count = mr__tape_copy(w->tape, axis->count, axis->out * sizeof *axis->count);
    at->weights = mr__tape_copy(w->tape, axis->weights, axis->out * axis->pitch * sizeof *axis->weights);
    return 0;
}

static int put_nearest(mr__tape_writer *w, mr__resample_side side, uint32_t *at, mr__detail *detail)
{
    void *bytes;
    *at = mr__tape_put(w->tape, side.count * sizeof(uint32_t), &bytes);
    uint32_t *places = bytes;
    if (places == NULL)
        return fail_room(detail);
    mr__resize_nearest_middles(side.in, side.out, side.depth, side.begin, side.count, places);
    for (uint32_t i = 0; i < side.count; i++) {
        places[i] -= side.origin;
        if (places[i] >= side.span)
            return mr__fail(detail, MR_EINTERNAL, "a pass was given too little of its source");
    }
    return 0;
}

/* The part of a sheet that the window has where a side is not resized. */
static void crop_sheet(const mr__pass *pass, mr_rect region, mr__sheet *sheet)
{
    if (pass->crop.width == pass->to_width) {
        sheet->at += (pass->crop.x + pass->window.x - region.x) * sheet->channels;
        sheet->width = pass->window.width;
    }
    if (pass->crop.height == pass->to_height) {
        sheet->at += (pass->crop.y + pass->window.y - region.y) * sheet->stride;
        sheet->height = pass->window.height;
    }
}

/* Resamples along all sides but the last, which is left to placing. */
static int lay_resize(mr__tape_writer *w, const mr__pass *pass, mr_rect region, mr__order_place *place,
                      mr__sheet *between, mr__detail *detail)
{
    mr__axis_at x, y;
    bool alpha = place->from.channels % 2 == 0;
    int result = put_axis(w, mr__pass_side(pass, 8, region, true), true, &x, detail);
    if (result == 0)
        result = put_axis(w, mr__pass_side(pass, 8, region, false), false, &y, detail);
    if (result != 0)
        return result;
    bool both = x.along != MR__ALONG_NOTHING && y.along != MR__ALONG_NOTHING;
    bool down_first =
        mr__resample_goes_down_first(pass->crop.width, pass->crop.height, pass->to_width, pass->to_height);
    place->axis = y.along == MR__ALONG_NOTHING || (both && down_first) ? x : y;
    place->alpha = alpha ? 1 + 2 * !both : 0;
    if (!both)
        return 0;
    mr__order_resample order = {.from = place->from, .axis = down_first ? y : x, .alpha = alpha};
    order.to = mr__tape_sheet(w->tape, down_first ? place->from.width : pass->window.width,
                              down_first ? pass->window.height : place->from.height, place->from.channels);
    mr__tape_call_of(w->tape, MR__KERNEL_resample, &order, sizeof order,
                     MR__RESAMPLE_GROUPS(order.to.width, (uint64_t)order.to.height));
    place->from = order.to;
    *between = order.to;
    return 0;
}

static int lay_window(mr__tape_writer *w, const mr__pass *pass, mr_rect region, mr__order_place *place,
                      mr__sheet *between, mr__detail *detail)
{
    bool same = pass->crop.width == pass->to_width && pass->crop.height == pass->to_height;
    if (!same && pass->filter == MR_FILTER_NEAREST) {
        int result = put_nearest(w, mr__pass_side(pass, 8, region, true), &place->columns, detail);
        return result == 0 ? put_nearest(w, mr__pass_side(pass, 8, region, false), &place->rows, detail) : result;
    }
    crop_sheet(pass, region, &place->from);
    return same ? 0 : lay_resize(w, pass, region, place, between, detail);
}

/* A pass into a place whose steps are set. */
static int lay_pass(mr__tape_writer *w, const mr__pass *pass, mr_rect region, mr__sheet from, mr__order_place *place,
                    mr__detail *detail)
{
    place->from = from;
    place->canvas_width = pass->canvas_width;
    place->canvas_height = pass->canvas_height;
    place->x = pass->x;
    place->y = pass->y;
    place->width = pass->window.width;
    place->height = pass->window.height;
    place->flip_x = pass->flip_x;
    place->flip_y = pass->flip_y;
    place->border = pass->border;
    for (uint32_t c = 0; c < 4; c++)
        place->fill |= (uint32_t)pass->fill[c] << 8 * c;
    bool none = pass->window.width == 0 || pass->window.height == 0;
    mr__sheet between = {0};
    int result = none ? 0 : lay_window(w, pass, region, place, &between, detail);
    if (none)
        place->width = place->height = 0;
    if (result != 0)
        return result;
    mr__tape_call_of(w->tape, MR__KERNEL_place, place, sizeof *place,
                     MR__PLACE_GROUPS(place->canvas_width, (uint64_t)place->canvas_height));
    if (between.width != 0)
        mr__tape_leave(w->tape, &between);
    return end_of(w, detail);
}

int mr__tape_pass_between(mr__tape_writer *w, const mr__pass *pass, mr_rect region, mr__sheet *sheet,
                          mr__detail *detail)
{
    mr__sheet canvas = mr__tape_sheet(w->tape, pass->canvas_width, pass->canvas_height, sheet->channels);
    mr__order_place place = {.to = canvas.at,
                             .in_arena = 1,
                             .to_row = canvas.stride,
                             .to_pixel = canvas.channels,
                             .to_plane = 1,
                             .number_nbytes = 1};
    int result = lay_pass(w, pass, region, *sheet, &place, detail);
    if (result == 0)
        *sheet = canvas;
    return result;
}

static int lay_last(mr__tape_writer *w, const mr__pass *pass, mr_rect region, mr__sheet from, mr__detail *detail)
{
    const mr_output *output = &w->finish.output;
    const mr__finisher *f = &w->finisher;
    uint32_t number = (uint32_t)f->number_nbytes;
    bool planes = f->layout == MR_NCHW;
    mr__order_place place = {.to = w->out, .table = w->table, .number_nbytes = number};
    if (pass->canvas_width != output->width || pass->canvas_height != output->height)
        return mr__fail(detail, MR_EINTERNAL, "a recipe came to %u x %u, and not to %u x %u", pass->canvas_width,
                        pass->canvas_height, output->width, output->height);
    place.to_pixel = planes ? number : number * f->channels;
    place.to_row = place.to_pixel * output->width;
    place.to_plane = planes ? (uint64_t)place.to_row * output->height : number;
    return lay_pass(w, pass, region, from, &place, detail);
}

/* The part of a sheet that a pass looks at; what it has is the pass' `from`. */
static int cut(const mr__pass *pass, mr__sheet *sheet, mr_rect *region, mr__detail *detail)
{
    *region = mr__pass_region(pass);
    if (pass->window.width == 0 || pass->window.height == 0)
        return 0;
    uint64_t x = (uint64_t)region->x - pass->from.x, y = (uint64_t)region->y - pass->from.y;
    if (x + region->width > sheet->width || y + region->height > sheet->height)
        return mr__fail(detail, MR_EINTERNAL, "a pass looks for more than the %u x %u pixels that there are",
                        sheet->width, sheet->height);
    sheet->at += (uint32_t)y * sheet->stride + (uint32_t)x * sheet->channels;
    sheet->width = region->width;
    sheet->height = region->height;
    return 0;
}

/* Another sheet has come in the place of the one that `own` is the whole of. */
static void move_on(mr__tape_writer *w, const mr__sheet *sheet, mr__sheet *own)
{
    if (sheet->at != own->at && own->width != 0)
        mr__tape_leave(w->tape, own);
    *own = *sheet;
}

static int lay_ops(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, mr__sheet *own,
                   mr__detail *detail)
{
    int result = 0;
    for (size_t i = 0, took = 0; i < count && result == 0; i += took) {
        mr__sheet from = *sheet;
        result = mr__tape_op(w, ops + i, count - i, sheet, &took, detail);
        if (result == 0 && sheet->at != from.at)
            move_on(w, sheet, own);
    }
    return result == 0 ? end_of(w, detail) : result;
}

int mr__tape_chain(mr__tape_writer *w, const mr__chain *chain, mr__sheet sheet, mr__detail *detail)
{
    mr_rect region = mr__pass_region(&chain->pass[0]);
    mr__sheet own = sheet;
    int result = 0;
    for (size_t i = 0; i < chain->count && result == 0; i++) {
        const mr__pass *pass = &chain->pass[i];
        if (i != 0)
            result = cut(pass, &sheet, &region, detail);
        if (result != 0)
            return result;
        if (i + 1 == chain->count)
            result = lay_last(w, pass, region, sheet, detail);
        else if (!mr__pass_is_copy(pass) && (result = mr__tape_pass_between(w, pass, region, &sheet, detail)) == 0)
            move_on(w, &sheet, &own);
        if (result == 0 && i + 1 < chain->count)
            result = lay_ops(w, chain->op + pass->op, pass->ops, &sheet, &own, detail);
    }
    for (size_t i = 0; i < chain->erased_count && result == 0; i++)
        result = mr__tape_erase_finished(w, &chain->erased[i], detail);
    return result == 0 ? end_of(w, detail) : result;
}
