// SPDX-License-Identifier: Apache-2.0
/*
 * ioucrop: torchvision's RandomIoUCrop. One of the options is drawn, which says how much some box and the part have to
 * have in common at least (their intersection, of their union); 1 or more leaves the image as it is. Up to `trials`
 * parts are drawn; the first one is taken whose sides and their ratio are allowed, which has the middle of a box inside
 * and enough in common with one of those. Where none is, another option is drawn.
 *
 * Boxes whose middle is outside become nothing, for sanitize to leave out. An image without boxes stays as it is. After
 * ROUNDS options without a part the image stays as it is, where torchvision goes on for ever; with an option of 1 among
 * seven that has a chance of 10^-13. So it does after LOOKS_MAX looks at a box, all of an image's for each part that
 * was drawn and allowed: 8000 parts, which are 200 options of 40, have as many with 8388 boxes.
 *
 * Two draws are the key of a stream (dice.h), as nobody can say how many it takes. Of it, an option takes two, a part's
 * sides one each, and its place one each; in float of 24 bits, as torch has it.
 */
#include "step/dice.h"
#include "step/follow.h"
#include "step/step.h"

#include <math.h>

enum { ROUNDS = 200, TRIALS_MAX = 1000, LOOKS_MAX = 1 << 26 };

static int check_options(const mr_step *step, mr__detail *detail)
{
    if (step->list_count > MR_RECIPE_LIST_MAX)
        return mr__fail(detail, MR_EARGUMENT, "ioucrop: %u options; at most %d", step->list_count, MR_RECIPE_LIST_MAX);
    for (uint32_t i = 0; i < step->list_count; i++)
        if (!(step->list[i] >= 0.0 && step->list[i] <= 1e6))
            return mr__fail(detail, MR_EARGUMENT, "ioucrop: an option of %g; they go from 0, anything, to 1, no crop",
                            step->list[i]);
    return 0;
}

static int settle(mr_step *step, mr__detail *detail)
{
    static const double options[] = {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0};
    bool no_options = step->list_count == 0;
    if (step->scale_low == 0.0 && step->scale_high == 0.0) {
        step->scale_low = 0.3;
        step->scale_high = 1.0;
    }
    if (step->ratio_low == 0.0 && step->ratio_high == 0.0) {
        step->ratio_low = 0.5;
        step->ratio_high = 2.0;
    }
    for (size_t i = 0; no_options && i < sizeof options / sizeof *options; i++)
        step->list[step->list_count++] = options[i];
    step->trials = step->trials == 0 ? 40 : step->trials;
    if (step->trials > TRIALS_MAX)
        return mr__fail(detail, MR_EARGUMENT, "ioucrop: %u trials; at most %d", step->trials, TRIALS_MAX);
    const double scale[2] = {step->scale_low, step->scale_high}, ratio[2] = {step->ratio_low, step->ratio_high};
    int result = mr__step_check_range(step, "scale", scale, 0.0, 1.0, detail);
    if (result == 0)
        result = mr__step_check_range(step, "ratio", ratio, 1.0 / MR_RECIPE_SIDE_MAX, MR_RECIPE_SIDE_MAX, detail);
    return result != 0 ? result : check_options(step, detail);
}

/* A part of a side, by one draw; and where it begins, by another. */
static uint32_t draw_side(const mr_step *step, mr__rng *rng, uint32_t side)
{
    float by = (float)step->scale_low + (float)(step->scale_high - step->scale_low) * mr__rng_float(rng);
    uint32_t part = (uint32_t)((float)side * by);
    return part < side ? part : side;
}

static uint32_t draw_start(mr__rng *rng, uint32_t left_over)
{
    return (uint32_t)((float)left_over * mr__rng_float(rng));
}

/* False: its sides are not allowed, and its place is not drawn. */
static bool draw_part(const mr_step *step, mr__rng *rng, uint32_t width, uint32_t height, mr_rect *part)
{
    part->width = draw_side(step, rng, width);
    part->height = draw_side(step, rng, height);
    if (part->width == 0 || part->height == 0)
        return false;
    double ratio = (double)part->width / part->height;
    if (!(step->ratio_low <= ratio && ratio <= step->ratio_high))
        return false;
    part->x = draw_start(rng, width - part->width);
    part->y = draw_start(rng, height - part->height);
    return true;
}

/* How much a box and a part have in common, of all that they are. */
static float share_of(const float box[4], const float part[4])
{
    float width = (box[2] < part[2] ? box[2] : part[2]) - (box[0] > part[0] ? box[0] : part[0]);
    float height = (box[3] < part[3] ? box[3] : part[3]) - (box[1] > part[1] ? box[1] : part[1]);
    float both = (width > 0.0f ? width : 0.0f) * (height > 0.0f ? height : 0.0f);
    float all = (box[2] - box[0]) * (box[3] - box[1]) + (part[2] - part[0]) * (part[3] - part[1]) - both;
    return both / all;
}

static bool is_wanted(const mr__place *places, size_t count, const mr_rect *rect, float least)
{
    const float part[4] = {(float)rect->x, (float)rect->y, (float)(rect->x + rect->width),
                           (float)(rect->y + rect->height)};
    for (size_t i = 0; i < count; i++)
        if (places[i].flags != 0 && mr__follow_has_middle(rect, places[i].box) &&
            !(share_of(places[i].box, part) < least))
            return true;
    return false;
}

static bool find_part(const mr_step *step, const uint32_t *draws, const mr__place *places, size_t count, uint32_t width,
                      uint32_t height, mr_rect *part)
{
    mr__dice dice;
    size_t looks = 0;
    mr__dice_init(&dice, draws);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double least = step->list[mr__rng_below(&dice.rng, step->list_count)];
        if (least >= 1.0)
            return false;
        for (uint32_t i = 0; i < step->trials; i++) {
            if (!draw_part(step, &dice.rng, width, height, part))
                continue;
            if (count > LOOKS_MAX - looks)
                return false;
            looks += count;
            if (is_wanted(places, count, part, (float)least))
                return true;
        }
    }
    return false;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    size_t count = 0;
    mr_rect part;
    int result = chain->follow != NULL ? mr__follow_look(chain->follow, &count, detail) : 0;
    mr__chain_size(chain, &width, &height);
    if (result != 0 || count == 0 || !find_part(step, draws, chain->follow->work, count, width, height, &part))
        return result;
    const mr__move move = {.kind = MR__MOVE_MIDDLES,
                           .width = width,
                           .height = height,
                           .to_width = width,
                           .to_height = height,
                           .u.crop = part};
    result = mr__follow_note(chain->follow, &move, detail);
    return result != 0 ? result : mr__chain_crop(chain, part, detail);
}

const mr__step_type mr__step_ioucrop = {
    .kind = MR_STEP_IOUCROP,
    .name = "ioucrop",
    .settle = settle,
    .shape = mr__step_shape_unsure,
    .draws = 2,
    .resolve = resolve,
};
