// SPDX-License-Identifier: Apache-2.0
/* The transforms of L3's units with NEON. */
#if defined(__aarch64__)

#include "kernel/jpeg_pixels_passes_neon.h"

/* Zero in `coef` what is not there and yet is read. */
static void clear_empty(int16_t *coef, size_t pitch, uint64_t bands)
{
    for (uint64_t left = mr__jpeg_empty_bands(bands); left != 0; left &= left - 1)
        for (size_t i = 0; i < pitch; i += LANES)
            vst1q_s16(coef + (size_t)__builtin_ctzll(left) * pitch + i, vdupq_n_s16(0));
}

/* All groups, one by one. */
INLINE void each_group(int size, int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    clear_empty(coef, pitch, bands);
    for (size_t i = 0; i < groups; i++, to += step) {
        group g = {.coef = coef + LANES * i, .pitch = pitch, .bands = bands};
        if (size == 2)
            group2(&g, to, stride);
        else if (is_wild(&g))
            (size == 8 ? mr__jpeg_idct8_c : mr__jpeg_idct4_c)(g.coef, pitch, bands, 1, to, stride, step);
        else if (size == 8)
            group8(&g, to, stride);
        else
            group4(&g, to, stride);
    }
}

static void idct8_i16_neon(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                           ptrdiff_t step)
{
    each_group(8, coef, pitch, bands, groups, to, stride, step);
}

static void idct4_i16_neon(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                           ptrdiff_t step)
{
    each_group(4, coef, pitch, bands, groups, to, stride, step);
}

static void idct2_i16_neon(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                           ptrdiff_t step)
{
    each_group(2, coef, pitch, bands, groups, to, stride, step);
}

static void idct1_i16_neon(int16_t *coef, size_t pitch, uint64_t bands, size_t groups, uint8_t *to, ptrdiff_t stride,
                           ptrdiff_t step)
{
    (void)pitch;
    (void)stride;
    for (size_t i = 0; i < groups; i++, to += step)
        store_1(to, (bands & 1) ? vld1q_s16(coef + LANES * i) : vdupq_n_s16(0));
}

void mr__jpeg_pixels_init_idct_neon(mr__jpeg_pixels *table)
{
    table->idct[0] = idct8_i16_neon;
    table->idct[1] = idct4_i16_neon;
    table->idct[2] = idct2_i16_neon;
    table->idct[3] = idct1_i16_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
