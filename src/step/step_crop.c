// SPDX-License-Identifier: Apache-2.0
/*
 * crop(32, pad=4): torchvision's RandomCrop(32, padding=4). Four draws: two for the top, then two for the left side,
 * each pair the high and the low word of an x of 64 bits that gives floor(x n / 2^64), n being the number of places.
 */
#include "step/real.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_size(step, detail);
    return result != 0 ? result : mr__step_check_border(step, detail);
}

static int check_size(const mr_step *step, uint32_t width, uint32_t height, mr__detail *detail)
{
    uint32_t wide = width + step->pad[0] + step->pad[2], high = height + step->pad[1] + step->pad[3];
    if ((width == 0 || wide >= step->width) && (height == 0 || high >= step->height))
        return 0;
    return mr__fail(detail, MR_EARGUMENT,
                    "crop(%ux%u): an image of %u x %u, with its border %u x %u, is too small for it; short(), pad= or "
                    "center() can make it larger",
                    step->width, step->height, width, height, wide, high);
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    int result = check_size(step, shape->width, shape->height, detail);
    if (result == 0)
        result = mr__step_check_mirror(step, step->pad, shape->width, shape->height, detail);
    if (result == 0)
        result = mr__step_check_fill(step, shape, detail);
    return result != 0 ? result : mr__step_shape_fixed(step, shape, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    int result = check_size(step, width, height, detail);
    if (result == 0)
        result = mr__step_check_mirror(step, step->pad, width, height, detail);
    if (result == 0)
        result = mr__chain_pad(chain, step->pad, step->border, step->fill, detail);
    if (result != 0)
        return result;
    mr__chain_size(chain, &width, &height);
    uint32_t y = mr__real_below(draws, height - step->height + 1);
    uint32_t x = mr__real_below(draws + 2, width - step->width + 1);
    return mr__chain_crop(chain, (mr_rect){x, y, step->width, step->height}, detail);
}

const mr__step_type mr__step_crop = {
    .kind = MR_STEP_CROP,
    .name = "crop",
    .settle = settle,
    .shape = shape_of,
    .draws = 4,
    .resolve = resolve,
};
