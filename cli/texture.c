// SPDX-License-Identifier: Apache-2.0
/* Chance, and the textures made of it. */
#include "paint.h"

#include <stdlib.h>
#include <string.h>

uint64_t dice_hash(uint64_t key, uint64_t number)
{
    uint64_t h = key ^ (number * UINT64_C(0x9e3779b97f4a7c15));
    for (int round = 0; round < 2; round++) {
        h ^= h >> 29;
        h *= UINT64_C(0xd1342543de82ef95);
        h ^= h >> 32;
        h *= UINT64_C(0xaf251af3b0f025b5);
    }
    return h ^ h >> 28;
}

int dice_between(dice *d, int low, int high)
{
    uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int)(((dice_hash(d->key, d->drawn++) >> 32) * span) >> 32);
}

/* 0 to 65536 as 0 to 65536, flat at both ends. */
static int64_t smooth(int64_t t)
{
    return (t * t >> 16) * (3 * 65536 - 2 * t) >> 16;
}

static int64_t mix(int64_t a, int64_t b, int64_t t)
{
    return a + ((b - a) * t >> 16);
}

static int lattice(uint64_t key, unsigned x, unsigned y)
{
    return (int)(dice_hash(key, (uint64_t)y << 32 | x) >> 48) - 32768;
}

/* One octave: lattice values `cell` texels apart, smoothly between, the last joined to the first. */
static void add_octave(int32_t *sum, uint64_t key, unsigned cell, int weight, bool ridged)
{
    unsigned count = TEXTURE_SIZE / cell;
    for (unsigned y = 0; y < TEXTURE_SIZE; y++) {
        unsigned y0 = y / cell, y1 = (y0 + 1) % count;
        int64_t ty = smooth((int64_t)(y % cell) * 65536 / cell);
        for (unsigned x = 0; x < TEXTURE_SIZE; x++) {
            unsigned x0 = x / cell, x1 = (x0 + 1) % count;
            int64_t tx = smooth((int64_t)(x % cell) * 65536 / cell);
            int64_t v = mix(mix(lattice(key, x0, y0), lattice(key, x1, y0), tx),
                            mix(lattice(key, x0, y1), lattice(key, x1, y1), tx), ty);
            if (ridged)
                v = 16384 - (v < 0 ? -v : v);
            sum[y * TEXTURE_SIZE + x] += (int32_t)(v * weight >> 12);
        }
    }
}

static int64_t square_root(int64_t value)
{
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << 30; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

/* To mean 0 and the stated deviation. */
static void normalize(const int32_t *sum, int16_t *texel)
{
    const int64_t count = TEXTURE_SIZE * TEXTURE_SIZE;
    int64_t mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        mean += sum[i];
    mean /= count;
    for (int64_t i = 0; i < count; i++)
        squares += (sum[i] - mean) * (sum[i] - mean);
    int64_t deviation = square_root(squares / count) + 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = (sum[i] - mean) * TEXTURE_DEVIATION / deviation;
        texel[i] = (int16_t)(v < -16384 ? -16384 : v > 16384 ? 16384 : v);
    }
}

bool textures_init(textures *t, uint64_t seed)
{
    /* How much of an octave's height the next finer one has, of 256. */
    static const int keeps[TEXTURE_COUNT] = {120, 190, 256, 200};
    int32_t *sum = malloc(sizeof *sum * TEXTURE_SIZE * TEXTURE_SIZE);
    if (sum == NULL)
        return false;
    for (unsigned which = 0; which < TEXTURE_COUNT; which++) {
        int weight = 4096;
        memset(sum, 0, sizeof *sum * TEXTURE_SIZE * TEXTURE_SIZE);
        for (unsigned cell = TEXTURE_SIZE / 4; cell != 0; cell /= 2) {
            add_octave(sum, dice_hash(seed, which * 64 + cell), cell, weight, which == TEXTURE_RIDGED);
            weight = weight * keeps[which] / 256;
        }
        normalize(sum, &t->texel[which][0][0]);
    }
    free(sum);
    return true;
}

int texture_at(const textures *t, texture which, int64_t u, int64_t v)
{
    const unsigned mask = TEXTURE_SIZE - 1;
    unsigned x0 = (unsigned)(u >> 16) & mask, y0 = (unsigned)(v >> 16) & mask;
    unsigned x1 = (x0 + 1) & mask, y1 = (y0 + 1) & mask;
    int fx = (int)(u >> 8 & 255), fy = (int)(v >> 8 & 255);
    const int16_t *above = t->texel[which][y0], *below = t->texel[which][y1];
    int a = above[x0] * (256 - fx) + above[x1] * fx;
    int b = below[x0] * (256 - fx) + below[x1] * fx;
    return ((a >> 8) * (256 - fy) + (b >> 8) * fy) >> 8;
}

int curve_at(uint64_t key, int x, int period, int octaves)
{
    int64_t sum = 0, weight = 65536, all = 0;
    for (int octave = 0; octave < octaves && period > 0; octave++) {
        unsigned i = (unsigned)(x + (1 << 20)) / (unsigned)period;
        int64_t t = (int64_t)((unsigned)(x + (1 << 20)) % (unsigned)period) * 65536 / period;
        sum += mix(lattice(key, i, (unsigned)octave), lattice(key, i + 1, (unsigned)octave), smooth(t)) * weight >> 16;
        all += weight;
        weight /= 2;
        period /= 2;
    }
    return all != 0 ? (int)(sum * 65536 / all) : 0;
}
