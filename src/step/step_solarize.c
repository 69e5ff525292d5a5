// SPDX-License-Identifier: Apache-2.0
/* solarize(128): torchvision's RandomSolarize(128). 256 is above all, and changes nothing. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->threshold > 256)
        return mr__fail(detail, MR_EARGUMENT, "solarize: a threshold of %u; it goes from 0 to 256", step->threshold);
    return mr__step_settle_chance(step, 0.5, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)draws;
    return mr__chain_amount(chain, MR__OP_SOLARIZE, (double)step->threshold, detail);
}

const mr__step_type mr__step_solarize = {
    .kind = MR_STEP_SOLARIZE,
    .name = "solarize",
    .settle = settle,
    .shape = mr__step_shape_op,
    .resolve = resolve,
    .sometimes = true,
};
