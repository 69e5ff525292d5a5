// SPDX-License-Identifier: Apache-2.0
/*
 * mixup(0.2), cutmix(1): torchvision's MixUp and CutMix. Nothing is done to a sample by itself: the loader mixes whole
 * batches (src/loader/mix.c), after everything else. Where both stand in a recipe, each batch has one of the two,
 * either as likely, as with torchvision's RandomChoice of them.
 */
#include "step/dice.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->alpha[0] == 0.0)
        step->alpha[0] = 1.0;
    step->alpha[1] = 0.0; // there is one
    double alpha = step->alpha[0];
    if (!(alpha >= MR__DICE_ALPHA_MIN && alpha <= MR__DICE_ALPHA_MAX))
        return mr__fail(detail, MR_EARGUMENT, "%s: alpha=%g; it goes from %g to %g",
                        step->kind == MR_STEP_MIXUP ? "mixup" : "cutmix", alpha, MR__DICE_ALPHA_MIN,
                        MR__DICE_ALPHA_MAX);
    return mr__step_settle_chance(step, 1.0, detail);
}

const mr__step_type mr__step_mixup = {
    .kind = MR_STEP_MIXUP, .name = "mixup", .settle = settle, .shape = mr__step_shape_same};
const mr__step_type mr__step_cutmix = {
    .kind = MR_STEP_CUTMIX, .name = "cutmix", .settle = settle, .shape = mr__step_shape_same};
