// SPDX-License-Identifier: Apache-2.0
/* The table of steps: one line and one file each. */
#ifndef MR_STEP_STEP_H
#define MR_STEP_STEP_H

#include "step/chain.h"

/* What is known of every image at some place of a recipe, before there is one. */
typedef struct mr__shape {
    uint32_t width, height; /* 0: differs from image to image */
    uint32_t channels, depth;
} mr__shape;

typedef struct mr__step_type {
    mr_step_kind kind;
    const char *name; /* as it is written */

    /* Fills in the defaults and checks the parameters; MR_EARGUMENT with detail. Settling twice changes nothing. */
    int (*settle)(mr_step *step, mr__detail *detail);

    /* From the shape before the step to that after it; MR_EARGUMENT where it does not take it, by name. */
    int (*shape)(const mr_step *step, mr__shape *shape, mr__detail *detail);

    /* How many u32 it draws; NULL: none. */
    uint32_t (*draw_count)(const mr_step *step);

    /* What it does to an image of mr__chain_size(chain). NULL: nothing to the pixels' places (normalize, layout, ...)
     */
    int (*resolve)(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail);
} mr__step_type;

extern const mr__step_type *const mr__step_types[]; /* in the order of their numbers */
extern const size_t mr__step_type_count;

const mr__step_type *mr__step_type_of(mr_step_kind kind); /* NULL: there is none */

extern const mr__step_type mr__step_orient, mr__step_convert, mr__step_resize, mr__step_short, mr__step_center,
    mr__step_crop, mr__step_rrc, mr__step_pad, mr__step_flip, mr__step_vflip, mr__step_normalize, mr__step_layout,
    mr__step_dtype, mr__step_user;

/* What several steps check, each MR_EARGUMENT with a detail that begins with the step's name. */

/* Width and height from 1 to MR_RECIPE_SIDE_MAX; a height of 0 becomes the width. */
int mr__step_settle_size(mr_step *step, mr__detail *detail);

int mr__step_check_filter(const mr_step *step, mr__detail *detail);

/* That there is such a border, and that it is no wider than a side can be. */
int mr__step_check_border(const mr_step *step, mr__detail *detail);

/* That a mirrored border so wide can be made of an image of this size: a side of 0 is not known yet. */
int mr__step_check_mirror(const mr_step *step, const uint32_t pad[4], uint32_t width, uint32_t height,
                          mr__detail *detail);

/* That the fill says nothing of channels that there are not, unless it is the same for all. */
int mr__step_check_fill(const mr_step *step, const mr__shape *shape, mr__detail *detail);

/* The shape of a step that gives its width and height, whatever it is given. */
int mr__step_shape_fixed(const mr_step *step, mr__shape *shape, mr__detail *detail);

#endif
