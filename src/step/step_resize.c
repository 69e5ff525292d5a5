// SPDX-License-Identifier: Apache-2.0
/* resize(320x240): torchvision's Resize((240, 320)). */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_size(step, detail);
    return result != 0 ? result : mr__step_check_filter(step, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)draws;
    return mr__chain_resize(chain, step->width, step->height, step->filter, detail);
}

const mr__step_type mr__step_resize = {
    .kind = MR_STEP_RESIZE,
    .name = "resize",
    .settle = settle,
    .shape = mr__step_shape_fixed,
    .resolve = resolve,
};
