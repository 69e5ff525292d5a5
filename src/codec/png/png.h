// SPDX-License-Identifier: Apache-2.0
/* What the PNG codec keeps between calls, and its two halves. */
#ifndef MR_CODEC_PNG_PNG_H
#define MR_CODEC_PNG_PNG_H

#include "codec/png/expand.h"
#include "codec/png/unfilter.h"

struct libdeflate_compressor;
struct libdeflate_decompressor;

typedef struct mr__png_state {
    mr__unfilter unfilter;
    struct libdeflate_decompressor *decompressor; /* made when first needed */
    struct libdeflate_compressor *compressor;
    int compressor_level;
    mr__buffer data;   /* several IDATs, gathered */
    mr__buffer raw;    /* filtered rows */
    mr__buffer rows;   /* a few rows, undone or about to be filtered */
    mr__buffer pixels; /* a row of pixels, before it is converted or scattered */
} mr__png_state;

int mr__png_holds(mr__call *call, const mr_info *info);
int mr__png_decode(mr__call *call, const mr__request *request, const mr_image *to);
int mr__png_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                   size_t *out_nbytes);

/* Rows of one pass (the whole image if it is not interlaced), inflated and still filtered. */
typedef struct mr__pass {
    uint32_t width;
    uint32_t height;
    size_t pitch; /* bytes of a row with its filter byte, which comes first */
    size_t pixel; /* bytes that filters take for a pixel: at least 1 */
    uint8_t *raw;
} mr__pass;

/* The size of the image's rows and passes, 7 or 1; false when it does not fit the address space. */
bool mr__png_passes(const mr__png *png, mr__pass pass[7], size_t *count, size_t *raw_nbytes);

/* How many rows from y on can be undone at once: 1, 2 or 4. */
uint32_t mr__pass_count(const mr__pass *pass, uint32_t y, uint32_t end);

/* Undoes the filters of that many rows, the first `used` bytes of each. */
void mr__pass_undo(const mr__pass *pass, const mr__unfilter *kernels, uint32_t y, uint32_t count, uint8_t *const to[],
                   const uint8_t *above, size_t used);

/* The rows that decode keeps: some to undo into, in turn, and one of zeros, each `pitch` bytes. */
typedef struct mr__ring {
    uint8_t *rows;
    const uint8_t *zeros;
    size_t pitch;
} mr__ring;

/* The kinds of decode: rows in order, and interlaced. */
void mr__png_decode_plain(const mr__png_state *state, const mr__pass *pass, const mr__ring *ring, mr__expand *expand,
                          mr_rect region, const mr_image *to);
void mr__png_decode_adam7(const mr__png_state *state, const mr__pass pass[7], const mr__ring *ring, mr__expand *expand,
                          mr_rect region, const mr_image *to);

#endif
