// SPDX-License-Identifier: Apache-2.0
/* L3 files put together by hand, as doc/format-l3.md has them and without the writer in src: tiles are noise. */
#ifndef TESTS_SUPPORT_L3_FILE_H
#define TESTS_SUPPORT_L3_FILE_H

#include "picture.h"

typedef struct l3_spec {
    uint32_t mode, channels, depth, orientation;
    uint32_t width, height, tile_width, tile_height;
    uint32_t size_nbytes, flags;
    uint8_t part[400]; /* of DCT mode */
    size_t part_nbytes;
    const uint8_t *tail;
    size_t tail_nbytes;
} l3_spec;

/* 3 tiles by 2 in pixel mode, and 2 by 2 of 4:2:0 in DCT mode, both without a tail. */
l3_spec l3_spec_pixel(void);
l3_spec l3_spec_dct(void);

size_t l3_spec_tiles(const l3_spec *spec);
uint32_t l3_spec_tile_nbytes(size_t tile);
size_t l3_spec_head_nbytes(const l3_spec *spec);

/* free() its bytes. Whatever the spec says is written. */
picture_file l3_file_make(const l3_spec *spec);

/* Makes the hashes of tiles, sections and head right again, as far as the fields lead to them. */
void l3_file_fix(picture_file *file);

/* Writes a section to `to` and returns its bytes. The name has four letters. */
size_t l3_file_section(uint8_t *to, const char *name, const void *content, size_t nbytes);

#endif
