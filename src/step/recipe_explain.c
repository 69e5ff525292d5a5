// SPDX-License-Identifier: Apache-2.0
/*
 * What becomes of a recipe for one image, a line for each pass, op and table, with the steps it is made of:
 *
 *     pass 1   crop 412 x 301 at 20, 11; resize to 224 x 224 (bilinear); mirrored      rrc flip
 *     table    brightness 1.4, contrast 0.9                                            jitter
 *     op       warp                                                                    randaug
 *     pass 2   as f32, nchw                                                            normalize
 */
#include "step/recipe.h"
#include "step/step.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 76 };

/* As snprintf: what does not fit is counted. */
typedef struct page {
    char *text;
    size_t nbytes, length;
    size_t line; /* where the last line begins */
} page;

__attribute__((format(printf, 2, 3))) static void put(page *p, const char *format, ...)
{
    va_list args;
    bool room = p->length < p->nbytes;
    va_start(args, format);
    int n = vsnprintf(room ? p->text + p->length : NULL, room ? p->nbytes - p->length : 0, format, args);
    va_end(args);
    p->length += n > 0 ? (size_t)n : 0;
}

/* The names of the steps that have a share, in a column of their own. */
static void put_steps(page *p, const mr_recipe *recipe, uint64_t steps)
{
    size_t written = p->length - p->line;
    if (steps != 0)
        put(p, "%*s", (int)(written + 2 < COLUMN ? COLUMN - written : 2), "");
    for (size_t i = 0; i < recipe->count; i++)
        if ((steps >> i & 1) != 0)
            put(p, " %s", mr__step_type_of(recipe->steps[i].kind)->name);
    put(p, "\n");
    p->line = p->length;
}

static void put_op(page *p, const mr__op *op)
{
    char more[160] = "";
    const mr__op_type *type = mr__op_types[op->kind];
    if (type->tell != NULL && type->tell(op, more, sizeof more) > 0)
        put(p, "%s", more);
    else
        put(p, "%s", type->name);
    bool part = op->to.width != op->to_width || op->to.height != op->to_height;
    if (part && !type->in_place && type->table == NULL)
        put(p, ", of it %u x %u at %u, %u", op->to.width, op->to.height, op->to.x, op->to.y);
}

/* One line: an op, or tables that are one. Returns how many ops it is. */
static size_t put_group(page *p, const mr_recipe *recipe, const mr__op *ops, size_t count, bool apart, const char *in)
{
    bool table = mr__op_types[ops->kind]->table != NULL;
    uint64_t steps = ops->steps;
    size_t n = 1;
    put(p, "%s%-*s", in, in[0] == '\0' ? 9 : 6, table ? "table" : "op");
    put_op(p, ops);
    for (; table && !apart && n < count && mr__op_types[ops[n].kind]->table != NULL; n++) {
        put(p, ", ");
        put_op(p, &ops[n]);
        steps |= ops[n].steps;
    }
    put_steps(p, recipe, steps);
    return n;
}

/* Those of each branch stand under it. Returns how many they are. */
static size_t put_branches(page *p, const mr_recipe *recipe, const mr__op *mix, bool apart)
{
    const mr__op *ops = mix + 1;
    for (uint32_t i = 0; i < mix->u.mix.branches; i++) {
        put(p, "  branch %u, weight %.3g\n", i + 1, (double)mix->u.mix.weight[i]);
        p->line = p->length;
        for (size_t n = 0; n < mix->u.mix.depth[i];)
            n += put_group(p, recipe, ops + n, mix->u.mix.depth[i] - n, apart, "    ");
        ops += mix->u.mix.depth[i];
    }
    return mix->u.mix.ops;
}

static void put_ops(page *p, const mr_recipe *recipe, const mr__chain *chain, const mr__pass *pass)
{
    const mr__op *ops = chain->op + pass->op;
    for (size_t i = 0; i < pass->ops;) {
        const mr__op *op = &ops[i];
        i += put_group(p, recipe, op, pass->ops - i, chain->apart, "");
        if (op->kind == MR__OP_AUGMIX)
            i += put_branches(p, recipe, op, chain->apart);
    }
}

static void put_erased(page *p, const mr__chain *chain)
{
    for (size_t i = 0; i < chain->erased_count; i++) {
        mr_rect rect = chain->erased[i].rect;
        put(p, "erase    %u x %u at %u, %u\n", rect.width, rect.height, rect.x, rect.y);
    }
}

static bool is_all(mr_rect rect, uint32_t width, uint32_t height)
{
    return rect.width == width && rect.height == height;
}

