// SPDX-License-Identifier: Apache-2.0
/*
 * From dequantised DCT coefficients to pixels, bit for bit as libjpeg-turbo's default decode (islow IDCT, fancy
 * upsampling): the back end of L3's DCT mode and of the direct JPEG decoder. Whole, by region, and at 1/2, 1/4, 1/8 as
 * libjpeg-turbo's scaled decode gives them.
 *
 * Coefficients come in strips of lanes: coef[frequency in natural order][lane], a lane being one block, so that the
 * transform runs across blocks and needs no transposition before its bytes are stored.
 */
#ifndef MR_KERNEL_JPEG_PIXELS_H
#define MR_KERNEL_JPEG_PIXELS_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

/*
 * An IDCT of `rows` rows of 8 blocks each: lane = 8 * row + column. `coef` is 64 bands of `pitch` int16 (a multiple of
 * 16; 64 for L3's units, 16 for two rows at a time), 64-byte aligned, already multiplied by the quantiser modulo 2^16;
 * it is scratch: the kernel may write to it. Bands whose bit (natural order) is 0 in `bands` are taken as 0 and may
 * hold anything. Writes rows*size lines of 8*size samples to `to` (size: 8, 4, 2 or 1 for the four kernels).
 */
typedef void mr__jpeg_idct(int16_t *coef, size_t pitch, uint64_t bands, unsigned rows, uint8_t *to, ptrdiff_t stride);

typedef struct mr__jpeg_pixels {
    mr__jpeg_idct *idct[4]; /* 8x8, 4x4, 2x2, 1x1 samples a block: index is log2(reduce) */
    /* upsampling and colour kernels: see jpeg_pixels.c */
} mr__jpeg_pixels;

void mr__jpeg_pixels_init(mr__jpeg_pixels *table, mr__cpu_flags cpu);

#endif
