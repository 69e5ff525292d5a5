// SPDX-License-Identifier: Apache-2.0
/*
 * Folding. What holds of every pass, between calls:
 *
 * 1. The window lies in the resized image, and placed at x, y it lies on the canvas.
 * 2. Where nothing is resized, the window is the whole crop: what a crop leaves out is left out first.
 * 3. Where the window is the whole canvas, there is no border: it is FILL, with zeros.
 * 4. An empty window is all zero, at 0, 0, not flipped, and the border is FILL.
 * 5. The last pass has no ops: one that is added begins the next pass, and ops follow each other in the list as they
 *    are run.
 */
#include "step/chain.h"

#include "step/follow.h"
#include "step/resample.h"
#include "step/resize.h"

#include <string.h>

static mr__pass *last_pass(mr__chain *chain)
{
    return &chain->pass[chain->count - 1];
}

static void init_pass(mr__pass *pass, uint32_t width, uint32_t height)
{
    mr_rect all = {0, 0, width, height};
    *pass = (mr__pass){
        .width = width,
        .height = height,
        .from = all,
        .crop = all,
        .to_width = width,
        .to_height = height,
        .window = all,
        .canvas_width = width,
        .canvas_height = height,
    };
}

void mr__chain_init(mr__chain *chain, uint32_t width, uint32_t height, bool apart, mr__follow *follow)
{
    chain->count = 1;
    chain->op_count = chain->erased_count = 0;
    chain->finished = false;
    chain->apart = apart;
    chain->branch = false;
    chain->step = 0;
    chain->follow = follow;
    init_pass(chain->pass, width, height);
}

void mr__chain_size(const mr__chain *chain, uint32_t *width, uint32_t *height)
{
    *width = chain->pass[chain->count - 1].canvas_width;
    *height = chain->pass[chain->count - 1].canvas_height;
}

static int begin_pass(mr__chain *chain, uint32_t width, uint32_t height, mr__detail *detail)
{
    if (chain->count == MR__STAGES_MAX)
        return mr__fail(detail, MR_ELIMIT,
                        "the recipe needs more than %d passes over the pixels, the most there can be", MR__STAGES_MAX);
    init_pass(&chain->pass[chain->count++], width, height);
    return 0;
}

/* The next pass begins with what there is. */
static int begin_next(mr__chain *chain, mr__detail *detail)
{
    const mr__pass *pass = last_pass(chain);
    return begin_pass(chain, pass->canvas_width, pass->canvas_height, detail);
}

/* That the step which is being resolved has a share in a pass. */
static void claim(const mr__chain *chain, mr__pass *pass)
{
    pass->steps |= UINT64_C(1) << (chain->step & 63);
}

/* With nothing fused, what is added finds a pass that does nothing yet, or one that only its own step is in. */
static int stand_apart(mr__chain *chain, mr__detail *detail)
{
    uint64_t others = last_pass(chain)->steps & ~(UINT64_C(1) << (chain->step & 63));
    return chain->apart && others != 0 ? begin_next(chain, detail) : 0;
}

static bool resizes(const mr__pass *pass)
{
    return pass->to_width != pass->crop.width || pass->to_height != pass->crop.height;
}

static bool has_border(const mr__pass *pass)
{
    return pass->window.width != pass->canvas_width || pass->window.height != pass->canvas_height;
}

/* What two parts of a line have in common, as places on it; false: nothing. */
static bool overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length, uint32_t *from, uint32_t *length)
{
    uint32_t end = a + a_length < b + b_length ? a + a_length : b + b_length;
    *from = a > b ? a : b;
    *length = end > *from ? end - *from : 0;
    return *length != 0;
}

/* Keeps a canvas with nothing of the image on it. */
static void keep_fill_alone(mr__pass *pass)
{
    pass->window = (mr_rect){0, 0, 0, 0};
    pass->x = pass->y = 0;
    pass->flip_x = pass->flip_y = false;
}

/* Brings a pass back to 2 and 3. */
static void tidy(mr__pass *pass)
{
    if (!has_border(pass)) {
        pass->border = MR_BORDER_FILL;
        memset(pass->fill, 0, sizeof pass->fill);
    }
    if (resizes(pass) || pass->window.width == 0)
        return;
    pass->crop.x += pass->window.x;
    pass->crop.y += pass->window.y;
    pass->crop.width = pass->to_width = pass->window.width;
    pass->crop.height = pass->to_height = pass->window.height;
    pass->window.x = pass->window.y = 0;
}

