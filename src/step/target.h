// SPDX-License-Identifier: Apache-2.0
/*
 * What a sample has besides its image, and how it follows it: objects (boxes, rotated boxes, keypoints, categories) and
 * masks. For each sample, in this order:
 *
 *     mr__target_set      the objects, from its annotation
 *     mr__target_show     to the steps that look at them (ioucrop)
 *     ...                 the recipe is resolved, with chain->follow
 *     mr__target_follow   the objects are where the image's pixels went; sanitized ones are gone
 *     mr__target_mask     a mask of the result's size, for each mask there is
 *
 * The rules are those of torchvision 0.28's tv_tensors (BoundingBoxes of XYXY or XYXYXYXY with soft clamping,
 * KeyPoints, Mask), transform by transform: same boxes within 1e-3 pixel, the same masks. What is filled of a mask is
 * 0, whatever the image is filled with.
 *
 * Threads: one at a time; any number side by side.
 * Ownership: mr__target_fini frees all; the arrays stay until the next mr__target_set.
 * Limits: those of annotations; memory is kept between samples.
 */
#ifndef MR_STEP_TARGET_H
#define MR_STEP_TARGET_H

#include "step/follow.h"

#include <millrace/annotation.h>

typedef struct mr__target {
    size_t count;
    float *boxes;            /* four for each: left, top, right, bottom; 0 without MR_OBJECT_BOX */
    float *rotated;          /* five for each: middle x, y, width, height, degrees counterclockwise; 0 without
                                MR_OBJECT_ROTATED */
    int64_t *categories;     /* -1: none */
    float *areas;            /* as they were stored: of the image before the recipe */
    uint8_t *flags;          /* MR_OBJECT_... */
    size_t *origins;         /* the object's number in the annotation: of its mask */
    size_t *keypoint_starts; /* count + 1 of them: object i has those from [i] to before [i + 1] */
    float *keypoints;        /* three for each: x, y, and whether it can be seen, as stored */
    size_t keypoint_count;
    uint32_t width, height; /* of the image that they are of */

    mr__cpu_flags cpu; /* which instructions may be used; none unless somebody says so. Results are the same */

    /* The rest is the target's own. */
    mr_hooks hooks;
    mr__buffer stored, work, room, out[8], pixels[2], maps[2];
} mr__target;

/* All is empty. `hooks` may be NULL. MR_EARGUMENT for half a pair of them. */
int mr__target_init(mr__target *target, const mr_hooks *hooks);
void mr__target_fini(mr__target *target); /* all zero is accepted */

/* The objects of an image of this size; `view` NULL: none. MR_ENOMEM, MR_ELIMIT. */
int mr__target_set(mr__target *target, const mr_annotation_view *view, uint32_t width, uint32_t height,
                   mr__detail *detail);

/* Lets the steps of a recipe look at the objects as they were set. After mr__follow_init. follow->room is the target's
 * from then on, until somebody gives it another one, which mr__target_follow uses too. */
void mr__target_show(mr__target *target, mr__follow *follow);

/*
 * All moves, from where the objects were set; once for each mr__target_set. MR_EARGUMENT where the moves are of an
 * image of another size than was set: a label of another image, most likely.
 */
int mr__target_follow(mr__target *target, const mr__follow *follow, mr__detail *detail);

/*
 * Makes of a mask, which has any channels and depth and the size of the image before the moves, that of the image after
 * them, into `to`, whose channels and depth are the same. MR_EARGUMENT for other sizes; MR_ENOMEM. It needs no
 * mr__target_set.
 */
int mr__target_mask(mr__target *target, const mr__follow *follow, const mr_image *mask, const mr_image *to,
                    mr__detail *detail);

#endif
