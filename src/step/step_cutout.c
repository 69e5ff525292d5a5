// SPDX-License-Identifier: Apache-2.0
/*
 * cutout(16): a square of this side is filled whose middle is any pixel, so that at the border less of it is left
 * (DeVries and Taylor, 2017). The middle of an even side is the pixel right of and below it, as in their program; an
 * odd side is as long as it says. Behind normalize the fill is one of the batch's numbers: 0 is the mean.
 *
 * The draws: 0, 1 the high and the low word of x, the middle's row being floor(x n / 2^64); 2, 3 its column.
 */
#include "step/erase.h"
#include "step/real.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->width == 0 || step->width > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "cutout: a square of %u; its side is 1 to %d", step->width,
                        MR_RECIPE_SIDE_MAX);
    return 0;
}

/* What is left of a side around `middle`, of `all`. */
static void cut(uint32_t side, uint32_t middle, uint32_t all, uint32_t *first, uint32_t *count)
{
    uint32_t before = side / 2, end = middle + (side - before);
    *first = middle > before ? middle - before : 0;
    *count = (end < all ? end : all) - *first;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__erase erase = {.noise = false};
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    for (size_t c = 0; c < 4; c++)
        erase.value[c] = (float)step->fill[c];
    cut(step->width, mr__real_below(draws, height), height, &erase.rect.y, &erase.rect.height);
    cut(step->width, mr__real_below(draws + 2, width), width, &erase.rect.x, &erase.rect.width);
    return mr__chain_erase(chain, &erase, detail);
}

const mr__step_type mr__step_cutout = {
    .kind = MR_STEP_CUTOUT,
    .name = "cutout",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 4,
    .resolve = resolve,
    .sometimes = true,
};
