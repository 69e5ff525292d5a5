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
    MR__L3_GRAY = 0, /* colours, as mr__jpeg_color has them */
    MR__L3_YCBCR = 1,
    MR__L3_RGB = 2,
    MR__L3_COMPONENT_MAX = 3,
    MR__L3_UNIT_BLOCKS = 8, /* blocks of a unit's side in DCT mode */
    MR__L3_TILES_MAX = 1 << 26
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
    uint64_t tail_at, tail_nbytes; /* by the head: a truncated file ends before them */
} mr__l3_head;

/* The sections of a tail that we know. */
typedef struct mr__l3_tail {
    const uint8_t *icc, *origin; /* NULL where there is none */
    size_t icc_nbytes, origin_nbytes;
} mr__l3_tail;

/* head.c */

bool mr__l3_probe(const uint8_t *bytes, size_t nbytes);

/* Parses and checks call->bytes up to the first tile. What follows may be missing: see mr__l3_head_check_length. */
int mr__l3_head_read(mr__call *call, mr__l3_head *head);

/* Whether the file is as long as its head says: an error, or, when damage is accepted, a warning. */
int mr__l3_head_check_length(mr__call *call, const mr__l3_head *head, bool accept_damaged);

/* Fills in what follows from the rest of a head that is to be written: tiles_x and tiles_y, and in DCT mode hmax, vmax,
 * the size of a tile and each component's blocks. */
void mr__l3_head_complete(mr__l3_head *head);

/* Where each tile begins, and behind the last: tiles + 1 offsets from the file's start, into `offsets`. */
void mr__l3_head_offsets(const mr__l3_head *head, uint64_t *offsets);

/* Where this one begins; for the one behind the last, where they end. */
uint64_t mr__l3_head_offset(const mr__l3_head *head, size_t tile);

/*
 * The head of a file to be written, complete, with the lengths and hashes of its tiles. Appends it to *out, which has
 * *out_nbytes bytes so far. The tiles follow, then the tail.
 */
int mr__l3_head_write(mr__call *call, const mr__l3_head *head, const uint32_t *lengths, const uint32_t *hashes,
                      uint64_t tail_nbytes, mr__buffer *out, size_t *out_nbytes);

/* Changes a written head of so many bytes: another orientation, and the tail that will follow. */
void mr__l3_head_change(uint8_t *bytes, size_t head_nbytes, uint32_t orientation, const mr__l3_tail *tail);

/* head_dct.c: the mode part of DCT mode. */
enum { MR__L3_DCT_PART_MAX = 2 + MR__L3_COMPONENT_MAX * (2 + 1 + 128) };
int mr__l3_dct_part_read(mr__call *call, mr__l3_head *head, const uint8_t *part, size_t nbytes);
size_t mr__l3_dct_part_write(const mr__l3_head *head, uint8_t part[MR__L3_DCT_PART_MAX]);

/* tile.c */

static inline size_t mr__l3_tile_count(const mr__l3_head *head)
{
    return (size_t)head->tiles_x * head->tiles_y;
}

/* The lower half of XXH3-64. */
uint32_t mr__l3_tile_hash(const uint8_t *bytes, size_t nbytes, mr__cpu_flags cpu);

/* The pixels of a tile. */
mr_rect mr__l3_tile_rect(const mr__l3_head *head, size_t tile);

/* The bytes of a tile that is all there and whose hash is right, else NULL. */
const uint8_t *mr__l3_tile_find(const mr__call *call, const mr__l3_head *head, const uint64_t *offsets, size_t tile,
                                size_t *nbytes);

/*
 * The bytes of a tile, once its hash has been checked. Where damage is accepted, a tile that is missing or whose hash
 * differs is a warning and *bytes NULL: whoever decodes fills it.
 */
int mr__l3_tile_open(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, size_t tile, bool accept_damaged,
                     const uint8_t **bytes, size_t *nbytes);

