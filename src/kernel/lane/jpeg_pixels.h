// SPDX-License-Identifier: Apache-2.0
/*
 * From quantised DCT coefficients to pixels, for JPEG and for L3's DCT mode: the host's formulas (kernel/jpeg_pixel.h),
 * and so its pixels, bit for bit.
 *
 *     idct           blocks to samples: a lane has a block
 *     jpeg_pixels    upsampling and colour in one: a lane has a pixel
 *
 * Coefficients come in strips of blocks, frequency by frequency across the blocks: lanes side by side read numbers side
 * by side. A strip leaves out what none of its blocks has. A JPEG's are 16 blocks in a row, as its entropy decoder has
 * them, and come from the host; those of L3 are its units of 8 x 8, and come from kernel l3_unit.
 *
 * A block stays in its lane from the first number to the last sample, in registers where the loops are unrolled: no
 * memory is shared, and nothing waits.
 */
#ifndef MR_KERNEL_LANE_JPEG_PIXELS_H
#define MR_KERNEL_LANE_JPEG_PIXELS_H

#include "kernel/jpeg_pixel.h"
#include "kernel/lane/pass.h"

/* Numbers begin at `at`: for each place that is there, in zigzag order, one for each block of the strip. */
typedef struct mr__strip {
    uint64_t there; /* bit k: place k */
    uint64_t wide;  /* of those: their numbers have 16 bits, and not 8 */
    uint32_t at;    /* a multiple of 2 */
    uint32_t unused;
} mr__strip;

/* A component, or as much of it as a region needs. */
typedef struct mr__order_idct {
    uint32_t strips, count;  /* where they are listed, in rows */
    uint32_t across;         /* strips of a row */
    uint32_t wide, high;     /* blocks of a strip */
    uint32_t skip_x, skip_y; /* blocks of the first strip before the first that is wanted */
    uint32_t columns, rows;  /* blocks that are wanted */
    uint32_t size;           /* samples of a block, each way: 8, 4, 2, 1 */
    uint32_t to, stride;     /* where samples go: rows of columns * size */
    uint16_t quant[64];      /* in zigzag order */
} mr__order_idct;

/* Samples of a component at the size of the image. */
typedef struct mr__plane {
    uint32_t at, stride;
    uint32_t left, top;     /* which of the component's the first one is */
    uint32_t width, height; /* of the component */
    uint32_t across, down;  /* pixels a sample */
    uint32_t blends;        /* neighbours: bit 0 across, bit 1 down; else samples are repeated */
} mr__plane;

typedef struct mr__order_jpeg_pixels {
    mr__sheet to;  /* of one channel, the first component's; or three */
    uint32_t x, y; /* of the sheet in the image */
    uint32_t rgb;  /* components are colours as they are */
    mr__plane plane[3];
} mr__order_jpeg_pixels;

/* Groups that the strips take. */
#define MR__IDCT_GROUPS(count, wide, high) (((uint64_t)(count) * (wide) * (high) + 63u) / 64u)

/* A block's coefficients, multiplied, in natural order. `lane` is the block's number in the strip of `pitch`. */
MR_INLINE void mr__block_load(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__strip *strip,
                              MR_GLOBAL const uint16_t *quant, uint32_t lane, uint32_t pitch, int16_t block[64])
{
    uint64_t there = strip->there, wide = strip->wide;
    uint32_t at = strip->at;
    MR_UNROLL
    for (uint32_t k = 0; k < 64; k++) {
        int32_t value = 0;
        if ((there >> k & 1) != 0 && (wide >> k & 1) != 0) {
            value = ((MR_GLOBAL const int16_t *)(arena + at))[lane];
            at += 2 * pitch;
        } else if ((there >> k & 1) != 0) {
            value = ((MR_GLOBAL const int8_t *)(arena + at))[lane];
            at += pitch;
        }
        block[mr__jpeg_natural[k]] = (int16_t)(uint16_t)((uint32_t)value * quant[k]);
    }
}

