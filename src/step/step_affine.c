// SPDX-License-Identifier: Apache-2.0
/*
 * affine(10, translate=0.1/0.1, scale=0.9..1.1, shear=5): torchvision's RandomAffine, clockwise. The draws, all made
 * whether they are used or not:
 *
 *     0       degrees: low + (high - low) d 2^-32, as are the others
 *     1, 2    pixels along x and along y: part * side to both sides, rounded to even
 *     3       scale
 *     4, 5    shear along x and along y
 */
#include "step/real.h"
#include "step/warps.h"

#include <math.h>

enum { DRAWS = 6 };

/* No image has more pixels along a side. */
#define SCALE_MAX 16384.0

int mr__step_settle_warp(mr_step *step, mr_sampling sampling, mr__detail *detail)
{
    int result = mr__step_settle_sampling(step, sampling, detail);
    const double most = 4.0 * MR_RECIPE_SIDE_MAX;
    for (size_t i = 0; result == 0 && step->has_center && i < 2; i++)
        if (!(fabs(step->center[i]) <= most))
            result = mr__fail(detail, MR_EARGUMENT, "%s: center=%g/%g; in pixels from the left and the top, within %g",
                              mr__step_type_of(step->kind)->name, step->center[0], step->center[1], most);
    return result;
}

int mr__step_check_shear(const mr_step *step, mr__detail *detail)
{
    int result = mr__step_check_range(step, "shear", step->shear, -MR__SHEAR, MR__SHEAR, detail);
    return result != 0 ? result : mr__step_check_range(step, "shear", step->shear + 2, -MR__SHEAR, MR__SHEAR, detail);
}

int mr__step_check_translate(const mr_step *step, mr__detail *detail)
{
    for (size_t i = 0; i < 2; i++)
        if (!(step->translate[i] >= 0.0 && step->translate[i] <= 1.0))
            return mr__fail(detail, MR_EARGUMENT,
                            "%s: translate=%g/%g; parts of the width and of the height, from 0 to 1",
                            mr__step_type_of(step->kind)->name, step->translate[0], step->translate[1]);
    return 0;
}

double mr__step_draw_move(double part, uint32_t side, uint32_t draw)
{
    double most = part * (double)side, drawn = mr__real_between(-most, most, draw);
    double whole = (double)mr__real_round(fabs(drawn));
    return drawn < 0.0 ? -whole : whole;
}

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->scale_low == 0.0 && step->scale_high == 0.0)
        step->scale_low = step->scale_high = 1.0;
    const double scale[2] = {step->scale_low, step->scale_high};
    int result = mr__step_settle_warp(step, MR_SAMPLING_NEAREST, detail);
    if (result == 0)
        result = mr__step_check_range(step, "degrees", step->degrees, -MR__DEGREES, MR__DEGREES, detail);
    if (result == 0)
        result = mr__step_check_range(step, "scale", scale, 1.0 / SCALE_MAX, SCALE_MAX, detail);
    if (result == 0)
        result = mr__step_check_translate(step, detail);
    return result != 0 ? result : mr__step_check_shear(step, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    mr__affine affine = {
        .degrees = mr__real_between(step->degrees[0], step->degrees[1], draws[0]),
        .translate = {mr__step_draw_move(step->translate[0], width, draws[1]),
                      mr__step_draw_move(step->translate[1], height, draws[2])},
        .scale = mr__real_between(step->scale_low, step->scale_high, draws[3]),
        .shear = {mr__real_between(step->shear[0], step->shear[1], draws[4]),
                  mr__real_between(step->shear[2], step->shear[3], draws[5])},
        .has_center = step->has_center,
        .center = {step->center[0], step->center[1]},
    };
    return mr__chain_affine(chain, &affine, step->sampling, step->fill, detail);
}

const mr__step_type mr__step_affine = {
    .kind = MR_STEP_AFFINE,
    .name = "affine",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
