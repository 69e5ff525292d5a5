// SPDX-License-Identifier: Apache-2.0
/*
 * shear(10), shear(-5..5/0..0): torchvision's RandomAffine(0, shear=...). Two draws: the degrees along x and along y,
 * low + (high - low) d 2^-32.
 */
#include "step/real.h"
#include "step/warps.h"

enum { DRAWS = 2 };

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_warp(step, MR_SAMPLING_NEAREST, detail);
    return result != 0 ? result : mr__step_check_shear(step, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__affine affine = {
        .scale = 1.0,
        .shear = {mr__real_between(step->shear[0], step->shear[1], draws[0]),
                  mr__real_between(step->shear[2], step->shear[3], draws[1])},
        .has_center = step->has_center,
        .center = {step->center[0], step->center[1]},
    };
    return mr__chain_affine(chain, &affine, step->sampling, step->fill, detail);
}

const mr__step_type mr__step_shear = {
    .kind = MR_STEP_SHEAR,
    .name = "shear",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