/*
 * A tile whose hash is right and whose bytes are no tile: fails, naming the tile, its place and the byte ("damaged L3
 * image: tile 17 (column 3, row 2) at byte 1823: WHY"); where damage is accepted, warns and returns 0.
 */
int mr__l3_tile_damage(mr__call *call, const mr__l3_head *head, size_t tile, uint64_t offset, const char *why,
                       bool accept_damaged);

/* tail.c */

/* Walks the tail of a file whose length is right and checks every section of it. */
int mr__l3_tail_read(mr__call *call, const mr__l3_head *head, mr__l3_tail *tail);

/* The same, but where only the origin is damaged the tail is given without it, and `why` has what is wrong; else "". */
int mr__l3_tail_read_mild(mr__call *call, const mr__l3_head *head, mr__l3_tail *tail, mr__detail *why);

/* How long a tail with these will be; nothing that cannot be held in memory. */
uint64_t mr__l3_tail_nbytes(const mr__l3_tail *tail);

/* Appends it. */
int mr__l3_tail_write(mr__call *call, const mr__l3_tail *tail, mr__buffer *out, size_t *out_nbytes);

/* Makes room behind what *out has, and gives its place. */
int mr__l3_append(mr__call *call, mr__buffer *out, size_t *out_nbytes, size_t nbytes, uint8_t **at);

/* ranges.c: for l3.c. */
uint64_t mr__l3_ranges_head(uint32_t width, uint32_t height);
bool mr__l3_ranges_of(const uint8_t *bytes, size_t head_nbytes, uint64_t nbytes, mr_rect region, mr__range *range);

/* decode.c */

/* Reads the head of an L3 image into the state, checks its length and gives the offsets: where info was not called. */
int mr__l3_open(mr__call *call, const uint64_t **offsets);

/* What a decode looks at before the first tile: length, and where all is asked for, tail. The head is in the state. */
int mr__l3_begin(mr__call *call, const mr__request *request, const uint64_t **offsets);

/* The ways in, for l3.c. The head is in the state: info has read it. */
int mr__l3_decode(mr__call *call, const mr__request *request, const mr_image *to);
int mr__l3_verify(mr__call *call);
int mr__l3_tile(mr__call *call, uint32_t number, mr_tile *tile);

/* recode.c */
int mr__l3_recode(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out, size_t *out_nbytes,
                  mr_recode_report *report);

/*
 * The two modes. `offsets` are mr__l3_head_offsets. Every tile that the region touches is opened by mr__l3_tile_open;
 * no other is looked at. A tile that comes without bytes is filled: with 0 in pixel mode, as one of coefficients that
 * are all 0 in DCT mode.
 */

/* pixel_*.c */
int mr__l3_pixel_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                        const mr_image *to);
int mr__l3_pixel_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                        size_t *out_nbytes);
/* How a tile is coded, in a word or two; from bytes whose hash is right, and which may yet be anything. */
const char *mr__l3_pixel_kind(const mr__l3_head *head, const uint8_t *bytes, size_t nbytes);

/* dct_*.c */
int mr__l3_dct_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                      const mr_image *to);
/* What mr__l3_dct_decode can give beside the stored shape: mr__codec.gives. */
bool mr__l3_dct_gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce);
/* call->bytes is a JPEG. MR_EUNSUPPORTED, ECORRUPT and ETRUNCATED all mean: not this way, by its pixels. */
int mr__l3_dct_recode(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out,
                      size_t *out_nbytes, mr_recode_report *report);
/* call->bytes is an L3 image in DCT mode, its head read and its length checked. The very JPEG, or one with the same
 * coefficients: also where the origin is damaged, and the report says so. */
int mr__l3_to_jpeg(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr_encode_options *options,
                   mr__buffer *out, size_t *out_nbytes, mr_recode_report *report);
/* Of the same: reads every tile and writes the very JPEG, to see whether it can be. The tail has an origin. */
int mr__l3_origin_verify(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__l3_tail *tail);

#endif
