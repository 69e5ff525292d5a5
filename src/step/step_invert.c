// SPDX-License-Identifier: Apache-2.0
/* invert: torchvision's RandomInvert. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    return mr__step_settle_chance(step, 0.5, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)step;
    (void)draws;
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_INVERT}, detail);
}

const mr__step_type mr__step_invert = {
    .kind = MR_STEP_INVERT,
    .name = "invert",
    .settle = settle,
    .shape = mr__step_shape_op,
    .resolve = resolve,
    .sometimes = true,
};
