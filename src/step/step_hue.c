// SPDX-License-Identifier: Apache-2.0
/* hue(0.1): torchvision's ColorJitter(hue=0.1). One draw: how far it is turned, low + (high - low) d 2^-32 of the
 * circle. */
#include "step/step_jitter.h"

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_chance(step, 1.0, detail);
    return result != 0 ? result : mr__step_check_hues(step, step->hue, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    return mr__chain_jitter(chain, MR__OP_HUE, step->hue, draws[0], detail);
}

const mr__step_type mr__step_hue = {
    .kind = MR_STEP_HUE,
    .name = "hue",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 1,
    .resolve = resolve,
    .sometimes = true,
};
