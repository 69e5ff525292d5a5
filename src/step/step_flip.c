// SPDX-License-Identifier: Apache-2.0
/* flip, vflip: torchvision's RandomHorizontalFlip and RandomVerticalFlip. One draw: d 2^-32 < chance. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    double chance = step->has_chance ? step->chance : 0.5;
    if (!(chance >= 0.0 && chance <= 1.0))
        return mr__fail(detail, MR_EARGUMENT, "%s: a chance of %g; it goes from 0 to 1",
                        step->kind == MR_STEP_FLIP ? "flip" : "vflip", chance);
    step->has_chance = true;
    step->chance = chance;
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)step;
    (void)shape;
    (void)detail;
    return 0;
}

static uint32_t draw_count(const mr_step *step)
{
    (void)step;
    return 1;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)detail;
    if ((double)draws[0] * 0x1p-32 < step->chance)
        mr__chain_flip(chain, step->kind == MR_STEP_FLIP, step->kind == MR_STEP_VFLIP);
    return 0;
}

const mr__step_type mr__step_flip = {MR_STEP_FLIP, "flip", settle, shape_of, draw_count, resolve};
const mr__step_type mr__step_vflip = {MR_STEP_VFLIP, "vflip", settle, shape_of, draw_count, resolve};
