// SPDX-License-Identifier: Apache-2.0
/*
 * gamma(0.8..1.2): torchvision's adjust_gamma, of a gamma of the range. One draw: low + (high - low) d 2^-32. Powers
 * are by functions of our own (real.h).
 */
#include "step/step_jitter.h"

#include "step/real.h"

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_chance(step, 1.0, detail);
    if (result != 0)
        return result;
    if (step->gain == 0.0)
        step->gain = 1.0;
    if (!(step->gain > 0.0 && step->gain <= MR__FACTOR_MAX))
        return mr__fail(detail, MR_EARGUMENT, "gamma: gain=%g; it goes from 0 to %g", step->gain, MR__FACTOR_MAX);
    return mr__step_check_range(step, "gamma", step->gamma, 0.0, MR__FACTOR_MAX, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    double gamma = mr__real_between(step->gamma[0], step->gamma[1], draws[0]);
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_GAMMA, .amount = gamma, .more = step->gain}, detail);
}

const mr__step_type mr__step_gamma = {
    .kind = MR_STEP_GAMMA,
    .name = "gamma",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 1,
    .resolve = resolve,
    .sometimes = true,
};
