// SPDX-License-Identifier: Apache-2.0
/*
 * DCT mode above its units: tiles to pixels (dct_decode.c), a JPEG to tiles (dct_recode.c), tiles to a JPEG
 * (dct_jpeg.c). doc/format-l3.md, "DCT mode".
 */
#ifndef MR_CODEC_L3_DCT_H
#define MR_CODEC_L3_DCT_H

#include "codec/jpeg/coefficients.h"
#include "codec/l3/dct_unit.h"
#include "codec/l3/l3.h"
#include "kernel/jpeg_rows.h"

/* 4:2:0 and 4:1:1 have four units of the first component and one of each other. */
#define MR__L3_DCT_UNITS_MAX 6

/* One unit of a tile. */
typedef struct mr__l3_dct_place {
    uint32_t component;
    uint32_t x, y;          /* among the units of the component */
    unsigned columns, rows; /* of blocks, 1 to 8 each */
    size_t at, nbytes;      /* in the tile: see mr__l3_dct_lengths */
} mr__l3_dct_place;

/* The units of the tile in column x and row y, in their order; how many. */
unsigned mr__l3_dct_units(const mr__l3_head *head, uint32_t x, uint32_t y,
                          mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX]);

/* What the back end knows it as. */
mr__jpeg_frame mr__l3_dct_frame_of(const mr__l3_head *head);

/* The tiles (columns and rows of them) that a region of the image that `layout` describes needs of the first `parts`
 * components. */
mr_rect mr__l3_dct_tiles(const mr__l3_head *head, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region);

/* Where each of them lies in the tile. NULL, or why the bytes are no tile. */
const char *mr__l3_dct_lengths(const uint8_t *bytes, size_t nbytes, mr__l3_dct_place *units, unsigned count);

/* What decoding keeps between calls. One thread at a time. */
typedef struct mr__l3_dct_decoder {
    mr__l3_unit unit;
    uint8_t padded[MR__L3_UNIT_NBYTES_MAX + MR__L3_UNIT_SLACK]; /* a unit at the very end of the file */
    mr__l3_unit_kernels units;
    mr__jpeg_pixels pixels;
    mr__buffer samples; /* of a row of tiles */
} mr__l3_dct_decoder;

/* It comes cleared. */
void mr__l3_dct_decoder_init(mr__l3_dct_decoder *decoder, mr__cpu_flags cpu);
void mr__l3_dct_decoder_fini(mr__l3_dct_decoder *decoder, const mr_hooks *hooks);

/* Decodes a unit of the tile at `tile`, which lies inside call->bytes, into decoder->unit. NULL, or why not. */
const char *mr__l3_dct_unit_decode(mr__l3_dct_decoder *decoder, const mr__call *call, const uint8_t *tile,
                                   const mr__l3_dct_place *place, const uint16_t quant[64], unsigned bands);

/*
 * Checks and decodes a whole tile; `visit` (NULL: nobody) finds each unit's coefficients, as they were in the JPEG, in
 * decoder->unit.
 */
typedef void mr__l3_dct_visit(void *user, const mr__l3_dct_place *unit);
int mr__l3_dct_tile_read(mr__call *call, mr__l3_dct_decoder *decoder, const mr__l3_head *head, const uint64_t *offsets,
                         size_t number, mr__l3_dct_visit *visit, void *user);

/* mr__l3_dct_decode with a decoder of its own, for threads. `head` and `offsets` are those of call->bytes. */
int mr__l3_dct_decode_with(mr__call *call, mr__l3_dct_decoder *decoder, const mr__l3_head *head,
                           const uint64_t *offsets, const mr__request *request, const mr_image *to);

/* What one thread has for itself when a JPEG is recoded. */
typedef struct mr__l3_dct_worker {
    mr__l3_dct_decoder decoder;
    mr__buffer tiles; /* that it encoded, one after the other */
    size_t tiles_nbytes;
    mr__buffer pixels; /* that it decoded, to prove them */
} mr__l3_dct_worker;

/* What recoding keeps between images: see dct_recode.h. */
typedef struct mr__l3_dct_recoder {
    mr__jpeg_coefficients_work work;
    mr__l3_dct_worker *worker; /* one a thread */
    size_t workers;
    mr__buffer parts;   /* of the work */
    mr__buffer index;   /* lengths and hashes of the tiles */
    mr__buffer offsets; /* and where they are, to prove them */
    mr__buffer pixels;  /* of the JPEG, by libjpeg-turbo */
    void *jpeg;         /* the JPEG codec's state, for them */
    mr__buffer icc;
    mr__buffer origin;
    mr__buffer very; /* JPEG, to see whether an origin is right */
    mr__detail why;  /* there is no origin, or it is of no use */
} mr__l3_dct_recoder;

void mr__l3_dct_recoder_fini(mr__l3_dct_recoder *recoder, const mr_hooks *hooks);

typedef struct mr__l3_dct_state {
    mr__l3_dct_decoder decoder;
    mr__l3_dct_recoder recoder;
} mr__l3_dct_state;

/* The state comes cleared. fini is called after a failed init, too. */
int mr__l3_dct_state_init(mr__call *call, mr__l3_dct_state *state);
void mr__l3_dct_state_fini(mr__l3_dct_state *state, const mr_hooks *hooks);

#endif
