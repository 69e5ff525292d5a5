// SPDX-License-Identifier: Apache-2.0
/*
 * One block of a sequential scan. In a header, so that each reader gets its own copy: with its own instruction set, its
 * own distance between coefficients (1 in a block of 64; 16 where 16 blocks lie side by side), and bits in registers.
 */
#ifndef MR_CODEC_JPEG_BLOCK_READ_H
#define MR_CODEC_JPEG_BLOCK_READ_H

#include "codec/jpeg/bits.h"

#define MR__BLOCK_INLINE static inline __attribute__((always_inline))

/* Adds a DC difference to *dc; false, and nothing taken, for a bad code. */
MR__BLOCK_INLINE bool mr__block_read_dc(mr__bits *b, const mr__huffman_reader *table, int32_t *dc)
{
    uint32_t length;
    mr__bits_fill(b);
    uint32_t size = mr__bits_take_symbol(b, table, &length);
    if (__builtin_expect(length == 0, 0))
        return false;
    // Where nothing is kept nobody looks at its range: a hostile sum wraps.
    *dc = (int32_t)((uint32_t)*dc + (uint32_t)mr__bits_take_value(b, size));
    return true;
}

/* What an AC symbol says. Strange: it goes beyond the block, or is an end of block of a kind that only libjpeg takes.
 */
enum { MR__BLOCK_ENDS, MR__BLOCK_GOES_ON, MR__BLOCK_BAD, MR__BLOCK_STRANGE };

/* Pairs have values up to 127: with quantisers up to this their products are 16 bits. */
enum { MR__BLOCK_QUANT_MAX = 258 };

/* Whether a coefficient, 16 bits of it, times its quantiser is 16 bits. */
static inline bool mr__block_fits(int32_t value, int32_t quant)
{
    return (uint32_t)(value * quant + 32768) <= 65535;
}

/*
 * One symbol by itself: those that are no pair, and those of which only one of a pair may belong to this block.
 * With quantisers, products that do not fit 16 bits are strange.
 */
MR__BLOCK_INLINE int mr__block_read_one(mr__bits *b, const mr__huffman_reader *table, uint32_t entry, int16_t *block,
                                        uint32_t step, const uint16_t *quant, uint32_t *k)
{
    mr__bits_fill(b);
    uint32_t symbol = entry >> 8 & 255, length = entry >> 16;
    if (!(entry & MR__PAIR_ESCAPE) || length == 0)
        symbol = mr__huffman_find(table, (uint32_t)(b->bits >> 48), &length);
    uint32_t run = symbol >> 4, size = symbol & 15;
    if (length == 0)
        return MR__BLOCK_BAD;
    mr__bits_drop(b, length);
    if (symbol == 0)
        return MR__BLOCK_ENDS;
    if (*k + run + 1 > 63 || (size == 0 && run != 15))
        return MR__BLOCK_STRANGE;
    *k += run + 1;
    int32_t value = mr__bits_take_value(b, size);
    block[*k * step] = (int16_t)value;
    if (quant != NULL && !mr__block_fits(value, quant[*k]))
        return MR__BLOCK_STRANGE;
    return *k == 63 ? MR__BLOCK_ENDS : MR__BLOCK_GOES_ON;
}

/*
 * The coefficients 1 to 63 of a block of zeros, or why not: not MR__BLOCK_ENDS, with a bad code not taken. *last is the
 * last that may not be zero. Only coefficients beyond 127 are held against `quant`, unless `careful`; it may be NULL.
 */
MR__BLOCK_INLINE int mr__block_read_ac(mr__bits *b, const mr__huffman_reader *table, int16_t *block, uint32_t step,
                                       const uint16_t *quant, bool careful, uint32_t *last)
{
    uint32_t k = 0;
    int what = MR__BLOCK_ENDS;
    for (;;) {
        mr__bits_fill(b);
        // Four lookups take 44 bits at most.
        for (int i = 0; i < 4; i++) {
            uint32_t entry = table->pair[b->bits >> (64 - MR__PAIR_BITS)], second = k + (entry >> 19 & 63);
            if (__builtin_expect(careful || (entry & MR__PAIR_ESCAPE) != 0 || second > 63, 0)) {
                what = mr__block_read_one(b, table, entry, block, step, quant, &k);
                if (what != MR__BLOCK_GOES_ON)
                    goto out;
                break;
            }
            mr__bits_drop(b, entry & 15);
            block[second * step] = (int16_t)((int32_t)entry >> 25);
            block[(k + (entry >> 14 & 31)) * step] = (int16_t)(int8_t)(entry >> 6);
            k = second;
            if ((entry & MR__PAIR_END) != 0 || k == 63)
                goto out;
        }
    }
out:
    *last = k;
    return what == MR__BLOCK_GOES_ON ? MR__BLOCK_ENDS : what;
}

#endif
