// SPDX-License-Identifier: Apache-2.0
/* Pixel mode: what it keeps between images. */
#ifndef MR_CODEC_L3_PIXEL_H
#define MR_CODEC_L3_PIXEL_H

#include "codec/codec.h"

enum { MR__L3_LEVEL_MAX = 5 };

/* Rows of samples, `pitch` bytes apart, that kernels may read and write beyond as pixel_kernels.h says. */
typedef struct mr__l3_rows {
    uint8_t *first;
    size_t pitch;
} mr__l3_rows;

/* Where tiles of up to w x h pixels are decoded; the memory is the state's. */
typedef struct mr__l3_pixel_work {
    mr__l3_rows rows[4];                        /* of each channel: 8 rows of the tile */
    mr__l3_rows d[4];                           /* of each channel: 8 rows of D, a ring */
    mr__l3_rows level[4][MR__L3_LEVEL_MAX + 1]; /* [1] to [5] */
    mr__l3_rows remapped;                       /* a row for each channel */
    mr__l3_rows residuals[2];                   /* 4 rows of low bytes and of high ones */
} mr__l3_pixel_work;

typedef struct mr__l3_pixel_state {
    mr__buffer work;   /* what mr__l3_pixel_work points into */
    mr__buffer padded; /* a tile too near to the end of the bytes */
    mr__buffer pixels; /* of an LZ tile */
} mr__l3_pixel_state;

/* The state comes cleared. fini is called after a failed init, too. */
int mr__l3_pixel_state_init(mr__call *call, mr__l3_pixel_state *state);
void mr__l3_pixel_state_fini(mr__l3_pixel_state *state, const mr_hooks *hooks);

/* Room for tiles of up to w x h pixels. */
int mr__l3_pixel_work_init(mr__call *call, mr__l3_pixel_state *state, mr__l3_pixel_work *work, uint32_t w, uint32_t h,
                           uint32_t channels, uint32_t depth);

#endif
