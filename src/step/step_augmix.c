// SPDX-License-Identifier: Apache-2.0
/*
 * augmix: torchvision's AugMix, with Pillow's definition of every operation. Some branches, each one to three
 * operations on the image as it was, are mixed with it:
 *
 *     m0 image + m1 (w1 branch1 + w2 branch2 + ...)    m0, m1: Dirichlet(alpha, alpha); w: Dirichlet(alpha, alpha, ...)
 *
 * Magnitudes are the first `severity` of ten. The two draws are the key of dice, which decides in this order: m0 and
 * m1, the w, then of each branch its depth where that is not given, and of each of its operations which, the number of
 * its magnitude, and whether it is negative.
 */
#include "step/dice.h"
#include "step/policy.h"
#include "step/step.h"

#include <math.h>

enum { DRAWS = 2, BINS = 10, DEPTH_MAX = 3, FEW = 9 };

static int settle(mr_step *step, mr__detail *detail)
{
    step->magnitude = step->magnitude != 0 ? step->magnitude : 3;
    step->branches = step->branches != 0 ? step->branches : 3;
    step->alpha[0] = step->alpha[0] != 0.0 ? step->alpha[0] : 1.0;
    if (step->magnitude > BINS)
        return mr__fail(detail, MR_EARGUMENT, "augmix: a severity of %u; it goes from 1 to %d", step->magnitude, BINS);
    if (step->branches > MR__BRANCHES_MAX)
        return mr__fail(detail, MR_EARGUMENT, "augmix: %u branches; at most %d", step->branches, MR__BRANCHES_MAX);
    if (step->ops > DEPTH_MAX)
        return mr__fail(detail, MR_EARGUMENT, "augmix: %u operations in a branch; at most %d, 0 for 1 to %d by chance",
                        step->ops, DEPTH_MAX, DEPTH_MAX);
    if (!(step->alpha[0] >= MR__DICE_ALPHA_MIN && step->alpha[0] <= 1e3))
        return mr__fail(detail, MR_EARGUMENT, "augmix: alpha=%g; it goes from 1/1024 to 1000", step->alpha[0]);
    return mr__step_settle_sampling(step, MR_SAMPLING_BILINEAR, detail);
}

/* In 32 bits from here on, as there. */
static void draw_weights(const mr_step *step, mr__dice *dice, mr__mix *mix)
{
    double parts[2], weights[MR__BRANCHES_MAX];
    mr__dice_dirichlet(dice, step->alpha[0], 2, parts);
    mr__dice_dirichlet(dice, step->alpha[0], step->branches, weights);
    mix->original = (float)parts[0];
    for (size_t i = 0; i < step->branches; i++)
        mix->weight[i] = (float)weights[i] * (float)parts[1];
}

/* One branch: its ops behind those that are there. */
static int add_branch(const mr_step *step, mr__dice *dice, mr__chain *chain, mr__detail *detail)
{
    size_t count;
    const uint8_t *ops = mr__space_ops(MR__SPACE_AUGMIX, &count);
    mr__policy_look look = {step->sampling, step->fill};
    uint32_t depth = step->ops != 0 ? step->ops : 1 + mr__dice_below(dice, DEPTH_MAX);
    int result = 0;
    for (uint32_t i = 0; i < depth && result == 0; i++) {
        mr__policy_draw draw = {.bins = BINS};
        draw.op = (mr__policy_op)ops[mr__dice_below(dice, step->few_ops ? FEW : (uint32_t)count)];
        draw.bin = mr__dice_below(dice, step->magnitude);
        draw.negative = mr__dice_below(dice, 2) == 1;
        result = mr__space_add(chain, MR__SPACE_AUGMIX, draw, look, detail);
    }
    return result;
}

/* The op of the mix first, then those of its branches; what it has to know of them it is told afterwards. */
static int add_mix(const mr_step *step, mr__dice *dice, mr__chain *chain, mr__detail *detail)
{
    mr__op op = {.kind = MR__OP_AUGMIX, .u.mix.branches = step->branches};
    size_t at = chain->op_count;
    draw_weights(step, dice, &op.u.mix);
    int result = mr__chain_op(chain, op, detail);
    for (uint32_t i = 0; i < step->branches && result == 0; i++) {
        size_t before = chain->op_count;
        result = add_branch(step, dice, chain, detail);
        chain->op[at].u.mix.depth[i] = (uint8_t)(chain->op_count - before);
        chain->op[at].u.mix.ops = (uint32_t)(chain->op_count - at - 1);
    }
    return result;
}

/* Nobody follows a branch, and nothing of one is fused with what stands before it. */
static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__follow *follow = chain->follow;
    mr__dice dice;
    mr__dice_init(&dice, draws);
    chain->follow = NULL;
    chain->branch = true;
    int result = add_mix(step, &dice, chain, detail);
    chain->follow = follow;
    chain->branch = false;
    return result;
}

const mr__step_type mr__step_augmix = {
    .kind = MR_STEP_AUGMIX,
    .name = "augmix",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = DRAWS,
    .resolve = resolve,
};
