// SPDX-License-Identifier: Apache-2.0
/* short(256): torchvision's Resize(256). The shorter side becomes 256, up or down; the other is rounded down. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->height != 0 && step->height != step->width)
        return mr__fail(detail, MR_EARGUMENT,
                        "short to %u x %u: it has one size, of the shorter side; resize(%ux%u) has two", step->width,
                        step->height, step->width, step->height);
    int result = mr__step_settle_size(step, detail);
    step->height = result == 0 ? 0 : step->height;
    return result != 0 ? result : mr__step_check_filter(step, detail);
}

/* MR_ELIMIT where the longer side would be too long. */
static int short_size(uint32_t n, uint32_t *width, uint32_t *height, mr__detail *detail)
{
    uint32_t least = *width < *height ? *width : *height;
    uint64_t w = (uint64_t)*width * n / least, h = (uint64_t)*height * n / least;
    if (w > MR_RECIPE_SIDE_MAX || h > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_ELIMIT,
                        "short(%u): an image of %u x %u would become %llu x %llu; sides are at most %d", n, *width,
                        *height, (unsigned long long)w, (unsigned long long)h, MR_RECIPE_SIDE_MAX);
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    if (shape->width == 0 || shape->height == 0) {
        shape->width = shape->height = 0;
        return 0;
    }
    int result = short_size(step->width, &shape->width, &shape->height, detail);
    return result != 0 ? MR_EARGUMENT : 0;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    (void)draws;
    mr__chain_size(chain, &width, &height);
    int result = short_size(step->width, &width, &height, detail);
    return result != 0 ? result : mr__chain_resize(chain, width, height, step->filter, detail);
}

const mr__step_type mr__step_short = {
    .kind = MR_STEP_SHORT,
    .name = "short",
    .settle = settle,
    .shape = shape_of,
    .resolve = resolve,
};
