// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a list of ops. An op that is not done in place goes from where the image is to one of two places, by turns; the
 * first may read what is not ours to write, and the last may write where the image is wanted, so that nothing is copied
 * for it. A branch of augmix is a list of its own, one level deeper, with places of its own.
 */
#include "base/size.h"
#include "step/op_table.h"
#include "step/ops.h"

#include <string.h>

enum { LEVELS = 2, SCRATCHES = 8 };

struct mr__op_tools {
    const mr_hooks *hooks;
    mr__cpu_flags cpu;
    size_t level;
    mr__buffer places[LEVELS][2];
    mr__buffer scratch[SCRATCHES];
};

int mr__op_tools_new(const mr_hooks *hooks, mr__cpu_flags cpu, mr__op_tools **out)
{
    mr__op_tools *tools = mr__alloc_zero(hooks, sizeof *tools);
    if (tools == NULL)
        return MR_ENOMEM;
    tools->hooks = hooks;
    tools->cpu = cpu;
    *out = tools;
    return 0;
}

void mr__op_tools_trim(mr__op_tools *tools)
{
    if (tools == NULL)
        return;
    for (size_t i = 0; i < LEVELS; i++) {
        mr__buffer_fini(&tools->places[i][0], tools->hooks);
        mr__buffer_fini(&tools->places[i][1], tools->hooks);
    }
    for (size_t i = 0; i < SCRATCHES; i++)
        mr__buffer_fini(&tools->scratch[i], tools->hooks);
}

void mr__op_tools_free(mr__op_tools *tools)
{
    if (tools == NULL)
        return;
    mr__op_tools_trim(tools);
    mr__free(tools->hooks, tools);
}

mr__cpu_flags mr__op_cpu(const mr__op_tools *tools)
{
    return tools->cpu;
}

void *mr__op_scratch(mr__op_tools *tools, size_t number, size_t nbytes)
{
    if (number >= SCRATCHES || mr__buffer_reserve(&tools->scratch[number], tools->hooks, nbytes) != 0)
        return NULL;
    return tools->scratch[number].bytes;
}

int mr__op_place(mr__buffer places[2], const mr_hooks *hooks, const mr_image *from, uint32_t width, uint32_t height,
                 mr_image *to, mr__detail *detail)
{
    mr__buffer *place = mr__buffer_has(&places[0], from->pixels) ? &places[1] : &places[0];
    size_t nbytes;
    *to = (mr_image){width, height, from->channels, from->depth, 0, NULL};
    size_t row = mr_image_row_nbytes(to);
    if (!mr__size_mul(row, height, &nbytes) || nbytes > PTRDIFF_MAX || mr__buffer_reserve(place, hooks, nbytes) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory: there was too little for %u x %u pixels between two steps",
                        width, height);
    to->stride = (ptrdiff_t)row;
    to->pixels = place->bytes;
    return 0;
}

/* Under way: where the image is, and where it may go. */
typedef struct run {
    mr__op_tools *tools;
    bool apart;           /* nothing is fused */
    bool borrowed;        /* the image is somebody else's */
    const mr_image *last; /* where what the last op makes is to be; NULL: anywhere */
    mr_image *image;
    mr__detail *detail;
} run;

/* How many of these are tables, one after the other. */
static size_t count_tables(const mr__op *ops, size_t count, bool apart)
{
    size_t tables = 0;
    while (tables < count && mr__op_types[ops[tables].kind]->table != NULL && (tables == 0 || !apart))
        tables++;
    return tables;
}

/* How many ops are run as one: tables, or one with its branches. */
static size_t count_group(const mr__op *ops, size_t count, bool apart)
{
    size_t tables = count_tables(ops, count, apart);
    return tables != 0 ? tables : ops->kind == MR__OP_AUGMIX ? 1 + ops->u.mix.ops : 1;
}

/* Where an op puts what it makes. */
static int choose_place(const run *r, const mr__op *op, bool is_last, mr_image *to)
{
    const mr__op_type *type = mr__op_types[op->kind];
    bool stays = type->in_place || type->table != NULL;
    uint32_t width = stays ? r->image->width : op->to.width, height = stays ? r->image->height : op->to.height;
    if (is_last && r->last != NULL) {
        *to = *r->last;
        return to->width == width && to->height == height
                   ? 0
                   : mr__fail(r->detail, MR_EINTERNAL, "an op came to %u x %u, and not to %u x %u", width, height,
                              to->width, to->height);
    }
    if (stays && !r->borrowed) {
        *to = *r->image;
        return 0;
    }
    return mr__op_place(r->tools->places[r->tools->level], r->tools->hooks, r->image, width, height, to, r->detail);
}

static int run_group(run *r, const mr__op *ops, size_t count, bool is_last)
{
    const mr__op_type *type = mr__op_types[ops->kind];
    mr__op_work work = {.op = ops, .tools = r->tools, .from = *r->image, .detail = r->detail};
    int result = choose_place(r, ops, is_last, &work.to);
    if (result != 0)
        return result;
    if (type->table != NULL) {
        mr__tables_run(r->tools, ops, count, &work.from, &work.to);
    } else {
        if (type->in_place && !type->either && work.from.pixels != work.to.pixels) {
            result = mr_image_copy(&work.from, &work.to);
            work.from = work.to;
        }
        if (result == 0)
            result = type->run(&work);
    }
    *r->image = work.to;
    r->borrowed = false;
    return result;
}

static int run_all(run *r, const mr__op *ops, size_t count)
{
    int result = 0;
    for (size_t i = 0, n; i < count && result == 0; i += n) {
        n = count_group(ops + i, count - i, r->apart);
        result = run_group(r, ops + i, n, i + n == count);
    }
    return result;
}

int mr__ops_run(mr__op_tools *tools, const mr__op *ops, size_t count, bool apart, mr_image *image, mr__detail *detail)
{
    run r = {.tools = tools, .apart = apart, .image = image, .detail = detail};
    return run_all(&r, ops, count);
}

int mr__ops_run_between(mr__op_tools *tools, const mr__op *ops, size_t count, bool borrowed, const mr_image *last,
                        mr_image *image, mr__detail *detail)
{
    run r = {.tools = tools, .borrowed = borrowed, .last = last, .image = image, .detail = detail};
    return run_all(&r, ops, count);
}

int mr__ops_run_branch(mr__op_tools *tools, const mr__op *ops, size_t count, bool apart, mr_image *image,
                       mr__detail *detail)
{
    if (tools->level + 1 == LEVELS)
        return mr__fail(detail, MR_EINTERNAL, "a branch in a branch");
    tools->level++;
    int result = mr__ops_run(tools, ops, count, apart, image, detail);
    tools->level--;
    return result;
}
