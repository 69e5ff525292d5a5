// SPDX-License-Identifier: Apache-2.0
/*
 * normalize(imagenet): torchvision's ToTensor and Normalize. Mean and std are given for as many channels as there are,
 * or for one, which all have then; an std of 0 stands behind the last.
 */
#include "step/step.h"

#include <math.h>

/* For how many channels there are values. */
static uint32_t given(const mr_step *step)
{
    uint32_t n = 0;
    while (n < 4 && step->std[n] != 0.0f)
        n++;
    return n;
}

static int settle(mr_step *step, mr__detail *detail)
{
    uint32_t n = given(step);
    for (uint32_t i = 0; i < 4; i++) {
        if (!isfinite(step->mean[i]) || !isfinite(step->std[i]))
            return mr__fail(detail, MR_EARGUMENT, "normalize: mean %g and std %g of channel %u; they have to be finite",
                            (double)step->mean[i], (double)step->std[i], i);
        if (i >= n && (i == 0 || step->mean[i] != 0.0f || step->std[i] != 0.0f))
            return mr__fail(detail, MR_EARGUMENT, "normalize: the std of channel %u is 0; it is divided by",
                            i < n ? i : n);
    }
    return 0;
}

static bool all_alike(const mr_step *step)
{
    for (uint32_t i = 1; i < 4; i++)
        if (step->mean[i] != step->mean[0] || step->std[i] != step->std[0])
            return false;
    return true;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    uint32_t n = given(step);
    if (n == shape->channels || n == 1 || all_alike(step))
        return 0;
    return mr__fail(detail, MR_EARGUMENT,
                    "normalize: mean and std of %u channels, and the images have %u; convert() gives them others", n,
                    shape->channels);
}

const mr__step_type mr__step_normalize = {
    .kind = MR_STEP_NORMALIZE,
    .name = "normalize",
    .settle = settle,
    .shape = shape_of,
};
