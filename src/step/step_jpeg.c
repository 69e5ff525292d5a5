// SPDX-License-Identifier: Apache-2.0
/*
 * jpeg(50), jpeg(20..80): torchvision's JPEG. The draws 0 and 1 are the high and the low word of x, and the quality is
 * floor(x n / 2^64) above the lowest of n.
 */
#include "step/real.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->quality[1] == 0)
        step->quality[1] = step->quality[0];
    if (step->quality[0] < 1 || step->quality[0] > step->quality[1] || step->quality[1] > 100)
        return mr__fail(detail, MR_EARGUMENT, "jpeg: quality=%u..%u; it goes from a lower to a higher one, 1 to 100",
                        step->quality[0], step->quality[1]);
    return 0;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t more = mr__real_below(draws, step->quality[1] - step->quality[0] + 1);
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_JPEG, .whole = step->quality[0] + more}, detail);
}

const mr__step_type mr__step_jpeg = {
    .kind = MR_STEP_JPEG,
    .name = "jpeg",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 2,
    .resolve = resolve,
    .sometimes = true,
};
