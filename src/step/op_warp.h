// SPDX-License-Identifier: Apache-2.0
/* Which of Pillow's ways a warp goes, and what is made for it before a pixel is: for whoever runs warps. */
#ifndef MR_STEP_OP_WARP_H
#define MR_STEP_OP_WARP_H

#include "step/op.h"

typedef enum mr__warp_way {
    MR__WARP_QUARTERS, /* transposed */
    MR__WARP_SCALE,    /* columns and rows, each by its own */
    MR__WARP_WALKS,    /* nearest pixels in whole numbers of 2^-16 pixels */
    MR__WARP_SUMS,     /* nearest pixels, places added up in double */
    MR__WARP_PLACES    /* every place by itself, in double */
} mr__warp_way;

mr__warp_way mr__warp_way_of(const mr__op *op);

/*
 * Of MR__WARP_SCALE, along x (axis 0) or y (1): which of the pixels that are there (op->from) each of those that are
 * made (op->to) is; -1: none, it is fill.
 */
void mr__warp_list(const mr__op *op, size_t axis, int32_t *of);

/*
 * Of MR__WARP_WALKS, in 2^-16 pixels of the part that is there: where the first pixel of the part that is made comes
 * from, how much further the next one in its row does and the one below it, and where there are no more pixels.
 */
typedef struct mr__warp_walks {
    int64_t x, y, step_x, step_y, down_x, down_y, limit_x, limit_y;
} mr__warp_walks;

mr__warp_walks mr__warp_walks_of(const mr__op *op);

#endif
