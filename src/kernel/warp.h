// SPDX-License-Identifier: Apache-2.0
/*
 * Turning, shearing, bending: for every pixel of the result a place in the source, as Pillow's transform has them.
 *
 *     places      in double: the middle of pixel x, y is x + 0.5, y + 0.5; from there by the coefficients
 *     nearest     the pixel that the place is in
 *     bilinear    of the 2 x 2 pixels whose middles are around it, first along x, then along y, in double, cut to a
 *                 whole number (not rounded)
 *     bicubic     of 4 x 4 (a = -1), the same way, within 0 to 255
 *
 * A place outside of the image is the fill; neighbours beyond an edge are those at the edge. Pillow's affine of nearest
 * pixels is by whole numbers, 2^16 a pixel, added up along a row: a walk.
 *
 * Every version of a kernel gives the same bytes: those of the formulas (warp_pixel.h), evaluated as they are written.
 */
#ifndef MR_KERNEL_WARP_H
#define MR_KERNEL_WARP_H

#include "cpu/cpu.h"
#include "kernel/warp_pixel.h"

/* A source of which a part is there. The caller sees to it that whoever is looked at is in the part. */
typedef struct mr__warp_view {
    const uint8_t *pixels; /* of the part's first pixel */
    ptrdiff_t stride;
    int32_t x, y, width, height;       /* the part */
    int32_t whole_width, whole_height; /* of the image */
    uint32_t channels;                 /* 1 or 3 */
    uint8_t fill[4];
} mr__warp_view;

/* Where pixels x to x + n - 1 of row y come from. */
typedef void mr__warp_place(const double c[8], uint32_t x, uint32_t y, size_t n, double *xs, double *ys);

/* The n pixels at these places, into a row. Places may be anything, NaN too. */
typedef void mr__warp_sample(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to);

/* The pixels at x, y, then each a step on, in 2^-16 of a pixel of the part: all of them are in it. */
typedef struct mr__warp_walk_of {
    int32_t x, y, step_x, step_y;
} mr__warp_walk_of;
typedef void mr__warp_walk(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to);

/* The nearest pixels of a perspective, x to x + n - 1 of row y: places and samples at once. */
typedef void mr__warp_seen(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n, uint8_t *to);

typedef enum mr__warp_kind { MR__WARP_NEAREST, MR__WARP_BILINEAR, MR__WARP_BICUBIC, MR__WARP_KINDS } mr__warp_kind;

/* The last index: one channel, three. */
typedef struct mr__warp_kernels {
    mr__warp_place *place_affine, *place_perspective;
    mr__warp_sample *sample[MR__WARP_KINDS][2];
    mr__warp_walk *walk[2];
    mr__warp_seen *seen[2];
} mr__warp_kernels;

void mr__warp_kernels_init(mr__warp_kernels *kernels, mr__cpu_flags cpu);
void mr__warp_kernels_init_avx2(mr__warp_kernels *kernels, mr__cpu_flags cpu);

/* The portable ones: others leave to them what is not worth more, or not certain. */
mr__warp_place mr__warp_place_affine_c, mr__warp_place_perspective_c;
mr__warp_sample mr__warp_nearest_c, mr__warp_bilinear_c, mr__warp_bicubic_c;
mr__warp_walk mr__warp_walk_1_c, mr__warp_walk_3_c;
mr__warp_seen mr__warp_seen_c;

#endif
