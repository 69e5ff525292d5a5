// SPDX-License-Identifier: Apache-2.0
/* The portable row kernels, and the choice of kernels. */
#include "kernel/jpeg_pixels.h"
#include "kernel/jpeg_pixels_kernels.h"

static void sum_u8_c(const uint8_t *near, const uint8_t *far, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int16_t)mr__jpeg_blend(near[i], far[i]);
}

static void quadruple_u8_c(const uint8_t *from, int16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int16_t)(4 * from[i]);
}

static void between_u8_c(const uint8_t *near, const uint8_t *far, unsigned bias, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(((uint32_t)mr__jpeg_blend(near[i], far[i]) + bias) >> 2);
}

static void widen_i16_c(const int16_t *sums, mr__jpeg_bias bias, size_t odd, uint8_t *to, size_t n)
{
    for (size_t i = odd; i < n + odd; i++)
        *to++ = i % 2 ? mr__jpeg_right_of(sums + i / 2, bias) : mr__jpeg_left_of(sums + i / 2, bias);
}

static void repeat_u8_c(const uint8_t *from, size_t times, size_t skip, uint8_t *to, size_t n)
{
    for (size_t i = 0, left = times - skip; i < n; i++) {
        to[i] = *from;
        if (--left == 0) {
            left = times;
            from++;
        }
    }
}

static void ycc_u8_c(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mr__jpeg_ycc_pixel(y[i], cb[i], cr[i], to + 3 * i);
}

static void ycc_widen_u8_c(const uint8_t *y, const int16_t *cb, const int16_t *cr, mr__jpeg_bias bias, size_t odd,
                           uint8_t *to, size_t n)
{
    for (size_t i = odd; i < n + odd; i++, to += 3) {
        size_t s = i / 2;
        if (i % 2)
            mr__jpeg_ycc_pixel(*y++, mr__jpeg_right_of(cb + s, bias), mr__jpeg_right_of(cr + s, bias), to);
        else
            mr__jpeg_ycc_pixel(*y++, mr__jpeg_left_of(cb + s, bias), mr__jpeg_left_of(cr + s, bias), to);
    }
}

static void interleave_u8_c(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++, to += 3) {
        to[0] = r[i];
        to[1] = g[i];
        to[2] = b[i];
    }
}

static void thrice_u8_c(const uint8_t *from, uint8_t *to, size_t n)
{
    interleave_u8_c(from, from, from, to, n);
}

void mr__jpeg_pixels_init(mr__jpeg_pixels *table, mr__cpu_flags cpu)
{
    *table = (mr__jpeg_pixels){
        .idct = {mr__jpeg_idct8_c, mr__jpeg_idct4_c, mr__jpeg_idct2_c, mr__jpeg_idct1_c},
        .strip = {mr__jpeg_strip8_c, mr__jpeg_strip4_c, mr__jpeg_strip2_c, mr__jpeg_strip1_c},
        .lay = mr__jpeg_lay_c,
        .within = mr__jpeg_within_c,
        .sum = sum_u8_c,
        .quadruple = quadruple_u8_c,
        .between = between_u8_c,
        .widen = widen_i16_c,
        .repeat = repeat_u8_c,
        .ycc = ycc_u8_c,
        .ycc_widen = ycc_widen_u8_c,
        .interleave = interleave_u8_c,
        .thrice = thrice_u8_c,
    };
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_pixels_init_avx2(table, cpu);
#elif defined(__aarch64__)
    mr__jpeg_pixels_init_neon(table, cpu);
#endif
}
