// SPDX-License-Identifier: Apache-2.0
/*
 * Which steps go together, and what comes of them. A recipe has four parts, each of which may be missing:
 *
 *     orient | convert | steps that move pixels | normalize, layout, dtype, mixup, cutmix in any
 *                                                      order
 */
#include "base/size.h"
#include "step/recipe.h"
#include "step/step.h"

#include <string.h>

typedef enum part { PART_ORIENT, PART_CONVERT, PART_PIXELS, PART_FINISH } part;

static part part_of(mr_step_kind kind)
{
    switch (kind) {
    case MR_STEP_ORIENT:
        return PART_ORIENT;
    case MR_STEP_CONVERT:
        return PART_CONVERT;
    case MR_STEP_NORMALIZE:
    case MR_STEP_LAYOUT:
    case MR_STEP_DTYPE:
    case MR_STEP_MIXUP:
    case MR_STEP_CUTMIX:
        return PART_FINISH;
    default:
        return PART_PIXELS;
    }
}

/* The step of that kind; NULL: there is none. */
static const mr_step *find_step(const mr_recipe *recipe, mr_step_kind kind)
{
    for (size_t i = 0; i < recipe->count; i++)
        if (recipe->steps[i].kind == kind)
            return &recipe->steps[i];
    return NULL;
}

static int fail_order(mr_step_kind kind, const char *name, const char *before, mr__detail *detail)
{
    if (kind == MR_STEP_ORIENT)
        return mr__fail(detail, MR_EARGUMENT, "orient after %s: it is the first step, or there is none", before);
    if (kind == MR_STEP_CONVERT)
        return mr__fail(detail, MR_EARGUMENT,
                        "convert after %s: images are decoded to it, so it stands before all steps that change pixels",
                        before);
    return mr__fail(detail, MR_EARGUMENT,
                    "%s after %s: normalize, layout, dtype, mixup and cutmix come last, behind all others", name,
                    before);
}

/* Of pixels, or of what normalize makes of them. */
static bool goes_anywhere(mr_step_kind kind)
{
    return kind == MR_STEP_ERASE || kind == MR_STEP_CUTOUT;
}

/* That the parts follow each other, and that those of which there can be one are there once. */
static int check_order(const mr_recipe *recipe, mr__detail *detail)
{
    const char *before = "";
    part reached = PART_ORIENT;
    for (size_t i = 0; i < recipe->count; i++) {
        mr_step_kind kind = recipe->steps[i].kind;
        const mr__step_type *type = mr__step_type_of(kind);
        if (type == NULL)
            return mr__fail(detail, MR_EARGUMENT, "step %zu: no step has the number %u", i, (unsigned)kind);
        if (part_of(kind) != PART_PIXELS && find_step(recipe, kind) != &recipe->steps[i])
            return mr__fail(detail, MR_EARGUMENT, "%s stands twice: once is all that it can mean", type->name);
        if (part_of(kind) < reached && !goes_anywhere(kind))
            return fail_order(kind, type->name, before, detail);
        if (part_of(kind) > reached)
            reached = part_of(kind);
        before = type->name;
    }
    return 0;
}

/* Whether all that a step adds are ops. */
static bool adds_ops_alone(const mr_step *step)
{
    mr_step_kind kind = step->kind;
    if (kind == MR_STEP_AUTOAUG) /* a table may crop between its ops */
        return step->path == NULL;
    return (kind >= MR_STEP_ROTATE && kind <= MR_STEP_ELASTIC) ||
           (kind >= MR_STEP_BRIGHTNESS && kind <= MR_STEP_CUTOUT) || kind == MR_STEP_USER;
}

/* How many passes of a chain a step may begin; ops that follow ops begin none. */
static unsigned passes_of(const mr_step *step, bool after_ops, bool apart)
{
    switch (step->kind) {
    case MR_STEP_CROP:
        return step->border != MR_BORDER_FILL ? 2 : 1;
    case MR_STEP_FLIP:
    case MR_STEP_VFLIP:
        return apart;
    case MR_STEP_SANITIZE:
        return 0;
    case MR_STEP_ROTATE: /* half a turn is no op */
        return 1;
    case MR_STEP_AUTOAUG:
        return step->path != NULL ? 1 + mr__policy_table_of(step)->longest : !after_ops;
    default: /* where the crop of rrc begins one, its resize goes with it */
        return adds_ops_alone(step) ? !after_ops : part_of(step->kind) == PART_PIXELS;
    }
}

/* How many ops it may add. */
static unsigned ops_of(const mr_step *step)
{
    switch (step->kind) {
    case MR_STEP_JITTER:
        return 4;
    case MR_STEP_RANDAUG:
        return step->ops;
    case MR_STEP_AUTOAUG:
        return step->path != NULL ? mr__policy_table_of(step)->longest : 2;
    case MR_STEP_AUGMIX:
        return 1 + 3 * step->branches;
    default:
        return part_of(step->kind) == PART_PIXELS;
    }
}

