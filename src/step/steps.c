// SPDX-License-Identifier: Apache-2.0
#include "step/step.h"

const mr__step_type *const mr__step_types[] = {
    &mr__step_orient,    &mr__step_convert, &mr__step_resize, &mr__step_short, &mr__step_center,
    &mr__step_crop,      &mr__step_rrc,     &mr__step_pad,    &mr__step_flip,  &mr__step_vflip,
    &mr__step_normalize, &mr__step_layout,  &mr__step_dtype,  &mr__step_user,
};

const size_t mr__step_type_count = sizeof mr__step_types / sizeof *mr__step_types;

const mr__step_type *mr__step_type_of(mr_step_kind kind)
{
    size_t number = (size_t)kind;
    return number >= 1 && number <= mr__step_type_count ? mr__step_types[number - 1] : NULL;
}

static const char *name_of(const mr_step *step)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    return type != NULL ? type->name : "none";
}

int mr__step_settle_size(mr_step *step, mr__detail *detail)
{
    uint32_t height = step->height != 0 ? step->height : step->width;
    if (step->width == 0 || step->width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "%s to %u x %u: sides are 1 to %d", name_of(step), step->width, height,
                        MR_RECIPE_SIDE_MAX);
    step->height = height;
    return 0;
}

int mr__step_check_filter(const mr_step *step, mr__detail *detail)
{
    if ((unsigned)step->filter > MR_FILTER_LANCZOS)
        return mr__fail(detail, MR_EARGUMENT, "%s: no filter has the number %u", name_of(step), (unsigned)step->filter);
    return 0;
}

int mr__step_check_border(const mr_step *step, mr__detail *detail)
{
    if ((unsigned)step->border > MR_BORDER_SYMMETRIC)
        return mr__fail(detail, MR_EARGUMENT, "%s: no border has the number %u", name_of(step), (unsigned)step->border);
    for (size_t i = 0; i < 4; i++)
        if (step->pad[i] > MR_RECIPE_SIDE_MAX)
            return mr__fail(detail, MR_EARGUMENT, "%s: a border of %u pixels; at most %d", name_of(step), step->pad[i],
                            MR_RECIPE_SIDE_MAX);
    return 0;
}

/* One side. Reflect leaves out the pixel it mirrors at, so that it has one less to give. */
static bool can_mirror(mr_border border, uint32_t before, uint32_t after, uint32_t side)
{
    uint32_t most = before > after ? before : after;
    return side == 0 || most <= (border == MR_BORDER_REFLECT ? side - 1 : side);
}

int mr__step_check_mirror(const mr_step *step, const uint32_t pad[4], uint32_t width, uint32_t height,
                          mr__detail *detail)
{
    if (step->border != MR_BORDER_REFLECT && step->border != MR_BORDER_SYMMETRIC)
        return 0;
    if (can_mirror(step->border, pad[0], pad[2], width) && can_mirror(step->border, pad[1], pad[3], height))
        return 0;
    return mr__fail(detail, MR_EARGUMENT,
                    "%s: a mirrored border of %u, %u, %u, %u (left, top, right, bottom) is wider than an image of "
                    "%u x %u can give; border=edge or a fill can be any width",
                    name_of(step), pad[0], pad[1], pad[2], pad[3], width, height);
}

int mr__step_check_fill(const mr_step *step, const mr__shape *shape, mr__detail *detail)
{
    const uint8_t *fill = step->fill;
    if (fill[1] == fill[0] && fill[2] == fill[0] && fill[3] == fill[0])
        return 0;
    for (uint32_t i = shape->channels; i < 4; i++)
        if (fill[i] != 0)
            return mr__fail(detail, MR_EARGUMENT,
                            "%s: the fill %u, %u, %u, %u is for more channels than the %u there are", name_of(step),
                            fill[0], fill[1], fill[2], fill[3], shape->channels);
    return 0;
}

int mr__step_shape_fixed(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)detail;
    shape->width = step->width;
    shape->height = step->height;
    return 0;
}
