// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_RESIZE_H
#define MILLRACE_RESIZE_H

#include <millrace/codec.h>

/*
 * What a pixel is made of, with Pillow's names. All but nearest widen with the factor of a reduction, so that every
 * source pixel counts ("antialias").
 */
typedef enum mr_filter {
    MR_FILTER_BILINEAR = 0,
    MR_FILTER_NEAREST = 1,
    MR_FILTER_BOX = 2,
    MR_FILTER_HAMMING = 3,
    MR_FILTER_BICUBIC = 4,
    MR_FILTER_LANCZOS = 5
} mr_filter;

/*
 * Which side is resampled first. Pixels are rounded between the two passes, so that it shows: in one value of five, by
 * one. Pillow 13 takes the order that is less work; Pillow 12 and before always went horizontal first.
 */
typedef enum mr_resize_order { MR_RESIZE_PILLOW_13 = 0, MR_RESIZE_PILLOW_12 = 1 } mr_resize_order;

typedef struct mr_resize_options {
    size_t struct_size;
    mr_filter filter;
    mr_resize_order order;
} mr_resize_options;

typedef struct mr_resizer_options {
    size_t struct_size;
    const mr_hooks *hooks;   /* NULL: defaults */
    const mr_limits *limits; /* NULL: defaults; pixels (of the result) and memory_nbytes apply */
} mr_resizer_options;

/*
 * Resizes one image after the other, keeping its tables of weights (for the last sizes) and its working memory between
 * them: sizes that it has seen lately take no memory.
 *
 * Threads: one at a time; any number of resizers side by side.
 * Ownership: mr_resizer_free frees it; images stay the caller's.
 * Limits: those of its options, checked before memory is taken.
 */
typedef struct mr_resizer mr_resizer;

MR_BEGIN_DECLS

/* "bilinear", "nearest", ...; "none" for what is no filter. */
MR_API const char *mr_filter_name(mr_filter filter);

/* The filter of that name; MR_EARGUMENT when there is none. */
MR_API int mr_filter_from_name(const char *name, mr_filter *filter);

MR_API int mr_resizer_new(const mr_resizer_options *options, mr_resizer **out);
MR_API void mr_resizer_free(mr_resizer *resizer);

/*
 * Fills `to`, which has the channels and depth of `from` and does not overlap it, with the whole of `from`. Bit for bit
 * Pillow's Image.resize for 8-bit gray, RGB, gray with alpha and RGBA, and for 16-bit gray; the color of transparent
 * pixels does not count, as there. 16-bit images of more channels, which Pillow does not have, are resized channel by
 * channel, alpha like the others. doc/resample.md says it all. `options` may be NULL.
 */
MR_API int mr_resizer_resize(mr_resizer *resizer, const mr_image *from, const mr_resize_options *options,
                             const mr_image *to);

/* What the last call failed of, for a person; "" after a success. */
MR_API const char *mr_resizer_detail(const mr_resizer *resizer);

/* Gives back the memory that is kept between calls. */
MR_API void mr_resizer_trim(mr_resizer *resizer);

/*
 * The size that a width x height image is to be brought to so that its longer side is at most n: the other is
 * other * n / longer, rounded half up, at least 1. Never larger than the image.
 */
MR_API int mr_resize_max_side(uint32_t width, uint32_t height, uint32_t n, uint32_t *out_width, uint32_t *out_height);

/*
 * So that its shorter side is at most n: the other is n * longer / shorter, rounded down, as torchvision's Resize(n)
 * has it. Never larger than the image, as that may be.
 */
MR_API int mr_resize_short_side(uint32_t width, uint32_t height, uint32_t n, uint32_t *out_width, uint32_t *out_height);

MR_END_DECLS

#endif
