// SPDX-License-Identifier: Apache-2.0
/* A mask on its way. */
#ifndef MR_STEP_FOLLOW_MASKS_H
#define MR_STEP_FOLLOW_MASKS_H

#include "step/follow.h"

typedef struct mr__mask_run {
    mr__follow_room room;
    mr__buffer *pixels, *maps; /* two each, kept */
    mr__cpu_flags cpu;
    mr__detail *detail;
    mr_image from; /* the mask as far as it is made */
    mr_image to;   /* where it is to be in the end; not overlapping */

    /* What is to be done to `from`: its columns and rows in maps[0]. */
    uint32_t width, height;
    bool moved;
} mr__mask_run;

/* The caller has compared sizes: of `from` with the first move, of `to` with the last. */
int mr__follow_mask(mr__mask_run *run, const mr__move *moves, size_t count);

/* An elastic move: from run->from to an image of the same size. */
int mr__follow_bend_mask(mr__mask_run *run, const mr__move *move, const mr_image *to);

#endif