static bool lies_in_window(const mr__pass *pass, mr_rect rect)
{
    return rect.x >= pass->x && rect.y >= pass->y && rect.x + rect.width <= pass->x + pass->window.width &&
           rect.y + rect.height <= pass->y + pass->window.height;
}

/* Of a part of the canvas. A flipped window is cut at its other side. */
static void cut_pass(mr__pass *pass, mr_rect rect)
{
    mr_rect *window = &pass->window, kept;
    bool wide = overlap(rect.x, rect.width, pass->x, window->width, &kept.x, &kept.width);
    bool high = overlap(rect.y, rect.height, pass->y, window->height, &kept.y, &kept.height);
    pass->canvas_width = rect.width;
    pass->canvas_height = rect.height;
    if (!wide || !high) {
        keep_fill_alone(pass);
        return;
    }
    uint32_t left = kept.x - pass->x, top = kept.y - pass->y;
    window->x += pass->flip_x ? window->width - left - kept.width : left;
    window->y += pass->flip_y ? window->height - top - kept.height : top;
    window->width = kept.width;
    window->height = kept.height;
    pass->x = kept.x - rect.x;
    pass->y = kept.y - rect.y;
    tidy(pass);
}

/* What was moved, once it is: the size that it came to is the chain's. */
static int note_move(mr__chain *chain, mr__move *move, mr__detail *detail)
{
    mr__chain_size(chain, &move->to_width, &move->to_height);
    return mr__follow_note(chain->follow, move, detail);
}

int mr__chain_crop(mr__chain *chain, mr_rect rect, mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    uint32_t width = pass->canvas_width, height = pass->canvas_height;
    if (rect.width == 0 || rect.height == 0 || rect.width > width || rect.height > height ||
        rect.x > width - rect.width || rect.y > height - rect.height)
        return mr__fail(detail, MR_EARGUMENT, "a crop of %u x %u at %u, %u does not lie in an image of %u x %u",
                        rect.width, rect.height, rect.x, rect.y, width, height);
    mr__move move = {.kind = MR__MOVE_CROP, .width = width, .height = height, .u.crop = rect};
    if (rect.width == width && rect.height == height)
        return note_move(chain, &move, detail); /* boxes are cut to the image, even so */
    int result = stand_apart(chain, detail);
    pass = last_pass(chain);
    if (result == 0 && pass->border != MR_BORDER_FILL && !lies_in_window(pass, rect))
        result = begin_next(chain, detail);
    if (result != 0)
        return result;
    claim(chain, last_pass(chain));
    cut_pass(last_pass(chain), rect);
    return note_move(chain, &move, detail);
}

int mr__chain_resize(mr__chain *chain, uint32_t width, uint32_t height, mr_filter filter, mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    if (width == 0 || height == 0 || width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_ELIMIT, "a resize to %u x %u: sides are 1 to %d", width, height, MR_RECIPE_SIDE_MAX);
    mr__move move = {.kind = MR__MOVE_RESIZE, .width = pass->canvas_width, .height = pass->canvas_height};
    if (pass->canvas_width == width && pass->canvas_height == height)
        return 0;
    int result = stand_apart(chain, detail);
    pass = last_pass(chain);
    if (result == 0 && (resizes(pass) || pass->flip_x || pass->flip_y || has_border(pass)))
        result = begin_next(chain, detail);
    if (result != 0)
        return result;
    pass = last_pass(chain);
    claim(chain, pass);
    pass->to_width = pass->canvas_width = width;
    pass->to_height = pass->canvas_height = height;
    pass->filter = filter;
    pass->window = (mr_rect){0, 0, width, height};
    return note_move(chain, &move, detail);
}

/* The mirror image of a border is the border of the mirror image, whichever it is. */
static void flip_pass(mr__pass *pass, bool x, bool y)
{
    if (pass->window.width == 0)
        return;
    if (x) {
        pass->flip_x = !pass->flip_x;
        pass->x = pass->canvas_width - pass->window.width - pass->x;
    }
    if (y) {
        pass->flip_y = !pass->flip_y;
        pass->y = pass->canvas_height - pass->window.height - pass->y;
    }
}

int mr__chain_flip(mr__chain *chain, bool x, bool y, mr__detail *detail)
{
    int result = stand_apart(chain, detail);
    if (result != 0)
        return result;
    mr__pass *pass = last_pass(chain);
    claim(chain, pass);
    flip_pass(pass, x, y);
    mr__move move = {
        .kind = MR__MOVE_FLIP, .width = pass->canvas_width, .height = pass->canvas_height, .u.flip = {x, y}};
    return note_move(chain, &move, detail);
}

