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
 *     constant border           a larger canvas; a crop after it cuts canvas and window
 *     resize after resize, flip or border; anything after another border or a user's step: a new stage
 *
 * (A flip before a resize is not one after it: Pillow's weights are not symmetric to the last bit.)
 */
#ifndef MR_STEP_CHAIN_H
#define MR_STEP_CHAIN_H

#include "base/error.h"
#include <millrace/recipe.h>

enum { MR__STAGES_MAX = 16 };

typedef struct mr__pass {
    uint32_t width, height;       /* of its source */
    mr_rect crop;                 /* the part of the source that is resized */
    uint32_t to_width, to_height; /* to this; the crop's own size: no resize */
    mr_filter filter;
    mr_rect window;      /* of the resized: what is kept; all zero when the canvas is all fill, else not empty */
    bool flip_x, flip_y; /* the window, before it is placed */
    uint32_t canvas_width, canvas_height;
    uint32_t x, y; /* of the window on the canvas */
    uint8_t fill[4];
    mr_border border;         /* of what is outside the window; not FILL: the window is the whole resized image, and a
                                 mirrored border reaches back into it no further than its other side */
    const mr_user_step *user; /* run on the canvas, whose result is the next source; NULL: none, as in the last pass */
    const uint32_t *user_draws;
} mr__pass;

typedef struct mr__chain {
    mr__pass pass[MR__STAGES_MAX];
    size_t count; /* at least 1 */
} mr__chain;

/* A chain that leaves an image of this size as it is. */
void mr__chain_init(mr__chain *chain, uint32_t width, uint32_t height);

/* The size that the chain gives so far. */
void mr__chain_size(const mr__chain *chain, uint32_t *width, uint32_t *height);

/* MR_ELIMIT, with detail, beyond MR__STAGES_MAX and MR_RECIPE_SIDE_MAX; crops lie inside. */
int mr__chain_crop(mr__chain *chain, mr_rect rect, mr__detail *detail);
int mr__chain_resize(mr__chain *chain, uint32_t width, uint32_t height, mr_filter filter, mr__detail *detail);
void mr__chain_flip(mr__chain *chain, bool x, bool y);
int mr__chain_pad(mr__chain *chain, const uint32_t pad[4], mr_border border, const uint8_t fill[4], mr__detail *detail);
int mr__chain_user(mr__chain *chain, const mr_user_step *user, const uint32_t *draws, mr__detail *detail);

/*
 * The part of the source that a pass looks at: the crop, or less where a window leaves out what it does not need. This
 * is what is to be decoded. Never empty: of an image of which nothing is kept, a pixel is looked at, so that it is
 * known whether it can be.
 */
mr_rect mr__pass_region(const mr__pass *pass);

#endif
