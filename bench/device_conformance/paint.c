// SPDX-License-Identifier: Apache-2.0
#include "conformance.h"

static uint32_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* Of 16 bits. Mixed: slopes, edges, a little noise; alpha has all of nothing, full and between. */
static uint32_t value_at(uint32_t x, uint32_t y, uint32_t c, bool alpha, picture what, uint64_t *state)
{
    if (what == PICTURE_FLAT)
        return x / 40 % 2 != 0 && y / 30 % 2 != 0 ? 0xff00 : 0x3a00 + 0x1100 * c;
    if (what == PICTURE_NOISE)
        return draw(state) & 0xffff;
    if (alpha)
        return (x / 4 + y / 6) % 3 == 0 ? 0 : (x / 4 + y / 6) % 3 == 1 ? 0xffff : draw(state) & 0xffff;
    return (x * (700 + 211 * c) + y * (300 + 97 * c) + (x / 5 + y / 3 + c) % 2 * 9000 + draw(state) % 3000) & 0xffff;
}

mr_image paint(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, picture what, uint64_t seed)
{
    mr_image image;
    if (mr_image_init(&image, width, height, channels, depth, NULL) != 0)
        give_up("an image", "out of memory");
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride;
        for (uint32_t i = 0; i < width * channels; i++) {
            uint32_t c = i % channels, value;
            value = value_at(i / channels, y, c, channels % 2 == 0 && c == channels - 1, what, &seed);
            if (depth == 8)
                row[i] = (uint8_t)(value >> 8);
            else
                ((uint16_t *)(void *)row)[i] = (uint16_t)value;
        }
    }
    return image;
}
