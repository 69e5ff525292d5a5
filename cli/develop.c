// SPDX-License-Identifier: Apache-2.0
/* From the canvas to an 8-bit image, as a lens and a sensor would. */
#include "paint.h"

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* A level after the lens: one part of a 3 x 3 binomial blur, three parts sharp. */
static int blurred(const canvas *c, int x, int y, int channel)
{
    static const int weights[3] = {1, 2, 1};
    int sum = 0;
    for (int j = -1; j <= 1; j++) {
        size_t row = (size_t)clamp(y + j, 0, c->height - 1) * (size_t)c->width;
        for (int i = -1; i <= 1; i++)
            sum += c->level[(row + (size_t)clamp(x + i, 0, c->width - 1)) * 3 + (size_t)channel] * weights[i + 1] *
                   weights[j + 1];
    }
    int sharp = c->level[((size_t)y * (size_t)c->width + (size_t)x) * 3 + (size_t)channel];
    return (sum / 16 + 3 * sharp) / 4;
}

/* Darker towards the corners, in 1/4096. */
static int corner_light(const canvas *c, int x, int y)
{
    int64_t dx = 2 * x - c->width, dy = 2 * y - c->height;
    int64_t full = (int64_t)c->width * c->width + (int64_t)c->height * c->height;
    int64_t share = (dx * dx + dy * dy) * 1024 / full;
    return 4096 - (int)(share * share >> 10);
}

/* Bytes of one hash: about normal, deviation 148 for four of them and 105 for two, mean 0. */
static int grain(uint64_t h, int bytes)
{
    int sum = -bytes * 255 / 2;
    for (int i = 0; i < bytes; i++, h >>= 8)
        sum += (int)(h & 255);
    return sum;
}

static void develop_pixel(const canvas *c, int x, int y, uint64_t h, int noise, uint8_t *out)
{
    /* Shot noise grows with the light; blue is the noisiest channel. */
    static const int gain[3] = {9, 8, 11};
    int corner = corner_light(c, x, y);
    int common = grain(h, 4), own[3] = {grain(h >> 32, 2), grain(h >> 40, 2), grain(h >> 48, 2)};
    for (int i = 0; i < 3; i++) {
        int level = (int)((int64_t)blurred(c, x, y, i) * corner >> 12);
        int strength = noise * (160 + level / 256) / 256;
        level += (common + own[i] * 3 / 2) * strength * gain[i] / 512;
        out[i] = (uint8_t)(clamp(level + 128, 0, 65535) >> 8);
    }
}

void paint_develop(const canvas *c, uint64_t key, int noise, const mr_image *out)
{
    for (int y = 0; y < c->height; y++) {
        uint8_t *row = (uint8_t *)out->pixels + (ptrdiff_t)y * out->stride;
        for (int x = 0; x < c->width; x++)
            develop_pixel(c, x, y, dice_hash(key, (uint64_t)y << 32 | (uint64_t)x), noise, row + x * 3);
    }
}
