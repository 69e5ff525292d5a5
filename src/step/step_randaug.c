// SPDX-License-Identifier: Apache-2.0
/*
 * randaug(2, 9): torchvision's RandAugment(num_ops=2, magnitude=9). So many operations one after the other, each any of
 * 14, with the magnitude of that number; those that have a direction go either way.
 *
 * The draws of operation i:
 *
 *     3 i, 3 i + 1   which: the high and the low word of x, floor(14 x / 2^64)
 *     3 i + 2        the magnitude is negative where d 2^-32 < 1/2
 */
#include "step/policy.h"
#include "step/real.h"
#include "step/step.h"

enum { DRAWS = 3, OPS_MAX = 16, BINS_MAX = 1000 };

static int settle(mr_step *step, mr__detail *detail)
{
    step->ops = step->ops != 0 ? step->ops : 2;
    if (!step->has_magnitude) {
        step->has_magnitude = true;
        step->magnitude = 9;
    }
    step->bins = step->bins != 0 ? step->bins : 31;
    if (step->ops > OPS_MAX)
        return mr__fail(detail, MR_EARGUMENT, "randaug: %u operations one after the other; at most %d", step->ops,
                        OPS_MAX);
    if (step->bins < 2 || step->bins > BINS_MAX)
        return mr__fail(detail, MR_EARGUMENT, "randaug: bins=%u; there are 2 to %d magnitudes", step->bins, BINS_MAX);
    if (step->magnitude >= step->bins)
        return mr__fail(detail, MR_EARGUMENT, "randaug: the magnitude %u of %u: they are 0 to %u (bins=%u has it)",
                        step->magnitude, step->bins, step->bins - 1, step->magnitude + 1);
    return mr__step_settle_sampling(step, MR_SAMPLING_NEAREST, detail);
}

static uint32_t draw_count(const mr_step *step)
{
    return DRAWS * step->ops;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    size_t count;
    const uint8_t *ops = mr__space_ops(MR__SPACE_RANDAUG, &count);
    mr__policy_look look = {step->sampling, step->fill};
    int result = 0;
    for (uint32_t i = 0; i < step->ops && result == 0; i++, draws += DRAWS) {
        mr__policy_draw draw = {.op = (mr__policy_op)ops[mr__real_below(draws, (uint32_t)count)],
                                .bins = step->bins,
                                .bin = step->magnitude,
                                .negative = draws[2] < 0x80000000u};
        result = mr__space_add(chain, MR__SPACE_RANDAUG, draw, look, detail);
    }
    return result;
}

const mr__step_type mr__step_randaug = {
    .kind = MR_STEP_RANDAUG,
    .name = "randaug",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draw_count = draw_count,
    .resolve = resolve,
};
