// SPDX-License-Identifier: Apache-2.0
/* Elastic over rows: noise, what becomes of it, and pixels looked up where it says. */
#ifndef MR_KERNEL_ELASTIC_H
#define MR_KERNEL_ELASTIC_H

#include "cpu/cpu.h"

/* A part of an image, in which every pixel is that is looked up. */
typedef struct mr__elastic_view {
    const uint8_t *pixels; /* of the part */
    ptrdiff_t stride;
    int32_t x, y, right;   /* the part; the first column behind it */
    int32_t width, height; /* of all of the image */
    uint32_t channels;     /* 1 or 3 */
    uint8_t fill[4];
} mr__elastic_view;

/* `groups` groups of noise of row y, from number `group` on, along x and along y. */
typedef void mr__elastic_noise_row(const uint32_t key[2], uint32_t y, uint32_t group, size_t groups, float *dx,
                                   float *dy);

/* Where a pixel's middle is from -1 to 1, as torch's linspace has it: from both ends, each sum rounded once. */
static inline float mr__elastic_middle(uint32_t at, uint32_t side)
{
    float last = (float)((double)(side - 1) / (double)side);
    float step = side > 1 ? (last + last) / (float)(side - 1) : 0.0f;
    if (at < side / 2)
        return (float)((double)step * (double)at - (double)last);
    return (float)((double)last - (double)step * (double)(side - 1 - at));
}

/* Times alpha, then divided by the side. */
typedef void mr__elastic_scale_row(float *row, size_t n, float alpha, float side);

/* mr__elastic_place for each; `apart` 0: the same middle for all. */
typedef void mr__elastic_place_row(const float *middle, size_t apart, const float *displaced, size_t n, float half,
                                   float *to);

/* Pixels at these places. */
typedef void mr__elastic_look_row(const mr__elastic_view *view, const float *x, const float *y, size_t n, uint8_t *to);

typedef struct mr__elastics {
    mr__elastic_noise_row *noise;
    mr__elastic_scale_row *scale;
    mr__elastic_place_row *place;
    mr__elastic_look_row *nearest, *bilinear, *bicubic;
} mr__elastics;

void mr__elastics_init(mr__elastics *elastics, mr__cpu_flags cpu);
void mr__elastics_init_avx2(mr__elastics *elastics, mr__cpu_flags cpu);

/* The portable ones. */
mr__elastic_noise_row mr__elastic_noise_row_c;
mr__elastic_scale_row mr__elastic_scale_row_c;
mr__elastic_place_row mr__elastic_place_row_c;
mr__elastic_look_row mr__elastic_nearest_c, mr__elastic_bilinear_c, mr__elastic_bicubic_c;

#endif
