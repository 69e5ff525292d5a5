// SPDX-License-Identifier: Apache-2.0
#include "step/step.h"

#include <math.h>

const mr__step_type *const mr__step_types[] = {
    [MR_STEP_ORIENT - 1] = &mr__step_orient,
    [MR_STEP_CONVERT - 1] = &mr__step_convert,
    [MR_STEP_RESIZE - 1] = &mr__step_resize,
    [MR_STEP_SHORT - 1] = &mr__step_short,
    [MR_STEP_CENTER - 1] = &mr__step_center,
    [MR_STEP_CROP - 1] = &mr__step_crop,
    [MR_STEP_RRC - 1] = &mr__step_rrc,
    [MR_STEP_PAD - 1] = &mr__step_pad,
    [MR_STEP_FLIP - 1] = &mr__step_flip,
    [MR_STEP_VFLIP - 1] = &mr__step_vflip,
    [MR_STEP_NORMALIZE - 1] = &mr__step_normalize,
    [MR_STEP_LAYOUT - 1] = &mr__step_layout,
    [MR_STEP_DTYPE - 1] = &mr__step_dtype,
    [MR_STEP_USER - 1] = &mr__step_user,
    [MR_STEP_ROTATE - 1] = &mr__step_rotate,
    [MR_STEP_AFFINE - 1] = &mr__step_affine,
    [MR_STEP_SHEAR - 1] = &mr__step_shear,
    [MR_STEP_TRANSLATE - 1] = &mr__step_translate,
    [MR_STEP_PERSPECTIVE - 1] = &mr__step_perspective,
    [MR_STEP_ELASTIC - 1] = &mr__step_elastic,
    [MR_STEP_SCALEJITTER - 1] = &mr__step_scalejitter,
    [MR_STEP_ZOOMOUT - 1] = &mr__step_zoomout,
    [MR_STEP_IOUCROP - 1] = &mr__step_ioucrop,
    [MR_STEP_SHORTS - 1] = &mr__step_shorts,
    [MR_STEP_BRIGHTNESS - 1] = &mr__step_brightness,
    [MR_STEP_CONTRAST - 1] = &mr__step_contrast,
    [MR_STEP_SATURATION - 1] = &mr__step_saturation,
    [MR_STEP_HUE - 1] = &mr__step_hue,
    [MR_STEP_JITTER - 1] = &mr__step_jitter,
    [MR_STEP_GRAYSCALE - 1] = &mr__step_grayscale,
    [MR_STEP_GAMMA - 1] = &mr__step_gamma,
    [MR_STEP_INVERT - 1] = &mr__step_invert,
    [MR_STEP_POSTERIZE - 1] = &mr__step_posterize,
    [MR_STEP_SOLARIZE - 1] = &mr__step_solarize,
    [MR_STEP_EQUALIZE - 1] = &mr__step_equalize,
    [MR_STEP_AUTOCONTRAST - 1] = &mr__step_autocontrast,
    [MR_STEP_SHARPNESS - 1] = &mr__step_sharpness,
    [MR_STEP_BLUR - 1] = &mr__step_blur,
    [MR_STEP_JPEG - 1] = &mr__step_jpeg,
    [MR_STEP_PERMUTE - 1] = &mr__step_permute,
    [MR_STEP_NOISE - 1] = &mr__step_noise,
    [MR_STEP_RANDAUG - 1] = &mr__step_randaug,
    [MR_STEP_AUTOAUG - 1] = &mr__step_autoaug,
    [MR_STEP_TRIVIALAUG - 1] = &mr__step_trivialaug,
    [MR_STEP_AUGMIX - 1] = &mr__step_augmix,
    [MR_STEP_ERASE - 1] = &mr__step_erase,
    [MR_STEP_CUTOUT - 1] = &mr__step_cutout,
    [MR_STEP_MIXUP - 1] = &mr__step_mixup,
    [MR_STEP_CUTMIX - 1] = &mr__step_cutmix,
    [MR_STEP_SANITIZE - 1] = &mr__step_sanitize,
};

const size_t mr__step_type_count = sizeof mr__step_types / sizeof *mr__step_types;

const mr__step_type *mr__step_type_of(mr_step_kind kind)
{
    size_t number = (size_t)kind;
    return number >= 1 && number <= mr__step_type_count ? mr__step_types[number - 1] : NULL;
}

uint32_t mr__step_draw_count(const mr_step *step)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    return type == NULL ? 0 : type->draw_count != NULL ? type->draw_count(step) : type->draws;
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

int mr__step_settle_chance(mr_step *step, double chance, mr__detail *detail)
{
    if (step->has_chance)
        chance = step->chance;
    if (!(chance >= 0.0 && chance <= 1.0))
        return mr__fail(detail, MR_EARGUMENT, "%s: a chance of %g; it goes from 0 to 1", name_of(step), chance);
    step->has_chance = true;
    step->chance = chance;
    return 0;
}

bool mr__step_happens(const mr_step *step, uint32_t draw)
{
    return (double)draw * 0x1p-32 < step->chance;
}

int mr__step_check_range(const mr_step *step, const char *name, const double range[2], double low, double high,
                         mr__detail *detail)
{
    if (isfinite(range[0]) && isfinite(range[1]) && low <= range[0] && range[0] <= range[1] && range[1] <= high)
        return 0;
    return mr__fail(detail, MR_EARGUMENT, "%s: %s=%g..%g; it goes from a smaller number to a larger one, within %g..%g",
                    name_of(step), name, range[0], range[1], low, high);
}

int mr__step_settle_sampling(mr_step *step, mr_sampling sampling, mr__detail *detail)
{
    if ((unsigned)step->sampling > MR_SAMPLING_BICUBIC)
        return mr__fail(detail, MR_EARGUMENT, "%s: no sampling has the number %u", name_of(step),
                        (unsigned)step->sampling);
    if (step->sampling == MR_SAMPLING_AUTO)
        step->sampling = sampling;
    return 0;
}

int mr__step_shape_op(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    if (shape->depth != 8 || (shape->channels != 1 && shape->channels != 3))
        return mr__fail(detail, MR_EARGUMENT, "%s takes 8 bits of gray or RGB, and not %u of %u channels: convert(rgb)",
                        name_of(step), shape->depth, shape->channels);
    return mr__step_check_fill(step, shape, detail);
}

int mr__step_shape_same(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)step;
    (void)shape;
    (void)detail;
    return 0;
}

int mr__step_shape_unsure(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)step;
    (void)detail;
    shape->width = shape->height = 0;
    return 0;
}
