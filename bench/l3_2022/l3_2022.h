// SPDX-License-Identifier: Apache-2.0
/*
 * `l3-2022`: the L3 that was published in 2022, written anew from its description, for comparison only.
 *
 *   "LLL."  width, height: i32  N: i8     little-endian
 *   for R, G, B: one u16 for each patch, its length in bytes; patches from left to right, then down
 *   all patches of R, then of G, then of B
 *
 * A patch is N x N samples of one plane, less at the right and bottom edge. Each row: a 4-bit width w (0 to 8), an
 * 8-bit base, one delta of w bits for each column, padded to a byte; the lowest bits come first. A sample is prediction
 * + base + delta mod 256. The prediction is made from the row above alone, a = NW, b = N, c = NE, which are 0 outside
 * of the patch; in the first row it is 0.
 */
#ifndef BENCH_L3_2022_H
#define BENCH_L3_2022_H

#include "l3_2022_pixel.h"
#include <millrace/image.h>

enum { L3_2022_SIDE_MAX = 64, L3_2022_HEADER = 13, L3_2022_SLACK = 80 };

/* 32 below HD, 64 from there on. */
uint32_t l3_2022_side(uint32_t width, uint32_t height);

/* Encodes 8-bit RGB in patches of side x side (1 to 64). The bytes are the caller's to free; NULL: no memory, or no
 * RGB. */
uint8_t *l3_2022_encode(const mr_image *image, uint32_t side, size_t *nbytes);

/* The two loops of a decoder. */
typedef struct l3_2022_kernels {
    /*
     * Decodes a patch of one plane into rows of L3_2022_SIDE_MAX bytes. `from` has nbytes of the patch; file_nbytes can
     * be read. False when the rows do not fill the patch to the byte.
     */
    bool (*plane)(const uint8_t *from, size_t nbytes, size_t file_nbytes, uint32_t width, uint32_t height, uint8_t *to);
    /* Three rows of `width` bytes become one of RGB. */
    void (*weave)(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint32_t width, uint8_t *rgb);
} l3_2022_kernels;

extern const l3_2022_kernels l3_2022_portable;
extern const l3_2022_kernels *const l3_2022_avx2; /* NULL where it is not compiled */
bool l3_2022_can_avx2(void);                      /* with PDEP */

/* Decodes into an image of the very size. False when the bytes are not a whole and sound file. */
bool l3_2022_decode(const l3_2022_kernels *kernels, const void *bytes, size_t nbytes, const mr_image *to);

/* What the head and the lengths say, checked against the bytes that there are. */
typedef struct l3_2022_layout {
    uint32_t width, height, side;
    size_t across, patches;  /* patches of a plane */
    const uint8_t *lengths;  /* of all patches: u16 */
    const uint8_t *plane[3]; /* the first patch of each */
    const uint8_t *end;
} l3_2022_layout;

bool l3_2022_read(l3_2022_layout *layout, const void *bytes, size_t nbytes);

/* Inside: a row's bytes with L3_2022_SLACK readable bytes behind them. */
const uint8_t *l3_2022_row(const uint8_t *from, size_t nbytes, size_t file_nbytes, uint8_t *room);
enum { L3_2022_ROW_MAX = 2 + L3_2022_SIDE_MAX, L3_2022_ROOM = L3_2022_ROW_MAX + L3_2022_SLACK };

#endif