/* Whether a row of these (bits of `rows`) has a coefficient. Without, columns take the short cut. */
MR_INLINE bool mr__block_has(const int16_t block[64], uint32_t rows)
{
    int32_t any = 0;
    MR_UNROLL
    for (uint32_t i = 8; i < 64; i++)
        any |= (rows >> i / 8 & 1) != 0 ? block[i] : 0;
    return any != 0;
}

MR_INLINE uint32_t mr__four_samples(int16_t a, int16_t b, int16_t c, int16_t d)
{
    return mr__jpeg_sample(a) | (uint32_t)mr__jpeg_sample(b) << 8 | (uint32_t)mr__jpeg_sample(c) << 16 |
           (uint32_t)mr__jpeg_sample(d) << 24;
}

MR_INLINE void mr__block_samples8(int16_t block[64], MR_GLOBAL uint8_t *to, uint32_t stride)
{
    bool has = mr__block_has(block, 0xfe);
    MR_UNROLL
    for (uint32_t u = 0; u < 8; u++) {
        int16_t first = mr__idct_short_cut(block[u]);
        mr__idct_line x = {{block[u], block[8 + u], block[16 + u], block[24 + u], block[32 + u], block[40 + u],
                            block[48 + u], block[56 + u]}};
        x = mr__idct_line8(x, 11);
        MR_UNROLL
        for (uint32_t v = 0; v < 8; v++)
            block[8 * v + u] = has ? x.at[v] : first;
    }
    MR_UNROLL
    for (uint32_t v = 0; v < 8; v++, to += stride) {
        mr__idct_line x = {{block[8 * v], block[8 * v + 1], block[8 * v + 2], block[8 * v + 3], block[8 * v + 4],
                            block[8 * v + 5], block[8 * v + 6], block[8 * v + 7]}};
        x = mr__idct_line8(x, 18);
        ((MR_GLOBAL uint32_t *)to)[0] = mr__four_samples(x.at[0], x.at[1], x.at[2], x.at[3]);
        ((MR_GLOBAL uint32_t *)to)[1] = mr__four_samples(x.at[4], x.at[5], x.at[6], x.at[7]);
    }
}

/* Row and column 4 do not count. */
MR_INLINE void mr__block_samples4(int16_t block[64], MR_GLOBAL uint8_t *to, uint32_t stride)
{
    bool has = mr__block_has(block, 0xee);
    MR_UNROLL
    for (uint32_t u = 0; u < 8; u++) {
        int16_t first = mr__idct_short_cut(block[u]);
        mr__idct_line x = {
            {block[u], block[8 + u], block[16 + u], block[24 + u], 0, block[40 + u], block[48 + u], block[56 + u]}};
        x = mr__idct_line4(x, 12);
        MR_UNROLL
        for (uint32_t v = 0; v < 4; v++)
            block[8 * v + u] = has ? x.at[v] : first;
    }
    MR_UNROLL
    for (uint32_t v = 0; v < 4; v++, to += stride) {
        mr__idct_line x = {{block[8 * v], block[8 * v + 1], block[8 * v + 2], block[8 * v + 3], 0, block[8 * v + 5],
                            block[8 * v + 6], block[8 * v + 7]}};
        x = mr__idct_line4(x, 19);
        *(MR_GLOBAL uint32_t *)to = mr__four_samples(x.at[0], x.at[1], x.at[2], x.at[3]);
    }
}

/* The first column stays in 32 bits between the passes, the others are saturated to 16. */
MR_INLINE void mr__block_samples2(const int16_t block[64], MR_GLOBAL uint8_t *to, uint32_t stride)
{
    int16_t column[2][4];
    mr__idct_pair first = mr__idct_line2(block[0], block[8], block[24], block[40], block[56], 13);
    MR_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t u = 2 * i + 1;
        mr__idct_pair x = mr__idct_line2(block[u], block[8 + u], block[24 + u], block[40 + u], block[56 + u], 13);
        column[0][i] = mr__idct_saturated(x.upper);
        column[1][i] = mr__idct_saturated(x.lower);
    }
    MR_UNROLL
    for (uint32_t v = 0; v < 2; v++, to += stride) {
        mr__idct_pair x = mr__idct_line2(v == 0 ? first.upper : first.lower, column[v][0], column[v][1], column[v][2],
                                         column[v][3], 20);
        to[0] = mr__jpeg_sample(mr__idct_saturated(x.upper));
        to[1] = mr__jpeg_sample(mr__idct_saturated(x.lower));
    }
}

