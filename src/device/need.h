// SPDX-License-Identifier: Apache-2.0
/*
 * The worst case of device memory that a task takes, before it is dispatched: from what the index or a header says of
 * the image, and the chain that the recipe comes to for its size. Devices keep to this account:
 *
 *     input      stored bytes as they come over the link; or, where the host has decoded, the pixels of the region
 *     output     the finished sample, if it is made on the device and then copied
 *     scratch    all between: what a decoder works in, the decoded pixels (once as stored, once more for each of
 *                converting and turning), two canvases as large as the largest, two results of ops likewise, what the
 *                dearest op and the dearest pass work in, weights
 *
 * Nothing is counted as free again before the task ends, every piece is rounded up to the device's alignment, and what
 * is not known is taken to be the worst. The portable code on the host stays within scratch too: a test measures it.
 *
 * What cannot be counted (an image of unknown size, sums beyond 2^64) is UINT64_MAX, which fits nowhere.
 */
#ifndef MR_DEVICE_NEED_H
#define MR_DEVICE_NEED_H

#include "device/task.h"

#define MR__NEED_UNKNOWN UINT64_MAX

/* What is known of a stored image. */
typedef struct mr__need_image {
    mr_form form;                     /* NONE: not known */
    uint32_t width, height;           /* as stored; 0: not known */
    uint32_t channels, depth;         /* 0: not known */
    uint32_t components;              /* of a JPEG or an L3 made of one; 0: not known */
    uint32_t orientation;             /* 0: not known */
    uint32_t tile_width, tile_height; /* of an L3; 0: not known */
    bool one_scan;                    /* of a JPEG: known to be sequential, from its header or as it has a row index */
    uint64_t stored_nbytes;           /* that the device is sent: all, or the part that is read */
} mr__need_image;

/* How a device goes about it. All zero: decodes regions, tasks of a submission side by side. */
typedef struct mr__need_manner {
    bool whole;                 /* decodes all of an image, whatever part is wanted */
    bool pixels;                /* is given what the host has decoded: the cut after decode */
    bool in_place;              /* writes into the batch's slot itself: no output of its own */
    bool in_turn;               /* does tasks of one submission one after the other, in the same scratch */
    uint32_t align;             /* of every piece, a power of 2; 0: 64 */
    uint64_t submission_nbytes; /* that a submission takes for itself */
} mr__need_manner;

typedef struct mr__need {
    uint64_t input_nbytes, output_nbytes, scratch_nbytes;
} mr__need;

/*
 * Of one task. `chain` is what mr__recipe_resolve made for it. NULL: all of the image is decoded, and the recipe is
 * taken to make nothing larger than the larger of image and output; a recipe that does (pad, resize to more than it
 * keeps) has to be resolved.
 */
mr__need mr__need_of(const mr__need_manner *manner, const mr__need_image *image, const mr__decode_needs *needs,
                     const mr_output *output, const mr__chain *chain);

/* All of it. */
uint64_t mr__need_sum(const mr__need *need);

/*
 * Of a submission that grows: begun all zero, each task's need is added. Side by side everything adds up: that is right
 * for one kernel over all images, and never too little whatever a device does. In turn, inputs and outputs add up (they
 * cross the link together) and the largest scratch counts once.
 */
typedef struct mr__need_group {
    uint64_t through_nbytes; /* inputs and outputs */
    uint64_t scratch_nbytes;
    size_t count;
} mr__need_group;

void mr__need_add(mr__need_group *group, const mr__need_manner *manner, const mr__need *need);

/* With what the submission takes for itself; 0 while it is empty. */
uint64_t mr__need_group_sum(const mr__need_group *group, const mr__need_manner *manner);

#endif
