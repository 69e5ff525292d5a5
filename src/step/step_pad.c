// SPDX-License-Identifier: Apache-2.0
/*
 * pad(4): torchvision's Pad. pad(to=512): the image stays at the top left, and what it lacks of 512 x 512 is put to the
 * right and to the bottom, as detection models have their batches.
 */
#include "step/step.h"

static bool has_pad(const mr_step *step)
{
    return (step->pad[0] | step->pad[1] | step->pad[2] | step->pad[3]) != 0;
}

static int settle(mr_step *step, mr__detail *detail)
{
    bool to = step->width != 0 || step->height != 0;
    if (to && has_pad(step))
        return mr__fail(detail, MR_EARGUMENT, "pad: a border and a size to pad to; it takes one of them");
    if (!to && !has_pad(step))
        return mr__fail(detail, MR_EARGUMENT, "pad: neither a border, as in pad(4), nor a size, as in pad(to=512)");
    int result = to ? mr__step_settle_size(step, detail) : 0;
    return result != 0 ? result : mr__step_check_border(step, detail);
}

/* How much goes where around an image; a side of 0 is not known, and lacks nothing. */
static int pad_of(const mr_step *step, uint32_t width, uint32_t height, uint32_t pad[4], mr__detail *detail)
{
    if (step->width != 0 && (width > step->width || height > step->height))
        return mr__fail(detail, MR_EARGUMENT,
                        "pad(to=%ux%u): an image of %u x %u is larger; short() or resize() before it, or a larger to",
                        step->width, step->height, width, height);
    for (size_t i = 0; i < 4; i++)
        pad[i] = step->pad[i];
    if (step->width != 0) {
        pad[2] = width != 0 ? step->width - width : 0;
        pad[3] = height != 0 ? step->height - height : 0;
    }
    return mr__step_check_mirror(step, pad, width, height, detail);
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    uint32_t pad[4], width = shape->width, height = shape->height;
    int result = pad_of(step, width, height, pad, detail);
    if (result == 0)
        result = mr__step_check_fill(step, shape, detail);
    if (result != 0)
        return result;
    if (step->width != 0)
        return mr__step_shape_fixed(step, shape, detail);
    width = width != 0 ? width + pad[0] + pad[2] : 0;
    height = height != 0 ? height + pad[1] + pad[3] : 0;
    if (width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "pad: %u x %u with its border is %u x %u; sides are at most %d",
                        shape->width, shape->height, width, height, MR_RECIPE_SIDE_MAX);
    shape->width = width;
    shape->height = height;
    return 0;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height, pad[4];
    (void)draws;
    mr__chain_size(chain, &width, &height);
    int result = pad_of(step, width, height, pad, detail);
    return result != 0 ? result : mr__chain_pad(chain, pad, step->border, step->fill, detail);
}

const mr__step_type mr__step_pad = {
    .kind = MR_STEP_PAD,
    .name = "pad",
    .settle = settle,
    .shape = shape_of,
    .resolve = resolve,
};
