// SPDX-License-Identifier: Apache-2.0
/*
 * The formulas of warps (kernel/warp.h), pixel by pixel, in what C, OpenCL C and CUDA C have in common where they have
 * doubles. Not in place of each other: additions have an order.
 */
#ifndef MR_KERNEL_WARP_PIXEL_H
#define MR_KERNEL_WARP_PIXEL_H

#include "kernel/language.h"

MR_INLINE double mr__warp_line(double a, double b, double c, double x, double y)
{
    return a * x + b * y + c;
}

/* NaN is not. */
MR_INLINE bool mr__warp_inside(double x, double y, int32_t width, int32_t height)
{
    return x >= 0.0 && x < (double)width && y >= 0.0 && y < (double)height;
}

/* The largest whole number not above x, from -1 to 2^31 - 1. */
MR_INLINE int32_t mr__warp_floor(double x)
{
    return x >= 0.0 ? (int32_t)x : -1;
}

MR_INLINE int32_t mr__warp_clamp(int32_t at, int32_t low, int32_t n)
{
    return at < low ? 0 : at - low < n ? at - low : n - 1;
}

/* A place that is inside, in pixels' middles: the whole part, and the rest. */
typedef struct mr__warp_spot {
    int32_t x, y;
    double dx, dy;
} mr__warp_spot;

MR_INLINE mr__warp_spot mr__warp_spot_of(double x, double y)
{
    mr__warp_spot s = {mr__warp_floor(x - 0.5), mr__warp_floor(y - 0.5), 0.0, 0.0};
    s.dx = x - 0.5 - s.x;
    s.dy = y - 0.5 - s.y;
    return s;
}

/* x + step + step ..., as it comes out when added one by one. */
MR_INLINE double mr__warp_add_up(double x, double step, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        x += step;
    return x;
}

MR_INLINE double mr__warp_lerp(double a, double b, double d)
{
    return a + (b - a) * d;
}

MR_INLINE double mr__warp_cubic(double a, double b, double c, double d, double t)
{
    double p2 = -a + c, p3 = 2.0 * (a - b) + c - d, p4 = -a + b - c + d;
    return b + t * (p2 + t * (p3 + t * p4));
}

MR_INLINE uint8_t mr__warp_byte(double v)
{
    return v <= 0.0 ? 0 : v >= 255.0 ? 255 : (uint8_t)v;
}

#endif
