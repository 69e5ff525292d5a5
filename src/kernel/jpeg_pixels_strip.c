// SPDX-License-Identifier: Apache-2.0
/* Strips, portable: multiplied and brought into natural order, then the transforms of jpeg_pixels_idct.c. */
#include "kernel/jpeg_pixels_kernels.h"

#include <string.h>

static void transform(mr__jpeg_idct *idct, int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups,
                      uint8_t *to, ptrdiff_t stride, ptrdiff_t step)
{
    _Alignas(64) int16_t natural[64 * MR__JPEG_STRIP];
    uint64_t bands = 0;
    for (size_t k = 0; k <= last; k++) {
        int16_t *from = coef + k * MR__JPEG_STRIP, *into = natural + (size_t)mr__jpeg_natural[k] * MR__JPEG_STRIP;
        bands |= UINT64_C(1) << mr__jpeg_natural[k];
        for (size_t i = 0; i < MR__JPEG_STRIP; i++)
            into[i] = (int16_t)(uint16_t)((uint32_t)(uint16_t)from[i] * quant[k]);
    }
    memset(coef, 0, (last + 1) * MR__JPEG_STRIP * sizeof *coef);
    idct(natural, MR__JPEG_STRIP, bands, groups, to, stride, step);
}

void mr__jpeg_strip8_c(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    transform(mr__jpeg_idct8_c, coef, quant, last, groups, to, stride, step);
}

void mr__jpeg_strip4_c(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    transform(mr__jpeg_idct4_c, coef, quant, last, groups, to, stride, step);
}

void mr__jpeg_strip2_c(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    transform(mr__jpeg_idct2_c, coef, quant, last, groups, to, stride, step);
}

void mr__jpeg_strip1_c(int16_t *coef, const uint16_t quant[64], uint32_t last, size_t groups, uint8_t *to,
                       ptrdiff_t stride, ptrdiff_t step)
{
    transform(mr__jpeg_idct1_c, coef, quant, last, groups, to, stride, step);
}

uint32_t mr__jpeg_lay_c(const int16_t *blocks, size_t count, int16_t *coef)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 64; k++) {
            int16_t value = blocks[64 * i + k];
            coef[k * MR__JPEG_STRIP + i] = value;
            if (value != 0 && k > last)
                last = k;
        }
    return last;
}

/* With `most` added there are 0 to 2 * most. */
bool mr__jpeg_within_c(const int16_t *blocks, size_t count, const uint16_t most[64])
{
    uint32_t beyond = 0;
    for (size_t i = 0; i < 64 * count; i++)
        beyond |= (uint32_t)(blocks[i] + most[i % 64]) > 2u * most[i % 64];
    return beyond == 0;
}
