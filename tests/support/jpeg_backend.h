// SPDX-License-Identifier: Apache-2.0
/*
 * The back end of src/kernel driven as a decoder drives it, from coefficients that libjpeg reads: whole images,
 * regions, reductions. And files with coefficients that no image has.
 */
#ifndef TESTS_SUPPORT_JPEG_BACKEND_H
#define TESTS_SUPPORT_JPEG_BACKEND_H

#include "kernel/jpeg_assemble.h"
#include "picture.h"

typedef struct backend_plane {
    uint32_t blocks_w, blocks_h;
    int16_t *blocks; /* of 64 in natural order, multiplied by their quantiser */
} backend_plane;

typedef struct backend_source {
    mr__jpeg_frame frame;
    backend_plane plane[MR__JPEG_PARTS_MAX];
} backend_source;

/* False when libjpeg cannot read it, or it is of a kind that the back end is not for (CMYK). backend_free it. */
bool backend_read(const picture_file *file, backend_source *out);
void backend_free(backend_source *source);

/* How the blocks are handed over: in units of 8x8, as L3 does, or 16 in a row, and in a plane or a ring of rows. */
typedef enum backend_way { BACKEND_UNITS, BACKEND_ROWS, BACKEND_RING } backend_way;

/*
 * The region at 1/reduce, `layout` being made for it. Only the blocks that the layout asks for are transformed; all
 * other memory is filled with rubbish, and ends where it says it ends.
 */
void backend_decode(const mr__jpeg_pixels *kernels, const backend_source *source, const mr__jpeg_layout *layout,
                    backend_way way, mr_rect region, const mr_image *to);

/* A JPEG of random coefficients up to the ends of 16 bits once dequantised; `factors` as in plain_recipe. */
picture_file backend_wild(uint32_t width, uint32_t height, uint8_t factors, uint64_t seed);

#endif
