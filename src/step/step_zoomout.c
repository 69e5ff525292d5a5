// SPDX-License-Identifier: Apache-2.0
/*
 * zoomout: torchvision's RandomZoomOut. By a chance of 1/2 the image is put at a random place of one whose sides are 1
 * to 4 times as long.
 *
 * The draws, the last three by their upper 24 bits, in float, as torch has it:
 *
 *     0      whether it happens: d 2^-32 < chance
 *     1      how many times as long the sides are
 *     2, 3   how much of what is added is to the left, and above
 */
#include "step/real.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->side[0] == 0.0 && step->side[1] == 0.0) {
        step->side[0] = 1.0;
        step->side[1] = 4.0;
    }
    int result = mr__step_check_range(step, "side", step->side, 1.0, MR_RECIPE_SIDE_MAX, detail);
    return result != 0 ? result : mr__step_settle_chance(step, 0.5, detail);
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    int result = mr__step_check_fill(step, shape, detail);
    return result != 0 ? result : mr__step_shape_unsure(step, shape, detail);
}

/* What goes before and behind a side that becomes `by` times as long. */
static void add_to(uint32_t side, float by, uint32_t draw, uint32_t *before, uint32_t *behind)
{
    float made = (float)side * by;
    uint32_t all = made > 1e9f ? 1000000000u : (uint32_t)made;
    uint32_t added = all > side ? all - side : 0;
    *before = (uint32_t)((float)added * mr__real_unit_f32(draw));
    *behind = added - *before;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height, pad[4];
    if (!mr__step_happens(step, draws[0]))
        return 0;
    mr__chain_size(chain, &width, &height);
    float by = (float)step->side[0] + mr__real_unit_f32(draws[1]) * (float)(step->side[1] - step->side[0]);
    add_to(width, by, draws[2], &pad[0], &pad[2]);
    add_to(height, by, draws[3], &pad[1], &pad[3]);
    return mr__chain_pad(chain, pad, MR_BORDER_FILL, step->fill, detail);
}

const mr__step_type mr__step_zoomout = {
    .kind = MR_STEP_ZOOMOUT,
    .name = "zoomout",
    .settle = settle,
    .shape = shape_of,
    .draws = 4,
    .resolve = resolve,
};
