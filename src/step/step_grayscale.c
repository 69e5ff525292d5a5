// SPDX-License-Identifier: Apache-2.0
/* grayscale: torchvision's Grayscale, with as many channels as there are; grayscale(0.1): its RandomGrayscale(0.1). */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    return mr__step_settle_chance(step, 1.0, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)step;
    (void)draws;
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_GRAYSCALE}, detail);
}

const mr__step_type mr__step_grayscale = {
    .kind = MR_STEP_GRAYSCALE,
    .name = "grayscale",
    .settle = settle,
    .shape = mr__step_shape_op,
    .resolve = resolve,
    .sometimes = true,
};
