// SPDX-License-Identifier: Apache-2.0
/*
 * noise(0.1): torchvision's GaussianNoise for 8-bit samples. A normal number times 255 sigma, plus 255 mean, is cut off
 * towards zero and added; sums are kept within 0 to 255, or with wrap=yes taken modulo 256. The draws 0 and 1 are the
 * key of the noise (kernel/noise.h).
 */
#include "step/step.h"

#include <math.h>

/* Torchvision has the noise in 16 bits; beyond, it does not say what wraps around. */
#define WRAP_MAX 128.0
#define MOST     1000.0

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->sigma[0] == 0.0)
        step->sigma[0] = 0.1;
    double sigma = step->sigma[0], mean = step->center_value;
    if (!(sigma > 0.0 && sigma <= MOST) || !(fabs(mean) <= MOST))
        return mr__fail(detail, MR_EARGUMENT,
                        "noise: sigma=%g, mean=%g; in parts of 255, sigma 0 to %g, mean -%g to %g", sigma, mean, MOST,
                        MOST, MOST);
    if (step->unclipped && fabs(mean) + 7.0 * sigma > WRAP_MAX)
        return mr__fail(detail, MR_EARGUMENT,
                        "noise: sigma=%g and mean=%g leave 16 bits, so that what wraps around is not defined: less, or "
                        "without wrap=yes",
                        sigma, mean);
    return 0;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__op op = {.kind = MR__OP_NOISE, .amount = step->center_value, .more = step->sigma[0]};
    op.whole = step->unclipped ? 0 : 1;
    op.key[0] = draws[0];
    op.key[1] = draws[1];
    return mr__chain_op(chain, op, detail);
}

const mr__step_type mr__step_noise = {
    .kind = MR_STEP_NOISE,
    .name = "noise",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 2,
    .resolve = resolve,
    .sometimes = true,
};
