// SPDX-License-Identifier: Apache-2.0
/* doc/format-l3.md from the top: head, tiles, tail. Pixel mode is in l3_reference_pixel.c. */
#include "l3_reference.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t l3_bytes_number(l3_bytes *bytes, unsigned nbytes)
{
    uint64_t number = 0;
    l3_bytes part = l3_bytes_part(bytes, nbytes);
    for (unsigned i = 0; i < nbytes && !part.ended; i++)
        number |= (uint64_t)part.at[i] << 8 * i;
    return number;
}

l3_bytes l3_bytes_part(l3_bytes *bytes, uint64_t nbytes)
{
    if (nbytes > bytes->left) {
        bytes->ended = true;
        bytes->left = 0;
        return (l3_bytes){bytes->at, 0, true};
    }
    l3_bytes part = {bytes->at, (size_t)nbytes, false};
    bytes->at += nbytes;
    bytes->left -= (size_t)nbytes;
    return part;
}

typedef struct head {
    l3_reference *to;
    unsigned version, size_nbytes, flags;
    uint64_t mode_nbytes, tail_nbytes;
    uint64_t tiles_x, tiles_y;
    l3_bytes mode_part, sizes, hashes;
} head;

static bool is_tile_side(unsigned side)
{
    return side >= 32 && side <= 1024 && (side & (side - 1)) == 0;
}

static void read_fixed_part(l3_bytes *file, head *h)
{
    l3_reference *to = h->to;
    l3_bytes_part(file, 8); // the magic
    h->version = (unsigned)l3_bytes_number(file, 2);
    to->mode = (unsigned)l3_bytes_number(file, 1);
    to->channels = (unsigned)l3_bytes_number(file, 1);
    to->depth = (unsigned)l3_bytes_number(file, 1);
    to->orientation = (unsigned)l3_bytes_number(file, 1);
    h->size_nbytes = (unsigned)l3_bytes_number(file, 1);
    h->flags = (unsigned)l3_bytes_number(file, 1);
    to->width = (uint32_t)l3_bytes_number(file, 4);
    to->height = (uint32_t)l3_bytes_number(file, 4);
    to->tile_width = (uint32_t)l3_bytes_number(file, 2);
    to->tile_height = (uint32_t)l3_bytes_number(file, 2);
    h->mode_nbytes = l3_bytes_number(file, 4);
    h->tail_nbytes = l3_bytes_number(file, 8);
}

static const char *check_values(const head *h)
{
    const l3_reference *to = h->to;
    if (to->mode != 1 && to->mode != 2)
        return "mode";
    if (to->orientation < 1 || to->orientation > 8 || (h->flags & ~3u) != 0 || (h->flags != 0 && h->tail_nbytes == 0))
        return "orientation or flags";
    if (to->mode == 2)
        return "DCT mode, which is not here";
    if (to->channels < 1 || to->channels > 4 || (to->depth != 8 && to->depth != 16))
        return "channels or depth";
    if (to->width > INT32_MAX || to->height > INT32_MAX)
        return "width or height";
    if (!is_tile_side(to->tile_width) || !is_tile_side(to->tile_height) || to->tile_width * to->tile_height > 1 << 18)
        return "the size of a tile";
    return h->mode_nbytes != 0 || (h->flags & 2) != 0 ? "pixel mode with a mode part or an origin" : NULL;
}

