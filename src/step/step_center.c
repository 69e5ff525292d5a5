// SPDX-License-Identifier: Apache-2.0
/*
 * center(224): torchvision's CenterCrop(224). Where half a pixel would be left over, the place is the even one of two
 * (Python's round); what a small image lacks is put around it, the odd pixel to the right and to the bottom.
 */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    return mr__step_settle_size(step, detail);
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    int result = mr__step_check_fill(step, shape, detail);
    return result != 0 ? result : mr__step_shape_fixed(step, shape, detail);
}

/* n / 2, of two whole numbers as near the even one. */
static uint32_t half_to_even(uint32_t n)
{
    return n / 2 + (n % 4 == 3);
}

/* One side: what is cut from the image and then put around it. */
static void place_side(uint32_t side, uint32_t wanted, uint32_t *from, uint32_t *length, uint32_t *before,
                       uint32_t *after)
{
    bool cut = side > wanted;
    uint32_t lacks = cut ? 0 : wanted - side;
    *from = cut ? half_to_even(side - wanted) : 0;
    *length = cut ? wanted : side;
    *before = lacks / 2;
    *after = lacks - lacks / 2;
}

/* The crop comes first, though torchvision's comes last: the border is constant, and what is cut off needs none. */
static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height, pad[4];
    mr_rect rect;
    (void)draws;
    mr__chain_size(chain, &width, &height);
    place_side(width, step->width, &rect.x, &rect.width, &pad[0], &pad[2]);
    place_side(height, step->height, &rect.y, &rect.height, &pad[1], &pad[3]);
    int result = mr__chain_crop(chain, rect, detail);
    return result != 0 ? result : mr__chain_pad(chain, pad, MR_BORDER_FILL, step->fill, detail);
}

const mr__step_type mr__step_center = {
    .kind = MR_STEP_CENTER,
    .name = "center",
    .settle = settle,
    .shape = shape_of,
    .resolve = resolve,
};
