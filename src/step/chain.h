// SPDX-License-Identifier: Apache-2.0
/*
 * What a recipe does to one image, once its size is known and its random numbers are drawn: a chain of stages. A stage
 * is the most that one pass over the rows can do:
 *
 *     crop a part of the source, resize it, keep a window of the result, flip that, place it on a canvas
 *
 * Neighbouring steps that compose to one such pass without changing a bit are one stage; others begin the next:
 *
 *     crop after crop           a crop in the crop
 *     crop after resize         a smaller window; only what it needs is decoded and resampled
 *     flip                      mirrors window and place; crops after it are mirrored in turn
 *     half a turn               both; quarters that are neighbours are one op
 *     constant border           a larger canvas; a crop after it cuts canvas and window
 *     resize after resize, flip or border; anything after another border or an op: a new stage
 *
 * (A flip before a resize is not one after it: Pillow's weights are not symmetric to the last bit.)
 *
 * Ops (op.h) are what a pass cannot do. They stand between a pass and the next. At the end the chain is narrowed: from
 * the last pass back, of every canvas that part alone is made which somebody looks at, and of the image that part alone
 * is decoded.
 *
 * Every function that adds to a chain notes which step it was for, and, when somebody wants to know, where pixels went
 * (follow.h): boxes, keypoints and masks go the same way.
 */
#ifndef MR_STEP_CHAIN_H
#define MR_STEP_CHAIN_H

#include "step/op.h"

enum { MR__STAGES_MAX = 32, MR__OPS_MAX = 64, MR__ERASED_MAX = 4 };

typedef struct mr__follow mr__follow;

typedef struct mr__pass {
    uint32_t width, height;       /* of its source */
    mr_rect from;                 /* the part of it that is there, once the chain is narrowed */
    mr_rect crop;                 /* the part of the source that is resized */
    uint32_t to_width, to_height; /* to this; the crop's own size: no resize */
    mr_filter filter;
    mr_rect window;      /* of the resized: what is kept; all zero when the canvas is all fill, else not empty */
    bool flip_x, flip_y; /* the window, before it is placed */
    uint32_t canvas_width, canvas_height;
    uint32_t x, y; /* of the window on the canvas */
    uint8_t fill[4];
    mr_border border; /* of what is outside the window; not FILL: the window is the whole resized image, and a
                         mirrored border reaches back into it no further than its other side */
    uint64_t steps;   /* bit i: step i of the recipe has a share in it */
    uint32_t op, ops; /* chain->op[op] to [op + ops - 1] are run on the canvas; what they make is the next
                         source. The last pass has none */
} mr__pass;

typedef struct mr__chain {
    mr__pass pass[MR__STAGES_MAX];
    size_t count; /* at least 1 */
    mr__op op[MR__OPS_MAX];
    size_t op_count;
    mr__erase erased[MR__ERASED_MAX]; /* in the finished numbers */
    size_t erased_count;
    bool finished;      /* steps that are resolved now stand behind normalize */
    bool apart;         /* nothing is fused */
    bool branch;        /* what is added is a branch of an op: ops alone */
    uint32_t step;      /* that is being resolved: its number in the recipe */
    mr__follow *follow; /* told where pixels go; NULL: nobody wants to know */
} mr__chain;

/* A chain that leaves an image of this size as it is. `follow` may be NULL. */
void mr__chain_init(mr__chain *chain, uint32_t width, uint32_t height, bool apart, mr__follow *follow);

/* The size that the chain gives so far. */
void mr__chain_size(const mr__chain *chain, uint32_t *width, uint32_t *height);

/* MR_ELIMIT, with detail, beyond MR__STAGES_MAX and MR_RECIPE_SIDE_MAX; crops lie inside. */
int mr__chain_crop(mr__chain *chain, mr_rect rect, mr__detail *detail);
int mr__chain_resize(mr__chain *chain, uint32_t width, uint32_t height, mr_filter filter, mr__detail *detail);
int mr__chain_flip(mr__chain *chain, bool x, bool y, mr__detail *detail);
int mr__chain_pad(mr__chain *chain, const uint32_t pad[4], mr_border border, const uint8_t fill[4], mr__detail *detail);

/*
 * An op of this kind with these parameters: kind, amount, more, whole, key and u are the caller's, the rest is filled
 * in; to_width 0: the size stays. For ops that leave pixels where they are; places have functions of their own.
 */
int mr__chain_op(mr__chain *chain, mr__op op, mr__detail *detail);

/* An op with a number, and no more. */
int mr__chain_amount(mr__chain *chain, mr__op_kind kind, double amount, mr__detail *detail);

/* Counterclockwise by 1 to 3 quarters; neighbours are one. No move is noted: it is the caller's. */
int mr__chain_turn(mr__chain *chain, uint32_t quarters, mr__detail *detail);

/* torchvision's affine: of an image turned clockwise by so many degrees, sheared (degrees), scaled, moved (pixels). */
typedef struct mr__affine {
    double degrees, translate[2], scale, shear[2];
    bool has_center;
    double center[2];
} mr__affine;

int mr__chain_affine(mr__chain *chain, const mr__affine *affine, mr_sampling sampling, const uint8_t fill[4],
                     mr__detail *detail);

/* Pillow's rotate, counterclockwise; quarters of a turn are exact, as there. `center` NULL: the middle. */
int mr__chain_rotate(mr__chain *chain, double degrees, bool expand, const double *center, mr_sampling sampling,
                     const uint8_t fill[4], mr__detail *detail);

/* Where the corners go, of the image: left top, right top, right bottom, left bottom; in pixels, x before y. */
int mr__chain_perspective(mr__chain *chain, const int32_t corners[4][2], mr_sampling sampling, const uint8_t fill[4],
                          mr__detail *detail);

int mr__chain_elastic(mr__chain *chain, const mr__elastic *elastic, mr__detail *detail);

/* Once all steps are resolved: leaves out what nobody looks at. */
void mr__chain_narrow(mr__chain *chain);

/*
 * The part of the source that a pass looks at: the crop, or less where a window leaves out what it does not need. This
 * is what is to be decoded. Never empty: of an image of which nothing is kept, a pixel is looked at, so that it is
 * known whether it can be.
 */
mr_rect mr__pass_region(const mr__pass *pass);

/* Whether all that it does is to copy its crop: no resize, no flip, no border. */
bool mr__pass_is_copy(const mr__pass *pass);

#endif
