// SPDX-License-Identifier: Apache-2.0
/*
 * From dequantised coefficients to pixels, a line of a block or a pixel at a time, in what C, OpenCL C and CUDA C have
 * in common: libjpeg-turbo's islow transform with its reduced forms, its fancy upsampling, its colours, as
 * jpeg_pixels.h says them.
 *
 * Constants of the transform are multiples of 2^13. Each sum is made in the width that libjpeg-turbo's x86 kernels make
 * it in, so that coefficients no image has come out as there: 16 bits where they add before they multiply, 32 bits
 * modulo 2^32 after it, and 16 bits saturated in the end.
 */
#ifndef MR_KERNEL_JPEG_PIXEL_H
#define MR_KERNEL_JPEG_PIXEL_H

#include "kernel/language.h"

/* From a place in zigzag order to one in natural order: 8 * vertical + horizontal frequency. */
MR_TABLE uint8_t mr__jpeg_natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/*
 * Rounding of what lies between two samples, in sixteenths: for the pixel on the left and the one on the right of its
 * sample; in quarters, for the pixel above and the one below.
 */
enum {
    MR__JPEG_H2V1_LEFT = 4,
    MR__JPEG_H2V1_RIGHT = 8,
    MR__JPEG_H2V2_LEFT = 8,
    MR__JPEG_H2V2_RIGHT = 7,
    MR__JPEG_H1V2_ABOVE = 1,
    MR__JPEG_H1V2_BELOW = 2
};

/* Lines are many instructions, and are to be part of the loops that they stand in: in C, too. */
#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
#define MR__LINE MR_INLINE
#else
#define MR__LINE MR_INLINE __attribute__((always_inline))
#endif

/* Frequencies or samples of one line of a block; shorter lines leave the last ones. */
typedef struct mr__idct_line {
    int16_t at[8];
} mr__idct_line;

