// SPDX-License-Identifier: Apache-2.0
/* Strips with NEON, a group of 8 blocks at a time; as with AVX2, only `last` decides how far columns reach. */
#if defined(__aarch64__)

#include "kernel/jpeg_pixels_passes_neon.h"

#include <string.h>

INLINE group group_of(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t number)
{
    return (group){.coef = coef + LANES * number, .pitch = MR__JPEG_STRIP, .quant = quant, .last = last};
}

static bool is_wild_strip(int16_t *coef, const uint16_t quant[64])
{
    group a = group_of(coef, quant, 63, 0), b = group_of(coef, quant, 63, 1);
    return is_wild(&a) || is_wild(&b);
}

/* What nothing has read: frequencies that reduced forms do without, a second group that is not wanted. */
static void clear(int16_t *coef, uint32_t last)
{
    memset(coef, 0, (last + 1) * sizeof(int16_t[MR__JPEG_STRIP]));
}

static void strip8_i16_neon(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                            ptrdiff_t stride, ptrdiff_t step)
{
    if (is_wild_strip(coef, quant)) {
        mr__jpeg_strip8_c(coef, quant, last, groups, to, stride, step);
        return;
    }
    for (size_t i = 0; i < groups; i++) {
        group g = group_of(coef, quant, last, i);
        group8(&g, to + (ptrdiff_t)i * step, stride);
    }
    if (groups == 1)
        clear(coef, last);
}

static void strip4_i16_neon(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                            ptrdiff_t stride, ptrdiff_t step)
{
    if (is_wild_strip(coef, quant)) {
        mr__jpeg_strip4_c(coef, quant, last, groups, to, stride, step);
        return;
    }
    for (size_t i = 0; i < groups; i++) {
        group g = group_of(coef, quant, last, i);
        group4(&g, to + (ptrdiff_t)i * step, stride);
    }
    clear(coef, last);
}

static void strip2_i16_neon(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                            ptrdiff_t stride, ptrdiff_t step)
{
    for (size_t i = 0; i < groups; i++) {
        group g = group_of(coef, quant, last, i);
        group2(&g, to + (ptrdiff_t)i * step, stride);
    }
    clear(coef, last);
}

static void strip1_i16_neon(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                            ptrdiff_t stride, ptrdiff_t step)
{
    (void)stride;
    for (size_t i = 0; i < groups; i++) {
        group g = group_of(coef, quant, last, i);
        store_1(to + (ptrdiff_t)i * step, peek(&g, 0, 0));
    }
    clear(coef, last);
}

/* 8x8 values. */
INLINE void transpose(const int16x8_t in[8], int16x8_t out[8])
{
    int16x8_t a[8], b[8];
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        a[2 * i] = vzip1q_s16(in[i], in[i + 4]);
        a[2 * i + 1] = vzip2q_s16(in[i], in[i + 4]);
    }
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        b[2 * i] = vzip1q_s16(a[i], a[i + 4]);
        b[2 * i + 1] = vzip2q_s16(a[i], a[i + 4]);
    }
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        out[2 * i] = vzip1q_s16(b[i], b[i + 4]);
        out[2 * i + 1] = vzip2q_s16(b[i], b[i + 4]);
    }
}

/* The number of the last place of eight, from 1 on, where any block has something; 0 when none has. */
INLINE uint32_t last_place(const int16x8_t rows[8])
{
    static const uint16_t numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int16x8_t all = rows[0];
    UNROLL(8)
    for (size_t i = 1; i < 8; i++)
        all = vorrq_s16(all, rows[i]);
    return vmaxvq_u16(vandq_u16(vtstq_s16(all, all), vld1q_u16(numbers)));
}

/* Eight places of eight blocks at a time. What is zero in all of them is so in the strip already. */
static uint32_t lay_i16_neon(const int16_t *blocks, size_t count, int16_t *coef)
{
    static const int16_t none[64];
    const int16_t *block[MR__JPEG_STRIP];
    uint32_t last = 0;
    for (size_t i = 0; i < MR__JPEG_STRIP; i++)
        block[i] = i < count ? blocks + 64 * i : none;
    for (uint32_t k = 0; k < 64; k += 8)
        for (size_t g = 0; g < MR__JPEG_STRIP; g += LANES) {
            int16x8_t rows[8], places[8];
            UNROLL(8)
            for (size_t i = 0; i < 8; i++)
                rows[i] = vld1q_s16(block[g + i] + k);
            uint32_t found = last_place(rows);
            if (found == 0)
                continue;
            last = k + found - 1 > last ? k + found - 1 : last;
            transpose(rows, places);
            UNROLL(8)
            for (size_t i = 0; i < 8; i++)
                vst1q_s16(coef + (k + i) * MR__JPEG_STRIP + g, places[i]);
        }
    return last;
}

/* A magnitude of 32768 is no int16, but as good as any. */
static bool within_i16_neon(const int16_t *blocks, size_t count, const uint16_t most[64])
{
    uint16x8_t beyond = vdupq_n_u16(0);
    for (size_t i = 0; i < count; i++, blocks += 64)
        for (size_t k = 0; k < 64; k += 8) {
            uint16x8_t x = vreinterpretq_u16_s16(vabsq_s16(vld1q_s16(blocks + k)));
            beyond = vorrq_u16(beyond, vqsubq_u16(x, vld1q_u16(most + k)));
        }
    return vmaxvq_u16(beyond) == 0;
}

void mr__jpeg_pixels_init_strip_neon(mr__jpeg_pixels *table)
{
    table->strip[0] = strip8_i16_neon;
    table->strip[1] = strip4_i16_neon;
    table->strip[2] = strip2_i16_neon;
    table->strip[3] = strip1_i16_neon;
    table->lay = lay_i16_neon;
    table->within = within_i16_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
