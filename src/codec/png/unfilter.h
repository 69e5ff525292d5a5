// SPDX-License-Identifier: Apache-2.0
/*
 * Undoing PNG's row filters: the kernel table.
 *
 * Every kernel reads nbytes bytes of `from` (a filtered row without its filter byte) and of `above` (the row before it,
 * undone; zeros for the first row), and writes exactly nbytes bytes of `to`. nbytes is a multiple of the pixel's bytes
 * and not 0. `to` overlaps neither of the others: kernels may write a byte twice before they come to its source.
 */
#ifndef MR_CODEC_PNG_UNFILTER_H
#define MR_CODEC_PNG_UNFILTER_H

#include "cpu/cpu.h"

#define MR__PNG_PIXEL_MAX 8 /* bytes of the largest pixel: RGBA of 16 bits */

typedef void mr__unfilter_row(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes);

/*
 * Two rows or four, each below the one before: from[0] to to[0], then from[1] to to[1] with to[0] as the row above it,
 * and so on. A pixel waits for the one on its left, so that one row alone keeps a processor idle; rows that follow each
 * other two pixels apart do not wait for each other.
 */
typedef void mr__unfilter_rows(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t nbytes);

#define MR__UNFILTER_ROWS_MAX 4

/* By bytes of a pixel: 1, 2, 3, 4, 6, 8 are filled, as PNG has no other. */
typedef struct mr__unfilter {
    mr__unfilter_row *up;
    mr__unfilter_row *sub[MR__PNG_PIXEL_MAX + 1];
    mr__unfilter_row *average[MR__PNG_PIXEL_MAX + 1];
    mr__unfilter_row *paeth[MR__PNG_PIXEL_MAX + 1];
    mr__unfilter_rows *paeth_pair[MR__PNG_PIXEL_MAX + 1];
    mr__unfilter_rows *paeth_quad[MR__PNG_PIXEL_MAX + 1];
} mr__unfilter;

void mr__unfilter_init(mr__unfilter *table, mr__cpu_flags cpu);

/* What mr__unfilter_init is made of: the portable kernels, then each processor's over them. */
void mr__unfilter_init_c(mr__unfilter *table);
void mr__unfilter_init_x86(mr__unfilter *table, mr__cpu_flags cpu);
void mr__unfilter_init_avx2(mr__unfilter *table, mr__cpu_flags cpu);
void mr__unfilter_init_neon(mr__unfilter *table, mr__cpu_flags cpu);

#endif
