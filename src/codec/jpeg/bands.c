// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/bands.h"

static uint32_t first_code(const mr__jpeg_scan *scan, uint32_t symbol, uint32_t length, uint64_t bits)
{
    uint32_t size = symbol & 15, run = symbol >> 4;
    mr__bits b = {.bits = bits, .count = 63};
    if (size == 0 && run != 15)
        return length | run << MR__BAND_HIGH | MR__BAND_END;
    int32_t value = mr__bits_take_value(&b, size) * (1 << scan->low);
    if (value > INT16_MAX || value < -INT16_MAX)
        return MR__BAND_ESCAPE;
    return (length + size) | (run + 1) << MR__BAND_HIGH | (uint32_t)value << MR__BAND_VALUE;
}

static uint32_t more_code(uint32_t symbol, uint32_t length, uint64_t bits)
{
    uint32_t size = symbol & 15, run = symbol >> 4;
    if (size == 0)
        return run != 15 ? run | length << MR__BAND_HIGH | MR__BAND_END : 16 | length << MR__BAND_HIGH;
    uint32_t minus = bits >> 63 != 0 ? 0 : UINT32_C(0xffff) << MR__BAND_VALUE;
    return size == 1 ? (run + 1) | (length + 1) << MR__BAND_HIGH | MR__BAND_NEW | minus : 0;
}

/* The entry of a code that `bits` follow. */
static uint32_t make_code(const mr__jpeg_scan *scan, uint32_t symbol, uint32_t length, uint64_t bits)
{
    return scan->high == 0 ? first_code(scan, symbol, length, bits) : more_code(symbol, length, bits);
}

/* All lookups that one code begins; returns how many. */
static uint32_t fill_code(uint32_t *codes, const mr__jpeg_scan *scan, uint32_t symbol, uint32_t length)
{
    uint32_t spare = MR__BAND_BITS - length, size = symbol & 15, count = UINT32_C(1) << spare;
    bool fits = size <= (scan->high == 0 ? spare : spare < 1 ? spare : 1);
    // Those with the same value stand together.
    uint32_t same = fits ? count >> size : count;
    for (uint32_t i = 0; i < count; i += same) {
        uint32_t code = fits ? make_code(scan, symbol, length, (uint64_t)i << 1 << (63 - spare)) : MR__BAND_ESCAPE;
        for (uint32_t k = 0; k < same; k++)
            codes[i + k] = code != 0 ? code : MR__BAND_ESCAPE;
    }
    return count;
}

void mr__band_codes_init(uint32_t codes[1 << MR__BAND_BITS], const mr__huffman *table, const mr__jpeg_scan *scan)
{
    uint32_t next = 0, place = 0;
    for (uint32_t length = 1; length <= MR__BAND_BITS; length++)
        for (uint32_t i = 0; i < table->counts[length]; i++)
            next += fill_code(codes + next, scan, table->symbols[place++], length);
    while (next < 1 << MR__BAND_BITS) // longer codes, and none
        codes[next++] = MR__BAND_ESCAPE;
}

uint32_t mr__band_find(const mr__jpeg_reader *r, uint64_t bits)
{
    uint32_t length, symbol = mr__huffman_find(r->ac[0], (uint32_t)(bits >> 48), &length);
    return length != 0 ? make_code(r->scan, symbol, length, bits << length) : 0;
}