/* Here, so that it is not every sample that fails of it. */
static int check_passes(const mr_recipe *recipe, mr__detail *detail)
{
    unsigned passes = 1, ops = 0, erased = 0;
    bool finished = false, after_ops = false;
    for (size_t i = 0; i < recipe->count; i++) {
        finished = finished || recipe->steps[i].kind == MR_STEP_NORMALIZE;
        erased += finished && goes_anywhere(recipe->steps[i].kind);
        passes += passes_of(&recipe->steps[i], after_ops, recipe->apart);
        after_ops = adds_ops_alone(&recipe->steps[i]) && recipe->steps[i].kind != MR_STEP_ROTATE;
        ops += ops_of(&recipe->steps[i]);
    }
    if (passes > MR__STAGES_MAX)
        return mr__fail(detail, MR_EARGUMENT,
                        "the recipe may take %u passes over the pixels, and %d is the most: fewer "
                        "crops, resizes and borders",
                        passes, MR__STAGES_MAX);
    if (erased > MR__ERASED_MAX)
        return mr__fail(detail, MR_EARGUMENT, "%u times erase or cutout behind normalize, and %d is the most", erased,
                        MR__ERASED_MAX);
    if (ops > MR__OPS_MAX)
        return mr__fail(detail, MR_EARGUMENT,
                        "the recipe may do %u things to colors and places, and %d is the most: fewer steps", ops,
                        MR__OPS_MAX);
    return 0;
}

mr__decode_needs mr__recipe_needs(const mr_recipe *recipe)
{
    const mr_step *convert = find_step(recipe, MR_STEP_CONVERT);
    return (mr__decode_needs){
        .channels = convert != NULL ? convert->channels : 3,
        .depth = convert != NULL ? convert->depth : 8,
        .orient = find_step(recipe, MR_STEP_ORIENT) != NULL,
    };
}

static int find_shape(const mr_recipe *recipe, mr__shape *shape, mr__detail *detail)
{
    mr__decode_needs needs = mr__recipe_needs(recipe);
    *shape = (mr__shape){.channels = needs.channels, .depth = needs.depth};
    for (size_t i = 0; i < recipe->count; i++) {
        int result = mr__step_type_of(recipe->steps[i].kind)->shape(&recipe->steps[i], shape, detail);
        if (result != 0)
            return result;
    }
    if (shape->width == 0 || shape->height == 0)
        return mr__fail(detail, MR_EARGUMENT,
                        "the recipe ends at a size that differs from image to image: add center(...), rrc(...), "
                        "resize(...) or pad(to=...)");
    return 0;
}

static int choose_dtype(const mr_recipe *recipe, uint32_t depth, mr_dtype *dtype, mr__detail *detail)
{
    const mr_step *step = find_step(recipe, MR_STEP_DTYPE);
    bool normalizes = find_step(recipe, MR_STEP_NORMALIZE) != NULL;
    *dtype = step != NULL ? step->dtype : MR_DTYPE_AUTO;
    if (*dtype == MR_DTYPE_AUTO)
        *dtype = normalizes ? MR_F32 : MR_U8;
    if (*dtype == MR_U8 && normalizes)
        return mr__fail(detail, MR_EARGUMENT,
                        "normalize and dtype(u8): what is normalized is not a whole number; leave "
                        "out one of them, or take dtype(f32), dtype(f16) or dtype(bf16)");
    if (*dtype == MR_U8 && depth == 16)
        return mr__fail(detail, MR_EARGUMENT,
                        "samples of 16 bits do not go into u8: add dtype(f32), or convert to 8 bits");
    return 0;
}

static size_t dtype_nbytes(mr_dtype dtype)
{
    return dtype == MR_U8 ? 1 : dtype == MR_F32 ? 4 : 2;
}

/* All of it. */
static int describe(const mr_recipe *recipe, mr_output *output, uint32_t *depth, mr__detail *detail)
{
    const mr_step *layout = find_step(recipe, MR_STEP_LAYOUT);
    mr__shape shape;
    mr_output o = {.struct_size = sizeof o, .layout = layout != NULL ? layout->layout : MR_NCHW};
    int result = check_order(recipe, detail);
    if (result == 0)
        result = check_passes(recipe, detail);
    if (result == 0)
        result = find_shape(recipe, &shape, detail);
    if (result == 0)
        result = choose_dtype(recipe, shape.depth, &o.dtype, detail);
    if (result != 0)
        return result;
    o.width = shape.width;
    o.height = shape.height;
    o.channels = shape.channels;
    if (!mr__size_mul(o.width, o.height, &o.sample_nbytes) ||
        !mr__size_mul(o.sample_nbytes, o.channels * dtype_nbytes(o.dtype), &o.sample_nbytes))
        return mr__fail(detail, MR_EARGUMENT, "a sample of %u x %u does not fit into memory", o.width, o.height);
    *output = o;
    *depth = shape.depth;
    return 0;
}

int mr_recipe_output(mr_recipe *recipe, mr_output *output)
{
    mr_output ours;
    uint32_t depth;
    if (recipe == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&recipe->detail);
    if (output == NULL)
        return mr__fail(&recipe->detail, MR_EARGUMENT, "output: NULL");
    int result = describe(recipe, &ours, &depth, &recipe->detail);
    if (result != 0)
        return result;
    if (!mr__struct_give(output, &ours, sizeof ours))
        return mr__fail(&recipe->detail, MR_EARGUMENT, "output: struct_size is not set");
    return 0;
}

int mr__recipe_finish(const mr_recipe *recipe, mr__finish *finish, mr__detail *detail)
{
    const mr_step *normalize = find_step(recipe, MR_STEP_NORMALIZE);
    mr__finish f = {.normalize = normalize != NULL};
    int result = describe(recipe, &f.output, &f.depth, detail);
    if (result != 0)
        return result;
    for (size_t i = 0; normalize != NULL && i < 4; i++) {
        size_t given = normalize->std[1] != 0.0f ? i : 0; /* one value is for all */
        f.mean[i] = normalize->mean[given];
        f.std[i] = normalize->std[given];
    }
    *finish = f;
    return 0;
}
