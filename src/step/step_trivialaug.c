// SPDX-License-Identifier: Apache-2.0
/*
 * trivialaug: torchvision's TrivialAugmentWide. One operation, any of 14, with any magnitude of its own.
 *
 * The draws:
 *
 *     0, 1   which: the high and the low word of x, floor(14 x / 2^64)
 *     2, 3   the number of its magnitude, likewise: floor(bins x / 2^64)
 *     4      it is negative where d 2^-32 < 1/2
 */
#include "step/policy.h"
#include "step/real.h"
#include "step/step.h"

enum { DRAWS = 5, BINS_MAX = 1000 };

static int settle(mr_step *step, mr__detail *detail)
{
    step->bins = step->bins != 0 ? step->bins : 31;
    if (step->bins < 2 || step->bins > BINS_MAX)
        return mr__fail(detail, MR_EARGUMENT, "trivialaug: bins=%u; there are 2 to %d magnitudes", step->bins,
                        BINS_MAX);
    return mr__step_settle_sampling(step, MR_SAMPLING_NEAREST, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    size_t count;
    const uint8_t *ops = mr__space_ops(MR__SPACE_TRIVIAL, &count);
    mr__policy_look look = {step->sampling, step->fill};
    mr__policy_draw draw = {.op = (mr__policy_op)ops[mr__real_below(draws, (uint32_t)count)],
                            .bins = step->bins,
                            .bin = mr__real_below(draws + 2, step->bins),
                            .negative = draws[4] < 0x80000000u};
    return mr__space_add(chain, MR__SPACE_TRIVIAL, draw, look, detail);
}

const mr__step_type mr__step_trivialaug = {
    .kind = MR_STEP_TRIVIALAUG,
    .name = "trivialaug",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
};
