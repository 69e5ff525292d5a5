// SPDX-License-Identifier: Apache-2.0
/*
 * The field of an elastic transform: how far a pixel of the result is taken from. Uniform noise of -1 to 1 by place
 * (kernel/elastic_pixel.h), along x and along y; blurred as torchvision does, each with a square kernel of 8 sigma + 1
 * pixels, made odd, of its own sigma, but with sigma[0] across and sigma[1] down; times alpha, divided by the side.
 * That is torchvision's displacement: in units of half a side.
 *
 * It is made row by row, any part of it, and any part of it is the same numbers. Masks take the nearest pixel by it;
 * points look it up: a part of one pixel is all right.
 */
#ifndef MR_STEP_ELASTIC_H
#define MR_STEP_ELASTIC_H

#include "kernel/elastic.h"
#include "kernel/filter.h"
#include "step/op.h"

/* What settle lets through: a kernel of 2001, and more than the largest image has. */
#define MR__ELASTIC_SIGMA_MIN 0.001
#define MR__ELASTIC_SIGMA_MAX 250.0
#define MR__ELASTIC_ALPHA_MAX 1000000.0

/* The kernel's side of the noise along x (0) or y (1). */
uint32_t mr__elastic_kernel(const mr__elastic *elastic, size_t axis);

/* Row by row. A value; memory is the caller's. */
typedef struct mr__elastic_field {
    mr__elastic elastic;
    uint32_t width, height; /* of the image */
    mr_rect part;
    mr__filters filters;
    mr__elastics elastics;
    size_t radius;                           /* the largest of these: */
    size_t across_radius[2], down_radius[2]; /* of the noise along x, along y */
    float *across[2], *down[2];              /* weights */
    uint32_t group;                          /* the first of the groups of noise */
    size_t groups;
    float *noise[2]; /* a row of them, with `radius` more on both sides */
    float *ring[2];  /* rows blurred across: row y is number y % (2 radius + 1) */
    const float **rows;
    uint32_t next; /* row that goes there next */
    uint32_t y;    /* that is asked for next */
} mr__elastic_field;

/* Memory for the field of a part of an image, which is not empty: to be 64-byte aligned. */
size_t mr__elastic_field_nbytes(const mr__elastic *elastic, mr_rect part);

/* Of an image whose sides are longer than half the kernel's (mr__chain_elastic has seen to it). */
void mr__elastic_field_init(mr__elastic_field *field, const mr__elastic *elastic, uint32_t width, uint32_t height,
                            mr_rect part, mr__cpu_flags cpu, void *memory);

/* The next row, from part.y on: part.width numbers along x and y each. */
void mr__elastic_field_row(mr__elastic_field *field, float *dx, float *dy);

#endif
