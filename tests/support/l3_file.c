// SPDX-License-Identifier: Apache-2.0
#include "l3_file.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

l3_spec l3_spec_pixel(void)
{
    return (l3_spec){.mode = 1,
                     .channels = 3,
                     .depth = 8,
                     .orientation = 1,
                     .width = 150,
                     .height = 70,
                     .tile_width = 64,
                     .tile_height = 64,
                     .size_nbytes = 2};
}

/* YCbCr from a progressive JPEG, 4:2:0, a table of 8 bits and one of 16. */
l3_spec l3_spec_dct(void)
{
    l3_spec s = {.mode = 2,
                 .channels = 3,
                 .depth = 8,
                 .orientation = 6,
                 .width = 200,
                 .height = 140,
                 .tile_width = 128,
                 .tile_height = 128,
                 .size_nbytes = 1,
                 .part = {0x81, 2, 0x22, 0, 0x11, 1, 0x11, 1, 1},
                 .part_nbytes = 2 + 6 + 65 + 129};
    for (int i = 0; i < 64; i++)
        s.part[9 + i] = (uint8_t)(i + 2);
    s.part[9 + 64] = 2;
    memset(s.part + 9 + 65, 1, 128);
    return s;
}

size_t l3_spec_tiles(const l3_spec *s)
{
    return (size_t)((s->width + s->tile_width - 1) / s->tile_width) *
           ((s->height + s->tile_height - 1) / s->tile_height);
}

uint32_t l3_spec_tile_nbytes(size_t tile)
{
    return (uint32_t)(3 + tile * 37 % 60);
}

size_t l3_spec_head_nbytes(const l3_spec *s)
{
    return 40 + s->part_nbytes + l3_spec_tiles(s) * (s->size_nbytes + 4) + 8;
}

static void write_fields(const l3_spec *s, uint8_t *b)
{
    memcpy(b, "\x8aMRL\r\n\x1a\n\1", 10);
    b[10] = (uint8_t)s->mode;
    b[11] = (uint8_t)s->channels;
    b[12] = (uint8_t)s->depth;
    b[13] = (uint8_t)s->orientation;
    b[14] = (uint8_t)s->size_nbytes;
    b[15] = (uint8_t)s->flags;
    mr__store_le32(b + 16, s->width);
    mr__store_le32(b + 20, s->height);
    mr__store_le16(b + 24, (uint16_t)s->tile_width);
    mr__store_le16(b + 26, (uint16_t)s->tile_height);
    mr__store_le32(b + 28, (uint32_t)s->part_nbytes);
    mr__store_le64(b + 32, s->tail_nbytes);
}

picture_file l3_file_make(const l3_spec *s)
{
    size_t tiles = l3_spec_tiles(s), at = 40, nbytes = l3_spec_head_nbytes(s) + s->tail_nbytes;
    for (size_t i = 0; i < tiles; i++)
        nbytes += l3_spec_tile_nbytes(i);
    picture_file file = {calloc(1, nbytes), nbytes};
    assert_non_null(file.bytes);
    write_fields(s, file.bytes);
    if (s->part_nbytes != 0)
        memcpy(file.bytes + at, s->part, s->part_nbytes);
    at += s->part_nbytes;
    for (size_t i = 0; i < tiles; i++, at += s->size_nbytes)
        file.bytes[at] = (uint8_t)l3_spec_tile_nbytes(i);
    at = l3_spec_head_nbytes(s);
    picture_noise(file.bytes + at, nbytes - at, 7);
    if (s->tail_nbytes != 0)
        memcpy(file.bytes + nbytes - s->tail_nbytes, s->tail, s->tail_nbytes);
    l3_file_fix(&file);
    return file;
}

static void fix_sections(uint8_t *at, uint8_t *end)
{
    while (end - at >= 24) {
        uint64_t length = mr__load_le64(at + 8);
        if (length > (uint64_t)(end - at - 24))
            return;
        mr__hasher hasher;
        mr__hasher_init(&hasher);
        mr__hasher_add(&hasher, at, 16);
        mr__hasher_add(&hasher, at + 24, (size_t)length);
        mr__store_le64(at + 16, mr__hasher_value(&hasher));
        at += 24 + length;
    }
}

void l3_file_fix(picture_file *file)
{
    uint8_t *b = file->bytes;
    uint64_t tile_width = mr__load_le16(b + 24), tile_height = mr__load_le16(b + 26);
    if (tile_width == 0 || tile_height == 0)
        return;
    uint64_t tiles = ((mr__load_le32(b + 16) + tile_width - 1) / tile_width) *
                     ((mr__load_le32(b + 20) + tile_height - 1) / tile_height);
    uint64_t sizes = 40 + (uint64_t)mr__load_le32(b + 28), hashes = sizes + tiles * b[14], end = hashes + tiles * 4;
    if (tiles > file->nbytes || end > file->nbytes - 8)
        return;
    uint64_t at = end + 8;
    for (uint64_t i = 0; i < tiles; i++) {
        uint64_t nbytes = 0;
        for (uint32_t k = 0; k < b[14]; k++)
            nbytes |= (uint64_t)b[sizes + i * b[14] + k] << 8 * k;
        if (nbytes > file->nbytes - at)
            break;
        mr__store_le32(b + hashes + 4 * i, (uint32_t)mr__hash(b + at, (size_t)nbytes));
        at += nbytes;
    }
    fix_sections(b + at, b + file->nbytes);
    mr__store_le64(b + end, mr__hash(b, (size_t)end));
}

size_t l3_file_section(uint8_t *to, const char *name, const void *content, size_t nbytes)
{
    memcpy(to, name, 4);
    memset(to + 4, 0, 4);
    mr__store_le64(to + 8, nbytes);
    if (nbytes != 0)
        memcpy(to + 24, content, nbytes);
    fix_sections(to, to + 24 + nbytes);
    return 24 + nbytes;
}
