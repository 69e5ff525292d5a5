// SPDX-License-Identifier: Apache-2.0
/*
 * rrc(224): torchvision's RandomResizedCrop(224). Ten times a share of the area and a ratio of width to height are
 * drawn; the first pair that gives a part which fits is taken, anywhere in the image; else the largest part in the
 * middle whose ratio is allowed.
 *
 * The draws, all made whether they are used or not:
 *
 *     2 i       area of attempt i (0 to 9): width height (low + (high - low) d 2^-32)
 *     2 i + 1   its ratio: e^(ln low + (ln high - ln low) d 2^-32)
 *     20, 21    the top of the part, as in crop: the high and the low word of x, floor(x n / 2^64)
 *     22, 23    its left side
 *
 * Sides are sqrt(area ratio) and sqrt(area / ratio), rounded to even. All in double, one operation after the other,
 * with logarithm and power of our own (real.h): the same part on every machine.
 */
#include "step/real.h"
#include "step/step.h"

#include <math.h>

enum { ATTEMPTS = 10, DRAWS = 2 * ATTEMPTS + 4 };

/* No image is narrower or flatter, with sides of MR_RECIPE_SIDE_MAX. */
#define RATIO_MAX 16384.0

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->scale_low == 0.0 && step->scale_high == 0.0) {
        step->scale_low = 0.08;
        step->scale_high = 1.0;
    }
    if (step->ratio_low == 0.0 && step->ratio_high == 0.0) {
        step->ratio_low = 3.0 / 4.0;
        step->ratio_high = 4.0 / 3.0;
    }
    if (!(step->scale_low >= 0.0 && step->scale_low <= step->scale_high && step->scale_high <= 1.0))
        return mr__fail(detail, MR_EARGUMENT, "rrc: scale=%g..%g; it goes from a smaller to a larger part of 1",
                        step->scale_low, step->scale_high);
    if (!(step->ratio_low >= 1.0 / RATIO_MAX && step->ratio_low <= step->ratio_high && step->ratio_high <= RATIO_MAX))
        return mr__fail(detail, MR_EARGUMENT, "rrc: ratio=%g..%g; it goes from a smaller to a larger one, 1/%g to %g",
                        step->ratio_low, step->ratio_high, RATIO_MAX, RATIO_MAX);
    int result = mr__step_settle_size(step, detail);
    return result != 0 ? result : mr__step_check_filter(step, detail);
}

/* A side from its square; 0 when it is longer than `most` or nothing. */
static uint32_t side_of(double square, uint32_t most)
{
    double side = sqrt(square);
    if (!(side < (double)most + 1.0))
        return 0;
    uint64_t whole = mr__real_round(side);
    return whole <= most ? (uint32_t)whole : 0;
}

static bool draw_part(const mr_step *step, const uint32_t *draws, uint32_t width, uint32_t height, mr_rect *part)
{
    double area = (double)((uint64_t)width * height);
    double low = mr__real_log(step->ratio_low), high = mr__real_log(step->ratio_high);
    for (size_t i = 0; i < ATTEMPTS; i++) {
        double wanted = area * mr__real_between(step->scale_low, step->scale_high, draws[2 * i]);
        double ratio = mr__real_exp(mr__real_between(low, high, draws[2 * i + 1]));
        part->width = side_of(wanted * ratio, width);
        part->height = side_of(wanted / ratio, height);
        if (part->width == 0 || part->height == 0)
            continue;
        part->y = mr__real_below(draws + 2 * ATTEMPTS, height - part->height + 1);
        part->x = mr__real_below(draws + 2 * ATTEMPTS + 2, width - part->width + 1);
        return true;
    }
    return false;
}

/* Of an image so thin that the ratio leaves less than half a pixel, one is taken. */
static uint32_t at_least_1(uint64_t side, uint32_t most)
{
    return side == 0 ? 1 : side > most ? most : (uint32_t)side;
}

static mr_rect middle_part(const mr_step *step, uint32_t width, uint32_t height)
{
    mr_rect part = {0, 0, width, height};
    double ratio = (double)width / (double)height;
    if (ratio < step->ratio_low)
        part.height = at_least_1(mr__real_round((double)width / step->ratio_low), height);
    else if (ratio > step->ratio_high)
        part.width = at_least_1(mr__real_round((double)height * step->ratio_high), width);
    part.x = (width - part.width) / 2;
    part.y = (height - part.height) / 2;
    return part;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr_rect part;
    mr__chain_size(chain, &width, &height);
    if (!draw_part(step, draws, width, height, &part))
        part = middle_part(step, width, height);
    int result = mr__chain_crop(chain, part, detail);
    return result != 0 ? result : mr__chain_resize(chain, step->width, step->height, step->filter, detail);
}

const mr__step_type mr__step_rrc = {
    .kind = MR_STEP_RRC,
    .name = "rrc",
    .settle = settle,
    .shape = mr__step_shape_fixed,
    .draws = DRAWS,
    .resolve = resolve,
};
