// SPDX-License-Identifier: Apache-2.0
/* WebP files of kinds that our encoder does not write, and libwebp's own decode of them. */
#ifndef TESTS_SUPPORT_WEBP_FILE_H
#define TESTS_SUPPORT_WEBP_FILE_H

#include "picture.h"

#include <webp/encode.h>

/* What WebPDecodeRGB or WebPDecodeRGBA give; in 4 channels alpha is opaque if the header says there is none. */
mr_image webp_reference(const picture_file *file, uint32_t channels);

/* The image (3 or 4 channels) with any settings of libwebp. */
picture_file webp_encode(const mr_image *image, const WebPConfig *config);

/* The same file with an EXIF chunk of these bytes. */
picture_file webp_with_exif(const picture_file *plain, const void *exif, size_t nbytes);

/* An animation of two frames, the first at (x, y), the second at the corner. */
picture_file webp_animate(const picture_file *const frames[2], int x, int y);

/* A lossless file of 64 x 64 pixels, 1 KB, that makes a decoder build 256 groups of the largest prefix codes. */
picture_file webp_greedy(void);

#endif