MR_INLINE int16_t mr__idct_saturated(int32_t value)
{
    return (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
}

MR_INLINE uint32_t mr__idct_times(int16_t value, int16_t by)
{
    return (uint32_t)(value * by);
}

/* Half a unit of `shift` bits was added before. */
MR_INLINE int16_t mr__idct_narrow(uint32_t value, uint32_t shift)
{
    return mr__idct_saturated((int32_t)value >> shift);
}

/* Eight samples: `shift` is 11 down the columns, which leaves 2 bits of fraction, and 18 along the rows. */
MR__LINE mr__idct_line mr__idct_line8(mr__idct_line in, uint32_t shift)
{
    const uint32_t rounds = 1u << (shift - 1);
    int16_t x0 = in.at[0], x1 = in.at[1], x2 = in.at[2], x3 = in.at[3];
    int16_t x4 = in.at[4], x5 = in.at[5], x6 = in.at[6], x7 = in.at[7];
    int16_t s04 = (int16_t)(x0 + x4), d04 = (int16_t)(x0 - x4), s37 = (int16_t)(x3 + x7), s15 = (int16_t)(x1 + x5);
    uint32_t even0 = mr__idct_times(s04, 8192) + rounds, even1 = mr__idct_times(d04, 8192) + rounds;
    uint32_t turn2 = mr__idct_times(x2, 4433) + mr__idct_times(x6, -10704);
    uint32_t turn3 = mr__idct_times(x2, 10703) + mr__idct_times(x6, 4433);
    uint32_t z3 = mr__idct_times(s37, -6436) + mr__idct_times(s15, 9633);
    uint32_t z4 = mr__idct_times(s37, 9633) + mr__idct_times(s15, 6437);
    uint32_t odd0 = mr__idct_times(x7, -4927) + mr__idct_times(x1, -7373) + z3;
    uint32_t odd1 = mr__idct_times(x5, -4176) + mr__idct_times(x3, -20995) + z4;
    uint32_t odd2 = mr__idct_times(x5, -20995) + mr__idct_times(x3, 4177) + z3;
    uint32_t odd3 = mr__idct_times(x7, -7373) + mr__idct_times(x1, 4926) + z4;
    mr__idct_line out;
    out.at[0] = mr__idct_narrow(even0 + turn3 + odd3, shift);
    out.at[7] = mr__idct_narrow(even0 + turn3 - odd3, shift);
    out.at[1] = mr__idct_narrow(even1 + turn2 + odd2, shift);
    out.at[6] = mr__idct_narrow(even1 + turn2 - odd2, shift);
    out.at[2] = mr__idct_narrow(even1 - turn2 + odd1, shift);
    out.at[5] = mr__idct_narrow(even1 - turn2 - odd1, shift);
    out.at[3] = mr__idct_narrow(even0 - turn3 + odd0, shift);
    out.at[4] = mr__idct_narrow(even0 - turn3 - odd0, shift);
    return out;
}

/* Four samples, with `shift` 12 and 19. Frequency 4 is not looked at. */
MR__LINE mr__idct_line mr__idct_line4(mr__idct_line in, uint32_t shift)
{
    const uint32_t rounds = 1u << (shift - 1);
    int16_t x0 = in.at[0], x1 = in.at[1], x2 = in.at[2], x3 = in.at[3], x5 = in.at[5], x6 = in.at[6], x7 = in.at[7];
    uint32_t base = mr__idct_times(x0, 16384) + rounds, turn = mr__idct_times(x2, 15137) + mr__idct_times(x6, -6270);
    uint32_t odd0 = mr__idct_times(x1, 8697) + mr__idct_times(x3, -17799);
    uint32_t odd2 = mr__idct_times(x1, 20995) + mr__idct_times(x3, 7373);
    mr__idct_line out;
    odd0 += mr__idct_times(x5, 11893) + mr__idct_times(x7, -1730);
    odd2 += mr__idct_times(x5, -4926) + mr__idct_times(x7, -4176);
    out.at[0] = mr__idct_narrow(base + turn + odd2, shift);
    out.at[3] = mr__idct_narrow(base + turn - odd2, shift);
    out.at[1] = mr__idct_narrow(base - turn + odd0, shift);
    out.at[2] = mr__idct_narrow(base - turn - odd0, shift);
    return out;
}

/* Two samples, which stay in 32 bits. */
typedef struct mr__idct_pair {
    int32_t upper, lower;
} mr__idct_pair;

/* Of frequencies 0, which comes in 32 bits, and 1, 3, 5, 7, with `shift` 13 and 20. */
MR__LINE mr__idct_pair mr__idct_line2(int32_t first, int16_t x1, int16_t x3, int16_t x5, int16_t x7, uint32_t shift)
{
    const uint32_t base = ((uint32_t)first << 15) + (1u << (shift - 1));
    uint32_t odd = mr__idct_times(x1, 29692) + mr__idct_times(x3, -10426);
    mr__idct_pair out;
    odd += mr__idct_times(x5, 6967) + mr__idct_times(x7, -5906);
    out.upper = (int32_t)(base + odd) >> shift;
    out.lower = (int32_t)(base - odd) >> shift;
    return out;
}

/* One sample of a block: libjpeg looks the byte up by 10 bits of the value. */
MR_INLINE int16_t mr__idct_one(int16_t dc)
{
    int32_t value = (dc + 4) >> 3;
    return (int16_t)(((value + 512) & 1023) - 512);
}

/*
 * A block whose rows below the first are all zero takes a short cut down its columns, which shifts modulo 2^16 where
 * the long way saturates.
 */
MR_INLINE int16_t mr__idct_short_cut(int16_t value)
{
    return (int16_t)(value * 4);
}

MR_INLINE uint8_t mr__jpeg_clamp(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* From a value around 0. */
MR_INLINE uint8_t mr__jpeg_sample(int16_t value)
{
    return (uint8_t)(value < -128 ? 0 : value > 127 ? 255 : value + 128);
}

/* What a pixel lies between two samples, or two sums of such. Whoever divides adds what rounds. */
MR_INLINE int32_t mr__jpeg_blend(int32_t near, int32_t far)
{
    return 3 * near + far;
}

/*
 * Where a side has two pixels a sample: the sample that is blended into pixel `at` beside its own, of `count`. The edge
 * of the image is its own neighbour.
 */
MR_INLINE uint32_t mr__jpeg_far(uint32_t at, uint32_t count)
{
    uint32_t near = at / 2;
    if (at % 2 == 0)
        return near == 0 ? 0 : near - 1;
    return near == count - 1 ? near : near + 1;
}

/* One pixel; constants are multiples of 2^16, as in the JFIF specification. */
MR_INLINE void mr__jpeg_ycc_pixel(int32_t y, int32_t cb, int32_t cr, uint8_t *to)
{
    cb -= 128;
    cr -= 128;
    to[0] = mr__jpeg_clamp(y + ((91881 * cr + 32768) >> 16));
    to[1] = mr__jpeg_clamp(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
    to[2] = mr__jpeg_clamp(y + ((116130 * cb + 32768) >> 16));
}

#endif
