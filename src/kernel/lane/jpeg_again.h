// SPDX-License-Identifier: Apache-2.0
/*
 * An image as if it had been stored as JPEG and read again (kernel/jpeg_again.h):
 *
 *     jpeg_split     samples of a component from pixels: a lane has a sample
 *     jpeg_again     blocks of them are transformed there and back where they lie: a lane has a block
 *
 * Kernel jpeg_pixels makes pixels of three components; those of one are pixels as they are.
 *
 * Beyond the image its last column and its last row are repeated, before colours are halved: so a square beyond the
 * lower edge is one of the last, whose lower half may be its upper one.
 */
#ifndef MR_KERNEL_LANE_JPEG_AGAIN_H
#define MR_KERNEL_LANE_JPEG_AGAIN_H

#include "kernel/jpeg_forward_pixel.h"
#include "kernel/lane/jpeg_pixels.h"

enum { MR__AGAIN_GRAY, MR__AGAIN_Y, MR__AGAIN_CB, MR__AGAIN_CR };

typedef struct mr__order_jpeg_split {
    mr__sheet from, to;      /* whole blocks of the component, one channel */
    uint32_t from_x, from_y; /* of the part that is there, in the image */
    uint32_t width, height;  /* of the image */
    uint32_t what;           /* MR__AGAIN_... */
    uint32_t x, y;           /* of the first sample, in the component */
} mr__order_jpeg_split;

typedef struct mr__order_jpeg_again {
    mr__sheet samples;
    uint16_t by[64], reciprocal[64]; /* as mr__jpeg_quant has them */
    uint8_t shift[64];
} mr__order_jpeg_again;

MR_INLINE uint32_t mr__again_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Pixel x, y of the image: of its last column or row, where it has none. */
MR_INLINE MR_GLOBAL const uint8_t *mr__again_pixel(MR_GLOBAL const uint8_t *arena,
                                                   MR_GLOBAL const mr__order_jpeg_split *o, uint32_t x, uint32_t y)
{
    uint32_t column = mr__again_least(x, o->width - 1) - o->from_x, row = mr__again_least(y, o->height - 1) - o->from_y;
    return arena + o->from.at + row * o->from.stride + column * o->from.channels;
}

MR_INLINE uint32_t mr__again_color(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_jpeg_split *o, uint32_t x,
                                   uint32_t y)
{
    MR_GLOBAL const uint8_t *p = mr__again_pixel(arena, o, x, y);
    return o->what == MR__AGAIN_CB ? mr__jpeg_cb_of(p[0], p[1], p[2]) : mr__jpeg_cr_of(p[0], p[1], p[2]);
}

/* Sample x, y of the component. */
MR_INLINE uint32_t mr__again_sample(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__order_jpeg_split *o, uint32_t x,
                                    uint32_t y)
{
    if (o->what <= MR__AGAIN_Y) {
        MR_GLOBAL const uint8_t *p = mr__again_pixel(arena, o, x, y);
        return o->what == MR__AGAIN_GRAY ? p[0] : mr__jpeg_y_of(p[0], p[1], p[2]);
    }
    uint32_t upper = 2 * mr__again_least(y, (o->height - 1) / 2);
    uint32_t sum = mr__again_color(arena, o, 2 * x, upper) + mr__again_color(arena, o, 2 * x + 1, upper);
    sum += mr__again_color(arena, o, 2 * x, upper + 1) + mr__again_color(arena, o, 2 * x + 1, upper + 1);
    return mr__jpeg_mean(sum, x);
}

MR_KERNEL(jpeg_split)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_jpeg_split *o = MR_ORDER(mr__order_jpeg_split);
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x < o->to.width)
        arena[o->to.at + y * o->to.stride + x] = (uint8_t)mr__again_sample(arena, o, o->x + x, o->y + y);
}

MR_KERNEL(jpeg_again)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_jpeg_again *o = MR_ORDER(mr__order_jpeg_again);
    uint32_t columns = o->samples.width / 8, number = MR_ITEM * MR_LANES + lane.id;
    uint32_t column = number % columns, row = number / columns;
    int16_t block[64];
    if (row >= o->samples.height / 8)
        return;
    MR_GLOBAL uint8_t *at = arena + o->samples.at + 8 * row * o->samples.stride + 8 * column;
    for (uint32_t v = 0; v < 8; v++) {
        MR_GLOBAL const uint8_t *p = at + v * o->samples.stride;
        mr__idct_line x = {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}};
        x = mr__fdct_line8(x, true);
        for (uint32_t u = 0; u < 8; u++)
            block[8 * v + u] = x.at[u];
    }
    for (uint32_t u = 0; u < 8; u++) {
        mr__idct_line x = {{block[u], block[8 + u], block[16 + u], block[24 + u], block[32 + u], block[40 + u],
                            block[48 + u], block[56 + u]}};
        x = mr__fdct_line8(x, false);
        for (uint32_t v = 0; v < 8; v++) {
            uint32_t b = 8 * v + u;
            block[b] = mr__fdct_quantised(x.at[v], o->by[b], o->reciprocal[b], o->shift[b]);
        }
    }
    mr__block_samples8(block, at, o->samples.stride);
}

#endif
