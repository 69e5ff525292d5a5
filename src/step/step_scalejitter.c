// SPDX-License-Identifier: Apache-2.0
/*
 * scalejitter(1024): torchvision's ScaleJitter. The scale at which the image just fits into 1024 x 1024, times a random
 * one, 0.1 to 2 unless said otherwise; sides are rounded down, and at least 1. One draw, its upper 24 bits, in float,
 * as torch has it.
 */
#include "step/real.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->scale_low == 0.0 && step->scale_high == 0.0) {
        step->scale_low = 0.1;
        step->scale_high = 2.0;
    }
    const double range[2] = {step->scale_low, step->scale_high};
    int result = mr__step_settle_size(step, detail);
    if (result == 0)
        result = mr__step_check_range(step, "scale", range, 1.0 / MR_RECIPE_SIDE_MAX, MR_RECIPE_SIDE_MAX, detail);
    return result != 0 ? result : mr__step_check_filter(step, detail);
}

/* MR_ELIMIT is mr__chain_resize's to say: here a side is as long as it says that it is too long. */
static uint32_t side_of(uint32_t side, float by)
{
    float made = (float)side * by;
    return made < 1.0f ? 1 : made > 1e9f ? 1000000000u : (uint32_t)made;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    float scale = (float)step->scale_low + mr__real_unit_f32(draws[0]) * (float)(step->scale_high - step->scale_low);
    double high = (double)step->height / height, wide = (double)step->width / width;
    float by = (float)(high < wide ? high : wide) * scale;
    return mr__chain_resize(chain, side_of(width, by), side_of(height, by), step->filter, detail);
}

const mr__step_type mr__step_scalejitter = {
    .kind = MR_STEP_SCALEJITTER,
    .name = "scalejitter",
    .settle = settle,
    .shape = mr__step_shape_unsure,
    .draws = 1,
    .resolve = resolve,
};
