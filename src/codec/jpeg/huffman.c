// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/huffman.h"

#include <string.h>

/* No code may be all ones: there is always one left at each length. */
static bool is_possible(const mr__huffman *table)
{
    uint32_t code = 0;
    for (uint32_t length = 1; length <= MR__HUFFMAN_LENGTH_MAX; length++) {
        code += table->counts[length];
        if (table->counts[length] != 0 && code >= UINT32_C(1) << length)
            return false;
        code <<= 1;
    }
    return true;
}

size_t mr__huffman_parse(mr__huffman *table, const uint8_t *bytes, size_t nbytes)
{
    mr__huffman t = {.is_there = true};
    if (nbytes < MR__HUFFMAN_LENGTH_MAX)
        return 0;
    memcpy(t.counts + 1, bytes, MR__HUFFMAN_LENGTH_MAX);
    size_t count = 0;
    for (uint32_t i = 1; i <= MR__HUFFMAN_LENGTH_MAX; i++)
        count += t.counts[i];
    if (count > MR__HUFFMAN_COUNT_MAX || count > nbytes - MR__HUFFMAN_LENGTH_MAX || !is_possible(&t))
        return 0;
    memcpy(t.symbols, bytes + MR__HUFFMAN_LENGTH_MAX, count);
    t.count = (uint16_t)count;
    *table = t;
    return MR__HUFFMAN_LENGTH_MAX + count;
}

size_t mr__huffman_store(const mr__huffman *table, uint8_t *bytes)
{
    memcpy(bytes, table->counts + 1, MR__HUFFMAN_LENGTH_MAX);
    memcpy(bytes + MR__HUFFMAN_LENGTH_MAX, table->symbols, table->count);
    return MR__HUFFMAN_LENGTH_MAX + (size_t)table->count;
}

bool mr__huffman_same(const mr__huffman *a, const mr__huffman *b)
{
    return a->count == b->count && memcmp(a->counts, b->counts, sizeof a->counts) == 0 &&
           memcmp(a->symbols, b->symbols, a->count) == 0;
}

/* Lengths and places of codes, and those of up to 9 bits by lookup. */
static void fill_symbols(mr__huffman_reader *r)
{
    uint32_t code = 0, place = 0;
    memset(r->symbol, 0, sizeof r->symbol);
    r->limit[0] = 0;
    for (uint32_t length = 1; length <= MR__HUFFMAN_LENGTH_MAX; length++) {
        r->offset[length] = (int32_t)place - (int32_t)code;
        for (uint32_t i = 0; i < r->table.counts[length]; i++, code++, place++) {
            if (length > MR__SYMBOL_BITS)
                continue;
            uint32_t spare = MR__SYMBOL_BITS - length;
            for (uint32_t k = 0; k < UINT32_C(1) << spare; k++)
                r->symbol[(code << spare) + k] = (uint16_t)(r->table.symbols[place] << 8 | length);
        }
        r->limit[length] = code << (16 - length);
        code <<= 1;
    }
    r->limit[MR__HUFFMAN_LENGTH_MAX + 1] = UINT32_MAX;
}

/* One symbol by 11 bits, while pairs are made: what of it fits the lookup. */
typedef struct single {
    uint8_t length;   /* of code and value; 0: an escape */
    uint8_t distance; /* 0: end of block */
    int16_t value;
} single;

/* All lookups that one code begins. */
static void fill_code(mr__huffman_reader *r, single *singles, uint32_t first, uint32_t length, uint32_t symbol)
{
    uint32_t spare = MR__PAIR_BITS - length, size = symbol & 15, run = symbol >> 4;
    bool is_end = symbol == 0, is_known = size != 0 || is_end || run == 15; // others libjpeg takes for ends
    bool fits = is_known && size <= spare && size <= 7;
    uint32_t escape = is_known ? mr__escape_entry(symbol, length, run + 1) : MR__PAIR_ESCAPE;
    for (uint32_t k = 0; k < UINT32_C(1) << spare; k++) {
        r->pair[first + k] = escape;
        singles[first + k] = (single){0};
        if (!fits)
            continue;
        int32_t value = (int32_t)(k >> (spare - size));
        if (size != 0 && value < 1 << (size - 1))
            value -= (1 << size) - 1;
        uint8_t distance = is_end ? 0 : (uint8_t)(run + 1);
        singles[first + k] = (single){(uint8_t)(length + size), distance, (int16_t)value};
    }
}

