// SPDX-License-Identifier: Apache-2.0
/*
 * permute: torchvision's RandomChannelPermutation. Two draws: which of the six orders, as the place of a part in crop.
 * The one channel of a gray image stays where it is.
 */
#include "step/real.h"
#include "step/step.h"

/* Channel c from (order >> 2 c) & 3. */
#define ORDER(a, b, c) ((a) | (b) << 2 | (c) << 4)

static const uint32_t orders[] = {ORDER(0, 1, 2), ORDER(0, 2, 1), ORDER(1, 0, 2),
                                  ORDER(1, 2, 0), ORDER(2, 0, 1), ORDER(2, 1, 0)};

static int settle(mr_step *step, mr__detail *detail)
{
    return mr__step_settle_chance(step, 1.0, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    (void)step;
    uint32_t number = mr__real_below(draws, sizeof orders / sizeof *orders);
    return mr__chain_op(chain, (mr__op){.kind = MR__OP_PERMUTE, .whole = orders[number]}, detail);
}

const mr__step_type mr__step_permute = {
    .kind = MR_STEP_PERMUTE,
    .name = "permute",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 2,
    .resolve = resolve,
    .sometimes = true,
};
