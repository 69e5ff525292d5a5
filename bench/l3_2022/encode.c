// SPDX-License-Identifier: Apache-2.0
#include "l3_2022.h"

#include <stdlib.h>
#include <string.h>

/* Where the next bits go; the bytes ahead are zero. */
typedef struct writer {
    uint8_t *at;
    uint32_t bit;
} writer;

static void put(writer *w, uint32_t value, uint32_t bits)
{
    uint32_t shifted = value << w->bit;
    w->at[0] |= (uint8_t)shifted;
    w->at[1] |= (uint8_t)(shifted >> 8);
    w->bit += bits;
    w->at += w->bit / 8;
    w->bit %= 8;
}

static void pad(writer *w)
{
    w->at += w->bit != 0;
    w->bit = 0;
}

static uint32_t width_of(uint32_t largest)
{
    uint32_t bits = 0;
    while (largest >> bits != 0)
        bits++;
    return bits;
}

/* Residuals are taken mod 256. Behind a prediction they are small and of either sign, so the least is sought among
 * -128 to 127; the first row holds the samples themselves, 0 to 255. `offset` makes both one case. */
static void write_row(writer *w, const uint8_t *residual, uint32_t count, uint8_t offset)
{
    uint8_t least = 255, most = 0;
    for (uint32_t x = 0; x < count; x++) {
        uint8_t v = (uint8_t)(residual[x] + offset);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    uint32_t bits = width_of((uint32_t)most - least);
    put(w, bits, 4);
    put(w, (uint8_t)(least - offset), 8);
    for (uint32_t x = 0; x < count; x++)
        put(w, (uint8_t)(residual[x] + offset - least), bits);
    pad(w);
}

/* One plane's samples of the patch at (x0, y0). */
static void write_patch(writer *w, const mr_image *image, uint32_t channel, mr_rect patch)
{
    uint8_t rows[2][L3_2022_SIDE_MAX + 2] = {{0}}, residual[L3_2022_SIDE_MAX];
    for (uint32_t y = 0; y < patch.height; y++) {
        const uint8_t *from = (const uint8_t *)image->pixels + image->stride * (ptrdiff_t)(patch.y + y);
        uint8_t *row = rows[y % 2] + 1, *above = rows[(y + 1) % 2] + 1;
        row[patch.width] = 0;
        for (uint32_t x = 0; x < patch.width; x++) {
            row[x] = from[(size_t)(patch.x + x) * 3 + channel];
            uint8_t predicted = y == 0 ? 0 : l3_2022_predict(above[(ptrdiff_t)x - 1], above[x], above[x + 1]);
            residual[x] = (uint8_t)(row[x] - predicted);
        }
        write_row(w, residual, patch.width, y == 0 ? 0 : 128);
    }
}

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t l3_2022_side(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height < 1280 * 720 ? 32 : 64;
}

uint8_t *l3_2022_encode(const mr_image *image, uint32_t side, size_t *nbytes)
{
    size_t across = (image->width + side - 1) / side, down = (image->height + side - 1) / side, patches = across * down;
    size_t lengths_nbytes = 3 * 2 * patches;
    if (image->channels != 3 || image->depth != 8 || side == 0 || side > L3_2022_SIDE_MAX)
        return NULL;
    uint8_t *bytes = calloc(L3_2022_HEADER + lengths_nbytes + 3 * patches * side * L3_2022_ROW_MAX + 2, 1);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, "LLL.", 4);
    put_u32(bytes + 4, image->width);
    put_u32(bytes + 8, image->height);
    bytes[12] = (uint8_t)side;
    uint8_t *length = bytes + L3_2022_HEADER;
    writer w = {.at = length + lengths_nbytes};
    for (uint32_t channel = 0; channel < 3; channel++) {
        for (size_t i = 0; i < patches; i++, length += 2) {
            mr_rect patch = {.x = (uint32_t)(i % across) * side, .y = (uint32_t)(i / across) * side};
            const uint8_t *start = w.at;
            patch.width = least_of(side, image->width - patch.x);
            patch.height = least_of(side, image->height - patch.y);
            write_patch(&w, image, channel, patch);
            length[0] = (uint8_t)(w.at - start);
            length[1] = (uint8_t)((w.at - start) >> 8);
        }
    }
    *nbytes = (size_t)(w.at - bytes);
    return bytes;
}
