// SPDX-License-Identifier: Apache-2.0
/*
 * One block of a sequential scan. In a header, so that each reader gets its own copy: with its own instruction set, its
 * own distance between coefficients (1 in a block of 64; 16 where 16 blocks lie side by side), and bits in registers.
 */
#ifndef MR_CODEC_JPEG_BLOCK_READ_H
#define MR_CODEC_JPEG_BLOCK_READ_H

#include "codec/jpeg/bits.h"

#define MR__BLOCK_INLINE static inline __attribute__((always_inline))

/* Adds a DC difference to *dc; false, and nothing taken, for a bad code. 56 bits must be there; 25 are left. */
MR__BLOCK_INLINE bool mr__block_read_dc(mr__bits *b, const mr__huffman_reader *table, int32_t *dc)
{
    uint32_t entry = table->pair[b->bits >> (64 - MR__DC_BITS)];
    int32_t difference;
    if (__builtin_expect((entry & 63) == 0, 0)) {
        uint32_t length, size = mr__huffman_find(table, (uint32_t)(b->bits >> 48), &length);
        if (length == 0)
            return false;
        mr__bits_drop(b, length);
        difference = mr__bits_take_value(b, size);
    } else {
        difference = mr__bits_value(b->bits << mr__escape_length(entry), mr__escape_size(entry));
        mr__bits_drop_entry(b, entry);
    }
    // A hostile sum wraps: nobody looks at it where nothing is kept. Where a block is kept its range is looked at, in
    // a way that cannot overflow, whatever was added up before (dc_most).
    *dc = (int32_t)((uint32_t)*dc + (uint32_t)difference);
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

/* Where the coefficients 1 to 63 of a block go. */
typedef struct mr__block_ac {
    uint8_t *first;        /* the place of DC */
    uint32_t step;         /* bytes to the next one */
    bool keeps;            /* else nothing is stored */
    const uint16_t *quant; /* NULL: nobody multiplies */
} mr__block_ac;

MR__BLOCK_INLINE void mr__block_store(const mr__block_ac *to, uint8_t *place, int16_t value)
{
    if (to->keeps)
        memcpy(place, &value, 2);
}

/*
 * One symbol by itself, of any kind and at any place. Bits come and go by value: those of a loop must not have an
 * address.
 */
typedef struct mr__block_one {
    mr__bits bits;
    uint8_t *place;
    int what;
} mr__block_one;

static __attribute__((noinline)) mr__block_one mr__block_find_one(mr__bits b, const mr__huffman_reader *table,
                                                                  mr__block_ac to, uint8_t *place)
{
    mr__bits_fill(&b);
    uint32_t length, symbol = mr__huffman_find(table, (uint32_t)(b.bits >> 48), &length);
    uint32_t k = (uint32_t)(place - to.first) / to.step + (symbol >> 4) + 1, size = symbol & 15;
    if (length == 0)
        return (mr__block_one){b, place, MR__BLOCK_BAD};
    mr__bits_drop(&b, length);
    if (symbol == 0)
        return (mr__block_one){b, place, MR__BLOCK_ENDS};
    if (k > 63 || (size == 0 && symbol != 0xf0))
        return (mr__block_one){b, place, MR__BLOCK_STRANGE};
    int32_t value = mr__bits_take_value(&b, size);
    place = to.first + (size_t)k * to.step;
    mr__block_store(&to, place, (int16_t)value);
    if (to.quant != NULL && !mr__block_fits(value, to.quant[k]))
        return (mr__block_one){b, place, MR__BLOCK_STRANGE};
    return (mr__block_one){b, place, k == 63 ? MR__BLOCK_ENDS : MR__BLOCK_GOES_ON};
}

MR__BLOCK_INLINE int mr__block_read_one(mr__bits *b, const mr__huffman_reader *table, const mr__block_ac *to,
                                        uint8_t **place)
{
    mr__block_one one = mr__block_find_one(*b, table, *to, *place);
    *b = one.bits;
    *place = one.place;
    return one.what;
}

/*
 * One lookup, of mr__block_read_ac. Escapes are part of it, so that each of them has branches of its own to be
 * predicted by.
 */
#define MR__BLOCK_STEP                                                                                                 \
    entry = table->pair[b->bits >> (64 - MR__PAIR_BITS)];                                                              \
    second = place + mr__pair_second(entry) * to->step;                                                                \
    if (__builtin_expect((entry & MR__PAIR_ESCAPE) != 0, 0)) {                                                         \
        mr__bits_fill(b);                                                                                              \
        if ((entry & 63) == 0) {                                                                                       \
            entry = mr__huffman_find_long(table, (uint32_t)(b->bits >> 48));                                           \
            second = place + mr__pair_second(entry) * to->step;                                                        \
        }                                                                                                              \
        if (__builtin_expect((entry & 63) == 0 || second >= end, 0))                                                   \
            goto one;                                                                                                  \
        int32_t value = mr__bits_value(b->bits << mr__escape_length(entry), mr__escape_size(entry));                   \
        mr__bits_drop_entry(b, entry);                                                                                 \
        mr__bits_fill(b);                                                                                              \
        mr__block_store(to, second, (int16_t)value);                                                                   \
        place = second;                                                                                                \
        if (__builtin_expect(to->quant != NULL && !mr__block_fits(value, to->quant[(second - to->first) / to->step]),  \
                             0))                                                                                       \
            goto strange;                                                                                              \
    } else {                                                                                                           \
        if (__builtin_expect(second >= end, 0))                                                                        \
            goto end_of_block;                                                                                         \
        mr__bits_drop_entry(b, entry);                                                                                 \
        mr__block_store(to, second, mr__pair_second_value(entry));                                                     \
        mr__block_store(to, place + mr__pair_first(entry) * to->step, mr__pair_first_value(entry));                    \
        place = second;                                                                                                \
        if ((entry & MR__PAIR_END) != 0)                                                                               \
            goto ended;                                                                                                \
    }

/*
 * The coefficients of a block of zeros, or why not: not MR__BLOCK_ENDS, with a bad code not taken. *last is the place
 * of the last that may not be zero. 22 bits must be there.
 */
MR__BLOCK_INLINE int mr__block_read_ac(mr__bits *b, const mr__huffman_reader *table, const mr__block_ac *to,
                                       uint8_t **last)
{
    uint8_t *place = to->first, *end = to->first + 63 * to->step, *second;
    uint32_t entry;
    int what = MR__BLOCK_ENDS;
    MR__BLOCK_STEP
    MR__BLOCK_STEP
    for (;;) {
        mr__bits_fill(b);
        // These take 55 bits at most.
        MR__BLOCK_STEP
        MR__BLOCK_STEP
        MR__BLOCK_STEP
        MR__BLOCK_STEP
        MR__BLOCK_STEP
        continue;
    end_of_block:
        // Two symbols may end there; of all else only the first may be this block's.
        if (second == end && (entry & MR__PAIR_END) == 0) {
            mr__bits_drop_entry(b, entry);
            mr__block_store(to, second, mr__pair_second_value(entry));
            mr__block_store(to, place + mr__pair_first(entry) * to->step, mr__pair_first_value(entry));
            place = second;
            goto out;
        }
    one:
        what = mr__block_read_one(b, table, to, &place);
        if (what != MR__BLOCK_GOES_ON)
            goto out;
        what = MR__BLOCK_ENDS;
    }
ended: // the zero at `place` stands for the end
    *last = place - to->step;
    return MR__BLOCK_ENDS;
strange:
    what = MR__BLOCK_STRANGE;
out:
    *last = place;
    return what;
}

/* The same, one symbol after the other, with a look at every product. */
MR__BLOCK_INLINE int mr__block_read_careful(mr__bits *b, const mr__huffman_reader *table, const mr__block_ac *to,
                                            uint8_t **last)
{
    int what = MR__BLOCK_GOES_ON;
    *last = to->first;
    while (what == MR__BLOCK_GOES_ON)
        what = mr__block_read_one(b, table, to, last);
    return what;
}

#endif
