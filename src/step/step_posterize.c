// SPDX-License-Identifier: Apache-2.0
/* posterize(4): torchvision's RandomPosterize(4). 0 bits are none: black. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->bits > 8)
        return mr__fail(detail, MR_EARGUMENT, "posterize: %u bits; a sample has 0 to 8", step->bits);
    return mr__step_settle_chance(step, 0.5, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)draws;
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_POSTERIZE, .whole = step->bits}, detail);
}

const mr__step_type mr__step_posterize = {
    .kind = MR_STEP_POSTERIZE,
    .name = "posterize",
    .settle = settle,
    .shape = mr__step_shape_op,
    .resolve = resolve,
    .sometimes = true,
};
