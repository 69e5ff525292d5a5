// SPDX-License-Identifier: Apache-2.0
/*
 * JPEG's Huffman tables: as a file has them, for reading, for writing, and made for given data.
 *
 * Reading is by lookup. A symbol table gives a code's length and symbol for 9 bits. A pair table gives, for 11 bits,
 * one or two AC symbols of a sequential scan with their values: most of a photograph takes one lookup for 1.5
 * coefficients.
 */
#ifndef MR_CODEC_JPEG_HUFFMAN_H
#define MR_CODEC_JPEG_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR__HUFFMAN_LENGTH_MAX = 16, MR__HUFFMAN_COUNT_MAX = 256 };

/* A table as a file has it. */
typedef struct mr__huffman {
    uint8_t counts[MR__HUFFMAN_LENGTH_MAX + 1]; /* of codes, by length; [0] is 0 */
    uint8_t symbols[MR__HUFFMAN_COUNT_MAX];     /* in the order of their codes; the rest is 0 */
    uint16_t count;                             /* of symbols */
    bool is_there;                              /* false: there is no table */
} mr__huffman;

/*
 * From the bytes of a DHT segment behind class and number: counts and symbols. Returns how many bytes it took; 0 when
 * they are too few or cannot be a table: more codes than fit, or one of all ones.
 */
size_t mr__huffman_parse(mr__huffman *table, const uint8_t *bytes, size_t nbytes);

/* The same bytes again, 16 + count of them. */
size_t mr__huffman_store(const mr__huffman *table, uint8_t *bytes);

bool mr__huffman_same(const mr__huffman *a, const mr__huffman *b);

/* The tables of T.81, Annex K.3: class 0 is DC, 1 AC; number 0 is luma, 1 chroma. */
void mr__huffman_standard(mr__huffman *table, uint32_t table_class, uint32_t number);

/*
 * The table that T.81, Annex K.2, and libjpeg after it, make for symbols that occur so often; the counts are
 * overwritten. Symbols that do not occur have no code.
 */
void mr__huffman_optimal(mr__huffman *table, uint32_t counts[MR__HUFFMAN_COUNT_MAX + 1]);

enum { MR__SYMBOL_BITS = 9, MR__PAIR_BITS = 11, MR__DC_BITS = 9 };

/*
 * A pair entry, from its lowest bit on: 6 bits consumed (so that it can be shifted by as it is), 1 end of block follows
 * the values, 1 escape, 8 first value, 5 its distance from the coefficient before (run + 1), 5 the second's distance
 * from the same, 6 second value. With one symbol both distances are the same, and the first value is stored last. An
 * end of block alone is a zero at the coefficient behind the last one: where there is none, the block has ended
 * without.
 *
 * An escape is for all that does not fit. Where its code is known, it has the bits consumed and both distances as
 * above, and in place of the first value 4 bits size of the value; else it consumes no bits.
 *
 * A DC entry, by 9 bits, is an escape without distances.
 */
#define MR__PAIR_END    UINT32_C(0x40)
#define MR__PAIR_ESCAPE UINT32_C(0x80)

static inline uint32_t mr__pair_first(uint32_t entry)
{
    return entry >> 16 & 31;
}

static inline uint32_t mr__pair_second(uint32_t entry)
{
    return entry >> 21 & 31;
}

static inline int16_t mr__pair_first_value(uint32_t entry)
{
    return (int8_t)(entry >> 8);
}

static inline int16_t mr__pair_second_value(uint32_t entry)
{
    return (int16_t)((int32_t)entry >> 26);
}

static inline uint32_t mr__escape_size(uint32_t entry)
{
    return entry >> 8 & 15;
}

static inline uint32_t mr__escape_length(uint32_t entry)
{
    return (entry & 63) - mr__escape_size(entry);
}

/* What a reader's pair entries are for. */
typedef enum mr__huffman_use { MR__HUFFMAN_SYMBOLS, MR__HUFFMAN_DC, MR__HUFFMAN_AC } mr__huffman_use;

/* For reading. */
typedef struct mr__huffman_reader {
    mr__huffman table;                          /* of which this was made */
    mr__huffman_use use;                        /* only sequential scans need more than symbols */
    uint32_t limit[MR__HUFFMAN_LENGTH_MAX + 2]; /* by length: the first 16 bits that a code of it cannot begin */
    int32_t offset[MR__HUFFMAN_LENGTH_MAX + 1]; /* from a code to its place in table.symbols */
    uint16_t symbol[1 << MR__SYMBOL_BITS];      /* symbol << 8 | length; 0: see limit */
    uint32_t pair[1 << MR__PAIR_BITS];
} mr__huffman_reader;

/* Does nothing where the reader is of this table already: memory for it begins as zeros. */
void mr__huffman_reader_init(mr__huffman_reader *reader, const mr__huffman *table, mr__huffman_use use);

/* A code of any length at the top of 16 bits; *length is 0 when there is no such code. */
static inline uint32_t mr__huffman_find(const mr__huffman_reader *reader, uint32_t window, uint32_t *length)
{
    uint32_t n = 1;
    while (window >= reader->limit[n])
        n++;
    *length = n <= MR__HUFFMAN_LENGTH_MAX ? n : 0;
    return *length != 0 ? reader->table.symbols[(int32_t)(window >> (16 - n)) + reader->offset[n]] : 0;
}

static inline uint32_t mr__escape_entry(uint32_t symbol, uint32_t length, uint32_t distance)
{
    uint32_t size = symbol & 15;
    return MR__PAIR_ESCAPE | (length + size) | size << 8 | distance << 16 | distance << 21;
}

/*
 * The escape for an AC code that the lookup does not have; one that consumes no bits when it is none, or nothing that
 * may go on. Lengths are counted without branches, because nobody could predict them.
 */
static inline uint32_t mr__huffman_find_long(const mr__huffman_reader *reader, uint32_t window)
{
    uint32_t n = MR__PAIR_BITS + 1;
    for (uint32_t i = MR__PAIR_BITS + 1; i <= MR__HUFFMAN_LENGTH_MAX; i++)
        n += window >= reader->limit[i];
    if (__builtin_expect(n > MR__HUFFMAN_LENGTH_MAX, 0))
        return MR__PAIR_ESCAPE;
    uint32_t symbol = reader->table.symbols[(int32_t)(window >> (16 - n)) + reader->offset[n]];
    if (__builtin_expect((symbol & 15) == 0 && symbol != 0xf0, 0))
        return MR__PAIR_ESCAPE;
    return mr__escape_entry(symbol, n, (symbol >> 4) + 1);
}

/*
 * For writing: code << 8 | length, by run << 5 | size, where size can be 0 to 17, so that no coefficient is out of the
 * table; MR__CODE_NONE where there is no code.
 */
#define MR__CODE_NONE UINT32_C(0x80000000)
typedef struct mr__huffman_writer {
    uint32_t code[16 * 32];
} mr__huffman_writer;

void mr__huffman_writer_init(mr__huffman_writer *writer, const mr__huffman *table);

#endif
