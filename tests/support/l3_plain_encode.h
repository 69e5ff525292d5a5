// SPDX-License-Identifier: Apache-2.0
/*
 * A slow encoder of L3's pixel mode that uses all that the format allows, at random: tiles of any size and kind, every
 * predictor, any number of levels and layers, blocks wider than need be, remappings, anything beyond the edges. It
 * tests decoders better than an encoder that always does the sensible thing.
 */
#ifndef TESTS_SUPPORT_L3_PLAIN_ENCODE_H
#define TESTS_SUPPORT_L3_PLAIN_ENCODE_H

#include "picture.h"

/* What may be left to chance is, by the seed; free() the bytes. */
picture_file l3_plain_encode(const mr_image *image, uint64_t seed);

/* The same with tiles of this size; `planes_only` leaves out the other kinds of tile. */
picture_file l3_plain_encode_tiles(const mr_image *image, uint64_t seed, uint32_t tile_width, uint32_t tile_height,
                                   bool planes_only);

/* Where the tiles of a file that was made here begin. */
size_t l3_plain_head_nbytes(const picture_file *file);

/* A file of tiles of at most 1024 x 256, with these bytes, whatever they are. */
picture_file l3_plain_file(const mr_image *shape, const void *bytes, const size_t *lengths, size_t count);

#endif
