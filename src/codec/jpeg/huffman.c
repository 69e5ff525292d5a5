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
            uint16_t entry = (uint16_t)(r->table.symbols[place] << 8 | length), *to = r->symbol + (code << spare);
            for (uint32_t k = 0; k < UINT32_C(1) << spare; k++)
                to[k] = entry;
        }
        r->limit[length] = code << (16 - length);
        code <<= 1;
    }
    r->limit[MR__HUFFMAN_LENGTH_MAX + 1] = UINT32_MAX;
}

enum { LOOKUPS = 1 << MR__PAIR_BITS };

/* A code, and what of it a lookup has room for. */
typedef struct short_code {
    uint32_t at, length, symbol; /* at: the first lookup that it begins */
    uint32_t size, distance;     /* of its value, from the coefficient before */
    bool is_end, is_strange;     /* strange: an end of block that is none, which only libjpeg takes */
    bool fits;                   /* with its value */
    uint32_t spare;              /* bits behind it: it has 1 << spare lookups for each value */
} short_code;

static short_code code_of(uint32_t code, uint32_t length, uint32_t symbol)
{
    short_code c = {.at = code << (MR__PAIR_BITS - length), .length = length, .symbol = symbol};
    c.size = symbol & 15;
    c.distance = (symbol >> 4) + 1;
    c.is_end = symbol == 0;
    c.is_strange = c.size == 0 && !c.is_end && c.distance != 16;
    c.fits = !c.is_strange && length + c.size <= MR__PAIR_BITS && c.size <= 7;
    c.spare = MR__PAIR_BITS - length - (c.fits ? c.size : 0);
    return c;
}

static int32_t value_of(uint32_t bits, uint32_t size)
{
    return size != 0 && bits >> (size - 1) == 0 ? (int32_t)bits - (1 << size) + 1 : (int32_t)bits;
}

/* 1 << bits equal entries; gcc makes wide stores of four. */
static void fill_run(uint32_t *to, uint32_t entry, uint32_t bits)
{
    if (bits < 2) {
        to[0] = entry;
        to[bits] = entry;
        return;
    }
    for (uint32_t *end = to + (UINT32_C(1) << bits); to < end; to += 4) {
        to[0] = entry;
        to[1] = entry;
        to[2] = entry;
        to[3] = entry;
    }
}

/* The most bits that a first symbol leaves for a second. */
static uint32_t most_spare(const short_code *codes, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (codes[i].fits && !codes[i].is_end && codes[i].spare > most)
            most = codes[i].spare;
    return most;
}

/*
 * What is added to an entry whose first symbol leaves `spare` bits stands, by those bits, at seconds + (1 << spare), 0
 * where nothing fits. This is for the most bits that any leaves.
 */
static void fill_seconds(const short_code *c, uint32_t most, uint32_t *seconds)
{
    uint32_t used = c->length + c->size;
    if (!c->fits || used > most)
        return;
    uint32_t spare = most - used, *to = seconds + (UINT32_C(1) << most) + (c->at >> (MR__PAIR_BITS - most));
    for (uint32_t v = 0; v < UINT32_C(1) << c->size; v++, to += UINT32_C(1) << spare) {
        int32_t value = value_of(v, c->size);
        uint32_t entry = 0;
        if (c->is_end)
            entry = c->length | MR__PAIR_END | 1 << 21;
        else if (value >= -32 && value < 32)
            entry = used | c->distance << 21 | (uint32_t)value << 26;
        fill_run(to, entry, spare);
    }
}

/* Then for one bit less at a time. */
static void halve_seconds(uint32_t most, uint32_t *seconds)
{
    for (uint32_t spare = most; spare-- != 0;)
        for (uint32_t i = UINT32_C(1) << spare; i < UINT32_C(2) << spare; i++) {
            uint32_t second = seconds[2 * i];
            seconds[i] = (second & 63) <= spare ? second : 0;
        }
}

/* The entries of a first symbol and value. Only two distances of 16 are too far together. */
static void fill_both(uint32_t *restrict to, uint32_t first, const uint32_t *restrict seconds, uint32_t count)
{
    bool is_far = mr__pair_first(first) == 16;
    for (; count >= 4 && !is_far; count -= 4, to += 4, seconds += 4) {
        to[0] = first + seconds[0];
        to[1] = first + seconds[1];
        to[2] = first + seconds[2];
        to[3] = first + seconds[3];
    }
    for (uint32_t k = 0; k < count; k++)
        to[k] = first + (is_far && mr__pair_second(seconds[k]) == 16 ? 0 : seconds[k]);
}

/* The entries that a code begins. */
static void fill_firsts(const short_code *c, const uint32_t *seconds, uint32_t *pair)
{
    uint32_t *to = pair + c->at;
    if (c->is_end) {
        fill_run(to, c->length | MR__PAIR_END | 1 << 16 | 1 << 21, c->spare);
    } else if (!c->fits) {
        fill_run(to, c->is_strange ? MR__PAIR_ESCAPE : mr__escape_entry(c->symbol, c->length, c->distance), c->spare);
    } else {
        uint32_t entry = (c->length + c->size) | c->distance << 16 | c->distance << 21;
        uint32_t count = UINT32_C(1) << c->spare;
        for (uint32_t v = 0; v < UINT32_C(1) << c->size; v++, to += count)
            fill_both(to, entry | (uint32_t)(uint8_t)value_of(v, c->size) << 8, seconds + count, count);
    }
}

static void fill_pairs(mr__huffman_reader *r)
{
    uint32_t seconds[LOOKUPS], code = 0, count = 0;
    short_code codes[MR__HUFFMAN_COUNT_MAX];
    for (uint32_t length = 1; length <= MR__PAIR_BITS; length++) {
        for (uint32_t i = 0; i < r->table.counts[length]; i++, count++)
            codes[count] = code_of(code++, length, r->table.symbols[count]);
        code <<= 1;
    }
    code >>= 1;
    uint32_t most = most_spare(codes, count); // less than MR__PAIR_BITS
    memset(seconds, 0, (sizeof *seconds * 2) << most);
    for (uint32_t i = 0; i < count; i++)
        fill_seconds(&codes[i], most, seconds);
    halve_seconds(most, seconds);
    for (uint32_t i = 0; i < count; i++)
        fill_firsts(&codes[i], seconds, r->pair);
    for (uint32_t i = code; i < LOOKUPS; i++)
        r->pair[i] = MR__PAIR_ESCAPE;
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
