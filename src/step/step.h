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

    /* How many u32 it draws; where the parameters decide, draw_count says it. */
    uint32_t draws;
    uint32_t (*draw_count)(const mr_step *step);

    /* What it does to an image of mr__chain_size(chain). NULL: nothing to the pixels' places (normalize, layout, ...)
     */
    int (*resolve)(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail);

    /* It has a chance [1], and the house draws it, behind the step's own draws: where it does not happen, resolve is
     * not called. */
    bool sometimes;
} mr__step_type;

extern const mr__step_type *const mr__step_types[]; /* in the order of their numbers */
extern const size_t mr__step_type_count;

const mr__step_type *mr__step_type_of(mr_step_kind kind); /* NULL: there is none */

/* How many u32 it draws, without that of the house. */
uint32_t mr__step_draw_count(const mr_step *step);

extern const mr__step_type mr__step_orient, mr__step_convert, mr__step_resize, mr__step_short, mr__step_center,
    mr__step_crop, mr__step_rrc, mr__step_pad, mr__step_flip, mr__step_vflip, mr__step_normalize, mr__step_layout,
    mr__step_dtype, mr__step_user;
extern const mr__step_type mr__step_mixup, mr__step_cutmix;
extern const mr__step_type mr__step_randaug, mr__step_autoaug, mr__step_trivialaug, mr__step_augmix;

extern const mr__step_type mr__step_brightness, mr__step_contrast, mr__step_saturation, mr__step_hue, mr__step_jitter,
    mr__step_grayscale, mr__step_gamma, mr__step_invert, mr__step_posterize, mr__step_solarize, mr__step_equalize,
    mr__step_autocontrast, mr__step_permute;
extern const mr__step_type mr__step_scalejitter, mr__step_zoomout, mr__step_ioucrop, mr__step_shorts, mr__step_sanitize;
extern const mr__step_type mr__step_sharpness, mr__step_blur, mr__step_elastic;
extern const mr__step_type mr__step_jpeg, mr__step_noise, mr__step_erase, mr__step_cutout;
extern const mr__step_type mr__step_rotate, mr__step_affine, mr__step_shear, mr__step_translate, mr__step_perspective;

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

/* The default where no chance is given; from 0 to 1. */
int mr__step_settle_chance(mr_step *step, double chance, mr__detail *detail);

/* One draw: d 2^-32 < chance. */
bool mr__step_happens(const mr_step *step, uint32_t draw);

/* A range of which both ends are finite, within [low, high], the first not above the second. `name` is the parameter's.
 */
int mr__step_check_range(const mr_step *step, const char *name, const double range[2], double low, double high,
                         mr__detail *detail);

/* AUTO becomes `sampling`. */
int mr__step_settle_sampling(mr_step *step, mr_sampling sampling, mr__detail *detail);

/* The shape of ops: 8 bits, 1 or 3 channels, which stay, as does the size. And of what leaves everything as it is. */
int mr__step_shape_op(const mr_step *step, mr__shape *shape, mr__detail *detail);
int mr__step_shape_same(const mr_step *step, mr__shape *shape, mr__detail *detail);

/* The shape of a step whose sizes differ from image to image. */
int mr__step_shape_unsure(const mr_step *step, mr__shape *shape, mr__detail *detail);

/* The shape of a step that gives its width and height, whatever it is given. */
int mr__step_shape_fixed(const mr_step *step, mr__shape *shape, mr__detail *detail);

#endif
