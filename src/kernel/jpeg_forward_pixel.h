// SPDX-License-Identifier: Apache-2.0
/*
 * From pixels to dequantised coefficients (jpeg_forward.h), a pixel, a line of a block or a coefficient at a time, in
 * what C, OpenCL C and CUDA C have in common.
 *
 * The transform is that of Loeffler, Ligtenberg and Moschytz that libjpeg calls islow: along the rows first, which
 * leaves 2 bits of fraction, then down the columns. Constants are multiples of 2^13, and the result is 8 times the
 * coefficient. No sum leaves 16 bits before it is multiplied.
 */
#ifndef MR_KERNEL_JPEG_FORWARD_PIXEL_H
#define MR_KERNEL_JPEG_FORWARD_PIXEL_H

#include "kernel/jpeg_pixel.h"

/* Y of a pixel; constants are multiples of 2^16. */
MR_INLINE uint32_t mr__jpeg_y_of(uint32_t r, uint32_t g, uint32_t b)
{
    return (19595u * r + 38470u * g + 7471u * b + 32768u) >> 16;
}

/* Cb and Cr have 128 added to them, and are rounded half down. */
MR_INLINE uint32_t mr__jpeg_cb_of(int32_t r, int32_t g, int32_t b)
{
    return (uint32_t)((32768 * b - 11059 * r - 21709 * g + (128 << 16) + 32767) >> 16);
}

MR_INLINE uint32_t mr__jpeg_cr_of(int32_t r, int32_t g, int32_t b)
{
    return (uint32_t)((32768 * r - 27439 * g - 5329 * b + (128 << 16) + 32767) >> 16);
}

/* The mean of four, in column x of its row of squares: rounded down and up by turns. */
MR_INLINE uint8_t mr__jpeg_mean(uint32_t sum, uint32_t x)
{
    return (uint8_t)((sum + 1 + (x & 1)) >> 2);
}

MR_INLINE int16_t mr__fdct_narrow(int32_t value, uint32_t shift)
{
    return (int16_t)((value + (1 << (shift - 1))) >> shift);
}

/* `first`: along a row, of samples. 128 is taken from every one, which only their sum knows of. */
MR__LINE mr__idct_line mr__fdct_line8(mr__idct_line in, bool first)
{
    const uint32_t shift = first ? 11 : 15;
    int32_t s07 = in.at[0] + in.at[7], d07 = in.at[0] - in.at[7], s16 = in.at[1] + in.at[6];
    int32_t d16 = in.at[1] - in.at[6], s25 = in.at[2] + in.at[5], d25 = in.at[2] - in.at[5];
    int32_t s34 = in.at[3] + in.at[4], d34 = in.at[3] - in.at[4];
    int32_t outer = s07 + s34, inner = s16 + s25, x = s07 - s34, y = s16 - s25;
    int32_t z3 = -6436 * (d34 + d16) + 9633 * (d25 + d07), z4 = 9633 * (d34 + d16) + 6437 * (d25 + d07);
    mr__idct_line out;
    out.at[0] = first ? (int16_t)((outer + inner) * 4 - 4096) : mr__fdct_narrow(outer + inner, 2);
    out.at[4] = first ? (int16_t)((outer - inner) * 4) : mr__fdct_narrow(outer - inner, 2);
    out.at[2] = mr__fdct_narrow(10703 * x + 4433 * y, shift);
    out.at[6] = mr__fdct_narrow(4433 * x - 10704 * y, shift);
    out.at[7] = mr__fdct_narrow(-4927 * d34 - 7373 * d07 + z3, shift);
    out.at[1] = mr__fdct_narrow(-7373 * d34 + 4926 * d07 + z4, shift);
    out.at[5] = mr__fdct_narrow(-4176 * d25 - 20995 * d16 + z4, shift);
    out.at[3] = mr__fdct_narrow(-20995 * d25 + 4177 * d16 + z3, shift);
    return out;
}

/* To the nearest multiple of the quantiser `by`, half of it away from zero; how it divides is in mr__jpeg_quant. */
MR_INLINE int16_t mr__fdct_quantised(int32_t value, uint32_t by, uint32_t reciprocal, uint32_t shift)
{
    uint32_t size = (uint32_t)(value < 0 ? -value : value);
    uint32_t times = ((size + 4 * by) >> 3) * reciprocal >> (15u + shift);
    return (int16_t)(value < 0 ? -(int32_t)(times * by) : (int32_t)(times * by));
}

#endif
