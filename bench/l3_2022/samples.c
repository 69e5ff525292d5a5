// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

uint32_t l3_2022_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static uint8_t sample(l3_2022_content what, uint32_t x, uint32_t y, uint32_t channel, uint64_t *state)
{
    switch (what) {
    case L3_2022_CONSTANT:
        return (uint8_t)(77 + channel);
    case L3_2022_CONSTANT_ROWS:
        return (uint8_t)(y * 37 + channel);
    case L3_2022_GRADIENT:
        return (uint8_t)(x * 2 + y * 3 + channel * 50 + l3_2022_random(state) % 3);
    case L3_2022_NOISE:
        return (uint8_t)l3_2022_random(state);
    case L3_2022_EXTREMES:
        return l3_2022_random(state) % 2 == 0 ? 0 : 255;
    case L3_2022_ZEROS_AMONG:
        return l3_2022_random(state) % 3 == 0 ? 0 : (uint8_t)(l3_2022_random(state) % 20);
    case L3_2022_CONTENTS:
        break;
    }
    return 0;
}

void l3_2022_fill(const mr_image *image, l3_2022_content what, uint64_t seed)
{
    uint8_t *pixels = image->pixels;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t channel = 0; channel < 3; channel++)
                *pixels++ = sample(what, x, y, channel, &seed);
}
