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
 * Every version of a kernel gives the same bytes: those of these formulas, evaluated as they are written.
 */
#ifndef MR_KERNEL_WARP_H
#define MR_KERNEL_WARP_H

#include "cpu/cpu.h"

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

/* The formulas. Not in place of each other: additions have an order. */

static inline double mr__warp_line(double a, double b, double c, double x, double y)
{
    return a * x + b * y + c;
}

/* NaN is not. */
static inline bool mr__warp_inside(double x, double y, int32_t width, int32_t height)
{
    return x >= 0.0 && x < (double)width && y >= 0.0 && y < (double)height;
}

/* The largest whole number not above x, from -1 to 2^31 - 1. */
static inline int32_t mr__warp_floor(double x)
{
    return x >= 0.0 ? (int32_t)x : -1;
}

static inline int32_t mr__warp_clamp(int32_t at, int32_t low, int32_t n)
{
    return at < low ? 0 : at - low < n ? at - low : n - 1;
}

static inline double mr__warp_lerp(double a, double b, double d)
{
    return a + (b - a) * d;
}

static inline double mr__warp_cubic(double a, double b, double c, double d, double t)
{
    double p2 = -a + c, p3 = 2.0 * (a - b) + c - d, p4 = -a + b - c + d;
    return b + t * (p2 + t * (p3 + t * p4));
}

static inline uint8_t mr__warp_byte(double v)
{
    return v <= 0.0 ? 0 : v >= 255.0 ? 255 : (uint8_t)v;
}

#endif