static uint32_t pair_entry(const single *singles, uint32_t i)
{
    single a = singles[i], b = singles[(i << a.length) & ((1 << MR__PAIR_BITS) - 1)];
    if (a.distance == 0)
        return a.length | MR__PAIR_END | 1 << 16 | 1 << 21;
    uint32_t first = (uint32_t)(uint8_t)a.value << 8 | (uint32_t)a.distance << 16, alone = (uint32_t)a.distance << 21;
    bool both = b.length != 0 && a.length + b.length <= MR__PAIR_BITS;
    if (both && b.distance == 0)
        return (uint32_t)(a.length + b.length) | MR__PAIR_END | first | (uint32_t)(a.distance + 1) << 21;
    if (both && b.value >= -32 && b.value < 32 && a.distance + b.distance < 32)
        return (uint32_t)(a.length + b.length) | first | (uint32_t)(a.distance + b.distance) << 21 |
               (uint32_t)b.value << 26;
    return a.length | first | alone;
}

static void fill_pairs(mr__huffman_reader *r)
{
    single singles[1 << MR__PAIR_BITS];
    uint32_t code = 0, place = 0;
    for (uint32_t length = 1; length <= MR__PAIR_BITS; length++) {
        for (uint32_t i = 0; i < r->table.counts[length]; i++, code++, place++)
            fill_code(r, singles, code << (MR__PAIR_BITS - length), length, r->table.symbols[place]);
        code <<= 1;
    }
    for (uint32_t i = code >> 1; i < 1 << MR__PAIR_BITS; i++) { // longer codes, and none
        r->pair[i] = MR__PAIR_ESCAPE;
        singles[i] = (single){0};
    }
    for (uint32_t i = 0; i < code >> 1; i++)
        if (singles[i].length != 0)
            r->pair[i] = pair_entry(singles, i);
}

/* After fill_symbols: the same, otherwise put. */
static void fill_dc(mr__huffman_reader *r)
{
    for (uint32_t i = 0; i < 1 << MR__DC_BITS; i++) {
        uint32_t entry = r->symbol[i];
        r->pair[i] = entry != 0 ? mr__escape_entry(entry >> 8 & 15, entry & 255, 0) : MR__PAIR_ESCAPE;
    }
}

void mr__huffman_reader_init(mr__huffman_reader *reader, const mr__huffman *table, mr__huffman_use use)
{
    if (!reader->table.is_there || !mr__huffman_same(&reader->table, table)) {
        reader->table = *table;
        reader->use = MR__HUFFMAN_SYMBOLS;
        fill_symbols(reader);
    }
    if (use == MR__HUFFMAN_SYMBOLS || use == reader->use)
        return;
    reader->use = use;
    if (use == MR__HUFFMAN_DC)
        fill_dc(reader);
    else
        fill_pairs(reader);
}

void mr__huffman_writer_init(mr__huffman_writer *writer, const mr__huffman *table)
{
    for (size_t i = 0; i < sizeof writer->code / sizeof *writer->code; i++)
        writer->code[i] = MR__CODE_NONE;
    uint32_t code = 0, place = 0;
    for (uint32_t length = 1; length <= MR__HUFFMAN_LENGTH_MAX; length++) {
        for (uint32_t i = 0; i < table->counts[length]; i++, code++, place++) {
            uint32_t symbol = table->symbols[place];
            writer->code[(symbol >> 4) << 5 | (symbol & 15)] = code << 8 | length;
        }
        code <<= 1;
    }
}
