// SPDX-License-Identifier: Apache-2.0
/* What the files of the resizer share among themselves. */
#ifndef MR_STEP_RESIZE_H
#define MR_STEP_RESIZE_H

#include "base/memory.h"

#include <millrace/resize.h>

/* Pillow's nearest: each pixel is that of the source in which its middle lies. `columns` has room for to->width. */
void mr__resize_nearest(const mr_image *from, const mr_image *to, uint32_t *columns);

/* Of `in` source samples those that `count` outputs of `out` are, from output `begin` on. */
void mr__resize_nearest_middles(uint32_t in, uint32_t out, uint32_t depth, uint32_t begin, uint32_t count,
                                uint32_t *to);

/* `n` pixels of so many bytes (1, 2, 3, 4, 6 or 8), from these columns of a row. */
void mr__resize_nearest_row(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, size_t n);

/* The source samples of one side that `n` outputs from `index` on are taken from; `n` is at least 1. */
void mr__resize_nearest_reach(uint32_t in, uint32_t out, uint32_t index, uint32_t n, uint32_t *first, uint32_t *count);

#endif
