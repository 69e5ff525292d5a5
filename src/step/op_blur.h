// SPDX-License-Identifier: Apache-2.0
#ifndef MR_STEP_OP_BLUR_H
#define MR_STEP_OP_BLUR_H

#include "step/op.h"

enum { MR__BLUR_KERNEL_MAX = 1023 };

/* The part of an image that has everything which is so far from `part` at most. */
mr_rect mr__rect_grown(mr_rect part, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

#endif
