// SPDX-License-Identifier: Apache-2.0
/*
 * The portable transforms, one block at a time: the integer IDCT of Loeffler, Ligtenberg and Moschytz that libjpeg
 * calls islow, and its reduced forms. Constants are multiples of 2^13; the first pass leaves 2 bits of fraction.
 *
 * Each sum is made in the width that libjpeg-turbo's x86 kernels make it in, so that coefficients no image has come
 * out as there: 16 bits where they add before they multiply, 32 bits modulo 2^32 after it, and 16 bits saturated
 * between the passes. One oddity is kept too: a block whose rows below the first are all zero takes a short cut, which
 * shifts modulo 2^16 where the long way saturates.
 */
#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

#include <stdbool.h>

/* A sum or difference modulo 2^16, as a signed number. */
static inline int32_t wrap16(int32_t value)
{
    return (int16_t)(uint16_t)value;
}

static inline int16_t saturate16(int32_t value)
{
    return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

/* A sample's byte from its value around 0. */
static inline uint8_t to_byte(int32_t value)
{
    return (uint8_t)(value < -128 ? 0 : value > 127 ? 255 : value + 128);
}

/* Sums of products, modulo 2^32. */
static inline uint32_t times(int32_t value, int32_t constant)
{
    return (uint32_t)value * (uint32_t)constant;
}

static inline int32_t descale(uint32_t value, unsigned shift)
{
    return (int32_t)(value + (1u << (shift - 1))) >> shift;
}

static void line8(const int16_t in[8], unsigned shift, int32_t out[8])
{
    uint32_t even0 = times(wrap16(in[0] + in[4]), 8192), even1 = times(wrap16(in[0] - in[4]), 8192);
    uint32_t even2 = times(in[2], 4433) + times(in[6], -10704), even3 = times(in[2], 10703) + times(in[6], 4433);
    int32_t odd37 = wrap16(in[3] + in[7]), odd15 = wrap16(in[1] + in[5]);
    uint32_t z3 = times(odd37, -6436) + times(odd15, 9633), z4 = times(odd37, 9633) + times(odd15, 6437);
    uint32_t odd[4] = {
        times(in[7], -4927) + times(in[1], -7373) + z3,
        times(in[5], -4176) + times(in[3], -20995) + z4,
        times(in[5], -20995) + times(in[3], 4177) + z3,
        times(in[7], -7373) + times(in[1], 4926) + z4,
    };
    uint32_t even[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};
    for (size_t i = 0; i < 4; i++) {
        out[i] = descale(even[i] + odd[3 - i], shift);
        out[7 - i] = descale(even[i] - odd[3 - i], shift);
    }
}

/* Of frequencies 0, 1, 2, 3, 5, 6, 7; the fourth is not looked at. */
static void line4(const int16_t in[8], unsigned shift, int32_t out[4])
{
    uint32_t base = times(in[0], 16384), turn = times(in[2], 15137) + times(in[6], -6270);
    uint32_t odd0 = times(in[1], 8697) + times(in[3], -17799) + times(in[5], 11893) + times(in[7], -1730);
    uint32_t odd2 = times(in[1], 20995) + times(in[3], 7373) + times(in[5], -4926) + times(in[7], -4176);
    out[0] = descale(base + turn + odd2, shift);
    out[3] = descale(base + turn - odd2, shift);
    out[1] = descale(base - turn + odd0, shift);
    out[2] = descale(base - turn - odd0, shift);
}

/* Of frequencies 0 (in 32 bits), 1, 3, 5, 7. */
static void line2(int32_t in0, const int16_t in[8], unsigned shift, int32_t out[2])
{
    uint32_t odd = times(in[1], 29692) + times(in[3], -10426) + times(in[5], 6967) + times(in[7], -5906);
    out[0] = descale(times(in0, 32768) + odd, shift);
    out[1] = descale(times(in0, 32768) - odd, shift);
}

/* The block of one lane, by columns: block[8 * horizontal + vertical]. */
static void gather(const int16_t *coef, size_t pitch, uint64_t bands, size_t lane, int16_t block[64])
{
    for (size_t v = 0; v < 8; v++)
        for (size_t u = 0; u < 8; u++)
            block[8 * u + v] = (bands >> (8 * v + u) & 1) ? coef[(8 * v + u) * pitch + lane] : 0;
}

/* Whether all rows named by the bits of `rows` are zero. */
static bool is_flat(const int16_t block[64], unsigned rows)
{
    int any = 0;
    for (size_t i = 0; i < 64; i++)
        any |= (rows >> (i % 8) & 1) ? block[i] : 0;
    return any == 0;
}

static void block8(const int16_t block[64], uint8_t *to, ptrdiff_t stride)
{
    int16_t rows[8][8];
    int32_t out[8];
    bool flat = is_flat(block, 0xfe);
    for (size_t u = 0; u < 8; u++) {
        line8(block + 8 * u, 11, out);
        for (size_t v = 0; v < 8; v++)
            rows[v][u] = flat ? (int16_t)wrap16(block[8 * u] * 4) : saturate16(out[v]);
    }
    for (size_t v = 0; v < 8; v++, to += stride) {
        line8(rows[v], 18, out);
        for (size_t u = 0; u < 8; u++)
            to[u] = to_byte(out[u]);
    }
}

static void block4(const int16_t block[64], uint8_t *to, ptrdiff_t stride)
{
    int16_t rows[4][8];
    int32_t out[4];
    bool flat = is_flat(block, 0xee);
    for (size_t u = 0; u < 8; u++) {
        line4(block + 8 * u, 12, out);
        for (size_t v = 0; v < 4; v++)
            rows[v][u] = flat ? (int16_t)wrap16(block[8 * u] * 4) : saturate16(out[v]);
    }
    for (size_t v = 0; v < 4; v++, to += stride) {
        line4(rows[v], 19, out);
        for (size_t u = 0; u < 4; u++)
            to[u] = to_byte(out[u]);
    }
}

/* The first column goes on in 32 bits, the others saturated to 16. */
static void block2(const int16_t block[64], uint8_t *to, ptrdiff_t stride)
{
    int32_t first[2], out[2];
    int16_t rows[2][8];
    line2(block[0], block, 13, first);
    for (size_t u = 1; u < 8; u += 2) {
        line2(block[8 * u], block + 8 * u, 13, out);
        rows[0][u] = saturate16(out[0]);
        rows[1][u] = saturate16(out[1]);
    }
    for (size_t v = 0; v < 2; v++, to += stride) {
        line2(first[v], rows[v], 20, out);
        to[0] = to_byte(out[0]);
        to[1] = to_byte(out[1]);
    }
}

/* libjpeg looks the byte up by 10 bits of the value. */
static void block1(const int16_t block[64], uint8_t *to, ptrdiff_t stride)
{
    (void)stride;
    int32_t value = (block[0] + 4) >> 3;
    *to = to_byte(((value + 512) & 1023) - 512);
}

typedef void transform(const int16_t block[64], uint8_t *to, ptrdiff_t stride);

static inline void each_block(transform *one, size_t size, const int16_t *coef, size_t pitch, uint64_t bands,
                              size_t groups, uint8_t *to, ptrdiff_t stride, ptrdiff_t step)
{
    int16_t block[64];
    for (size_t group = 0; group < groups; group++, to += step)
        for (size_t i = 0; i < 8; i++) {
            gather(coef, pitch, bands, 8 * group + i, block);
            one(block, to + i * size, stride);
        }
}

void mr__jpeg_idct8_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    each_block(block8, 8, coef, pitch, bands, groups, to, stride, step);
}

void mr__jpeg_idct4_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    each_block(block4, 4, coef, pitch, bands, groups, to, stride, step);
}

void mr__jpeg_idct2_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    each_block(block2, 2, coef, pitch, bands, groups, to, stride, step);
}

void mr__jpeg_idct1_c(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                      ptrdiff_t step)
{
    each_block(block1, 1, coef, pitch, bands, groups, to, stride, step);
}
