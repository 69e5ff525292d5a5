// SPDX-License-Identifier: Apache-2.0
/* What the files of the kernel table share among themselves. */
#ifndef MR_KERNEL_JPEG_PIXELS_KERNELS_H
#define MR_KERNEL_JPEG_PIXELS_KERNELS_H

#include "kernel/jpeg_pixels.h"

/* The portable transforms: others call them for coefficients that no image has. */
mr__jpeg_idct mr__jpeg_idct8_c, mr__jpeg_idct4_c, mr__jpeg_idct2_c, mr__jpeg_idct1_c;
mr__jpeg_idct_strip mr__jpeg_strip8_c, mr__jpeg_strip4_c, mr__jpeg_strip2_c, mr__jpeg_strip1_c;
mr__jpeg_lay mr__jpeg_lay_c;
mr__jpeg_within mr__jpeg_within_c;

/* mr__jpeg_natural the other way: the place in zigzag order of vertical frequency v and horizontal frequency u. */
static inline size_t mr__jpeg_zigzag(size_t v, size_t u)
{
    static const uint8_t zigzag[64] = {
        0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42, 3,  8,  12, 17, 25, 30,
        41, 43, 9,  11, 18, 24, 31, 40, 44, 53, 10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38,
        46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63,
    };
    return zigzag[8 * v + u];
}

/* Of `bands`, in natural order: those that are not there, and yet read where columns are taken by 1, 4 or 8. */
static inline uint64_t mr__jpeg_empty_bands(uint64_t bands)
{
    uint64_t column = UINT64_C(0x0101010101010101), read = 0;
    for (size_t u = 0; u < 8; u++) {
        uint64_t there = bands >> u & column;
        read |= (there >> 32 != 0 ? column : there >> 8 != 0 ? column >> 32 : there) << u;
    }
    return read & ~bands;
}

void mr__jpeg_pixels_init_avx2(mr__jpeg_pixels *table, mr__cpu_flags cpu);
void mr__jpeg_pixels_init_idct_avx2(mr__jpeg_pixels *table);
void mr__jpeg_pixels_init_strip_avx2(mr__jpeg_pixels *table);
void mr__jpeg_pixels_init_neon(mr__jpeg_pixels *table, mr__cpu_flags cpu);
void mr__jpeg_pixels_init_idct_neon(mr__jpeg_pixels *table);
void mr__jpeg_pixels_init_strip_neon(mr__jpeg_pixels *table);

/* The two pixels of a sum. */
static inline uint8_t mr__jpeg_left_of(const int16_t *sum, mr__jpeg_bias bias)
{
    return (uint8_t)((mr__jpeg_blend(sum[0], sum[-1]) + bias.left) >> 4);
}

static inline uint8_t mr__jpeg_right_of(const int16_t *sum, mr__jpeg_bias bias)
{
    return (uint8_t)((mr__jpeg_blend(sum[0], sum[1]) + bias.right) >> 4);
}

#endif
