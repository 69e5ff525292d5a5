// SPDX-License-Identifier: Apache-2.0
/* The words that decoder and encoder of a unit are written in, in portable C: the definition of what they mean. */
#ifndef MR_CODEC_L3_DCT_UNIT_WORDS_H
#define MR_CODEC_L3_DCT_UNIT_WORDS_H

#include "codec/l3/dct_unit_bits.h"

#include <string.h>

/* Of all functions that instruction sets have a version of each. */
#define UNIT_INLINE static inline

/* How many bits are set. */
UNIT_INLINE unsigned unit_count(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* unit_deposit of four bits: by mask, then by bits. */
static const uint8_t unit_deposit_four[16][16] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},       {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
    {0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2},       {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
    {0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4},       {0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5},
    {0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6},       {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7},
    {0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8},       {0, 1, 8, 9, 0, 1, 8, 9, 0, 1, 8, 9, 0, 1, 8, 9},
    {0, 2, 8, 10, 0, 2, 8, 10, 0, 2, 8, 10, 0, 2, 8, 10},   {0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11},
    {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12},   {0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13},
    {0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

/* The lowest bits, each at the place of the next bit that is set in the mask; the rest is 0. */
UNIT_INLINE uint64_t unit_deposit(uint64_t bits, uint64_t mask)
{
    static const uint8_t count[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (unsigned at = 0; mask != 0; at += 4, mask >>= 4) {
        to |= (uint64_t)unit_deposit_four[mask & 15][bits & 15] << at;
        bits >>= count[mask & 15];
    }
    return to;
}

/* The other way: the bits where the mask is set, moved together. */
UNIT_INLINE uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++)
        to |= (uint64_t)((bits & mask & (0 - mask)) != 0) << n;
    return to;
}

/* 16 words become 0. */
UNIT_INLINE void unit_clear(uint64_t word[16])
{
    memset(word, 0, 16 * sizeof *word);
}

/* n modes from their nibbles, up to 64 empty ones; and for each mode the set of its bands. May read 32 bytes. */
UNIT_INLINE void unit_sort(uint8_t mode[64], const uint8_t *from, unsigned n, uint64_t by_mode[MR__MODES])
{
    for (unsigned m = 0; m < MR__MODES; m++)
        by_mode[m] = 0;
    for (unsigned z = 0; z < MR__UNIT_BANDS; z++) {
        mode[z] = z < n ? from[z / 2] >> 4 * (z % 2) & 15 : 0;
        by_mode[mode[z]] |= UINT64_C(1) << z;
    }
}

/* The blocks' coefficients by band and lane; lanes outside the grid are 0. */
UNIT_INLINE void unit_gather(int16_t to[64][64], const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows)
{
    if (columns < 8 || rows < 8)
        memset(to, 0, 64 * sizeof to[0]);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < columns; x++) {
            const int16_t *block = blocks + (y * pitch + x) * 64;
            for (unsigned z = 0; z < 64; z++)
                to[z][8 * y + x] = block[z];
        }
}

/* Magnitudes and signs of a band: size, nonzero, negative, all_bits. */
UNIT_INLINE void unit_measure(unit_band *band, const int16_t from[64])
{
    uint64_t nonzero = 0, negative = 0;
    unsigned all_bits = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned size = from[lane] < 0 ? 0u - (unsigned)from[lane] : (unsigned)from[lane];
        band->size[lane] = (uint16_t)size;
        all_bits |= size;
        nonzero |= (uint64_t)(size != 0) << lane;
        negative |= (uint64_t)(from[lane] < 0) << lane;
    }
    band->nonzero = nonzero;
    band->negative = negative;
    band->all_bits = all_bits;
}

/* Lanes whose magnitude is n at least. */
UNIT_INLINE uint64_t unit_at_least(const uint16_t size[64], unsigned n)
{
    uint64_t lanes = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        lanes |= (uint64_t)(size[lane] >= n) << lane;
    return lanes;
}

/* Bit r of each lane's magnitude. */
UNIT_INLINE uint64_t unit_bit(const uint16_t size[64], unsigned r)
{
    uint64_t lanes = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        lanes |= (uint64_t)(size[lane] >> r & 1) << lane;
    return lanes;
}

/*
 * What levels and escapes cost with 0 to n - 1 raw bits: a quotient takes a bit at each level up to the first that it
 * does not reach; one that reaches the 15th, 16 more.
 */
UNIT_INLINE void unit_costs(uint32_t *cost, const uint16_t size[64], unsigned n)
{
    for (unsigned raw = 0; raw < n; raw++) {
        uint32_t nbits = 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t quotient = size[lane] >> raw;
            nbits += quotient < MR__UNIT_LEVELS ? quotient : MR__UNIT_LEVELS - 1 + 16;
        }
        cost[raw] = nbits;
    }
}

#endif
