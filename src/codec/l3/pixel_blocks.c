// SPDX-License-Identifier: Apache-2.0
/* The portable block coder. Bytes are handled eight to a word. */
#include "codec/l3/pixel_blocks.h"

#include <stdint.h>

#define EACH_BYTE (UINT64_MAX / 255) /* 1 in every byte */

static inline unsigned count_ones(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

static inline uint64_t gather_bits(uint64_t word, uint64_t mask)
{
    uint64_t bits = 0;
    for (uint64_t place = 1; mask != 0; mask &= mask - 1, place += place)
        if ((word & mask & (0 - mask)) != 0)
            bits |= place;
    return bits;
}

/* A block's magnitudes (v, or -1 - v of a negative one) and what can be said of all of them at once. */
typedef struct magnitudes {
    uint64_t row[4];
    unsigned width;   /* bits of the widest */
    unsigned written; /* that a block without layers needs: one more for the sign; 0 when all are 0 */
} magnitudes;

static inline unsigned bit_width(unsigned x)
{
    return x == 0 ? 0 : 32 - (unsigned)__builtin_clz(x);
}

static inline uint64_t sign_bytes(uint64_t row)
{
    return ((row >> 7) & EACH_BYTE) * 255;
}

static inline magnitudes measure(const uint64_t block[4])
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
static inline uint64_t quotients(uint64_t row, unsigned k)
{
    return (row >> (k - 1)) & (EACH_BYTE * (0x7fu >> (k - 1)));
}

/* Bit 3 of every byte whose quotient (0 to 7) is at least j. */
static inline uint64_t at_least(uint64_t quotients_of_row, unsigned j)
{
    return (quotients_of_row + EACH_BYTE * (8 - j)) & (EACH_BYTE * 8);
}

/* The least k with layers that can hold the block. */
static inline unsigned least_layered(const magnitudes *m, unsigned layers)
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
static inline unsigned cost_layered(const magnitudes *m, unsigned k, unsigned layers)
{
    unsigned ones = 0;
    for (unsigned r = 0; r < 4; r++) {
        uint64_t q = quotients(m->row[r], k);
        for (unsigned j = 1; j < layers; j++)
            ones += count_ones(at_least(q, j));
    }
    return 32 * k + 32 + ones;
}

static inline unsigned ones_of_first_layer(const magnitudes *m, unsigned header)
{
    unsigned ones = 0;
    for (unsigned r = 0; r < 4 && header > 8; r++)
        ones += count_ones(at_least(quotients(m->row[r], header - 8), 1));
    return ones;
}

#define BLOCKS_TARGET
#define BLOCKS_NAME(x) x##_blocks_c
#include "codec/l3/pixel_blocks_choose.h"

/* The eight bits of a word, bit i to bit 4 i. */
static inline uint32_t spread_by_four(uint64_t bits)
{
    uint32_t x = (uint32_t)bits;
    x = (x | x << 12) & 0x000f000fu;
    x = (x | x << 6) & 0x03030303u;
    return (x | x << 3) & 0x11111111u;
}

/* Bit 4 * column + row of mask j: whether the quotient is at least j. */
static inline void masks_of_block(const uint64_t block[4], unsigned k, unsigned layers, uint32_t *masks)
{
    for (unsigned r = 0; r < 4; r++) {
        uint64_t q = quotients(block[r] ^ sign_bytes(block[r]), k);
        for (unsigned j = 1; j <= layers; j++)
            masks[j] |= spread_by_four(((at_least(q, j) >> 3) * 0x0102040810204080u) >> 56) << r;
    }
}

#include "codec/l3/pixel_blocks_write.h"

void mr__l3_block_kernels_init(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    *table = (mr__l3_block_kernels){choose_blocks_c, cost_blocks_c, write_blocks_c};
    mr__l3_block_kernels_init_avx2(table, cpu);
}
