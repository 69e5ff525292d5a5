// SPDX-License-Identifier: Apache-2.0
#ifndef MR_CODEC_JPEG_TURBO_REGION_H
#define MR_CODEC_JPEG_TURBO_REGION_H

#include "codec/jpeg/turbo.h"

/* Columns of the output image. */
typedef struct mr__columns {
    JDIMENSION x;
    JDIMENSION width;
} mr__columns;

/*
 * Makes libjpeg put out few columns that hold x to x + width exactly as a whole decode has them, and returns which.
 * After jpeg_start_decompress, before the first row.
 */
mr__columns mr__turbo_crop(j_decompress_ptr cinfo, JDIMENSION x, JDIMENSION width);

#endif
