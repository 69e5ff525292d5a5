// SPDX-License-Identifier: Apache-2.0
/*
 * jitter(0.4, 0.4, 0.4, 0.1): torchvision's ColorJitter. Brightness, contrast, saturation and hue, each by a number of
 * its range, one after the other in random order; what has no range is left out, and the order of the others is as
 * random.
 *
 * The draws, all made whether they are used or not:
 *
 *     0, 1      the order, as the place of a part in crop: one of 24
 *     2 to 5    the numbers: low + (high - low) d 2^-32
 */
#include "step/step_jitter.h"

#include "step/real.h"

enum { PARTS = 4, ORDERS = 24, DRAWS = 2 + PARTS };

static const mr__op_kind kinds[PARTS] = {MR__OP_BRIGHTNESS, MR__OP_CONTRAST, MR__OP_SATURATION, MR__OP_HUE};

int mr__step_check_factors(const mr_step *step, const char *name, const double range[2], mr__detail *detail)
{
    return mr__step_check_range(step, name, range, 0.0, MR__FACTOR_MAX, detail);
}

int mr__step_check_hues(const mr_step *step, const double range[2], mr__detail *detail)
{
    return mr__step_check_range(step, "hue", range, -0.5, 0.5, detail);
}

int mr__chain_jitter(mr__chain *chain, mr__op_kind kind, const double range[2], uint32_t draw, mr__detail *detail)
{
    mr__op op = {.kind = kind, .amount = mr__real_between(range[0], range[1], draw)};
    if (kind == MR__OP_HUE)
        op.whole = (uint32_t)(int32_t)(op.amount * 255.0) & 255u;
    return mr__chain_op(chain, op, detail);
}

static int settle(mr_step *step, mr__detail *detail)
{
    int result = mr__step_settle_chance(step, 1.0, detail);
    if (result == 0)
        result = mr__step_check_factors(step, "brightness", step->brightness, detail);
    if (result == 0)
        result = mr__step_check_factors(step, "contrast", step->contrast, detail);
    if (result == 0)
        result = mr__step_check_factors(step, "saturation", step->saturation, detail);
    return result != 0 ? result : mr__step_check_hues(step, step->hue, detail);
}

/* Order `number` of the 24: of those that are left, one after the other is taken. */
static void make_order(uint32_t number, uint32_t order[PARTS])
{
    uint32_t left[PARTS] = {0, 1, 2, 3};
    for (uint32_t i = 0; i < PARTS; i++) {
        uint32_t count = PARTS - i, place = number % count;
        number /= count;
        order[i] = left[place];
        for (uint32_t k = place; k + 1 < count; k++)
            left[k] = left[k + 1];
    }
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    const double *ranges[PARTS] = {step->brightness, step->contrast, step->saturation, step->hue};
    uint32_t order[PARTS];
    int result = 0;
    make_order(mr__real_below(draws, ORDERS), order);
    for (uint32_t i = 0; i < PARTS && result == 0; i++) {
        const double *range = ranges[order[i]];
        if (range[0] != 0.0 || range[1] != 0.0)
            result = mr__chain_jitter(chain, kinds[order[i]], range, draws[2 + order[i]], detail);
    }
    return result;
}

const mr__step_type mr__step_jitter = {
    .kind = MR_STEP_JITTER,
    .name = "jitter",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
