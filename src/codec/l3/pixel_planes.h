// SPDX-License-Identifier: Apache-2.0
/*
 * A tile of planes: pixel_stream.c finds its parts and checks what can be checked before anything is decoded,
 * pixel_sweep.c decodes it from the top down.
 */
#ifndef MR_CODEC_L3_PIXEL_PLANES_H
#define MR_CODEC_L3_PIXEL_PLANES_H

#include "base/size.h"
#include "codec/l3/pixel.h"
#include "codec/l3/pixel_kernels.h"

enum {
    MR__L3_TILE_CONSTANT = 0, /* kinds of tile */
    MR__L3_TILE_PLANES = 1,
    MR__L3_TILE_LZ = 2,
    MR__L3_TILE_STORED = 3,
    MR__L3_CONSTANT = 0, /* predictors */
    MR__L3_LIFTING = 1,
    MR__L3_PREFIX = 2,
    MR__L3_CHANNEL_MAX = 4
};

/* A plane: where its decoding stands, and where its layers end, in bits. */
typedef struct mr__l3_plane {
    mr__l3_stream stream;
    uint64_t limit[MR__L3_LAYER_MAX + 1];
} mr__l3_plane;

typedef struct mr__l3_channel {
    uint32_t predictor;
    uint32_t layers; /* 0, 3 or 6 */
    uint32_t levels;
    uint32_t constant;        /* the sample */
    const uint8_t *selectors; /* move on as the low plane does */
    mr__l3_plane plane[2];    /* low bytes; high bytes of 16-bit samples */
} mr__l3_channel;

typedef struct mr__l3_planes {
    uint32_t w, h; /* of the tile */
    uint32_t channels;
    uint32_t depth;
    bool green, is_remapped;
    mr__l3_channel channel[MR__L3_CHANNEL_MAX];
    mr__l3_remap remap[MR__L3_CHANNEL_MAX];
} mr__l3_planes;

/* Of a grid. */
static inline uint32_t mr__l3_group_count(uint32_t w, uint32_t h)
{
    return mr__ceil_div(w, MR__L3_GROUP_W) * mr__ceil_div(h, MR__L3_BLOCK_H);
}

/*
 * pixel_decode.c: tiles of the other kinds, whose rows have so many bytes. NULL, or what is wrong. An LZ tile gives all
 * of its h rows into `pixels`, but only the first `rows` of them are right: what lies below need not be.
 */
const char *mr__l3_constant_check(size_t nbytes, size_t pixel_nbytes);
const char *mr__l3_stored_check(size_t nbytes, size_t row_nbytes, uint32_t h);
const char *mr__l3_lz_check(const uint8_t *bytes, size_t nbytes);
const char *mr__l3_lz_read(const uint8_t *bytes, size_t nbytes, size_t row_nbytes, uint32_t h, uint32_t rows,
                           uint8_t *pixels);

/*
 * Finds and checks the parts of a tile of planes, whose w, h, channels and depth are set. Behind the tile are
 * MR__L3_STREAM_SLACK bytes that may be read. NULL, or what is wrong.
 */
const char *mr__l3_planes_read(mr__l3_planes *planes, const uint8_t *bytes, size_t nbytes);

/* Whether what was decoded so far is good: no layer read beyond its end, no mask of too many ones. */
bool mr__l3_plane_within(const mr__l3_plane *plane, uint32_t layers);

/* Of a plane that is within, at its end: whether all of its layers has been used, and the bits left over are 0. */
bool mr__l3_plane_ended(const mr__l3_plane *plane, uint32_t layers);

/* Decodes `part` of the tile into `to`, which has its size. NULL, or what is wrong. */
const char *mr__l3_planes_decode(mr__l3_planes *planes, const mr__l3_pixel_work *work,
                                 const mr__l3_pixel_kernels *kernels, mr_rect part, const mr_image *to);

#endif
