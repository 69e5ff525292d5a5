// SPDX-License-Identifier: Apache-2.0
/* blur(5, sigma=0.1..2): torchvision's GaussianBlur(5). One draw: sigma is low + (high - low) d 2^-32. */
#include "step/op_blur.h"
#include "step/real.h"
#include "step/step.h"

#define SIGMA_MIN 0.001
#define SIGMA_MAX 1000.0

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->kernel[1] == 0)
        step->kernel[1] = step->kernel[0];
    if (step->sigma[0] == 0.0 && step->sigma[1] == 0.0) {
        step->sigma[0] = 0.1;
        step->sigma[1] = 2.0;
    }
    for (size_t i = 0; i < 2; i++)
        if (step->kernel[i] % 2 == 0 || step->kernel[i] > MR__BLUR_KERNEL_MAX)
            return mr__fail(detail, MR_EARGUMENT, "blur over %u x %u pixels: sides are odd, from 1 to %d",
                            step->kernel[0], step->kernel[1], MR__BLUR_KERNEL_MAX);
    return mr__step_check_range(step, "sigma", step->sigma, SIGMA_MIN, SIGMA_MAX, detail);
}

/* The image is mirrored at its sides, by half the kernel. A side of 0 is not known yet. */
static int check_size(const mr_step *step, uint32_t width, uint32_t height, mr__detail *detail)
{
    if ((width == 0 || step->kernel[0] / 2 < width) && (height == 0 || step->kernel[1] / 2 < height))
        return 0;
    return mr__fail(
        detail, MR_EARGUMENT,
        "blur over %u x %u pixels is too much for an image of %u x %u, whose sides have to be more than half "
        "of that; a smaller blur, or a resize before it",
        step->kernel[0], step->kernel[1], width, height);
}

static int shape(const mr_step *step, mr__shape *s, mr__detail *detail)
{
    int result = mr__step_shape_op(step, s, detail);
    return result != 0 ? result : check_size(step, s->width, s->height, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    int result = check_size(step, width, height, detail);
    if (result != 0)
        return result;
    double sigma = mr__real_between(step->sigma[0], step->sigma[1], draws[0]);
    mr__op op = {.kind = MR__OP_BLUR};
    op.u.blur = (mr__blur){{step->kernel[0], step->kernel[1]}, {sigma, sigma}};
    return mr__chain_op(chain, op, detail);
}

const mr__step_type mr__step_blur = {
    .kind = MR_STEP_BLUR,
    .name = "blur",
    .settle = settle,
    .shape = shape,
    .draws = 1,
    .resolve = resolve,
    .sometimes = true,
};
