// SPDX-License-Identifier: Apache-2.0
/* flip, vflip: torchvision's RandomHorizontalFlip and RandomVerticalFlip. One draw: d 2^-32 < chance. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    return mr__step_settle_chance(step, 0.5, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    if (!mr__step_happens(step, draws[0]))
        return 0;
    return mr__chain_flip(chain, step->kind == MR_STEP_FLIP, step->kind == MR_STEP_VFLIP, detail);
}

const mr__step_type mr__step_flip = {
    .kind = MR_STEP_FLIP,
    .name = "flip",
    .settle = settle,
    .shape = mr__step_shape_same,
    .draws = 1,
    .resolve = resolve,
};
const mr__step_type mr__step_vflip = {
    .kind = MR_STEP_VFLIP,
    .name = "vflip",
    .settle = settle,
    .shape = mr__step_shape_same,
    .draws = 1,
    .resolve = resolve,
};
