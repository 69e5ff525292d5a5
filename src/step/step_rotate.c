// SPDX-License-Identifier: Apache-2.0
/* rotate(30): torchvision's RandomRotation(30), counterclockwise. One draw: degrees, low + (high - low) d 2^-32. */
#include "step/real.h"
#include "step/step.h"
#include "step/warps.h"

enum { DRAWS = 1 };

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_warp(step, MR_SAMPLING_NEAREST, detail);
    return result != 0 ? result
                       : mr__step_check_range(step, "degrees", step->degrees, -MR__DEGREES, MR__DEGREES, detail);
}

/* Expanded, an image is of another size for every angle. */
static int shape(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    int result = mr__step_shape_op(step, shape, detail);
    if (result == 0 && step->expand)
        shape->width = shape->height = 0;
    return result;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    double degrees = mr__real_between(step->degrees[0], step->degrees[1], draws[0]);
    return mr__chain_rotate(chain, degrees, step->expand, step->has_center ? step->center : NULL, step->sampling,
                            step->fill, detail);
}

const mr__step_type mr__step_rotate = {
    .kind = MR_STEP_ROTATE,
    .name = "rotate",
    .settle = settle,
    .shape = shape,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
