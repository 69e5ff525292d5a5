// SPDX-License-Identifier: Apache-2.0
/*
 * The block coder of one instruction set, out of BLOCKS_TARGET (an attribute, or nothing), BLOCKS_NAME(x),
 * gather_bits(word, mask) (the bits of a word under a mask, side by side) and count_ones(word), which the file that
 * includes this has. Bytes are handled eight to a word.
 */
#include "base/bytes.h"
#include "codec/l3/pixel_blocks.h"
#include "codec/l3/pixel_kernels.h"

#include <string.h>

#define EACH (UINT64_MAX / 255) /* 1 in every byte */

/* A block's magnitudes (v, or -1 - v of a negative one) and what can be said of all of them at once. */
typedef struct magnitudes {
    uint64_t row[4];
    unsigned width;   /* bits of the widest */
    unsigned written; /* that a block without layers needs: one more for the sign; 0 when all are 0 */
} magnitudes;

BLOCKS_TARGET static inline unsigned bit_width(unsigned x)
{
    return x == 0 ? 0 : 32 - (unsigned)__builtin_clz(x);
}

BLOCKS_TARGET static inline uint64_t sign_bytes(uint64_t row)
{
    return ((row >> 7) & EACH) * 255;
}

BLOCKS_TARGET static inline magnitudes measure(const uint64_t block[4])
{
    magnitudes m;
    uint64_t all = 0, any = 0;
    for (unsigned r = 0; r < 4; r++) {
        m.row[r] = block[r] ^ sign_bytes(block[r]);
        all |= m.row[r];
        any |= block[r];
    }
    all |= all >> 32;
    all |= all >> 16;
    all |= all >> 8;
    m.width = bit_width((unsigned)(all & 0xff));
    m.written = any == 0 ? 0 : m.width + 1;
    return m;
}

/* Quotients of a row for k: at most 7 where k is one that comes into question. */
BLOCKS_TARGET static inline uint64_t quotients(uint64_t row, unsigned k)
{
    return (row >> (k - 1)) & (EACH * (0x7fu >> (k - 1)));
}

/* Bit 3 of every byte whose quotient (0 to 7) is at least j. */
BLOCKS_TARGET static inline uint64_t at_least(uint64_t quotients_of_row, unsigned j)
{
    return (quotients_of_row + EACH * (8 - j)) & (EACH * 8);
}

/* The least k with layers that can hold the block. */
BLOCKS_TARGET static inline unsigned least_layered(const magnitudes *m, unsigned layers)
{
    unsigned bits = layers == 3 ? 2 : 3;
    unsigned k = m->width > bits ? m->width - bits + 1 : 1;
    if (layers == 3)
        return k;
    uint64_t over = 0;
    for (unsigned r = 0; r < 4; r++)
        over |= at_least(quotients(m->row[r], k), 7);
    return k + (over != 0);
}

/* Bits of a block with layers: low bits, layer 1, and a bit in layer j + 1 for each one in layer j. */
BLOCKS_TARGET static inline unsigned cost_layered(const magnitudes *m, unsigned k, unsigned layers)
{
    unsigned ones = 0;
    for (unsigned r = 0; r < 4; r++) {
        uint64_t q = quotients(m->row[r], k);
        for (unsigned j = 1; j < layers; j++)
            ones += count_ones(at_least(q, j));
    }
    return 32 * k + 32 + ones;
}

/* The header of a block, with k at least `least` if it has layers. */
BLOCKS_TARGET static inline unsigned choose_block(const magnitudes *m, unsigned layers, unsigned least, unsigned *bits)
{
    unsigned header = m->written;
    *bits = 32 * m->written;
    if (layers == 0 || m->written < 2)
        return header;
    unsigned k = least_layered(m, layers);
    for (k = k > least ? k : least; k < m->written; k++) {
        unsigned cost = cost_layered(m, k, layers);
        if (cost < *bits) {
            *bits = cost;
            header = 8 + k;
        }
    }
    return header;
}

BLOCKS_TARGET static inline unsigned ones_of_first_layer(const magnitudes *m, unsigned header)
{
    unsigned ones = 0;
    for (unsigned r = 0; r < 4 && header > 8; r++)
        ones += count_ones(at_least(quotients(m->row[r], header - 8), 1));
    return ones;
}

