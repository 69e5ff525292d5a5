// SPDX-License-Identifier: Apache-2.0
/*
 * Sequential scans of JPEG. Coefficients are made of the input, one in eight not zero; data to be read is the input
 * itself, taken on from the next byte after each fault. What comes of it is folded into the output, which takes its
 * share of the time.
 */
#include "codec/jpeg/scan_kernels.h"
#include "kernels.h"

enum { INPUT_MAX = 8192, BLOCKS_MAX = INPUT_MAX / 128 };

/* What the kernels work on: more than a stack should hold. The harness has one thread. */
static struct {
    int16_t blocks[BLOCKS_MAX * 64 + 64];
    uint8_t bytes[INPUT_MAX + MR__BITS_SLACK];
    uint8_t written[INPUT_MAX * 8];
    mr__huffman_reader dc, ac;
    mr__jpeg_counts counts;
    mr__jpeg_writer writer;
} place;

static const mr__jpeg_scan scan = {.count = 1, .last = 63};

static void fold(uint8_t *to, size_t to_nbytes, const void *bytes, size_t nbytes)
{
    memset(to, 0, to_nbytes);
    for (size_t i = 0; i < nbytes; i++)
        to[i % to_nbytes] = (uint8_t)(to[i % to_nbytes] * 31 + ((const uint8_t *)bytes)[i]);
}

static void make_blocks(const uint8_t *in, size_t nbytes)
{
    for (size_t i = 0; i < nbytes / 2; i++)
        place.blocks[i] = (in[2 * i] & 7) == 0 ? (int16_t)(in[2 * i] << 8 | in[2 * i + 1]) >> (in[2 * i] >> 4) : 0;
}

static mr__jpeg_unit begin(void)
{
    place.writer.scan = &scan;
    place.writer.before[0] = 0;
    place.writer.seen = 0;
    return (mr__jpeg_unit){.block = place.blocks, .step = 64};
}

static void call_write(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    mr__buffer buffer = {place.written, sizeof place.written};
    mr__jpeg_sink sink = {.buffer = &buffer, .next = place.written, .spare = 64};
    mr__huffman table;
    if (nbytes == 0)
        return;
    sink.full = place.written + sizeof place.written - MR__SINK_ROOM;
    make_blocks(in[0], nbytes);
    mr__jpeg_unit unit = begin();
    place.writer.sink = &sink;
    mr__huffman_standard(&table, 0, 0);
    mr__huffman_writer_init(&place.writer.dc[0], &table);
    mr__huffman_standard(&table, 1, 0);
    mr__huffman_writer_init(&place.writer.ac[0], &table);
    ((mr__jpeg_write_mcus *)function)(&place.writer, &unit, 1, (uint32_t)(nbytes / 128));
    fold(out[0], nbytes, place.written, (size_t)(sink.next - place.written));
    out[0][0] ^= (uint8_t)(sink.spare ^ place.writer.seen >> 24);
}

static void call_count(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    if (nbytes == 0)
        return;
    memset(&place.counts, 0, sizeof place.counts);
    make_blocks(in[0], nbytes);
    mr__jpeg_unit unit = begin();
    place.writer.counts = &place.counts;
    ((mr__jpeg_write_mcus *)function)(&place.writer, &unit, 1, (uint32_t)(nbytes / 128));
    fold(out[0], nbytes, &place.counts.of, sizeof place.counts.of);
}

static void call_read(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    mr__huffman table;
    mr__jpeg_reader r = {.scan = &scan, .dc = {&place.dc}, .ac = {&place.ac}, .data = place.bytes};
    if (nbytes == 0)
        return;
    mr__huffman_standard(&table, 0, 0);
    mr__huffman_reader_init(&place.dc, &table, MR__HUFFMAN_DC);
    mr__huffman_standard(&table, 1, 0);
    mr__huffman_reader_init(&place.ac, &table, MR__HUFFMAN_AC);
    memcpy(place.bytes, in[0], nbytes);
    memset(place.bytes + nbytes, 0, MR__BITS_SLACK);
    memset(place.blocks, 0, sizeof place.blocks);
    r.data_nbytes = nbytes;
    uint32_t block = 0;
    for (size_t at = 0; at < nbytes; block = (block + 1) % BLOCKS_MAX) {
        mr__jpeg_unit unit = {.block = place.blocks + 64 * block, .step = 64};
        r.bits = (mr__bits){.next = place.bytes + at};
        r.before[0] = 0;
        ((mr__jpeg_read_mcus *)function)(&r, &unit, 1, BLOCKS_MAX - block);
        block = (uint32_t)(unit.block - place.blocks) / 64;
        size_t taken = (size_t)(mr__bits_taken(&r.bits, place.bytes) / 8);
        at = taken > at ? taken : at + 1;
        place.blocks[64 * (block % BLOCKS_MAX) + 1] ^= (int16_t)(r.fault * 3 + taken);
    }
    fold(out[0], nbytes, place.blocks, sizeof place.blocks);
}

static void call_find(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    make_blocks(in[0], nbytes);
    for (size_t i = 0; i < nbytes / 128; i++)
        for (uint32_t low = 0; low < 15; low++) {
            uint64_t mask = ((mr__jpeg_find *)function)(place.blocks + 64 * i, low);
            memcpy(out[0] + 128 * i + 8 * low, &mask, 8);
            memset(out[0] + 128 * i + 120, 0, 8);
        }
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__jpeg_scans table;
    mr__jpeg_scans_init(&table, cpu);
    k[0] = (kernel){.name = "jpeg_read",
                    .function = (kernel_function *)table.read,
                    .call = call_read,
                    .unit = 1,
                    .inputs = 1,
                    .outputs = 1};
    k[1] = (kernel){.name = "jpeg_write",
                    .function = (kernel_function *)table.write,
                    .call = call_write,
                    .unit = 128,
                    .inputs = 1,
                    .outputs = 1};
    k[2] = (kernel){.name = "jpeg_count",
                    .function = (kernel_function *)table.count,
                    .call = call_count,
                    .unit = 128,
                    .inputs = 1,
                    .outputs = 1};
    k[3] = (kernel){.name = "jpeg_find",
                    .function = (kernel_function *)table.find,
                    .call = call_find,
                    .unit = 128,
                    .inputs = 1,
                    .outputs = 1};
    return 4;
}

const kernel_table kernels_jpeg_scans = {"jpeg scans", list};
