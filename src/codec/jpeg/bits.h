// SPDX-License-Identifier: Apache-2.0
/*
 * Bits of entropy-coded data from which the stuffing is gone, the first bit of a byte being its highest.
 *
 * Nothing here looks for the end: whoever reads checks now and then, and there are MR__BITS_SLACK zero bytes behind
 * it, enough for an MCU.
 */
#ifndef MR_CODEC_JPEG_BITS_H
#define MR_CODEC_JPEG_BITS_H

#include "base/bytes.h"
#include "codec/jpeg/huffman.h"

#include <string.h>

/* An MCU is at most 10 blocks of 64 symbols of 31 bits: 2480 bytes. Refilling looks 8 bytes ahead. */
enum { MR__BITS_SLACK = 2560 };

typedef struct mr__bits {
    uint64_t bits;  /* the next ones, at the top */
    uint32_t count; /* how many of them count, in its 6 lowest bits; below them are the bits at `next`, or zeros */
    const uint8_t *next;
} mr__bits;

/* Afterwards there are 56 to 63 of them. */
static inline void mr__bits_fill(mr__bits *b)
{
    uint64_t ahead = (uint64_t)mr__load_be32(b->next) << 32 | mr__load_be32(b->next + 4);
    b->bits |= ahead >> (b->count & 63);
    b->next += ~b->count >> 3 & 7;
    b->count |= 56;
}

static inline void mr__bits_drop(mr__bits *b, uint32_t n)
{
    b->bits <<= n;
    b->count -= n;
}

/* As many as the 6 lowest bits of an entry say, which costs nothing to mask. */
static inline void mr__bits_drop_entry(mr__bits *b, uint32_t entry)
{
    b->bits <<= entry & 63;
    b->count -= entry;
}

/* n is 0 to 32. */
static inline uint32_t mr__bits_take(mr__bits *b, uint32_t n)
{
    uint32_t value = (uint32_t)(b->bits >> 1 >> (63 - n));
    mr__bits_drop(b, n);
    return value;
}

/* The top `size` bits as JPEG writes a value: those that begin with 0 are negative. 0 bits are 0. */
static inline int32_t mr__bits_value(uint64_t bits, uint32_t size)
{
    int32_t below = (int32_t)(~bits >> 63); // 1 for a negative one
    return (int32_t)(uint32_t)(bits >> 1 >> (63 - size)) - (below << size) + below;
}

static inline int32_t mr__bits_take_value(mr__bits *b, uint32_t size)
{
    int32_t value = mr__bits_value(b->bits, size);
    mr__bits_drop(b, size);
    return value;
}

/* How many bits were taken since `start`. */
static inline uint64_t mr__bits_taken(const mr__bits *b, const uint8_t *start)
{
    return (uint64_t)(b->next - start) * 8 - (b->count & 63);
}

/* A symbol, of which 16 bits must be there; *length is 0, and nothing is taken, when there is no such code. */
static inline uint32_t mr__bits_take_symbol(mr__bits *b, const mr__huffman_reader *table, uint32_t *length)
{
    uint32_t entry = table->symbol[b->bits >> (64 - MR__SYMBOL_BITS)], symbol = entry >> 8;
    *length = entry & 255;
    if (__builtin_expect(entry == 0, 0))
        symbol = mr__huffman_find(table, (uint32_t)(b->bits >> 48), length);
    mr__bits_drop(b, *length);
    return symbol;
}

#endif
