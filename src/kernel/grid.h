// SPDX-License-Identifier: Apache-2.0
/*
 * Which pixel of a mask is taken, by the arithmetic of torch's grid_sample(mode="nearest", align_corners=False) on
 * torchvision's grids: in float, one operation after the other.
 */
#ifndef MR_KERNEL_GRID_H
#define MR_KERNEL_GRID_H

#include <stdint.h>

/* Coefficients of a grid: of an affine one the first six. x' = m0 x + m1 y + m2, ... in parts of half a side. */
typedef struct mr__grid {
    float m[8];
    float half_width, half_height; /* of the source */
    int32_t width, height;
} mr__grid;

/* From -1 to 1 along a side to its pixel; -1: outside. The even one of two that are as near. */
static inline int32_t mr__grid_pixel(float at, float half, int32_t size)
{
    float place = (at + 1.0f) * half - 0.5f;
    if (!(place >= -0.5f && place < (float)size))
        return -1;
    /* Sides are below 2^22: a sum with 1.5 2^23 has no room for fractions, and is rounded to even. */
    int32_t pixel = (int32_t)((place + 12582912.0f) - 12582912.0f);
    return pixel < size ? pixel : -1;
}

static inline void mr__grid_affine(const mr__grid *grid, float x, float y, int32_t at[2])
{
    float to_x = x * grid->m[0] + y * grid->m[1] + grid->m[2];
    float to_y = x * grid->m[3] + y * grid->m[4] + grid->m[5];
    at[0] = mr__grid_pixel(to_x, grid->half_width, grid->width);
    at[1] = mr__grid_pixel(to_y, grid->half_height, grid->height);
}

static inline void mr__grid_perspective(const mr__grid *grid, float x, float y, int32_t at[2])
{
    float by = x * grid->m[6] + y * grid->m[7] + 1.0f;
    float to_x = (x * grid->m[0] + y * grid->m[1] + grid->m[2]) / by - 1.0f;
    float to_y = (x * grid->m[3] + y * grid->m[4] + grid->m[5]) / by - 1.0f;
    at[0] = mr__grid_pixel(to_x, grid->half_width, grid->width);
    at[1] = mr__grid_pixel(to_y, grid->half_height, grid->height);
}

#endif
