// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/turbo.h"

/* a * b / 255, rounded, for bytes. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t x = a * b + 128;
    return (x + (x >> 8)) >> 8;
}

/*
 * Pillow takes every four-component JPEG for inverted, as Adobe writes them, with or without Adobe's marker: so the
 * fourth sample is the white that is left, w, and the others are 255 less the ink, c. Then red is w - c * w / 255.
 */
void mr__jpeg_cmyk_row(const uint8_t *cmyk, uint8_t *rgb, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, cmyk += 4, rgb += 3) {
        uint32_t white = cmyk[3];
        for (int k = 0; k < 3; k++)
            rgb[k] = (uint8_t)(white - multiply(255u - cmyk[k], white));
    }
}
