// SPDX-License-Identifier: Apache-2.0
/* orient: done by the decoder, which knows what EXIF says. Sizes are those of the image as it is shown from there on.
 */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    (void)step;
    (void)detail;
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)step;
    (void)shape;
    (void)detail;
    return 0;
}

const mr__step_type mr__step_orient = {
    .kind = MR_STEP_ORIENT,
    .name = "orient",
    .settle = settle,
    .shape = shape_of,
};
