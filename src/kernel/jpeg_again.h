// SPDX-License-Identifier: Apache-2.0
/*
 * An image as if it had been stored as JPEG and read again: gray, or RGB as YCbCr 4:2:0, by libjpeg-turbo's defaults.
 * Parts of it are those of the whole. Nothing is allocated.
 */
#ifndef MR_KERNEL_JPEG_AGAIN_H
#define MR_KERNEL_JPEG_AGAIN_H

#include "kernel/jpeg_assemble.h"
#include "kernel/jpeg_forward.h"

#include <millrace/image.h>

typedef struct mr__jpeg_again {
    uint32_t width, height; /* of the whole image, at most 65535 */
    uint32_t quality;       /* 1 to 100 */
    mr_rect there, wanted;  /* the parts that `from` and `to` have; the first holds mr__jpeg_again_need of the second */
    mr_image from, to;      /* 8 bits, 1 or 3 channels; they do not overlap */
} mr__jpeg_again;

/* The part that a part is made of: all squares of 16 x 16 that it touches, and whose chroma is blended into it. */
mr_rect mr__jpeg_again_need(uint32_t width, uint32_t height, mr_rect wanted);

/* How such a file is laid out, for 1 or 3 channels. False: no JPEG has these sides. */
bool mr__jpeg_again_layout(uint32_t width, uint32_t height, uint32_t channels, mr__jpeg_layout *layout);

/* `work` has mr__jpeg_again_nbytes bytes for the width of the part wanted, 64-byte aligned. */
size_t mr__jpeg_again_nbytes(uint32_t width);
void mr__jpeg_again_run(const mr__jpeg_again *again, mr__cpu_flags cpu, void *work);

#endif
