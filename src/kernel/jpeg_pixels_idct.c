// SPDX-License-Identifier: Apache-2.0
/*
 * The portable transforms, a group of 8 blocks at a time, in loops over the 8 that compilers make vectors of: the
 * integer IDCT of Loeffler, Ligtenberg and Moschytz that libjpeg calls islow, and its reduced forms. Constants are
 * multiples of 2^13; the first pass, down the columns, leaves 2 bits of fraction.
 *
 * Each sum is made in the width that libjpeg-turbo's x86 kernels make it in, so that coefficients no image has come
 * out as there: 16 bits where they add before they multiply, 32 bits modulo 2^32 after it, and 16 bits saturated
 * between the passes. One oddity is kept too: a block whose rows below the first are all zero takes a short cut, which
 * shifts modulo 2^16 where the long way saturates.
 */
#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

/* One frequency, or one sample, of the blocks of a group; a line of such has `step` of them from one to the next. */
typedef int16_t lanes[LANES];

INLINE int16_t saturate16(int32_t value)
{
    return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

INLINE uint32_t times(int16_t value, int16_t constant)
{
    return (uint32_t)(value * constant);
}

/* Half a unit of `shift` bits was added before. */
INLINE int16_t narrow(uint32_t value, unsigned shift)
{
    return saturate16((int32_t)value >> shift);
}

INLINE void line8(const lanes *restrict in, size_t step, unsigned shift, lanes *restrict out, size_t out_step)
{
    const uint32_t half = 1u << (shift - 1);
    for (size_t i = 0; i < LANES; i++) {
        int16_t x0 = in[0][i], x1 = in[step][i], x2 = in[2 * step][i], x3 = in[3 * step][i];
        int16_t x4 = in[4 * step][i], x5 = in[5 * step][i], x6 = in[6 * step][i], x7 = in[7 * step][i];
        int16_t s04 = (int16_t)(x0 + x4), d04 = (int16_t)(x0 - x4), s37 = (int16_t)(x3 + x7), s15 = (int16_t)(x1 + x5);
        uint32_t even0 = times(s04, 8192) + half, even1 = times(d04, 8192) + half;
        uint32_t turn2 = times(x2, 4433) + times(x6, -10704), turn3 = times(x2, 10703) + times(x6, 4433);
        uint32_t z3 = times(s37, -6436) + times(s15, 9633), z4 = times(s37, 9633) + times(s15, 6437);
        uint32_t odd0 = times(x7, -4927) + times(x1, -7373) + z3, odd1 = times(x5, -4176) + times(x3, -20995) + z4;
        uint32_t odd2 = times(x5, -20995) + times(x3, 4177) + z3, odd3 = times(x7, -7373) + times(x1, 4926) + z4;
        out[0][i] = narrow(even0 + turn3 + odd3, shift);
        out[7 * out_step][i] = narrow(even0 + turn3 - odd3, shift);
        out[out_step][i] = narrow(even1 + turn2 + odd2, shift);
        out[6 * out_step][i] = narrow(even1 + turn2 - odd2, shift);
        out[2 * out_step][i] = narrow(even1 - turn2 + odd1, shift);
        out[5 * out_step][i] = narrow(even1 - turn2 - odd1, shift);
        out[3 * out_step][i] = narrow(even0 - turn3 + odd0, shift);
        out[4 * out_step][i] = narrow(even0 - turn3 - odd0, shift);
    }
}

/* Frequency 4 is not looked at. */
INLINE void line4(const lanes *restrict in, size_t step, unsigned shift, lanes *restrict out, size_t out_step)
{
    const uint32_t half = 1u << (shift - 1);
    for (size_t i = 0; i < LANES; i++) {
        int16_t x0 = in[0][i], x1 = in[step][i], x2 = in[2 * step][i], x3 = in[3 * step][i];
        int16_t x5 = in[5 * step][i], x6 = in[6 * step][i], x7 = in[7 * step][i];
        uint32_t base = times(x0, 16384) + half, turn = times(x2, 15137) + times(x6, -6270);
        uint32_t odd0 = times(x1, 8697) + times(x3, -17799) + times(x5, 11893) + times(x7, -1730);
        uint32_t odd2 = times(x1, 20995) + times(x3, 7373) + times(x5, -4926) + times(x7, -4176);
        out[0][i] = narrow(base + turn + odd2, shift);
        out[3 * out_step][i] = narrow(base + turn - odd2, shift);
        out[out_step][i] = narrow(base - turn + odd0, shift);
        out[2 * out_step][i] = narrow(base - turn - odd0, shift);
    }
}

/* Of frequencies 0, which comes in 32 bits, and 1, 3, 5, 7; the two samples stay in 32 bits. */
INLINE void line2(const int32_t *restrict first, const lanes *restrict in, size_t step, unsigned shift,
                  int32_t *restrict upper, int32_t *restrict lower)
{
    const uint32_t half = 1u << (shift - 1);
    for (size_t i = 0; i < LANES; i++) {
        uint32_t odd = times(in[step][i], 29692) + times(in[3 * step][i], -10426);
        odd += times(in[5 * step][i], 6967) + times(in[7 * step][i], -5906);
        upper[i] = (int32_t)(((uint32_t)first[i] << 15) + half + odd) >> shift;
        lower[i] = (int32_t)(((uint32_t)first[i] << 15) + half - odd) >> shift;
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
            table[k][i] = (int16_t)(block[k % 8][i] * 4);
    }
}

/* A line of the group's blocks side by side, `size` samples each, from values around 0. */
INLINE void put_line(const lanes *samples, size_t size, uint8_t *to)
{
    uint8_t bytes[8][LANES];
    for (size_t u = 0; u < size; u++)
        for (size_t i = 0; i < LANES; i++) {
            int16_t x = samples[u][i];
            bytes[u][i] = (uint8_t)(x < -128 ? 0 : x > 127 ? 255 : x + 128);
        }
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
        to[i] = saturate16(from[i]);
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

/* libjpeg looks the byte up by 10 bits of the value. */
void mr__jpeg_idct1_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t g = 0; g < groups; g++, to += step)
        for (size_t i = 0; i < LANES; i++) {
            int32_t value = (bands & 1) ? (coef[LANES * g + i] + 4) >> 3 : 0;
            value = ((value + 512) & 1023) - 512;
            to[i] = (uint8_t)(value < -128 ? 0 : value > 127 ? 255 : value + 128);
        }
}
