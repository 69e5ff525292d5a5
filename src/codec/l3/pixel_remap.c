// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/pixel_remap.h"

#include "base/bytes.h"

#include <string.h>

enum {
    REMAP_NONE = 0,
    REMAP_BITMAP = 1,
    REMAP_STEPS = 2,
    /*
     * Of a hundred samples, how many must have a value whose next one never occurs. Holes at the ends of a histogram,
     * where few samples are, make no residual shorter; holes everywhere make each a good part of a bit shorter, about
     * 1 kB in a tile of 128 x 128, and then a bitmap of 32 bytes, and decoding through a table, are worth it.
     */
    BESIDE_HOLES = 30,
    ROW_STEP = 4,       /* rows that are looked at for that: every fourth */
    PIXELS_LEAST = 1024 /* smaller tiles do not earn the bitmap back */
};

/* Whether the histogram has holes all over. */
static bool has_holes(const mr__l3_samples *c)
{
    uint16_t count[2][256] = {{0}};
    for (unsigned y = 0; y < c->h; y += ROW_STEP) {
        const uint8_t *row = (const uint8_t *)c->samples + y * c->pitch;
        for (unsigned x = 0; x < c->w; x++)
            count[x % 2][row[x]]++;
    }
    unsigned beside = 0, all = 0;
    for (unsigned v = 0; v < 256; v++) {
        unsigned here = (unsigned)count[0][v] + count[1][v];
        bool next = v < 255 && count[0][v + 1] + count[1][v + 1] != 0;
        all += here;
        beside += next ? 0 : here;
    }
    return beside * 100 > all * BESIDE_HOLES;
}

/* Which values occur, as the format's bitmap. */
static void find_values(const mr__l3_samples *c, uint8_t bitmap[32])
{
    uint8_t seen[256] = {0};
    for (unsigned y = 0; y < c->h; y++) {
        const uint8_t *row = (const uint8_t *)c->samples + y * c->pitch;
        for (unsigned x = 0; x < c->w; x++)
            seen[row[x]] = 1;
    }
    memset(bitmap, 0, 32);
    for (unsigned v = 0; v < 256; v++)
        bitmap[v / 8] = (uint8_t)(bitmap[v / 8] | seen[v] << (v % 8));
}

/* The rank of each value among those that occur. */
static void rank_values(const uint8_t bitmap[32], uint8_t rank[256])
{
    unsigned count = 0;
    for (unsigned v = 0; v < 256; v++) {
        rank[v] = (uint8_t)count;
        count += bitmap[v / 8] >> (v % 8) & 1;
    }
}

static unsigned remap_bytes(const mr__l3_pixel_plan *plan, mr__l3_samples *channels, uint8_t *tables, size_t *nbytes)
{
    bool worth = false;
    for (unsigned c = 0; c < plan->channels && !worth; c++)
        worth = has_holes(&channels[c]);
    if (!worth)
        return REMAP_NONE;
    for (unsigned c = 0; c < plan->channels; c++) {
        uint8_t rank[256];
        find_values(&channels[c], tables + 32 * (size_t)c);
        rank_values(tables + 32 * (size_t)c, rank);
        for (unsigned y = 0; y < channels[c].h; y++) {
            uint8_t *row = (uint8_t *)channels[c].samples + y * channels[c].pitch;
            for (unsigned x = 0; x < channels[c].w; x++)
                row[x] = rank[row[x]];
        }
    }
    *nbytes = (size_t)32 * plan->channels;
    return REMAP_BITMAP;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least sample, and the step that leads from it to all others; step 0 when there is only one value. */
static void find_steps(const mr__l3_samples *c, uint32_t *least, uint32_t *step)
{
    *least = *(const uint16_t *)c->samples;
    *step = 0;
    for (unsigned y = 0; y < c->h && *step != 1; y++) {
        const uint16_t *row = (const uint16_t *)c->samples + y * c->pitch;
        for (unsigned x = 0; x < c->w; x++) {
            uint32_t v = row[x];
            *step = gcd(*step, v > *least ? v - *least : *least - v);
            *least = v < *least ? v : *least;
        }
    }
}

static unsigned remap_words(const mr__l3_pixel_plan *plan, mr__l3_samples *channels, uint8_t *tables, size_t *nbytes)
{
    uint32_t least[4], step[4];
    bool worth = false;
    for (unsigned c = 0; c < plan->channels; c++) {
        find_steps(&channels[c], &least[c], &step[c]);
        worth |= step[c] > 1;
        if (step[c] <= 1) {
            least[c] = 0;
            step[c] = 1;
        }
    }
    if (!worth)
        return REMAP_NONE;
    for (unsigned c = 0; c < plan->channels; c++) {
        mr__store_le16(tables + 4 * (size_t)c, (uint16_t)least[c]);
        mr__store_le16(tables + 4 * (size_t)c + 2, (uint16_t)step[c]);
        for (unsigned y = 0; y < channels[c].h; y++) {
            uint16_t *row = (uint16_t *)channels[c].samples + y * channels[c].pitch;
            for (unsigned x = 0; x < channels[c].w; x++)
                row[x] = (uint16_t)((row[x] - least[c]) / step[c]);
        }
    }
    *nbytes = (size_t)4 * plan->channels;
    return REMAP_STEPS;
}

unsigned mr__l3_remap(const mr__l3_pixel_plan *plan, mr__l3_samples *channels, uint8_t *tables, size_t *nbytes)
{
    *nbytes = 0;
    if (channels[0].w * channels[0].h < PIXELS_LEAST)
        return REMAP_NONE;
    return plan->sample_nbytes == 1 ? remap_bytes(plan, channels, tables, nbytes)
                                    : remap_words(plan, channels, tables, nbytes);
}
