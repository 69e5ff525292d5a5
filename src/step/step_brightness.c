// SPDX-License-Identifier: Apache-2.0
/* brightness(0.4): torchvision's ColorJitter(brightness=0.4). One draw: the factor, low + (high - low) d 2^-32. */
#include "step/step_jitter.h"

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_chance(step, 1.0, detail);
    return result != 0 ? result : mr__step_check_factors(step, "brightness", step->brightness, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    return mr__chain_jitter(chain, MR__OP_BRIGHTNESS, step->brightness, draws[0], detail);
}

const mr__step_type mr__step_brightness = {
    .kind = MR_STEP_BRIGHTNESS,
    .name = "brightness",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 1,
    .resolve = resolve,
    .sometimes = true,
};
