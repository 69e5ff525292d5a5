// SPDX-License-Identifier: Apache-2.0
/*
 * perspective(0.5): torchvision's RandomPerspective. Each corner goes inwards by 0 to floor(distortion * (side / 2))
 * pixels, along x and along y. The draws, all made whether they are used or not:
 *
 *     0           whether it is done (chance, 0.5 unless it is given)
 *     4 i + 1     corner i (left top, right top, right bottom, left bottom) along x: the high and the low word of a
 *     4 i + 2     number, floor(x n / 2^64)
 *     4 i + 3     the same along y
 *     4 i + 4
 */
#include "step/real.h"
#include "step/warps.h"

enum { DRAWS = 17 };

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->distortion == 0.0)
        step->distortion = 0.5;
    if (!(step->distortion > 0.0 && step->distortion <= 1.0))
        return mr__fail(detail, MR_EARGUMENT, "perspective: distortion=%g; it goes from 0 to 1", step->distortion);
    int result = mr__step_settle_chance(step, 0.5, detail);
    return result != 0 ? result : mr__step_settle_sampling(step, MR_SAMPLING_BILINEAR, detail);
}

/* By how many pixels a corner goes inwards. */
static int32_t draw_way(const mr_step *step, uint32_t side, const uint32_t draws[2])
{
    uint32_t half = side / 2;
    return (int32_t)mr__real_below(draws, (uint32_t)(step->distortion * half) + 1);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    int32_t corners[4][2];
    if (!mr__step_happens(step, draws[0]))
        return 0;
    mr__chain_size(chain, &width, &height);
    for (size_t i = 0; i < 4; i++) {
        int32_t x = draw_way(step, width, draws + 1 + 4 * i), y = draw_way(step, height, draws + 3 + 4 * i);
        corners[i][0] = i == 1 || i == 2 ? (int32_t)width - 1 - x : x;
        corners[i][1] = i >= 2 ? (int32_t)height - 1 - y : y;
    }
    return mr__chain_perspective(chain, (const int32_t(*)[2])corners, step->sampling, step->fill, detail);
}

const mr__step_type mr__step_perspective = {
    .kind = MR_STEP_PERSPECTIVE,
    .name = "perspective",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
};