MR_KERNEL(idct)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_idct *o = MR_ORDER(mr__order_idct);
    uint32_t pitch = o->wide * o->high, number = MR_ITEM * MR_LANES + lane.id, at = number / pitch, of = number % pitch;
    uint32_t x = at % o->across * o->wide + of % o->wide - o->skip_x;
    uint32_t y = at / o->across * o->high + of / o->wide - o->skip_y;
    int16_t block[64];
    if (at >= o->count || x >= o->columns || y >= o->rows)
        return;
    MR_GLOBAL uint8_t *to = arena + o->to + y * o->size * o->stride + x * o->size;
    mr__block_load(arena, (MR_GLOBAL const mr__strip *)(arena + o->strips) + at, o->quant, of, pitch, block);
    if (o->size == 8)
        mr__block_samples8(block, to, o->stride);
    else if (o->size == 4)
        mr__block_samples4(block, to, o->stride);
    else if (o->size == 2)
        mr__block_samples2(block, to, o->stride);
    else
        *to = mr__jpeg_sample(mr__idct_one(block[0]));
}

MR_INLINE int32_t mr__plane_sample(MR_GLOBAL const uint8_t *arena, const mr__plane *p, uint32_t x, uint32_t y)
{
    return arena[p->at + (y - p->top) * p->stride + (x - p->left)];
}

/* What a component has at pixel x, y of the image. */
MR_INLINE int32_t mr__plane_pixel(MR_GLOBAL const uint8_t *arena, const mr__plane *p, uint32_t x, uint32_t y)
{
    uint32_t near_x = x / p->across, near_y = y / p->down;
    if (p->blends == 0)
        return mr__plane_sample(arena, p, near_x, near_y);
    uint32_t far_y = (p->blends & 2) != 0 ? mr__jpeg_far(y, p->height) : near_y;
    int32_t near =
        mr__jpeg_blend(mr__plane_sample(arena, p, near_x, near_y), mr__plane_sample(arena, p, near_x, far_y));
    if ((p->blends & 1) == 0)
        return (near + (y % 2 == 0 ? MR__JPEG_H1V2_ABOVE : MR__JPEG_H1V2_BELOW)) >> 2;
    uint32_t far_x = mr__jpeg_far(x, p->width);
    int32_t far = mr__jpeg_blend(mr__plane_sample(arena, p, far_x, near_y), mr__plane_sample(arena, p, far_x, far_y));
    int32_t left = p->blends == 1 ? MR__JPEG_H2V1_LEFT : MR__JPEG_H2V2_LEFT;
    int32_t right = p->blends == 1 ? MR__JPEG_H2V1_RIGHT : MR__JPEG_H2V2_RIGHT;
    return (mr__jpeg_blend(near, far) + (x % 2 == 0 ? left : right)) >> 4;
}

MR_KERNEL(jpeg_pixels)
{
    MR_ALONE;
    const mr__order_jpeg_pixels order = *MR_ORDER(mr__order_jpeg_pixels), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    uint8_t pixel[3];
    if (x >= o->to.width)
        return;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * o->to.channels;
    int32_t first = mr__plane_pixel(arena, &o->plane[0], o->x + x, o->y + y);
    if (o->to.channels == 1) {
        to[0] = (uint8_t)first;
        return;
    }
    int32_t second = mr__plane_pixel(arena, &o->plane[1], o->x + x, o->y + y);
    int32_t third = mr__plane_pixel(arena, &o->plane[2], o->x + x, o->y + y);
    pixel[0] = (uint8_t)first;
    pixel[1] = (uint8_t)second;
    pixel[2] = (uint8_t)third;
    if (o->rgb == 0)
        mr__jpeg_ycc_pixel(first, second, third, pixel);
    to[0] = pixel[0];
    to[1] = pixel[1];
    to[2] = pixel[2];
}

#endif
