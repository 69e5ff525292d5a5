// SPDX-License-Identifier: Apache-2.0
/* convert(rgb): done by the decoder (mr__recipe_needs). */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    uint32_t channels = step->channels != 0 ? step->channels : 3, depth = step->depth != 0 ? step->depth : 8;
    if (channels != 1 && channels != 3 && channels != 4)
        return mr__fail(detail, MR_EARGUMENT, "convert to %u channels: there are 1 (gray), 3 (RGB) and 4 (RGBA)",
                        channels);
    if (depth != 8 && depth != 16)
        return mr__fail(detail, MR_EARGUMENT, "convert to %u bits: there are 8 and 16", depth);
    step->channels = channels;
    step->depth = depth;
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)detail;
    shape->channels = step->channels;
    shape->depth = step->depth;
    return 0;
}

const mr__step_type mr__step_convert = {
    .kind = MR_STEP_CONVERT,
    .name = "convert",
    .settle = settle,
    .shape = shape_of,
};