static void put_pass(page *p, const mr__pass *pass, const mr_output *last)
{
    const char *next = "";
    if (!is_all(pass->crop, pass->width, pass->height)) {
        put(p, "crop %u x %u at %u, %u", pass->crop.width, pass->crop.height, pass->crop.x, pass->crop.y);
        next = "; ";
    }
    if (!is_all(pass->crop, pass->to_width, pass->to_height)) {
        put(p, "%sresize to %u x %u (%s)", next, pass->to_width, pass->to_height, mr_filter_name(pass->filter));
        next = "; ";
    }
    if (!is_all(pass->window, pass->to_width, pass->to_height)) {
        put(p, "%sof it %u x %u at %u, %u", next, pass->window.width, pass->window.height, pass->window.x,
            pass->window.y);
        next = "; ";
    }
    if (pass->flip_x || pass->flip_y) {
        put(p, "%s%s", next, pass->flip_x && pass->flip_y ? "turned half" : pass->flip_x ? "mirrored" : "upside down");
        next = "; ";
    }
    if (!is_all(pass->window, pass->canvas_width, pass->canvas_height)) {
        put(p, "%son %u x %u at %u, %u", next, pass->canvas_width, pass->canvas_height, pass->x, pass->y);
        next = "; ";
    }
    if (last != NULL)
        put(p, "%sas %s, %s", next, mr_dtype_name(last->dtype), mr_batch_layout_name(last->layout));
    else if (next[0] == '\0')
        put(p, "copy");
}

static uint64_t finishing_steps(const mr_recipe *recipe)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < recipe->count; i++) {
        mr_step_kind kind = recipe->steps[i].kind;
        bool finishes = kind == MR_STEP_NORMALIZE || kind == MR_STEP_LAYOUT || kind == MR_STEP_DTYPE;
        steps |= finishes ? UINT64_C(1) << i : 0;
    }
    return steps;
}

/* What is done to whole batches, by loaders. */
static void put_mixing(page *p, const mr_recipe *recipe)
{
    for (size_t i = 0; i < recipe->count; i++) {
        const mr_step *step = &recipe->steps[i];
        if (step->kind != MR_STEP_MIXUP && step->kind != MR_STEP_CUTMIX)
            continue;
        put(p, "batch    mixed with weights of Beta(%g, %g), chance %g", step->alpha[0], step->alpha[0], step->chance);
        put_steps(p, recipe, UINT64_C(1) << i);
    }
}

static void put_chain(page *p, const mr_recipe *recipe, const mr__chain *chain, const mr_output *output)
{
    mr_rect region = mr__pass_region(&chain->pass[0]);
    put(p, "decode   %u x %u at %u, %u, of %u x %u\n", region.width, region.height, region.x, region.y,
        chain->pass[0].width, chain->pass[0].height);
    p->line = p->length;
    for (size_t i = 0; i < chain->count; i++) {
        const mr__pass *pass = &chain->pass[i];
        bool last = i + 1 == chain->count;
        put(p, "pass %-4zu", i + 1);
        put_pass(p, pass, last ? output : NULL);
        put_steps(p, recipe, pass->steps | (last ? finishing_steps(recipe) : 0));
        put_ops(p, recipe, chain, pass);
    }
    put_erased(p, chain);
    p->line = p->length;
    put_mixing(p, recipe);
}

size_t mr_recipe_explain(mr_recipe *recipe, uint32_t width, uint32_t height, uint64_t seed, uint32_t epoch,
                         uint64_t key, char *text, size_t nbytes)
{
    if (recipe == NULL)
        return 0;
    mr__detail_clear(&recipe->detail);
    page p = {.text = text, .nbytes = text != NULL ? nbytes : 0};
    mr__finish finish;
    if (mr__recipe_finish(recipe, &finish, &recipe->detail) != 0)
        return 0;
    mr__chain *chain = mr__alloc(&recipe->hooks, sizeof *chain);
    uint32_t *draws = mr__alloc_array(&recipe->hooks, mr__recipe_draw_count(recipe) + 1, sizeof *draws);
    if (chain != NULL && draws != NULL) {
        mr__recipe_draw(recipe, seed, epoch, key, draws);
        if (mr__recipe_resolve(recipe, draws, width, height, NULL, chain, &recipe->detail) == 0)
            put_chain(&p, recipe, chain, &finish.output);
    } else {
        mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for a chain");
    }
    mr__free(&recipe->hooks, chain);
    mr__free(&recipe->hooks, draws);
    return p.length;
}
