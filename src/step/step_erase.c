// SPDX-License-Identifier: Apache-2.0
/*
 * erase: torchvision's RandomErasing. Ten times a share of the area and a ratio of height to width are drawn; the first
 * pair that gives a rectangle lower and narrower than the image is taken, anywhere in it; where none does, nothing is
 * erased. Before normalize its value is a grey level (torchvision's is, too, where the image is not of floats yet), and
 * noise is random bytes; behind it the value is one of the batch's numbers, and noise is normal.
 *
 * The draws, all made whether they are used or not:
 *
 *     2 i       area of attempt i (0 to 9): width height (low + (high - low) d 2^-32)
 *     2 i + 1   its ratio: e^(ln low + (ln high - ln low) d 2^-32)
 *     20, 21    the top of the rectangle: the high and the low word of x, floor(x n / 2^64)
 *     22, 23    its left side
 *     24, 25    the key of its noise (kernel/noise.h)
 *
 * Height and width are sqrt(area ratio) and sqrt(area / ratio), rounded to even; either may be 0, as there.
 */
#include "step/erase.h"
#include "step/real.h"
#include "step/step.h"

#include <math.h>

enum { ATTEMPTS = 10, PLACE = 2 * ATTEMPTS, KEY = PLACE + 4, DRAWS = KEY + 2 };

#define RATIO_MAX 16384.0
#define VALUE_MAX 1e6

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->scale_low == 0.0 && step->scale_high == 0.0) {
        step->scale_low = 0.02;
        step->scale_high = 0.33;
    }
    if (step->ratio_low == 0.0 && step->ratio_high == 0.0) {
        step->ratio_low = 0.3;
        step->ratio_high = 3.3;
    }
    const double scale[2] = {step->scale_low, step->scale_high}, ratio[2] = {step->ratio_low, step->ratio_high};
    int result = mr__step_check_range(step, "scale", scale, 0.0, 1.0, detail);
    if (result == 0)
        result = mr__step_check_range(step, "ratio", ratio, 1.0 / RATIO_MAX, RATIO_MAX, detail);
    for (size_t c = 0; c < 4 && result == 0; c++)
        if (!(fabs(step->value[c]) <= VALUE_MAX))
            result = mr__fail(detail, MR_EARGUMENT, "erase: value %g; -%g to %g", step->value[c], VALUE_MAX, VALUE_MAX);
    return result != 0 ? result : mr__step_settle_chance(step, 0.5, detail);
}

static int shape(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    const double *value = step->value;
    bool same = value[1] == value[0] && value[2] == value[0] && value[3] == value[0];
    for (uint32_t i = shape->channels; i < 4 && !same; i++)
        if (value[i] != 0.0)
            return mr__fail(detail, MR_EARGUMENT,
                            "erase: the value %g, %g, %g, %g is for more channels than the %u there are", value[0],
                            value[1], value[2], value[3], shape->channels);
    return mr__step_shape_op(step, shape, detail);
}

/* A side from its square, if it is shorter than `most`. */
static bool side_of(double square, uint32_t most, uint32_t *side)
{
    double root = sqrt(square);
    if (!(root < (double)most))
        return false;
    *side = (uint32_t)mr__real_round(root);
    return *side < most;
}

static bool draw_rect(const mr_step *step, const uint32_t *draws, uint32_t width, uint32_t height, mr_rect *rect)
{
    double area = (double)((uint64_t)width * height);
    double low = mr__real_log(step->ratio_low), high = mr__real_log(step->ratio_high);
    for (size_t i = 0; i < ATTEMPTS; i++) {
        double wanted = area * mr__real_between(step->scale_low, step->scale_high, draws[2 * i]);
        double ratio = mr__real_exp(mr__real_between(low, high, draws[2 * i + 1]));
        if (!side_of(wanted * ratio, height, &rect->height) || !side_of(wanted / ratio, width, &rect->width))
            continue;
        rect->y = mr__real_below(draws + PLACE, height - rect->height + 1);
        rect->x = mr__real_below(draws + PLACE + 2, width - rect->width + 1);
        return true;
    }
    return false;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__erase erase = {.noise = step->random_fill, .key = {draws[KEY], draws[KEY + 1]}};
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    for (size_t c = 0; c < 4; c++)
        erase.value[c] = (float)step->value[c];
    if (!draw_rect(step, draws, width, height, &erase.rect) || erase.rect.width == 0 || erase.rect.height == 0)
        return 0;
    return mr__chain_erase(chain, &erase, detail);
}

const mr__step_type mr__step_erase = {
    .kind = MR_STEP_ERASE,
    .name = "erase",
    .settle = settle,
    .shape = shape,
    .draws = DRAWS,
    .resolve = resolve,
    .sometimes = true,
};
