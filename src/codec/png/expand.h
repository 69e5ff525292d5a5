// SPDX-License-Identifier: Apache-2.0
/* Stored pixels of any bit depth to pixels of an image: one row at a time. */
#ifndef MR_CODEC_PNG_EXPAND_H
#define MR_CODEC_PNG_EXPAND_H

#include "codec/png/chunks.h"

/* The channels and depth that a decode without hints gives: libpng's png_set_expand, 16 bits kept. */
uint32_t mr__png_channels(const mr__png *png);
uint32_t mr__png_depth(const mr__png *png);

typedef struct mr__expand {
    const mr__png *png;
    uint32_t channels; /* of the pixels to make */
    uint32_t depth;
    bool plain; /* stored pixels are the pixels to make */
    bool by_table;
    bool watch;            /* the palette is shorter than an index can say */
    bool out_of_range;     /* such an index was met */
    uint8_t table[256][4]; /* one-sample pixels of up to 8 bits: the pixel for each value */
    uint8_t *natural;      /* room for a row of natural pixels, where they are converted after */
    uint8_t *made;         /* room for a row of pixels, where they are scattered after */
} mr__expand;

/* Prepares to make pixels of `channels` and `depth`: natural ones, or 8 bits of any channels. `rows` is kept. */
int mr__expand_init(mr__expand *expand, mr__call *call, const mr__png *png, uint32_t channels, uint32_t depth,
                    mr__buffer *rows);

/* Stored values, of images with one sample of up to 8 bits that become 1 channel; of others nothing changes. */
void mr__expand_values(mr__expand *expand);

/* `count` pixels of an unfiltered row from pixel x on. */
void mr__expand_row(mr__expand *expand, uint8_t *to, const uint8_t *from, uint32_t x, uint32_t count);

#endif