enum { PAIR_ONES_MAX = 57 };

/* The header byte of a pair; where its first layer would have too many ones, the fuller block takes a larger k. */
BLOCKS_TARGET static inline unsigned choose_pair(const uint64_t *blocks, unsigned layers, uint64_t *bits)
{
    const magnitudes m[2] = {measure(blocks), measure(blocks + 4)};
    unsigned cost[2];
    unsigned header[2] = {choose_block(&m[0], layers, 1, &cost[0]), choose_block(&m[1], layers, 1, &cost[1])};
    while (layers != 0) {
        unsigned ones[2] = {ones_of_first_layer(&m[0], header[0]), ones_of_first_layer(&m[1], header[1])};
        if (ones[0] + ones[1] <= PAIR_ONES_MAX)
            break;
        unsigned fuller = ones[1] > ones[0];
        header[fuller] = choose_block(&m[fuller], layers, header[fuller] - 8 + 1, &cost[fuller]);
    }
    *bits += cost[0] + cost[1];
    return header[0] | header[1] << 4;
}

BLOCKS_TARGET static uint64_t BLOCKS_NAME(choose)(const uint64_t *blocks, size_t groups, unsigned layers,
                                                  uint8_t *headers)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 2 * groups; i++)
        headers[i] = (uint8_t)choose_pair(blocks + 8 * i, layers, &bits);
    return bits;
}

BLOCKS_TARGET static unsigned BLOCKS_NAME(cost)(const uint64_t block[4], unsigned layers)
{
    const magnitudes m = measure(block);
    unsigned bits;
    choose_block(&m, layers, 1, &bits);
    return bits;
}

/* A row's low bits: k bytes at `to`, of which eight may be written. */
BLOCKS_TARGET static inline void write_low(uint64_t row, unsigned header, uint8_t *to)
{
    unsigned k = header > 8 ? header - 8 : header;
    if (header > 8) {
        uint64_t sign = sign_bytes(row);
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

/* The eight bits of a word, bit i to bit 4 i. */
BLOCKS_TARGET static inline uint32_t spread_by_four(uint64_t bits)
{
    uint32_t x = (uint32_t)bits;
    x = (x | x << 12) & 0x000f000fu;
    x = (x | x << 6) & 0x03030303u;
    return (x | x << 3) & 0x11111111u;
}

/* Bit 4 * column + row: whether the quotient is at least j. */
BLOCKS_TARGET static inline uint32_t mask_of(const uint64_t q[4], unsigned j)
{
    uint32_t mask = 0;
    for (unsigned r = 0; r < 4; r++)
        mask |= spread_by_four(((at_least(q[r], j) >> 3) * 0x0102040810204080u) >> 56) << r;
    return mask;
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

BLOCKS_TARGET static inline void quotients_of_block(const uint64_t block[4], unsigned header, uint64_t q[4])
{
    for (unsigned r = 0; r < 4; r++)
        q[r] = header > 8 ? quotients(block[r] ^ sign_bytes(block[r]), header - 8) : 0;
}

/* Layer 1 of the blocks that have layers to *first, the others' bits to their writers ([2] and on). */
BLOCKS_TARGET static inline void write_pair_layers(const uint64_t *blocks, unsigned header, unsigned layers,
                                                   uint8_t **first, bit_writer *writers)
{
    uint64_t q[2][4];
    quotients_of_block(blocks, header & 15, q[0]);
    quotients_of_block(blocks + 4, header >> 4, q[1]);
    uint64_t mask = mask_of(q[0], 1) | (uint64_t)mask_of(q[1], 1) << 32;
    for (unsigned b = 0; b < 2; b++)
        if ((header >> (4 * b) & 15) > 8) {
            mr__store_le32(*first, (uint32_t)(mask >> (32 * b)));
            *first += 4;
        }
    for (unsigned j = 2; j <= layers && mask != 0; j++) {
        uint64_t next = mask_of(q[0], j) | (uint64_t)mask_of(q[1], j) << 32;
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
