// SPDX-License-Identifier: Apache-2.0
/*
 * What the bits of a unit of L3's DCT mode mean, in what C, OpenCL C and CUDA C have in common: doc/format-l3.md,
 * "Units". A lane here is one of the unit's blocks, and a set of lanes a word.
 */
#ifndef MR_KERNEL_L3_UNIT_H
#define MR_KERNEL_L3_UNIT_H

#include "kernel/language.h"

enum {
    MR__UNIT_BANDS = 64,
    MR__UNIT_HEAD_NBYTES = 4, /* before the modes */
    MR__UNIT_SEGMENTS = 9,    /* the DC band, then eight that may each narrow the lanes */
    MR__UNIT_LEVELS = 15,     /* a quotient that reaches this is an escape */
    MR__UNIT_RAW_MAX = 8,     /* low bits of a dense band */
    MR__UNIT_GROUP = 4,       /* lanes of a group */
    MR__UNIT_LIST_MAX = 4     /* positions of a list */
};

/* Modes of a band. 1 to 4 are lists of so many positions; from dense on, mode - MR__MODE_DENSE low bits are raw. */
enum {
    MR__MODE_EMPTY = 0,
    MR__MODE_LIST = 1,
    MR__MODE_GROUPS_OF_ONES = 5,
    MR__MODE_GROUPS = 6,
    MR__MODE_DENSE = 7,
    MR__MODES = 16
};

enum {
    MR__PREDICT_GRADIENT = 0,
    MR__PREDICT_ABOVE = 1,
    MR__PREDICT_PLANE = 2,
    MR__PREDICT_LEFT = 3,
    MR__PREDICTORS = 4
};

/* Of bands in zigzag order. */
MR_TABLE uint8_t mr__unit_segment_of[64] = {
    0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7,
    7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
};

/* The lowest n bits; n to 64. */
MR_INLINE uint64_t mr__unit_low_bits(uint32_t n)
{
    return n == 0 ? 0 : ~(uint64_t)0 >> (64 - n);
}

/* The lanes of a unit of columns x rows blocks. */
MR_INLINE uint64_t mr__unit_grid(uint32_t columns, uint32_t rows)
{
    uint64_t row = ((uint64_t)1 << columns) - 1;
    return row * 0x0101010101010101u & mr__unit_low_bits(8 * rows);
}

MR_INLINE uint32_t mr__unit_groups(uint32_t lanes)
{
    return (lanes + MR__UNIT_GROUP - 1) / MR__UNIT_GROUP;
}

/* What DC is predicted to be in column x and row y, which is not lane 0; neighbours that are not there are 0. */
MR_INLINE int32_t mr__unit_guess(uint32_t predictor, uint32_t x, uint32_t y, int32_t left, int32_t above,
                                 int32_t corner)
{
    if (y == 0)
        return left;
    if (x == 0 || predictor == MR__PREDICT_ABOVE)
        return above;
    if (predictor == MR__PREDICT_LEFT)
        return left;
    if (predictor == MR__PREDICT_PLANE)
        return left + above - corner;
    return left + ((int16_t)(uint16_t)(above - corner) >> 1);
}

#endif