static bool takes_border(const mr__pass *pass, mr_border border, const uint8_t fill[4])
{
    if (!has_border(pass))
        return border == MR_BORDER_FILL ||
               (pass->window.width == pass->to_width && pass->window.height == pass->to_height);
    return border == MR_BORDER_FILL && pass->border == MR_BORDER_FILL &&
           memcmp(pass->fill, fill, sizeof pass->fill) == 0;
}

int mr__chain_pad(mr__chain *chain, const uint32_t pad[4], mr_border border, const uint8_t fill[4], mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    uint64_t width = (uint64_t)pass->canvas_width + pad[0] + pad[2];
    uint64_t height = (uint64_t)pass->canvas_height + pad[1] + pad[3];
    mr__move move = {.kind = MR__MOVE_PAD,
                     .width = pass->canvas_width,
                     .height = pass->canvas_height,
                     .u.pad = {{pad[0], pad[1], pad[2], pad[3]}, border}};
    if (width == pass->canvas_width && height == pass->canvas_height)
        return note_move(chain, &move, detail);
    if (width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_ELIMIT, "%u x %u pixels with a border are %llu x %llu: sides are at most %d",
                        pass->canvas_width, pass->canvas_height, (unsigned long long)width, (unsigned long long)height,
                        MR_RECIPE_SIDE_MAX);
    int result = stand_apart(chain, detail);
    if (result == 0 && !takes_border(last_pass(chain), border, fill))
        result = begin_next(chain, detail);
    if (result != 0)
        return result;
    pass = last_pass(chain);
    claim(chain, pass);
    pass->canvas_width = (uint32_t)width;
    pass->canvas_height = (uint32_t)height;
    if (pass->window.width != 0) {
        pass->x += pad[0];
        pass->y += pad[1];
    }
    pass->border = border;
    for (size_t i = 0; border == MR_BORDER_FILL && i < sizeof pass->fill; i++)
        pass->fill[i] = fill[i];
    return note_move(chain, &move, detail);
}

static bool is_idle(const mr__pass *pass)
{
    return pass->steps == 0;
}

/* The pass that an op goes to: one with ops already, if nothing was done since, or the last one. */
static mr__pass *pass_of_op(mr__chain *chain)
{
    bool goes_on = chain->count > 1 && is_idle(last_pass(chain)) && chain->pass[chain->count - 2].ops != 0;
    return goes_on ? &chain->pass[chain->count - 2] : last_pass(chain);
}

int mr__chain_op(mr__chain *chain, mr__op op, mr__detail *detail)
{
    if (chain->op_count == MR__OPS_MAX)
        return mr__fail(detail, MR_ELIMIT,
                        "the recipe does more than %d things to colors and places, the most there can be", MR__OPS_MAX);
    mr__pass *pass = pass_of_op(chain);
    mr__chain_size(chain, &op.width, &op.height);
    if (op.to_width == 0) {
        op.to_width = op.width;
        op.to_height = op.height;
    }
    op.from = (mr_rect){0, 0, op.width, op.height};
    op.to = (mr_rect){0, 0, op.to_width, op.to_height};
    op.steps = UINT64_C(1) << (chain->step & 63);
    if (pass == last_pass(chain)) {
        int result = begin_pass(chain, op.to_width, op.to_height, detail);
        if (result != 0)
            return result;
        pass->op = (uint32_t)chain->op_count;
    } else {
        init_pass(last_pass(chain), op.to_width, op.to_height);
    }
    pass->ops++;
    chain->op[chain->op_count++] = op;
    return 0;
}

int mr__chain_amount(mr__chain *chain, mr__op_kind kind, double amount, mr__detail *detail)
{
    return mr__chain_op(chain, (mr__op){.kind = kind, .amount = amount}, detail);
}

/* Along one side: what `n` outputs from `index` on need of `in` source samples. */
static void need(const mr__pass *pass, uint32_t in, uint32_t out, uint32_t *index, uint32_t *n)
{
    if (in == out)
        return;
    if (pass->filter == MR_FILTER_NEAREST)
        mr__resize_nearest_reach(in, out, *index, *n, index, n);
    else
        mr__resample_reach(in, out, pass->filter, *index, *n, index, n);
}

mr_rect mr__pass_region(const mr__pass *pass)
{
    if (pass->window.width == 0)
        return (mr_rect){pass->crop.x, pass->crop.y, 1, 1};
    mr_rect region = pass->window;
    need(pass, pass->crop.width, pass->to_width, &region.x, &region.width);
    need(pass, pass->crop.height, pass->to_height, &region.y, &region.height);
    region.x += pass->crop.x;
    region.y += pass->crop.y;
    return region;
}

