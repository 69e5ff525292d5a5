// SPDX-License-Identifier: Apache-2.0
/*
 * translate(0.1/0.1): torchvision's RandomAffine(0, translate=(0.1, 0.1)). Two draws: the pixels along x and along y,
 * part * side to both sides, rounded to even.
 */
#include "step/warps.h"

enum { DRAWS = 2 };

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_warp(step, MR_SAMPLING_NEAREST, detail);
    return result != 0 ? result : mr__step_check_translate(step, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    mr__affine affine = {.scale = 1.0,
                         .translate = {mr__step_draw_move(step->translate[0], width, draws[0]),
                                       mr__step_draw_move(step->translate[1], height, draws[1])}};
    return mr__chain_affine(chain, &affine, step->sampling, step->fill, detail);
}

const mr__step_type mr__step_translate = {
    .kind = MR_STEP_TRANSLATE,
    .name = "translate",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
