// SPDX-License-Identifier: Apache-2.0
/* sharpness(2): torchvision's RandomAdjustSharpness(2). One draw: d 2^-32 < chance. */
#include "step/step.h"

#define FACTOR_MAX 1000000.0

static int settle(mr_step *step, mr__detail *detail)
{
    if (!(step->factor >= 0.0 && step->factor <= FACTOR_MAX))
        return mr__fail(detail, MR_EARGUMENT,
                        "sharpness: a factor of %g; it goes from 0, smooth, over 1, as it is, to %g", step->factor,
                        FACTOR_MAX);
    return mr__step_settle_chance(step, 0.5, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    if (!mr__step_happens(step, draws[0]))
        return 0;
    return mr__chain_amount(chain, MR__OP_SHARPNESS, step->factor, detail);
}

const mr__step_type mr__step_sharpness = {
    .kind = MR_STEP_SHARPNESS,
    .name = "sharpness",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 1,
    .resolve = resolve,
};
