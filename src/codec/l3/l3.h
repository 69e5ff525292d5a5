// SPDX-License-Identifier: Apache-2.0
/*
 * The L3 form: what its files share. doc/format-l3.md is the format.
 *
 * A decode goes head -> tiles -> pixels: head.c finds and checks everything before the first tile, decode.c walks the
 * tiles that a region touches, pixel_*.c and dct_*.c decode one of them.
 */
#ifndef MR_CODEC_L3_L3_H
#define MR_CODEC_L3_L3_H

#include "codec/codec.h"

enum {
    MR__L3_PIXEL = 1,
    MR__L3_DCT = 2,
    MR__L3_COMPONENT_MAX = 3,
    MR__L3_UNIT_BLOCKS = 8 /* blocks of a unit's side in DCT mode */
};

/* A component in DCT mode. A tile has h * v units of it. */
typedef struct mr__l3_component {
    uint8_t h, v;                /* sampling factors */
    uint8_t table;               /* of quantisation */
    uint32_t blocks_w, blocks_h; /* that carry pixels */
} mr__l3_component;

/* The head, parsed and checked; points into the file. */
typedef struct mr__l3_head {
    uint32_t mode;
    uint32_t channels;
    uint32_t depth;
    uint32_t orientation;
    uint32_t width, height;
    uint32_t tile_width, tile_height;
    uint32_t tiles_x, tiles_y;
    bool has_icc, has_origin;
    /* DCT mode */
    bool progressive; /* the source was: for information only */
    uint32_t color;   /* mr__jpeg_color */
    uint32_t hmax, vmax;
    mr__l3_component component[MR__L3_COMPONENT_MAX];
    uint32_t tables;       /* 1 to 3 */
    uint16_t quant[3][64]; /* zigzag order */
    /* where things are */
    uint32_t size_nbytes;
    const uint8_t *sizes;  /* the index: tiles_x * tiles_y lengths of size_nbytes each */
    const uint8_t *hashes; /* and as many hashes of 4 bytes */
    size_t head_nbytes;
    size_t tail_at, tail_nbytes;
} mr__l3_head;

/* Parses call->bytes up to the first tile and checks that the file's length is what the head says. */
int mr__l3_head_read(mr__call *call, mr__l3_head *head);

/* Where each tile begins, and behind the last: tiles + 1 offsets from the file's start, into `offsets`. */
void mr__l3_head_offsets(const mr__l3_head *head, uint64_t *offsets);

/*
 * The head of a file to be written, with the lengths and hashes of its tiles; `head` says the rest. Appends head to
 * *out. Tiles follow, then the tail.
 */
int mr__l3_head_write(mr__call *call, const mr__l3_head *head, const uint32_t *lengths, const uint32_t *hashes,
                      size_t tail_nbytes, mr__buffer *out, size_t *out_nbytes);

/* Checks the hash of a tile. */
int mr__l3_tile_check(mr__call *call, const mr__l3_head *head, size_t tile, const uint8_t *bytes, size_t nbytes);

/* Fails naming the tile, its place and the byte: "damaged L3 image: tile 17 (column 3, row 2) at byte 1823: WHY". */
int mr__l3_tile_fail(mr__call *call, const mr__l3_head *head, size_t tile, uint64_t offset, const char *why);

#endif
