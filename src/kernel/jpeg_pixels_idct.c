// SPDX-License-Identifier: Apache-2.0
/*
 * The portable transforms, a group of 8 blocks at a time, in loops over the 8 that compilers make vectors of: the
 * integer IDCT of Loeffler, Ligtenberg and Moschytz that libjpeg calls islow, and its reduced forms. What becomes of a
 * line is in jpeg_pixel.h.
 */
#include "kernel/jpeg_pixels_kernels.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

/* One frequency, or one sample, of the blocks of a group; a line of such has `step` of them from one to the next. */
typedef int16_t lanes[LANES];

INLINE void line8(const lanes *restrict in, size_t step, unsigned shift, lanes *restrict out, size_t out_step)
{
    for (size_t i = 0; i < LANES; i++) {
        mr__idct_line x = {{in[0][i], in[step][i], in[2 * step][i], in[3 * step][i], in[4 * step][i], in[5 * step][i],
                            in[6 * step][i], in[7 * step][i]}};
        mr__idct_line y = mr__idct_line8(x, shift);
        out[0][i] = y.at[0];
        out[out_step][i] = y.at[1];
        out[2 * out_step][i] = y.at[2];
        out[3 * out_step][i] = y.at[3];
        out[4 * out_step][i] = y.at[4];
        out[5 * out_step][i] = y.at[5];
        out[6 * out_step][i] = y.at[6];
        out[7 * out_step][i] = y.at[7];
    }
}

INLINE void line4(const lanes *restrict in, size_t step, unsigned shift, lanes *restrict out, size_t out_step)
{
    for (size_t i = 0; i < LANES; i++) {
        mr__idct_line x = {{in[0][i], in[step][i], in[2 * step][i], in[3 * step][i], 0, in[5 * step][i],
                            in[6 * step][i], in[7 * step][i]}};
        mr__idct_line y = mr__idct_line4(x, shift);
        out[0][i] = y.at[0];
        out[out_step][i] = y.at[1];
        out[2 * out_step][i] = y.at[2];
        out[3 * out_step][i] = y.at[3];
    }
}

INLINE void line2(const int32_t *restrict first, const lanes *restrict in, size_t step, unsigned shift,
                  int32_t *restrict upper, int32_t *restrict lower)
{
    for (size_t i = 0; i < LANES; i++) {
        mr__idct_pair y =
            mr__idct_line2(first[i], in[step][i], in[3 * step][i], in[5 * step][i], in[7 * step][i], shift);
        upper[i] = y.upper;
        lower[i] = y.lower;
    }
}

/* A group's coefficients, with zeros where there are none. */
static void gather(const int16_t *coef, size_t pitch, uint64_t bands, lanes block[64])
{
    for (size_t b = 0; b < 64; b++)
        if (bands >> b & 1)
            memcpy(block[b], coef + b * pitch, sizeof block[b]);
        else
            memset(block[b], 0, sizeof block[b]);
}

/*
 * The short cut, for blocks of which all those rows are zero that are bits of `rows`: four times the first row, modulo
 * 2^16, for `count` samples of each column. It makes a difference only where that does not fit 16 bits.
 */
static void take_short_cut(const lanes block[64], unsigned rows, lanes *table, size_t count)
{
    int large = 0;
    for (size_t u = 0; u < 8; u++)
        for (size_t i = 0; i < LANES; i++)
            large |= block[u][i] < -8192 || block[u][i] > 8191;
    for (size_t i = 0; large && i < LANES; i++) {
        int any = 0;
        for (size_t b = 8; b < 64; b++)
            any |= (rows >> b / 8 & 1) ? block[b][i] : 0;
        for (size_t k = 0; any == 0 && k < 8 * count; k++)
            table[k][i] = mr__idct_short_cut(block[k % 8][i]);
    }
}

/* A line of the group's blocks side by side, `size` samples each, from values around 0. */
INLINE void put_line(const lanes *samples, size_t size, uint8_t *to)
{
    uint8_t bytes[8][LANES];
    for (size_t u = 0; u < size; u++)
        for (size_t i = 0; i < LANES; i++)
            bytes[u][i] = mr__jpeg_sample(samples[u][i]);
    for (size_t i = 0; i < LANES; i++)
        for (size_t u = 0; u < size; u++)
            to[size * i + u] = bytes[u][i];
}

void mr__jpeg_idct8_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    lanes block[64], table[64], line[8];
    for (size_t g = 0; g < groups; g++, to += step) {
        gather(coef + LANES * g, pitch, bands, block);
        for (size_t u = 0; u < 8; u++)
            line8((const lanes *)block + u, 8, 11, table + u, 8);
        take_short_cut((const lanes *)block, 0xfe, table, 8);
        for (size_t v = 0; v < 8; v++) {
            line8((const lanes *)table + 8 * v, 1, 18, line, 1);
            put_line((const lanes *)line, 8, to + (ptrdiff_t)v * stride);
        }
    }
}

void mr__jpeg_idct4_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    lanes block[64], table[32], line[4];
    for (size_t g = 0; g < groups; g++, to += step) {
        gather(coef + LANES * g, pitch, bands, block);
        for (size_t u = 0; u < 8; u++)
            line4((const lanes *)block + u, 8, 12, table + u, 8);
        take_short_cut((const lanes *)block, 0xee, table, 4);
        for (size_t v = 0; v < 4; v++) {
            line4((const lanes *)table + 8 * v, 1, 19, line, 1);
            put_line((const lanes *)line, 4, to + (ptrdiff_t)v * stride);
        }
    }
}

static void saturate_all(const int32_t from[LANES], lanes to)
{
    for (size_t i = 0; i < LANES; i++)
        to[i] = mr__idct_saturated(from[i]);
}

/* The first column stays in 32 bits between the passes, the others are saturated to 16. */
static void group2(const lanes block[64], uint8_t *to, ptrdiff_t stride)
{
    int32_t first[2][LANES], wide[2][LANES], column[LANES];
    lanes table[2][8], line[2];
    for (size_t u = 0; u < 8; u += u == 0 ? 1 : 2) {
        for (size_t i = 0; i < LANES; i++)
            column[i] = block[u][i];
        line2(column, block + u, 8, 13, wide[0], wide[1]);
        saturate_all(wide[0], table[0][u]);
        saturate_all(wide[1], table[1][u]);
        if (u == 0)
            memcpy(first, wide, sizeof first);
    }
    for (size_t v = 0; v < 2; v++, to += stride) {
        line2(first[v], (const lanes *)table[v], 1, 20, wide[0], wide[1]);
        saturate_all(wide[0], line[0]);
        saturate_all(wide[1], line[1]);
        put_line((const lanes *)line, 2, to);
    }
}

void mr__jpeg_idct2_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    lanes block[64];
    for (size_t g = 0; g < groups; g++, to += step) {
        gather(coef + LANES * g, pitch, bands, block);
        group2((const lanes *)block, to, stride);
    }
}

void mr__jpeg_idct1_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t g = 0; g < groups; g++, to += step)
        for (size_t i = 0; i < LANES; i++)
            to[i] = mr__jpeg_sample((bands & 1) ? mr__idct_one(coef[LANES * g + i]) : 0);
}