/* The op that was added last, if nothing else was since and it is a quarter turn, or several; else NULL. */
static mr__op *last_turn(mr__chain *chain)
{
    const mr__pass *pass = pass_of_op(chain);
    if (chain->apart || chain->branch || pass == last_pass(chain))
        return NULL;
    mr__op *op = &chain->op[chain->op_count - 1];
    return op->kind == MR__OP_WARP && op->u.warp.quarter != 0 ? op : NULL;
}

static void size_turned(mr__op *op)
{
    bool aside = op->u.warp.quarter % 2 == 1;
    op->to_width = aside ? op->height : op->width;
    op->to_height = aside ? op->width : op->height;
    op->to = (mr_rect){0, 0, op->to_width, op->to_height};
}

/* One more turn on top of the last. Four quarters are none: the op goes, and with the only one its pass' end. */
static void turn_on(mr__chain *chain, mr__op *op, uint32_t quarters)
{
    op->u.warp.quarter = (op->u.warp.quarter + quarters) % 4;
    op->steps |= UINT64_C(1) << (chain->step & 63);
    if (op->u.warp.quarter != 0) {
        size_turned(op);
        init_pass(last_pass(chain), op->to_width, op->to_height);
        return;
    }
    mr__pass *pass = pass_of_op(chain);
    chain->op_count--;
    pass->ops--;
    if (pass->ops == 0)
        chain->count--;
    else
        init_pass(last_pass(chain), op->width, op->height);
}

int mr__chain_turn(mr__chain *chain, uint32_t quarters, mr__detail *detail)
{
    mr__op *before = last_turn(chain);
    if (before != NULL) {
        turn_on(chain, before, quarters);
        return 0;
    }
    if (quarters == 2 && !chain->branch) {
        int result = stand_apart(chain, detail);
        if (result != 0)
            return result;
        claim(chain, last_pass(chain));
        flip_pass(last_pass(chain), true, true);
        return 0;
    }
    mr__op op = {.kind = MR__OP_WARP, .u.warp = {.quarter = quarters}};
    mr__chain_size(chain, &op.width, &op.height);
    size_turned(&op);
    return mr__chain_op(chain, op, detail);
}

/* The ops of a pass that stand by themselves, and are not a branch of another's: their numbers in the chain. */
static size_t list_ops(const mr__chain *chain, const mr__pass *pass, uint32_t list[MR__OPS_MAX])
{
    size_t count = 0;
    for (uint32_t i = pass->op; i < pass->op + pass->ops; i++) {
        list[count++] = i;
        if (chain->op[i].kind == MR__OP_AUGMIX)
            i += chain->op[i].u.mix.ops;
    }
    return count;
}

/* The part of the canvas that is made when only this one is looked at: it, or all where that is not so simple. */
static mr_rect cut_canvas(mr__pass *pass, mr_rect need)
{
    mr_rect all = {0, 0, pass->canvas_width, pass->canvas_height};
    if (pass->border != MR_BORDER_FILL && !lies_in_window(pass, need))
        return all;
    cut_pass(pass, need);
    return need;
}

/* Whether an op leaves an image in its place, and so gives all of what it is given. */
static bool stays(const mr__op_type *type)
{
    return type->in_place || type->table != NULL;
}

/* One pass, with its ops, of whose result `need` is looked at. Returns the part that is there in the end. */
static mr_rect narrow_pass(mr__chain *chain, mr__pass *pass, mr_rect need)
{
    uint32_t list[MR__OPS_MAX];
    size_t count = list_ops(chain, pass, list);
    for (size_t i = count; i-- > 0;) {
        mr__op *op = &chain->op[list[i]];
        if (!mr__op_types[op->kind]->whole)
            op->to = need;
        if (mr__op_types[op->kind]->need != NULL)
            need = mr__op_types[op->kind]->need(op, need);
    }
    mr_rect there = cut_canvas(pass, need);
    for (size_t i = 0; i < count; i++) {
        mr__op *op = &chain->op[list[i]];
        op->from = there;
        if (stays(mr__op_types[op->kind]))
            op->to = there;
        there = op->to;
    }
    return there;
}

void mr__chain_narrow(mr__chain *chain)
{
    for (size_t i = chain->count; !chain->apart && i-- > 1;)
        chain->pass[i].from = narrow_pass(chain, &chain->pass[i - 1], mr__pass_region(&chain->pass[i]));
}

bool mr__pass_is_copy(const mr__pass *pass)
{
    return pass->to_width == pass->crop.width && pass->to_height == pass->crop.height && !pass->flip_x &&
           !pass->flip_y && pass->window.width == pass->canvas_width && pass->window.height == pass->canvas_height;
}
