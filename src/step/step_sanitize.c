// SPDX-License-Identifier: Apache-2.0
/*
 * sanitize: torchvision's SanitizeBoundingBoxes. Boxes that have a side or an area of less than 1, or stick out of the
 * image, are left out with all that is theirs. The image stays as it is.
 */
#include "step/follow.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    step->min_side = step->min_side == 0.0 ? 1.0 : step->min_side;
    step->min_area = step->min_area == 0.0 ? 1.0 : step->min_area;
    if (!(step->min_side >= 1.0 && step->min_area >= 1.0 && step->min_side <= 1e9 && step->min_area <= 1e18))
        return mr__fail(detail, MR_EARGUMENT, "sanitize: side=%g, area=%g; both are at least 1", step->min_side,
                        step->min_area);
    return 0;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__move move = {.kind = MR__MOVE_SANITIZE, .u.sanitize = {step->min_side, step->min_area}};
    (void)draws;
    mr__chain_size(chain, &move.width, &move.height);
    move.to_width = move.width;
    move.to_height = move.height;
    return mr__follow_note(chain->follow, &move, detail);
}

const mr__step_type mr__step_sanitize = {
    .kind = MR_STEP_SANITIZE,
    .name = "sanitize",
    .settle = settle,
    .shape = mr__step_shape_same,
    .resolve = resolve,
};
