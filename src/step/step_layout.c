// SPDX-License-Identifier: Apache-2.0
/* layout(nchw): how the numbers lie in a batch. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if ((unsigned)step->layout > MR_NHWC)
        return mr__fail(detail, MR_EARGUMENT, "layout: none has the number %u; there are nchw and nhwc",
                        (unsigned)step->layout);
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)step;
    (void)shape;
    (void)detail;
    return 0;
}

const mr__step_type mr__step_layout = {
    .kind = MR_STEP_LAYOUT,
    .name = "layout",
    .settle = settle,
    .shape = shape_of,
};
