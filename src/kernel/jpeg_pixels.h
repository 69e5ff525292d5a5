// SPDX-License-Identifier: Apache-2.0
/*
 * From dequantised DCT coefficients to pixels, bit for bit as libjpeg-turbo's default decode on x86 (islow IDCT, fancy
 * upsampling): the back end of L3's DCT mode and of the direct JPEG decoder. Whole, by region, and at 1/2, 1/4, 1/8 as
 * libjpeg-turbo's scaled decode gives them.
 *
 * Here are the kernels. jpeg_assemble.h has what stands above them: which samples a region needs, and from planes of
 * samples to pixels.
 *
 * What is exact: kernels of all instruction sets agree on all inputs. They equal libjpeg-turbo where every coefficient
 * times its quantiser fits 16 bits; what no image has but a file may say, sums beyond 16 bits included, comes out as
 * with libjpeg-turbo's x86 kernels. Products beyond 16 bits are taken modulo 2^16, as those kernels do, but
 * libjpeg-turbo looks at the coefficients before the product in its short cuts, so that those may differ.
 */
#ifndef MR_KERNEL_JPEG_PIXELS_H
#define MR_KERNEL_JPEG_PIXELS_H

#include "cpu/cpu.h"
#include "kernel/jpeg_pixel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that kernels may read, and do not use, behind the last sample of a row: planes of samples end in so many more.
 */
#define MR__JPEG_SLACK 64

/*
 * Coefficients come in strips of lanes: coef[frequency in natural order][lane], a lane being one block, so that the
 * transform runs across blocks and needs no transposition before its bytes are stored. Eight lanes are a group: eight
 * blocks side by side.
 *
 * `coef` is 64 bands of `pitch` int16 (a multiple of 16: 64 for L3's units, 16 for the direct decoder), 32-byte
 * aligned, already multiplied by the quantiser modulo 2^16; it is scratch: the kernel writes to it. Bands whose bit
 * (natural order: 8 * vertical + horizontal) is 0 in `bands` are taken as 0 and may hold anything.
 *
 * `groups` (1 to pitch / 8) are transformed; group g (lanes 8g to 8g+7) goes to `to + g * step`: `size` lines, `stride`
 * apart, of 8 * size bytes each, where size is 8, 4, 2 or 1 for the four kernels. So a unit of 8x8 blocks has step =
 * size * stride, and 16 blocks in a row have step = 8 * size. Nothing else is written.
 */
typedef void mr__jpeg_idct(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                           ptrdiff_t step);

/*
 * A strip is two groups of 8 blocks side by side as an entropy decoder leaves them: coef[place in zigzag order][lane],
 * quantised, 64-byte aligned.
 */
#define MR__JPEG_STRIP        16
#define MR__JPEG_STRIP_NBYTES (64 * MR__JPEG_STRIP * sizeof(int16_t))

/*
 * The transform of a strip, the same in all else: multiplies by `quant`, in zigzag order, modulo 2^16. Places behind
 * `last` are zero in all lanes. `groups` is 1 or 2, the second of which goes to `to + step`. All of the strip is zero
 * afterwards, for the next 16 blocks.
 */
typedef void mr__jpeg_idct_strip(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                                 ptrdiff_t stride, ptrdiff_t step);

/*
 * 1 to 16 blocks of 64 that lie one behind the other, in zigzag order, into a strip that is zero; returns the last
 * place that is not zero in all of them.
 */
typedef uint32_t mr__jpeg_lay(const int16_t *blocks, size_t count, int16_t *coef);

/* Whether no number of `count` blocks of 64 is more, by its place, than `most` or less than -most. */
typedef bool mr__jpeg_within(const int16_t *blocks, size_t count, const uint16_t most[64]);

/* What is added to round (jpeg_pixel.h). A line of sums has 4 * sample (h2v1) or 3 * near + far (h2v2). */
typedef struct mr__jpeg_bias {
    int16_t left, right;
} mr__jpeg_bias;

#define MR__JPEG_BIAS_H2V1 ((mr__jpeg_bias){MR__JPEG_H2V1_LEFT, MR__JPEG_H2V1_RIGHT})
#define MR__JPEG_BIAS_H2V2 ((mr__jpeg_bias){MR__JPEG_H2V2_LEFT, MR__JPEG_H2V2_RIGHT})

/*
 * The row kernels: `n` samples or pixels to make. The colour kernels write exactly those; the others, whose lines lie
 * in a work area, up to MR__JPEG_SLACK bytes more. All may read MR__JPEG_SLACK bytes beyond what they need. Lines of
 * sums are int16; sums[-1] and the one behind the last are read: the caller sets them at the edges of the image.
 */
typedef struct mr__jpeg_pixels {
    mr__jpeg_idct *idct[4]; /* 8x8, 4x4, 2x2, 1x1 samples a block: the index is log2 of the reduction */
    mr__jpeg_idct_strip *strip[4];
    mr__jpeg_lay *lay;
    mr__jpeg_within *within;

    /* 3 * near + far, and 4 * from. */
    void (*sum)(const uint8_t *near, const uint8_t *far, int16_t *to, size_t n);
    void (*quadruple)(const uint8_t *from, int16_t *to, size_t n);

    /* (3 * near + far + bias) / 4: a row between rows (h1v2; bias 1 above the sample, 2 below). */
    void (*between)(const uint8_t *near, const uint8_t *far, unsigned bias, uint8_t *to, size_t n);

    /* Two pixels a sum, (3 * sum + neighbour + bias) / 16; `odd` is 1 when the first pixel is the right one of *sums.
     */
    void (*widen)(const int16_t *sums, mr__jpeg_bias bias, size_t odd, uint8_t *to, size_t n);

    /* Each sample `times` times (box); the first one `skip` times less. */
    void (*repeat)(const uint8_t *from, size_t times, size_t skip, uint8_t *to, size_t n);

    /* Colour: YCbCr to RGB, the same from lines of sums for Cb and Cr, three planes as they are, one plane thrice. */
    void (*ycc)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to, size_t n);
    void (*ycc_widen)(const uint8_t *y, const int16_t *cb, const int16_t *cr, mr__jpeg_bias bias, size_t odd,
                      uint8_t *to, size_t n);
    void (*interleave)(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *to, size_t n);
    void (*thrice)(const uint8_t *from, uint8_t *to, size_t n);
} mr__jpeg_pixels;

void mr__jpeg_pixels_init(mr__jpeg_pixels *table, mr__cpu_flags cpu);

#endif
