// SPDX-License-Identifier: Apache-2.0
/* The container, the kinds of tile, colour and remapping. The planes are in l3_plain_planes.c. */
#include "l3_plain_encode.h"

#include "base/bytes.h"
#include "base/size.h"
#include "l3_file.h"
#include "l3_plain_planes.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

void l3_out_bytes(l3_out *out, const void *bytes, size_t nbytes)
{
    if (out->nbytes + nbytes > out->capacity) {
        out->capacity = 2 * (out->nbytes + nbytes);
        out->bytes = realloc(out->bytes, out->capacity);
        if (out->bytes == NULL)
            abort();
    }
    if (nbytes != 0)
        memcpy(out->bytes + out->nbytes, bytes, nbytes);
    out->nbytes += nbytes;
}

void l3_out_number(l3_out *out, uint64_t number, unsigned nbytes)
{
    for (unsigned i = 0; i < nbytes; i++)
        l3_out_bytes(out, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

/* A tile: its pixels as samples of 16 bits, and where its bytes go. */
typedef struct tile {
    uint32_t w, h, channels, depth;
    uint16_t *samples; /* interleaved */
    uint64_t *random;
    l3_out *out;
} tile;

static void put_samples(l3_out *out, const tile *t, size_t pixels)
{
    for (size_t i = 0; i < pixels * t->channels; i++)
        l3_out_number(out, t->samples[i], t->depth / 8);
}

static bool is_constant(const tile *t)
{
    for (size_t i = t->channels; i < (size_t)t->w * t->h * t->channels; i++)
        if (t->samples[i] != t->samples[i - t->channels])
            return false;
    return true;
}

static void put_lz(const tile *t)
{
    l3_out pixels = {0};
    size_t row = (size_t)t->w * t->channels * (t->depth / 8), nbytes = row * t->h;
    uint32_t filter = picture_random_below(t->random, 2);
    put_samples(&pixels, t, (size_t)t->w * t->h);
    for (size_t i = nbytes; filter == 1 && i-- > row;)
        pixels.bytes[i] = (uint8_t)(pixels.bytes[i] - pixels.bytes[i - row]);
    int most = LZ4_compressBound((int)nbytes);
    char *packed = malloc((size_t)most);
    if (packed == NULL)
        abort();
    int got = LZ4_compress_default((const char *)pixels.bytes, packed, (int)nbytes, most);
    l3_out_number(t->out, 2, 1);
    l3_out_number(t->out, filter, 1);
    l3_out_bytes(t->out, packed, (size_t)got);
    free(packed);
    free(pixels.bytes);
}

/* Each value that occurs, and others by chance; the samples become their numbers. */
static void remap_by_bitmap(const tile *t, uint16_t *plane, size_t pixels)
{
    bool occurs[256] = {false};
    uint8_t bitmap[32] = {0};
    uint16_t number[256];
    uint16_t count = 0;
    uint32_t more = picture_random_below(t->random, 3);
    for (size_t i = 0; i < pixels; i++)
        occurs[plane[i]] = true;
    for (unsigned i = 0; i < 256; i++) {
        occurs[i] |= more != 0 && picture_random_below(t->random, 8 * more) == 0;
        number[i] = count;
        count = (uint16_t)(count + occurs[i]);
        bitmap[i / 8] |= (uint8_t)(occurs[i] << i % 8);
    }
    for (size_t i = 0; i < pixels; i++)
        plane[i] = number[plane[i]];
    l3_out_bytes(t->out, bitmap, sizeof bitmap);
}

/* A step of an odd number reaches every value, modulo 2^16. */
static void remap_by_steps(const tile *t, uint16_t *plane, size_t pixels)
{
    uint16_t step = (uint16_t)(picture_random_below(t->random, 32768) * 2 + 1), inverse = 1;
    uint16_t first = (uint16_t)picture_random_below(t->random, 65536);
    for (unsigned i = 0; i < 5; i++) // each time twice as many bits are right
        inverse = (uint16_t)(inverse * (2u - (uint32_t)step * inverse));
    for (size_t i = 0; i < pixels; i++)
        plane[i] = (uint16_t)((uint32_t)(uint16_t)(plane[i] - first) * inverse);
    l3_out_number(t->out, first, 2);
    l3_out_number(t->out, step, 2);
}

static void subtract_green(const tile *t, uint16_t *planes, size_t pixels)
{
    unsigned half = 1u << (t->depth - 1), mask = (1u << t->depth) - 1;
    for (unsigned c = 0; c < 3; c += 2)
        for (size_t i = 0; i < pixels; i++)
            planes[c * pixels + i] = (uint16_t)((planes[c * pixels + i] - planes[pixels + i] + half) & mask);
}

static void put_planes(const tile *t)
{
    size_t pixels = (size_t)t->w * t->h;
    uint16_t *planes = malloc(pixels * t->channels * sizeof *planes);
    if (planes == NULL)
        abort();
    for (size_t i = 0; i < pixels * t->channels; i++)
        planes[i % t->channels * pixels + i / t->channels] = t->samples[i];
    bool green = t->channels >= 3 && picture_random_below(t->random, 2) == 0;
    bool remaps = picture_random_below(t->random, 3) == 0;
    l3_out_number(t->out, 1, 1);
    l3_out_number(t->out, (green ? 1u : 0u) | (remaps ? t->depth / 8 : 0) << 2, 1);
    for (unsigned c = 0; remaps && c < t->channels; c++) {
        if (t->depth == 8)
            remap_by_bitmap(t, planes + c * pixels, pixels);
        else
            remap_by_steps(t, planes + c * pixels, pixels);
    }
    if (green)
        subtract_green(t, planes, pixels);
    l3_out bodies = {0};
    for (unsigned c = 0; c < t->channels; c++) {
        l3_plain_plane plane = {t->w, t->h, t->depth, planes + c * pixels, t->random};
        l3_plain_channel(&plane, t->out, &bodies);
    }
    l3_out_bytes(t->out, bodies.bytes, bodies.nbytes);
    free(bodies.bytes);
    free(planes);
}

static void put_tile(const tile *t, bool planes_only)
{
    uint32_t kind = planes_only ? 1 : picture_random_below(t->random, 6);
    if (!planes_only && is_constant(t) && picture_random_below(t->random, 2) == 0) {
        l3_out_number(t->out, 0, 1);
        put_samples(t->out, t, 1);
    } else if (kind == 2) {
        put_lz(t);
    } else if (kind == 3) {
        l3_out_number(t->out, 3, 1);
        put_samples(t->out, t, (size_t)t->w * t->h);
    } else {
        put_planes(t);
    }
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void load_tile(const mr_image *image, uint32_t x, uint32_t y, tile *t)
{
    size_t n = 0;
    for (uint32_t row = y; row < y + t->h; row++) {
        const uint8_t *from = (const uint8_t *)image->pixels + (ptrdiff_t)row * image->stride;
        for (size_t i = (size_t)x * t->channels; i < (size_t)(x + t->w) * t->channels; i++)
            t->samples[n++] = t->depth == 8 ? from[i] : ((const uint16_t *)(const void *)from)[i];
    }
}

static void put_head(l3_out *out, const mr_image *image, uint32_t tile_width, uint32_t tile_height)
{
    static const uint8_t magic[8] = {0x8a, 'M', 'R', 'L', 0x0d, 0x0a, 0x1a, 0x0a};
    l3_out_bytes(out, magic, 8);
    l3_out_number(out, 1, 2);
    l3_out_number(out, 1, 1); // pixel mode
    l3_out_number(out, image->channels, 1);
    l3_out_number(out, image->depth, 1);
    l3_out_number(out, 1, 1); // orientation
    l3_out_number(out, 4, 1); // size_nbytes
    l3_out_number(out, 0, 1);
    l3_out_number(out, image->width, 4);
    l3_out_number(out, image->height, 4);
    l3_out_number(out, tile_width, 2);
    l3_out_number(out, tile_height, 2);
    l3_out_number(out, 0, 4); // no mode part
    l3_out_number(out, 0, 8); // no tail
}

/* The file in its exact size, for a sanitizer, with its hashes. */
static picture_file finish(l3_out *out)
{
    picture_file file = picture_copy(out->bytes, out->nbytes);
    free(out->bytes);
    l3_file_fix(&file);
    return file;
}

picture_file l3_plain_encode_tiles(const mr_image *image, uint64_t seed, uint32_t tile_width, uint32_t tile_height,
                                   bool planes_only)
{
    l3_out head = {0}, tiles = {0};
    uint64_t random = seed;
    uint16_t *samples = malloc((size_t)tile_width * tile_height * image->channels * sizeof *samples);
    if (samples == NULL)
        abort();
    put_head(&head, image, tile_width, tile_height);
    size_t count = 0;
    for (uint32_t y = 0; y < image->height; y += tile_height)
        for (uint32_t x = 0; x < image->width; x += tile_width, count++) {
            tile t = {smaller(tile_width, image->width - x),
                      smaller(tile_height, image->height - y),
                      image->channels,
                      image->depth,
                      samples,
                      &random,
                      &tiles};
            size_t before = tiles.nbytes;
            load_tile(image, x, y, &t);
            put_tile(&t, planes_only);
            l3_out_number(&head, tiles.nbytes - before, 4);
        }
    for (size_t i = 0; i < count; i++)
        l3_out_number(&head, 0, 4);
    l3_out_number(&head, 0, 8);
    l3_out_bytes(&head, tiles.bytes, tiles.nbytes);
    free(tiles.bytes);
    free(samples);
    return finish(&head);
}

picture_file l3_plain_encode(const mr_image *image, uint64_t seed)
{
    uint64_t random = seed;
    uint32_t tile_width = 32u << picture_random_below(&random, 6);
    uint32_t heights = tile_width == 1024 ? 4 : tile_width == 512 ? 5 : 6; // 2^18 pixels at most
    uint32_t tile_height = 32u << picture_random_below(&random, heights);
    return l3_plain_encode_tiles(image, random, tile_width, tile_height, false);
}

size_t l3_plain_head_nbytes(const picture_file *file)
{
    const uint8_t *b = file->bytes;
    size_t across = mr__ceil_div(mr__load_le32(b + 16), mr__load_le16(b + 24));
    size_t down = mr__ceil_div(mr__load_le32(b + 20), mr__load_le16(b + 26));
    return 40 + across * down * 8 + 8;
}

picture_file l3_plain_file(const mr_image *shape, const void *bytes, const size_t *lengths, size_t count)
{
    l3_out out = {0};
    size_t nbytes = 0;
    put_head(&out, shape, 1024, 256);
    for (size_t i = 0; i < count; i++) {
        l3_out_number(&out, lengths[i], 4);
        nbytes += lengths[i];
    }
    for (size_t i = 0; i < count; i++)
        l3_out_number(&out, 0, 4); // the hashes follow
    l3_out_number(&out, 0, 8);
    l3_out_bytes(&out, bytes, nbytes);
    return finish(&out);
}
