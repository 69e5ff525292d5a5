// SPDX-License-Identifier: Apache-2.0
/*
 * AC scans of progressive JPEG. Data to be read is the input itself, taken on from the next byte after each fault; what
 * is refined has one coefficient in four that is not zero. What comes of it is folded into the output, which takes its
 * share of the time.
 */
#include "codec/jpeg/bands.h"
#include "kernels.h"

enum { INPUT_MAX = 8192, BLOCKS = 64 };

/* What the kernels work on: more than a stack should hold. The harness has one thread. */
static struct {
    int16_t blocks[BLOCKS * 64];
    uint8_t bytes[INPUT_MAX + MR__BITS_SLACK];
    mr__huffman_reader ac;
    uint32_t codes[1 << MR__BAND_BITS];
} place;

/* Codes of 2 to 10 bits for the symbols of a first scan or of a refining one: ends, runs, values. */
static void make_table(mr__huffman *table, bool refines)
{
    static const uint8_t counts[] = {0, 0, 1, 1, 2, 3, 4, 6, 8, 9, 11};
    static const uint8_t runs[] = {0, 1, 2, 3, 4, 5, 8, 15, 0, 10, 1, 12, 2, 14, 6};
    *table = (mr__huffman){.is_there = true, .count = 45};
    for (uint8_t i = 0; i < sizeof counts; i++)
        table->counts[i] = counts[i];
    for (uint32_t i = 0; i < 45; i++)
        table->symbols[i] = (uint8_t)(runs[i / 3] << 4 | (i % 3 == 2 ? 0 : refines ? 1 : 1 + i % 11));
}

static void fold(uint8_t *to, size_t to_nbytes, const void *bytes, size_t nbytes)
{
    memset(to, 0, to_nbytes);
    for (size_t i = 0; i < nbytes; i++)
        to[i % to_nbytes] = (uint8_t)(to[i % to_nbytes] * 31 + ((const uint8_t *)bytes)[i]);
}

static void make_blocks(const uint8_t *in, size_t nbytes, const mr__jpeg_scan *scan)
{
    memset(place.blocks, 0, sizeof place.blocks);
    for (size_t i = 0; scan->high != 0 && i < BLOCKS * 64; i++) {
        uint8_t byte = in[(i * 7 + i / 64) % nbytes];
        place.blocks[i] = (int16_t)((byte & 3) == 0 ? (byte & 4) != 0 ? 4 + byte : -4 - byte : 0) & ~3;
    }
}

static void call_bands(kernel_function *function, uint8_t *out, const uint8_t *in, size_t nbytes, mr__jpeg_scan scan)
{
    mr__huffman table;
    mr__jpeg_reader r = {.scan = &scan, .ac = {&place.ac}, .data = place.bytes, .codes = place.codes};
    if (nbytes == 0)
        return;
    make_table(&table, scan.high != 0);
    mr__huffman_reader_init(&place.ac, &table, false);
    mr__band_codes_init(place.codes, &table, &scan);
    memcpy(place.bytes, in, nbytes);
    memset(place.bytes + nbytes, 0, MR__BITS_SLACK);
    make_blocks(in, nbytes, &scan);
    r.data_nbytes = nbytes;
    uint32_t block = 0;
    for (size_t at = 0; at < nbytes; block = (block + 1) % BLOCKS) {
        mr__jpeg_unit unit = {.block = place.blocks + 64 * block, .step = 64};
        r.bits = (mr__bits){.next = place.bytes + at};
        r.end_run = 0;
        bool whole = ((mr__jpeg_read_mcus *)function)(&r, &unit, 1, BLOCKS - block);
        size_t taken = (size_t)(mr__bits_taken(&r.bits, place.bytes) / 8);
        at = taken > at ? taken : at + 1;
        place.blocks[64 * block] ^= (int16_t)((whole ? 0 : r.fault * 3) + taken + r.end_run);
    }
    fold(out, nbytes, place.blocks, sizeof place.blocks);
}

static void call_first(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    call_bands(function, out[0], in[0], nbytes, (mr__jpeg_scan){.count = 1, .first = 1, .last = 63, .low = 1});
}

static void call_more(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    call_bands(function, out[0], in[0], nbytes,
               (mr__jpeg_scan){.count = 1, .first = 1, .last = 63, .high = 2, .low = 1});
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__jpeg_bands table;
    mr__jpeg_bands_init(&table, cpu);
    k[0] = (kernel){.name = "jpeg_band_first",
                    .function = (kernel_function *)table.first,
                    .call = call_first,
                    .unit = 1,
                    .inputs = 1,
                    .outputs = 1};
    k[1] = (kernel){.name = "jpeg_band_more",
                    .function = (kernel_function *)table.more,
                    .call = call_more,
                    .unit = 1,
                    .inputs = 1,
                    .outputs = 1};
    return 2;
}

const kernel_table kernels_jpeg_bands = {"jpeg bands", list};