static const char *read_head(l3_bytes *file, head *h)
{
    static const uint8_t magic[8] = {0x8a, 'M', 'R', 'L', 0x0d, 0x0a, 0x1a, 0x0a};
    const uint8_t *start = file->at;
    l3_reference *to = h->to;
    if (file->left < 48 || memcmp(start, magic, 8) != 0)
        return "no L3 file";
    read_fixed_part(file, h);
    if (h->version != 1)
        return "version";
    if (to->tile_width == 0 || to->tile_height == 0 || h->size_nbytes < 1 || h->size_nbytes > 4)
        return "sizes";
    h->tiles_x = ((uint64_t)to->width + to->tile_width - 1) / to->tile_width;
    h->tiles_y = ((uint64_t)to->height + to->tile_height - 1) / to->tile_height;
    if (h->tiles_x == 0 || h->tiles_y == 0 || h->tiles_x > 1 << 26 || h->tiles_x * h->tiles_y > 1 << 26)
        return "how many tiles";
    h->mode_part = l3_bytes_part(file, h->mode_nbytes);
    h->sizes = l3_bytes_part(file, h->tiles_x * h->tiles_y * h->size_nbytes);
    h->hashes = l3_bytes_part(file, h->tiles_x * h->tiles_y * 4);
    size_t nbytes = (size_t)(file->at - start);
    uint64_t hash = l3_bytes_number(file, 8);
    if (file->ended || hash != XXH3_64bits(start, nbytes))
        return "the head's hash";
    return check_values(h);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void place_tile(const l3_reference *to, const uint16_t *tile, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    for (uint32_t i = 0; i < h; i++)
        memcpy(to->samples + ((size_t)(y + i) * to->width + x) * to->channels, tile + (size_t)i * w * to->channels,
               (size_t)w * to->channels * sizeof *tile);
}

static const char *read_tiles(l3_bytes *file, head *h)
{
    l3_reference *to = h->to;
    uint16_t *tile = malloc((size_t)to->tile_width * to->tile_height * to->channels * sizeof *tile);
    const char *why = tile == NULL ? "memory" : NULL;
    for (uint64_t i = 0; why == NULL && i < h->tiles_x * h->tiles_y; i++) {
        l3_bytes bytes = l3_bytes_part(file, l3_bytes_number(&h->sizes, h->size_nbytes));
        if (bytes.ended)
            why = "the length of the file";
        else if (l3_bytes_number(&h->hashes, 4) != (XXH3_64bits(bytes.at, bytes.left) & 0xffffffff))
            why = "a tile's hash";
        if (why != NULL)
            break;
        uint32_t x = (uint32_t)(i % h->tiles_x) * to->tile_width, y = (uint32_t)(i / h->tiles_x) * to->tile_height;
        uint32_t w = smaller(to->tile_width, to->width - x), rows = smaller(to->tile_height, to->height - y);
        why = l3_reference_tile(bytes, w, rows, to->channels, to->depth, tile);
        if (why == NULL)
            place_tile(to, tile, x, y, w, rows);
    }
    free(tile);
    return why;
}

/* The hash of a section is over its first 16 bytes and its content as one. */
static uint64_t section_hash(const uint8_t *start, l3_bytes content)
{
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, start, 16);
    XXH3_64bits_update(state, content.at, content.left);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

static const char *read_tail(l3_bytes *file, const head *h)
{
    l3_reference *to = h->to;
    while (file->left != 0) {
        const uint8_t *start = file->at;
        l3_bytes name = l3_bytes_part(file, 4);
        uint64_t reserved = l3_bytes_number(file, 4), length = l3_bytes_number(file, 8);
        uint64_t hash = l3_bytes_number(file, 8);
        l3_bytes content = l3_bytes_part(file, length);
        if (content.ended || reserved != 0 || hash != section_hash(start, content))
            return "a section of the tail";
        bool is_icc = memcmp(name.at, "ICC ", 4) == 0, is_origin = memcmp(name.at, "ORIG", 4) == 0;
        if ((is_icc && to->icc != NULL) || (is_origin && to->origin != NULL))
            return "a section that comes twice";
        if (is_icc) {
            to->icc = content.at;
            to->icc_nbytes = content.left;
        } else if (is_origin) {
            to->origin = content.at;
            to->origin_nbytes = content.left;
        }
    }
    bool told = (h->flags & 1) == (to->icc != NULL) && h->flags >> 1 == (to->origin != NULL);
    return told ? NULL : "a flag that says otherwise than the tail";
}

static const char *read_rest(l3_bytes *file, head *h)
{
    const char *why = read_tiles(file, h);
    if (why == NULL && file->left != h->tail_nbytes)
        why = "the length of the file";
    return why != NULL ? why : read_tail(file, h);
}

const char *l3_reference_decode(const uint8_t *bytes, size_t nbytes, l3_reference *to)
{
    l3_bytes file = {bytes, nbytes, false};
    head h = {.to = to};
    memset(to, 0, sizeof *to);
    const char *why = read_head(&file, &h);
    if (why != NULL)
        return why;
    to->samples = malloc((size_t)to->width * to->height * to->channels * sizeof *to->samples);
    why = to->samples == NULL ? "memory" : read_rest(&file, &h);
    if (why != NULL) {
        free(to->samples);
        to->samples = NULL;
    }
    return why;
}
