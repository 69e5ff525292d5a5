// SPDX-License-Identifier: Apache-2.0
/*
 * A JPEG's quantised coefficients, read without decoding a pixel and written back as a JPEG: what L3's DCT mode is made
 * from and what it gives back.
 *
 * Reading takes Huffman-coded JPEGs of 8 bits, baseline, extended and progressive, interleaved or not, with and
 * without restart intervals, of 1 or 3 components. All else is MR_EUNSUPPORTED with a word on what it is ("arithmetic
 * coding", "12 bits", "CMYK", ...). Damage is an error: nothing is guessed.
 */
#ifndef MR_CODEC_JPEG_COEFFICIENTS_H
#define MR_CODEC_JPEG_COEFFICIENTS_H

#include "codec/codec.h"

#define MR__JPEG_PLANE_MAX 3

typedef struct mr__jpeg_plane {
    uint8_t id, h, v, table;     /* as in the frame header */
    uint32_t blocks_w, blocks_h; /* that carry pixels: ceil(width * h / (8 * hmax)) */
    uint32_t padded_w, padded_h; /* up to whole MCUs of an interleaved scan; the rest is padding. Gray has none */
    int16_t *blocks;             /* padded_h * padded_w blocks of 64, row by row, each in zigzag order */
} mr__jpeg_plane;

/* Which colours the three components are, as libjpeg-turbo decides it from markers and component ids. */
typedef enum mr__jpeg_color { MR__JPEG_GRAY = 0, MR__JPEG_YCBCR = 1, MR__JPEG_RGB = 2 } mr__jpeg_color;

typedef struct mr__jpeg_coefficients {
    uint32_t width, height;
    uint32_t components;
    bool progressive;
    mr__jpeg_color color;
    uint8_t hmax, vmax;
    mr__jpeg_plane plane[MR__JPEG_PLANE_MAX];
    uint16_t quant[4][64]; /* zigzag order, by table number: those in force when each component's first scan began */
    uint32_t orientation;  /* EXIF, 1 to 8 */
    bool is_complete;      /* each coefficient is known to its last bit */
} mr__jpeg_coefficients;

/* A component's blocks across and down an MCU, which is one block where there is one component only. */
static inline uint32_t mr__jpeg_across(const mr__jpeg_coefficients *frame, uint32_t component)
{
    return frame->components == 1 ? 1 : frame->plane[component].h;
}

static inline uint32_t mr__jpeg_down(const mr__jpeg_coefficients *frame, uint32_t component)
{
    return frame->components == 1 ? 1 : frame->plane[component].v;
}

/* Memory kept between images; cleared before its first use. */
typedef struct mr__jpeg_coefficients_work {
    mr__buffer blocks;
    mr__buffer data; /* entropy-coded data without its stuffing */
    mr__buffer tables;
} mr__jpeg_coefficients_work;

/* call->bytes is the JPEG. `out` points into `work` and is valid until its next use. */
int mr__jpeg_coefficients_read(mr__call *call, mr__jpeg_coefficients_work *work, mr__jpeg_coefficients *out);

void mr__jpeg_coefficients_fini(mr__jpeg_coefficients_work *work, const mr_hooks *hooks);

/*
 * Padding blocks as encoders usually make them: the DC of the block before in coding order, which is in the same MCU,
 * and nothing else. Reading leaves those that no scan codes so, too.
 */
void mr__jpeg_coefficients_pad(mr__jpeg_coefficients *coefficients);

/*
 * What it takes, beside the coefficients, to write the very same file again: all bytes that are not entropy-coded data,
 * where scans stand among them, padding bits, padding blocks that are not as usual, bytes after the end. The bytes are
 * described in doc/format-l3-origin.md. Making them proves them: the file is made from `coefficients` and them and
 * compared with call->bytes. MR_EUNSUPPORTED with detail when it does not come out the same.
 *
 * `icc` is the profile that is kept elsewhere (NULL: none); it is not kept again. Writing needs the same.
 */
int mr__jpeg_origin_make(mr__call *call, const mr__jpeg_coefficients *coefficients, const uint8_t *icc,
                         size_t icc_nbytes, mr__buffer *out, size_t *out_nbytes);

/*
 * The other way: the JPEG from coefficients and origin. Every byte of origin is hostile. Blocks of padding need not be
 * filled: they are overwritten.
 */
int mr__jpeg_origin_write(mr__call *call, mr__jpeg_coefficients *coefficients, const uint8_t *icc, size_t icc_nbytes,
                          const uint8_t *origin, size_t origin_nbytes, mr__buffer *out, size_t *out_nbytes);

/* Without an origin: a JPEG with these coefficients, baseline, with Huffman tables made for it. Padding as above. */
int mr__jpeg_coefficients_write(mr__call *call, mr__jpeg_coefficients *coefficients, const uint8_t *icc,
                                size_t icc_nbytes, mr__buffer *out, size_t *out_nbytes);

#endif
