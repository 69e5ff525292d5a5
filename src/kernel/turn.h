// SPDX-License-Identifier: Apache-2.0
/* Images turned by quarters, counterclockwise, as Pillow transposes them. */
#ifndef MR_KERNEL_TURN_H
#define MR_KERNEL_TURN_H

#include <millrace/image.h>

/* The part of an image of this size that comes to be `part` of the turned one. */
mr_rect mr__turn_need(uint32_t quarters, uint32_t width, uint32_t height, mr_rect part);

/* All of an image of width x height pixels; `to` has room for the turned one. 1 to 3 quarters, 1 or 3 channels. */
void mr__turn(uint32_t quarters, const uint8_t *from, ptrdiff_t stride, uint32_t width, uint32_t height,
              uint32_t channels, uint8_t *to, ptrdiff_t to_stride);

#endif
