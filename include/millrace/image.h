// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_IMAGE_H
#define MILLRACE_IMAGE_H

#include <millrace/error.h>
#include <millrace/hooks.h>
#include <stdbool.h>

/*
 * Pixels: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA) interleaved channels of 8 or 16 bits, the 16-bit ones in the
 * machine's byte order and 2-byte aligned. `stride` is bytes from a row to the next one and may be negative.
 *
 * An mr_image is a view: it is copied freely and owns nothing, unless mr_image_init made it.
 *
 * Threads: a value; as safe as the pixels it points at.
 * Ownership: mr_image_fini frees what mr_image_init allocated; other views are not to be freed.
 * Limits: width and height up to 2^31-1; the pixels must fit the address space.
 */
typedef struct mr_image {
    uint32_t width;
    uint32_t height;
    uint32_t channels; /* 1 to 4 */
    uint32_t depth;    /* 8 or 16 */
    ptrdiff_t stride;
    void *pixels; /* the first byte of the top row */
} mr_image;

typedef struct mr_rect {
    uint32_t x;
    uint32_t y;
    uint32_t width;
    uint32_t height;
} mr_rect;

MR_BEGIN_DECLS

/* Allocates an image: rows without gaps, 64-byte aligned, contents undefined. `hooks` may be NULL. */
MR_API int mr_image_init(mr_image *image, uint32_t width, uint32_t height, uint32_t channels, uint32_t depth,
                         const mr_hooks *hooks);

/* Frees the pixels of an image that mr_image_init made, and clears it. An all-zero image is accepted. */
MR_API void mr_image_fini(mr_image *image, const mr_hooks *hooks);

/*
 * Whether the fields make sense: channels, depth, size, stride at least a row, pixels given, both even for 16 bits.
 * Calls that take an image and return a result answer MR_EARGUMENT where this is false, also for NULL.
 */
MR_API bool mr_image_is_valid(const mr_image *image);

/* Bytes of one pixel, and of one row without padding. */
MR_API size_t mr_image_pixel_nbytes(const mr_image *image);
MR_API size_t mr_image_row_nbytes(const mr_image *image);

/* The part of `image` inside `rect`, as a view. MR_EARGUMENT when it is empty or sticks out. */
MR_API int mr_image_crop(const mr_image *image, mr_rect rect, mr_image *out);

/*
 * The same pixels bottom row first, as a view with the opposite stride. One that is not valid comes back as it is, and
 * NULL as one that is all zero.
 */
MR_API mr_image mr_image_upside_down(const mr_image *image);

/* Copies pixels between images of one shape (size, channels, depth) that do not overlap. */
MR_API int mr_image_copy(const mr_image *from, const mr_image *to);

/*
 * Copies pixels to an image of the same size with other channels or depth: gray is repeated into RGB; RGB becomes gray
 * as (19595 R + 38470 G + 7471 B + 32768) >> 16, which is Pillow's; alpha is dropped, or added as opaque; 8 bits become
 * 16 as v * 257; 16 become 8 as v >> 8, as Pillow and OpenCV do.
 */
MR_API int mr_image_convert(const mr_image *from, const mr_image *to);

/*
 * Copies pixels as an EXIF orientation (1 to 8) says they are to be shown; 5 to 8 exchange width and height.
 * `to` has the channels and depth of `from`.
 */
MR_API int mr_image_orient(const mr_image *from, uint32_t orientation, const mr_image *to);

/*
 * Averages blocks of n x n pixels (n is 2, 4 or 8), rounding half up; blocks at the right and bottom edge may be
 * smaller. `to` is ceil(width / n) x ceil(height / n) with the channels and depth of `from`. Equals Pillow's
 * Image.reduce(n) for 8-bit gray and RGB, also where that gives one less: a block of `count` pixels is
 * (sum + count / 2) * (2^24 / count) >> 24, in whole numbers. Alpha is averaged like the others and does not weigh
 * them, as it does in Pillow.
 */
MR_API int mr_image_reduce(const mr_image *from, uint32_t n, const mr_image *to);

/*
 * XXH3-64 over width, height, channels and depth (u32 little-endian each), then the rows from the top without padding,
 * samples little-endian. Equal hash: equal size and equal pixels. The image must be valid.
 */
MR_API uint64_t mr_image_hash(const mr_image *image);

MR_END_DECLS

#endif
