// SPDX-License-Identifier: Apache-2.0
/* doc/format-l3.md from the top: head, tiles, tail. The two modes are in l3_reference_dct.c and _pixel.c. */
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

static const char *check_dct(const head *h)
{
    l3_reference *to = h->to;
    if ((to->channels != 1 && to->channels != 3) || to->depth != 8)
        return "components or depth";
    if (to->width > 65535 || to->height > 65535)
        return "width or height";
    const char *why = l3_reference_mode_part(h->mode_part, to);
    if (why == NULL && (to->tile_width != 64 * to->component[0].h || to->tile_height != 64 * to->component[0].v))
        why = "the size of a tile";
    return why;
}

static const char *check_pixel(const head *h)
{
    const l3_reference *to = h->to;
    if (to->channels < 1 || to->channels > 4 || (to->depth != 8 && to->depth != 16))
        return "channels or depth";
    if (to->width > INT32_MAX || to->height > INT32_MAX)
        return "width or height";
    if (!is_tile_side(to->tile_width) || !is_tile_side(to->tile_height) || to->tile_width * to->tile_height > 1 << 18)
        return "the size of a tile";
    return h->mode_nbytes != 0 || (h->flags & 2) != 0 ? "pixel mode with a mode part or an origin" : NULL;
}

static const char *check_values(const head *h)
{
    const l3_reference *to = h->to;
    if (to->mode != 1 && to->mode != 2)
        return "mode";
    if (to->orientation < 1 || to->orientation > 8 || (h->flags & ~3u) != 0 || (h->flags != 0 && h->tail_nbytes == 0))
        return "orientation or flags";
    return to->mode == 1 ? check_pixel(h) : check_dct(h);
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

/* The pixels of a tile, by way of an array of its own. */
static const char *read_pixels(l3_bytes bytes, uint32_t column, uint32_t row, const l3_reference *to)
{
    uint32_t x = column * to->tile_width, y = row * to->tile_height;
    uint32_t w = smaller(to->tile_width, to->width - x), rows = smaller(to->tile_height, to->height - y);
    size_t row_samples = (size_t)w * to->channels;
    uint16_t *tile = malloc(rows * row_samples * sizeof *tile);
    const char *why = tile == NULL ? "memory" : l3_reference_tile(bytes, w, rows, to->channels, to->depth, tile);
    for (uint32_t i = 0; why == NULL && i < rows; i++)
        memcpy(to->samples + ((size_t)(y + i) * to->width + x) * to->channels, tile + i * row_samples,
               row_samples * sizeof *tile);
    free(tile);
    return why;
}

static const char *read_tiles(l3_bytes *file, head *h)
{
    const char *why = NULL;
    for (uint64_t i = 0; why == NULL && i < h->tiles_x * h->tiles_y; i++) {
        uint32_t column = (uint32_t)(i % h->tiles_x), row = (uint32_t)(i / h->tiles_x);
        l3_bytes bytes = l3_bytes_part(file, l3_bytes_number(&h->sizes, h->size_nbytes));
        if (bytes.ended)
            why = "the length of the file";
        else if (l3_bytes_number(&h->hashes, 4) != (XXH3_64bits(bytes.at, bytes.left) & 0xffffffff))
            why = "a tile's hash";
        else if (h->to->mode == 1)
            why = read_pixels(bytes, column, row, h->to);
        else
            why = l3_reference_units(bytes, column, row, h->to);
    }
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

static const char *read_section(l3_bytes *file, const uint8_t *before, l3_reference *to)
{
    const uint8_t *start = file->at;
    l3_bytes name = l3_bytes_part(file, 4);
    uint64_t reserved = l3_bytes_number(file, 4), length = l3_bytes_number(file, 8), hash = l3_bytes_number(file, 8);
    l3_bytes content = l3_bytes_part(file, length);
    if (content.ended || reserved != 0 || hash != section_hash(start, content))
        return "a section of the tail";
    if (before != NULL && memcmp(before, name.at, 4) >= 0)
        return "a section twice, or out of order";
    bool is_icc = memcmp(name.at, "ICC ", 4) == 0, is_origin = memcmp(name.at, "ORIG", 4) == 0;
    if ((is_icc || is_origin) && length == 0)
        return "an empty section";
    if (is_icc) {
        to->icc = content.at;
        to->icc_nbytes = content.left;
    } else if (is_origin) {
        to->origin = content.at;
        to->origin_nbytes = content.left;
    }
    return NULL;
}

static const char *read_tail(l3_bytes *file, const head *h)
{
    const char *why = NULL;
    for (const uint8_t *before = NULL; why == NULL && file->left != 0;) {
        const uint8_t *name = file->at;
        why = read_section(file, before, h->to);
        before = name;
    }
    bool told = (h->flags & 1) == (h->to->icc != NULL) && h->flags >> 1 == (h->to->origin != NULL);
    return why != NULL || told ? why : "a flag that says otherwise than the tail";
}

static const char *read_rest(l3_bytes *file, head *h)
{
    const char *why = read_tiles(file, h);
    if (why == NULL && file->left != h->tail_nbytes)
        why = "the length of the file";
    return why != NULL ? why : read_tail(file, h);
}

void l3_reference_free(l3_reference *reference)
{
    free(reference->samples);
    for (unsigned i = 0; i < 3; i++)
        free(reference->component[i].blocks);
    memset(reference, 0, sizeof *reference);
}

const char *l3_reference_decode(const uint8_t *bytes, size_t nbytes, l3_reference *to)
{
    l3_bytes file = {bytes, nbytes, false};
    head h = {.to = to};
    memset(to, 0, sizeof *to);
    const char *why = read_head(&file, &h);
    if (why == NULL && to->mode == 1) {
        to->samples = malloc((size_t)to->width * to->height * to->channels * sizeof *to->samples);
        why = to->samples == NULL ? "memory" : NULL;
    }
    if (why == NULL)
        why = read_rest(&file, &h);
    if (why != NULL)
        l3_reference_free(to);
    return why;
}
