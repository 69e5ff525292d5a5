// SPDX-License-Identifier: Apache-2.0
/*
 * Pixel mode, written: pixel_encode.c makes the file, pixel_tile.c one tile of it, pixel_channel.c one channel of
 * that. doc/format-l3.md has the words.
 */
#ifndef MR_CODEC_L3_PIXEL_ENCODE_H
#define MR_CODEC_L3_PIXEL_ENCODE_H

#include "codec/codec.h"
#include "codec/l3/pixel_forward.h"
#include "codec/l3/pixel_split.h"

/*
 * The tiles that we write have up to 2^16 pixels. Wide ones decode faster (rows of memory are written in longer runs,
 * kernels are called less often), narrow ones leave out more of what a crop does not need: an image of up to 1024
 * columns has one column of tiles, a wider one tiles of 512 x 64.
 */
enum { MR__L3_TILE_PIXELS = 1 << 16, MR__L3_TILE_W_MAX = 1024, MR__L3_TILE_W = 512, MR__L3_TILE_H = 64 };

/* Kernels and choices, the same for all tiles of an image. */
typedef struct mr__l3_pixel_plan {
    mr__l3_forward forward;
    mr__l3_block_kernels blocks;
    mr__l3_split split;
    mr_l3_preset preset;
    unsigned channels;
    unsigned sample_nbytes;  /* 1 or 2 */
    unsigned tile_w, tile_h; /* of the largest tile that the image has */
} mr__l3_pixel_plan;

/* A channel as it will be stored. */
typedef struct mr__l3_coded {
    uint8_t method;
    uint8_t *bytes; /* room for two planes */
    size_t low_nbytes, high_nbytes;
} mr__l3_coded;

/* What the encoder keeps between images. */
typedef struct mr__l3_encode_state {
    mr__buffer index; /* lengths and hashes of tiles */
    mr__buffer work;
    mr__buffer tiles;
} mr__l3_encode_state;

/* One thread's working memory for one tile. */
typedef struct mr__l3_tile_work {
    uint8_t *pixels;           /* the tile, rows without gaps */
    mr__l3_samples channel[4]; /* as they are */
    mr__l3_samples less[2];    /* first and third with green subtracted */
    mr__l3_coded coded[6];     /* of channel[], then of less[] */
    mr__l3_residuals residuals[2];
    uint8_t *headers[3]; /* for each of the residuals, and for a trial: of the low plane, then of the high one */
    void *forward;
    uint8_t *scratch;
    void *lz; /* LZ4's own state */
} mr__l3_tile_work;

/* Bytes of working memory for a thread, and its parts laid out in as many. */
size_t mr__l3_tile_work_nbytes(const mr__l3_pixel_plan *plan);
void mr__l3_tile_work_init(mr__l3_tile_work *work, const mr__l3_pixel_plan *plan, uint8_t *memory);

/* More than a tile can take: what it takes stored, and its first byte. */
size_t mr__l3_tile_nbytes_max(const mr__l3_pixel_plan *plan);

/* Encodes the pixels of `rect`; returns the tile's length. */
size_t mr__l3_tile_encode(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr_image *image, mr_rect rect,
                          uint8_t *to);

/* Codes a channel. Returns the bytes its planes take. */
size_t mr__l3_channel_encode(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr__l3_samples *channel,
                             mr__l3_coded *out);

#endif
