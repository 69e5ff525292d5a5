// SPDX-License-Identifier: Apache-2.0
/*
 * shorts(480/512/544, max=1333): torchvision's RandomShortestSize. The shorter side becomes one of these, or less where
 * the longer one would be longer than max; both are rounded down, in double, as there, and at least 1. Two draws: the
 * high and the low word of x, floor(x n / 2^64) is the number in the list.
 */
#include "step/real.h"
#include "step/step.h"

#include <math.h>

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->list_count == 0 || step->list_count > MR_RECIPE_LIST_MAX)
        return mr__fail(detail, MR_EARGUMENT, "shorts: %u sizes; it takes 1 to %d, as in shorts(480/512/544)",
                        step->list_count, MR_RECIPE_LIST_MAX);
    for (uint32_t i = 0; i < step->list_count; i++)
        if (!(step->list[i] >= 1.0 && step->list[i] <= MR_RECIPE_SIDE_MAX) || floor(step->list[i]) != step->list[i])
            return mr__fail(detail, MR_EARGUMENT, "shorts to %g: sides are whole numbers, 1 to %d", step->list[i],
                            MR_RECIPE_SIDE_MAX);
    if (step->max_side > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "shorts: max=%u; sides are 1 to %d", step->max_side, MR_RECIPE_SIDE_MAX);
    return mr__step_check_filter(step, detail);
}

/* MR_ELIMIT is mr__chain_resize's to say. */
static uint32_t side_of(uint32_t side, double by)
{
    double made = (double)side * by;
    return made < 1.0 ? 1 : made > 1e9 ? 1000000000u : (uint32_t)made;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    uint32_t least = width < height ? width : height, most = width < height ? height : width;
    double by = step->list[mr__real_below(draws, step->list_count)] / least;
    double by_most = (double)step->max_side / most;
    if (step->max_side != 0 && by_most < by)
        by = by_most;
    return mr__chain_resize(chain, side_of(width, by), side_of(height, by), step->filter, detail);
}

const mr__step_type mr__step_shorts = {
    .kind = MR_STEP_SHORTS,
    .name = "shorts",
    .settle = settle,
    .shape = mr__step_shape_unsure,
    .draws = 2,
    .resolve = resolve,
};
