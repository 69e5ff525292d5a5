// SPDX-License-Identifier: Apache-2.0
/*
 * Writing a plane, for one instruction set, out of what the file that includes this has: BLOCKS_TARGET (an attribute,
 * or nothing), BLOCKS_NAME(x), gather_bits(word, mask) (the bits of a word under a mask, side by side),
 * count_ones(word) and masks_of_block(block, k, layers, masks) (the masks of layers 1 to `layers` of a block with
 * layers). Bytes are handled eight to a word.
 */
#if defined(BLOCKS_TARGET) /* there is nothing in it otherwise */

#include "base/bytes.h"
#include "codec/l3/pixel_blocks.h"
#include "codec/l3/pixel_kernels.h"

#include <string.h>

#define EACH (UINT64_MAX / 255) /* 1 in every byte */

BLOCKS_TARGET static inline uint64_t signs_of(uint64_t row)
{
    return ((row >> 7) & EACH) * 255;
}

/* A row's low bits: k bytes at `to`, of which eight may be written. */
BLOCKS_TARGET static inline void write_low(uint64_t row, unsigned header, uint8_t *to)
{
    unsigned k = header > 8 ? header - 8 : header;
    if (header > 8) {
        uint64_t sign = signs_of(row);
        row = ((row ^ sign) & (EACH * ((1u << (k - 1)) - 1))) ^ sign;
    }
    mr__store_le64(to, gather_bits(row, EACH * ((1u << k) - 1)));
}

/* Rows 0 and 2, then 1 and 3. */
BLOCKS_TARGET static inline uint8_t *write_lows(const uint64_t block[4], unsigned header, uint8_t *to)
{
    unsigned k = header > 8 ? header - 8 : header;
    write_low(block[0], header, to);
    write_low(block[2], header, to + k);
    write_low(block[1], header, to + 2 * k);
    write_low(block[3], header, to + 3 * k);
    return to + 4 * k;
}

/* The streams of a plane as it is written. Bits wait in `word` until there are eight bytes of them. */
typedef struct bit_writer {
    uint8_t *to;
    uint64_t word;
    unsigned bits; /* 0 to 63 */
} bit_writer;

BLOCKS_TARGET static inline void put_bits(bit_writer *w, uint64_t value, unsigned count)
{
    w->word |= value << w->bits;
    if (w->bits + count >= 64) {
        mr__store_le64(w->to, w->word);
        w->to += 8;
        w->word = w->bits == 0 ? 0 : value >> (64 - w->bits);
        w->bits = w->bits + count - 64;
        return;
    }
    w->bits += count;
}

BLOCKS_TARGET static inline uint8_t *end_bits(bit_writer *w)
{
    for (; w->bits > 0; w->bits -= w->bits < 8 ? w->bits : 8) {
        *w->to++ = (uint8_t)w->word;
        w->word >>= 8;
    }
    return w->to;
}

/* Layer 1 of the blocks that have layers to *first, the others' bits to their writers ([2] and on). */
BLOCKS_TARGET static inline void write_pair_layers(const uint64_t *blocks, unsigned header, unsigned layers,
                                                   uint8_t **first, bit_writer *writers)
{
    uint32_t masks[2][MR__L3_LAYER_MAX + 1] = {{0}};
    for (unsigned b = 0; b < 2; b++)
        if ((header >> (4 * b) & 15) > 8) {
            masks_of_block(blocks + 4 * b, (header >> (4 * b) & 15) - 8, layers, masks[b]);
            mr__store_le32(*first, masks[b][1]);
            *first += 4;
        }
    uint64_t mask = masks[0][1] | (uint64_t)masks[1][1] << 32;
    for (unsigned j = 2; j <= layers && mask != 0; j++) {
        uint64_t next = masks[0][j] | (uint64_t)masks[1][j] << 32;
        put_bits(&writers[j], gather_bits(next, mask), count_ones(mask));
        mask = next;
    }
}

/* Layers 2 and on are written side by side behind each other's largest size, and moved together at the end. */
BLOCKS_TARGET static uint8_t *write_layers(const uint64_t *blocks, size_t groups, unsigned layers,
                                           const uint8_t *headers, uint8_t *lengths, uint8_t *to, uint8_t *scratch)
{
    bit_writer writers[MR__L3_LAYER_MAX + 1] = {{NULL, 0, 0}};
    size_t room = groups * 16 + 16;
    for (unsigned j = 2; j <= layers; j++)
        writers[j].to = scratch + (j - 2) * room;
    for (size_t i = 0; i < 2 * groups; i++)
        if ((headers[i] & 15) > 8 || headers[i] >> 4 > 8)
            write_pair_layers(blocks + 8 * i, headers[i], layers, &to, writers);
    for (unsigned j = 2; j <= layers; j++) {
        const uint8_t *from = scratch + (j - 2) * room;
        size_t nbytes = (size_t)(end_bits(&writers[j]) - from);
        mr__store_le16(lengths + 2 * (j - 2), (uint16_t)nbytes);
        memcpy(to, from, nbytes);
        to += nbytes;
    }
    return to;
}

BLOCKS_TARGET static size_t BLOCKS_NAME(write)(const uint64_t *blocks, size_t groups, unsigned layers,
                                               const uint8_t *headers, const uint8_t *selectors, size_t selected,
                                               uint8_t *to, uint8_t *scratch)
{
    uint8_t *at = to + (layers == 0 ? 0 : 2 * (layers - 1));
    memcpy(at, headers, 2 * groups);
    at += 2 * groups;
    if (selected != 0)
        memcpy(at, selectors, selected);
    at += selected;
    for (size_t i = 0; i < 4 * groups; i++)
        at = write_lows(blocks + 4 * i, headers[i / 2] >> (4 * (i % 2)) & 15, at);
    if (layers != 0)
        at = write_layers(blocks, groups, layers, headers, to, at, scratch);
    return (size_t)(at - to);
}

#endif
