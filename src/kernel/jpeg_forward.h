// SPDX-License-Identifier: Apache-2.0
/*
 * From pixels to dequantised DCT coefficients, bit for bit as libjpeg-turbo stores an image and reads it again: its
 * conversion to YCbCr, 4:2:0, its islow transform, the tables of the standard scaled by a quality. What lies between,
 * the entropy code, changes nothing and is left out. jpeg_pixels.h has the way back.
 *
 * Here are the kernels; jpeg_again.h goes both ways over an image.
 */
#ifndef MR_KERNEL_JPEG_FORWARD_H
#define MR_KERNEL_JPEG_FORWARD_H

#include "cpu/cpu.h"
#include "kernel/jpeg_forward_pixel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of quantisers (1 to 255) in natural order, and how to divide by them. */
typedef struct mr__jpeg_quant {
    uint16_t by[64];
    /*
     * floor(n / q) = n r >> (15 + k) for all n below 2^14, where 2^k is the largest power of two that is not above q,
     * and r is 2^(15 + k) / q rounded up, at most 2^15: r is too large by less than 1, so that n r / 2^(15 + k) is by
     * less than n / 2^(15 + k) < 1 / q, which takes it past no whole number.
     */
    uint16_t reciprocal[64];
    uint8_t shift[64];
} mr__jpeg_quant;

/* The table for this quality, 1 to 100, as libjpeg scales it for baseline files. */
void mr__jpeg_quant_init(mr__jpeg_quant *quant, uint32_t quality, bool chroma);

/*
 * Two groups of 8 blocks side by side, at `from` and `from + step`, 8 lines of 64 samples each, `stride` apart, become
 * coefficients that are quantised and multiplied again: coef[frequency in natural order][lane], of 16 lanes, 32-byte
 * aligned, which is what mr__jpeg_idct takes. Returns the bands of which any is not zero.
 */
typedef uint64_t mr__jpeg_fdct(const uint8_t *from, ptrdiff_t stride, ptrdiff_t step, const mr__jpeg_quant *quant,
                               int16_t *coef);

/*
 * 2 * pairs pixels of two rows: their Y, and Cb and Cr of each square of four, the first of which is an even one in its
 * row of squares. Writes up to 16 bytes behind Cb and Cr and 32 behind Y.
 */
typedef void mr__jpeg_halve(const uint8_t *upper, const uint8_t *lower, size_t pairs, uint8_t *y_upper,
                            uint8_t *y_lower, uint8_t *cb, uint8_t *cr);

static inline uint8_t mr__jpeg_y(const uint8_t *p)
{
    return (uint8_t)mr__jpeg_y_of(p[0], p[1], p[2]);
}

typedef struct mr__jpeg_forward {
    mr__jpeg_fdct *fdct;
    mr__jpeg_halve *halve;
} mr__jpeg_forward;

void mr__jpeg_forward_init(mr__jpeg_forward *table, mr__cpu_flags cpu);

/* For those who fill the table. */
void mr__jpeg_forward_init_avx2(mr__jpeg_forward *table, mr__cpu_flags cpu);
void mr__jpeg_forward_init_neon(mr__jpeg_forward *table, mr__cpu_flags cpu);
mr__jpeg_halve mr__jpeg_halve_c;

#endif
