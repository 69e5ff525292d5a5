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

enum { MR__SYMBOL_BITS = 9, MR__PAIR_BITS = 11 };

/*
 * A pair entry, from its lowest bit on: 4 bits consumed, 1 end of block follows the values, 1 escape, 8 first value, 5
 * its distance from the coefficient before (run + 1), 6 the second's distance from the same, 7 second value. With one
 * symbol both distances are the same, and the first value is stored last. An end of block is a zero at the coefficient
 * behind the last one: where there is none, the block has ended without.
 *
 * An escape is for all that does not fit; it has the symbol above its 8 lowest bits, and above that the code's length,
 * which is 0 when the code is longer than the lookup.
 */
#define MR__PAIR_END    UINT32_C(0x10)
#define MR__PAIR_ESCAPE UINT32_C(0x20)

/* For reading. */
typedef struct mr__huffman_reader {
    mr__huffman table;                          /* of which this was made */
    bool has_pairs;                             /* which only sequential scans need */
    uint32_t limit[MR__HUFFMAN_LENGTH_MAX + 2]; /* by length: the first 16 bits that a code of it cannot begin */
    int32_t offset[MR__HUFFMAN_LENGTH_MAX + 1]; /* from a code to its place in table.symbols */
    uint16_t symbol[1 << MR__SYMBOL_BITS];      /* symbol << 8 | length; 0: see limit */
    uint32_t pair[1 << MR__PAIR_BITS];
} mr__huffman_reader;

/* Does nothing where the reader is of this table already: memory for it begins as zeros. */
void mr__huffman_reader_init(mr__huffman_reader *reader, const mr__huffman *table, bool pairs);

/* A code of any length at the top of 16 bits; *length is 0 when there is no such code. */
static inline uint32_t mr__huffman_find(const mr__huffman_reader *reader, uint32_t window, uint32_t *length)
{
    uint32_t n = 1;
    while (window >= reader->limit[n])
        n++;
    *length = n <= MR__HUFFMAN_LENGTH_MAX ? n : 0;
    return *length != 0 ? reader->table.symbols[(int32_t)(window >> (16 - n)) + reader->offset[n]] : 0;
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
