// SPDX-License-Identifier: Apache-2.0
/*
 * What policies (randaug, trivialaug, autoaug, augmix) do to an image: a few operations, known by name, each with a
 * value; and the values that torchvision's policies choose from.
 */
#ifndef MR_STEP_POLICY_H
#define MR_STEP_POLICY_H

#include "step/chain.h"

typedef enum mr__policy_op {
    MR__POLICY_IDENTITY,
    MR__POLICY_SHEAR_X, /* the tangent of an angle */
    MR__POLICY_SHEAR_Y,
    MR__POLICY_TRANSLATE_X, /* pixels, to the right */
    MR__POLICY_TRANSLATE_Y, /* pixels, down */
    MR__POLICY_ROTATE,      /* degrees, counterclockwise */
    MR__POLICY_BRIGHTNESS,  /* a factor, as of the next three */
    MR__POLICY_COLOR,
    MR__POLICY_CONTRAST,
    MR__POLICY_SHARPNESS,
    MR__POLICY_POSTERIZE, /* bits */
    MR__POLICY_SOLARIZE,  /* the first value that is inverted */
    MR__POLICY_AUTO_CONTRAST,
    MR__POLICY_EQUALIZE,
    MR__POLICY_INVERT,
    MR__POLICY_OPS
} mr__policy_op;

/* How pixels are looked up where an operation moves them, and what is put where there are none. */
typedef struct mr__policy_look {
    mr_sampling sampling; /* not AUTO */
    const uint8_t *fill;  /* of 4 channels */
} mr__policy_look;

/* Adds one operation to a chain. */
int mr__policy_add(mr__chain *chain, mr__policy_op op, double value, mr__policy_look look, mr__detail *detail);

/* What a policy of torchvision's chooses from. */
typedef enum mr__space_kind {
    MR__SPACE_RANDAUG, /* and of AutoAugment */
    MR__SPACE_TRIVIAL,
    MR__SPACE_AUGMIX,
    MR__SPACE_KINDS
} mr__space_kind;

/* Its operations in torchvision's order; *count is how many. AutoAugment has its own list: its tables. */
const uint8_t *mr__space_ops(mr__space_kind kind, size_t *count);

/*
 * The magnitude number `bin` of `bins` (at least 2), for an image of this size: what torchvision hands on, which is a
 * number of 32 bits. 0 for operations without one.
 */
double mr__space_magnitude(mr__space_kind kind, mr__policy_op op, uint32_t bins, uint32_t bin, uint32_t width,
                           uint32_t height);

/* Whether magnitudes of this operation are of either sign, by chance. */
bool mr__policy_signed(mr__policy_op op);

/* Whether it has magnitudes at all. */
bool mr__policy_measured(mr__policy_op op);

/* Adds an operation with such a magnitude: factors are 1 more, thresholds 255 times it, pixels and bits whole. */
int mr__policy_add_magnitude(mr__chain *chain, mr__policy_op op, double magnitude, mr__policy_look look,
                             mr__detail *detail);

/* What chance decides about an operation once it is chosen: which magnitude, and whether it is negative. */
typedef struct mr__policy_draw {
    mr__policy_op op;
    uint32_t bins, bin;
    bool negative;
} mr__policy_draw;

/* Both of the above, for the image that the chain has come to. */
int mr__space_add(mr__chain *chain, mr__space_kind kind, mr__policy_draw draw, mr__policy_look look,
                  mr__detail *detail);

#endif
