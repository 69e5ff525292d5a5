// SPDX-License-Identifier: Apache-2.0
/*
 * Reading into lanes, with every kernel there is, against a plain reader that goes bit by bit: what blocks get, what is
 * skipped, what is a bad code, what is strange.
 */
#include "test.h"

#include "base/rng.h"
#include "codec/jpeg/scan_kernels.h"
#include "jpeg_coefs.h"
#include "kernel/jpeg_pixels.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 4096 };

static coefs_tool tool;

/* What came of a file: its blocks in the order of the file, or why not. */
static struct outcome {
    int result;
    uint32_t count;
    int16_t block[BLOCKS_MAX][64];
} plain, ours;

static int setup(void **state)
{
    (void)state;
    return coefs_open(&tool, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    coefs_close(&tool);
    return 0;
}

/* The scan of a sequential file with all components, and how its MCUs are made up. */
typedef struct opened {
    mr__call call;
    mr__jpeg_coefficients frame;
    mr__jpeg_walk walk;
    uint32_t unit_count, mcus;
    uint8_t part[MR__JPEG_MCU_MAX];
} opened;

static bool open_file(opened *o, const picture_file *file)
{
    bool more;
    o->call = mr__handle_call(tool.handle, file->bytes, file->nbytes);
    if (mr__jpeg_walk_init(&o->walk, &o->call, &o->frame) != 0 || mr__jpeg_walk_next(&o->walk, &more) != 0 || !more)
        return false;
    o->unit_count = 0;
    for (uint32_t i = 0; i < o->frame.components; i++) {
        uint32_t n = o->frame.components == 1 ? 1 : (uint32_t)o->frame.plane[i].h * o->frame.plane[i].v;
        for (uint32_t k = 0; k < n; k++)
            o->part[o->unit_count++] = (uint8_t)i;
    }
    o->mcus = o->walk.scan.mcus_w * o->walk.scan.mcus_h;
    return o->mcus * o->unit_count <= BLOCKS_MAX && mr__jpeg_coefficients_reserve(&o->call, &tool.work) == 0;
}

/* The plain reader: one bit at a time, from the file. */
typedef struct plain_bits {
    const uint8_t *at, *end;
    uint32_t left; /* of the byte at hand */
    bool over;
} plain_bits;

static uint32_t take_bit(plain_bits *b)
{
    if (b->at >= b->end || (b->at[0] == 0xff && (b->at + 1 == b->end || b->at[1] != 0))) {
        b->over = true;
        return 0;
    }
    uint32_t bit = b->at[0] >> (b->left - 1) & 1;
    if (--b->left == 0) {
        b->at += b->at[0] == 0xff ? 2 : 1;
        b->left = 8;
    }
    return bit;
}

static int take_symbol(plain_bits *b, const mr__huffman *t)
{
    uint32_t code = 0, first = 0, place = 0;
    for (uint32_t length = 1; length <= 16; length++) {
        code = code << 1 | take_bit(b);
        first <<= 1;
        if (code - first < t->counts[length])
            return t->symbols[place + code - first];
        first += t->counts[length];
        place += t->counts[length];
    }
    return -1;
}

static int32_t take_number(plain_bits *b, int size)
{
    int32_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 1 | (int32_t)take_bit(b);
    return size != 0 && value >> (size - 1) == 0 ? value - (1 << size) + 1 : value;
}

static bool fits(int32_t value, int32_t quant)
{
    int64_t product = (int64_t)value * quant;
    return product >= INT16_MIN && product <= INT16_MAX;
}

static mr__jpeg_fault take_block(plain_bits *b, const opened *o, uint32_t part, int32_t *before, int16_t *block)
{
    const mr__jpeg_scan *s = &o->walk.scan;
    const uint16_t *quant = o->frame.quant[o->frame.plane[part].table];
    int symbol = take_symbol(b, &o->walk.huffman[0][s->dc[part]]);
    if (symbol < 0)
        return MR__JPEG_BAD_CODE;
    *before += take_number(b, symbol);
    bool strange = !fits(*before, quant[0]) || !fits(*before, 1);
    block[0] = (int16_t)*before;
    for (int k = 1; k < 64; k++) {
        symbol = take_symbol(b, &o->walk.huffman[1][s->ac[part]]);
        if (symbol < 0)
            return MR__JPEG_BAD_CODE;
        if (symbol == 0)
            break;
        k += symbol >> 4;
        if (k > 63 || ((symbol & 15) == 0 && symbol != 0xf0))
            return MR__JPEG_STRANGE;
        int32_t value = take_number(b, symbol & 15);
        block[k] = (int16_t)value;
        if (!fits(value, quant[k]))
            return MR__JPEG_STRANGE;
    }
    return strange ? MR__JPEG_STRANGE : 0;
}

/* What it is called that the data end where they do. */
static int end_of(const plain_bits *b)
{
    const uint8_t *p = b->at;
    while (p < b->end && *p == 0xff)
        p++;
    return p == b->end ? MR_ETRUNCATED : *p == 0 ? MR_EUNSUPPORTED : MR_ECORRUPT;
}

/* Over data that are too long, to the restart marker. */
static int pass_restart(plain_bits *b, uint8_t marker)
{
    while (!b->over)
        (void)take_bit(b);
    const uint8_t *p = b->at;
    while (p < b->end && *p == 0xff)
        p++;
    if (p == b->end || *p != marker)
        return end_of(b);
    *b = (plain_bits){p + 1, b->end, 8, false};
    return 0;
}

static int read_plainly(const opened *o)
{
    plain_bits b = {o->call.bytes + o->walk.at, o->call.bytes + o->call.nbytes, 8, false};
    int32_t before[MR__JPEG_PLANE_MAX] = {0};
    uint32_t restart = o->walk.scan.restart;
    memset(plain.block, 0, sizeof plain.block);
    for (uint32_t m = 0, n = 0; m < o->mcus; m++) {
        if (restart != 0 && m != 0 && m % restart == 0) {
            int result = pass_restart(&b, (uint8_t)(0xd0 + (m / restart - 1) % 8));
            if (result != 0)
                return result;
            memset(before, 0, sizeof before);
        }
        for (uint32_t u = 0; u < o->unit_count; u++, n++) {
            mr__jpeg_fault fault = take_block(&b, o, o->part[u], &before[o->part[u]], plain.block[n]);
            if (fault == MR__JPEG_BAD_CODE)
                (void)take_bit(&b); // which libjpeg would look at, too, before it calls the code bad
            if (b.over)
                return end_of(&b);
            if (fault == MR__JPEG_BAD_CODE)
                return MR_ECORRUPT;
            if (fault != 0)
                return MR_EUNSUPPORTED;
        }
    }
    return 0;
}

/* A strip for each block of an MCU, a lane for each of 16 MCUs. */
static int16_t strips[MR__JPEG_MCU_MAX][64][MR__JPEG_STRIP];

static void take_strips(const mr__jpeg_reader *r, uint32_t unit_count, uint32_t mcus)
{
    for (uint32_t m = 0; m < mcus; m++)
        for (uint32_t u = 0; u < unit_count; u++, ours.count++)
            for (uint32_t k = 0; k < 64; k++) {
                ours.block[ours.count][k] = strips[u][k][m];
                assert_true(strips[u][k][m] == 0 || k <= r->last[u]);
            }
}

static int read_lanes(opened *o, mr__jpeg_read_lanes *read, bool keeps)
{
    mr__jpeg_reader r;
    uint32_t restart = o->walk.scan.restart, left = restart != 0 ? restart : UINT32_MAX, interval = 0;
    size_t rest;
    int result = 0;
    mr__jpeg_reader_init(&r, &o->walk, tool.work.data.bytes, (void *)tool.work.tables.bytes);
    ours.count = 0;
    for (uint32_t done = 0, n; result == 0 && done < o->mcus; done += n) {
        mr__jpeg_lane lanes[16 * MR__JPEG_MCU_MAX];
        if (left == 0) {
            result = mr__jpeg_reader_restart(&r, ++interval);
            left = restart;
        }
        n = o->mcus - done < 16 ? o->mcus - done : 16;
        n = n < left ? n : left;
        left -= restart != 0 ? n : 0;
        memset(strips, 0, sizeof strips);
        memset(r.last, 0, sizeof r.last);
        for (uint32_t i = 0; i < n * o->unit_count; i++) {
            uint32_t u = i % o->unit_count;
            lanes[i] = (mr__jpeg_lane){&strips[u][0][i / o->unit_count], o->part[u], (uint8_t)u};
        }
        if (result == 0 && !read(&r, lanes, o->unit_count, n))
            result = mr__jpeg_reader_fail(&r);
        if (result == 0 && keeps)
            take_strips(&r, o->unit_count, n);
    }
    return result != 0 ? result : mr__jpeg_reader_end(&r, &rest);
}

/* All kernels give what the plain reader does; returns that. */
static int check_file(const picture_file *file)
{
    mr__cpu_flags all = tool.handle->cpu, masks[] = {0, MR__CPU_BMI2, all};
    opened o;
    assert_true(open_file(&o, file));
    plain.result = read_plainly(&o);
    for (size_t i = 0; i < 3; i++) {
        mr__jpeg_scans table;
        mr__jpeg_scans_init(&table, all & masks[i]);
        o.call.cpu = all & masks[i];
        assert_int_equal(read_lanes(&o, table.lanes, true), plain.result);
        if (plain.result == 0)
            assert_memory_equal(ours.block, plain.block, (size_t)ours.count * sizeof ours.block[0]);
        if (plain.result != 0)
            continue;
        assert_int_equal(read_lanes(&o, table.skip, false), 0);
        assert_int_equal(read_lanes(&o, table.lanes_dc, true), 0);
        for (uint32_t n = 0; n < ours.count; n++) {
            assert_int_equal(ours.block[n][0], plain.block[n][0]);
            for (uint32_t k = 1; k < 64; k++)
                assert_int_equal(ours.block[n][k], 0);
        }
    }
    return plain.result;
}

static uint32_t below(mr__rng *rng, uint32_t n)
{
    return mr__rng_below(rng, n);
}

/* Files of every kind. */
static picture_file make_file(mr__rng *rng)
{
    static const uint8_t factors[] = {0x11, 0x21, 0x12, 0x22, 0x41};
    static const int restarts[] = {0, 0, 1, 2, 7, 40};
    plain_recipe r = {.space = below(rng, 4) == 0 ? PLAIN_GRAY : PLAIN_YCC};
    r.width = 8 + below(rng, 90);
    r.height = 8 + below(rng, 90);
    r.factors[0] = factors[below(rng, 5)];
    r.quality = 1 + (int)below(rng, 100);
    r.restart = restarts[below(rng, 6)];
    r.seed = mr__rng_u32(rng);
    picture_file file = plain_encode(&r);
    if (below(rng, 2) == 0)
        return file;
    picture_file other = coefs_transcode(&file, &(coefs_coding){.optimal = true, .restart = r.restart});
    free(file.bytes);
    return other;
}

static size_t find_marker(const picture_file *file, uint8_t marker)
{
    size_t at = 2;
    while (file->bytes[at + 1] != marker)
        at += 2 + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
    return at;
}

static void good(void **state)
{
    (void)state;
    mr__rng rng;
    mr__rng_init(&rng, 1, 0, 0, 0);
    for (int i = 0; i < 200; i++) {
        picture_file file = make_file(&rng);
        assert_int_equal(check_file(&file), 0);
        free(file.bytes);
    }
}

/* Bytes of the data that are others, and data that end too early. */
static void damaged(void **state)
{
    (void)state;
    mr__rng rng;
    size_t corrupt = 0, strange = 0;
    mr__rng_init(&rng, 2, 0, 0, 0);
    for (int i = 0; i < 60; i++) {
        picture_file file = make_file(&rng);
        size_t data = find_marker(&file, 0xda) + 14, all = file.nbytes;
        for (int n = 0; n < 12; n++) {
            size_t at = data + below(&rng, (uint32_t)(all - data));
            uint8_t was = file.bytes[at];
            file.bytes[at] ^= (uint8_t)(1 + below(&rng, 255));
            file.nbytes = n % 4 == 3 ? at : all;
            picture_file copy = picture_copy(file.bytes, file.nbytes);
            int result = check_file(&copy);
            corrupt += result == MR_ECORRUPT;
            strange += result == MR_EUNSUPPORTED;
            free(copy.bytes);
            file.bytes[at] = was;
        }
        free(file.bytes);
    }
    assert_true(corrupt > 50 && strange > 50);
}

/* Symbols that are others: runs beyond the block, odd ends of block, values of up to 15 bits. */
static void other_symbols(void **state)
{
    (void)state;
    mr__rng rng;
    size_t read = 0, strange = 0;
    mr__rng_init(&rng, 3, 0, 0, 0);
    for (int i = 0; i < 200; i++) {
        picture_file file = make_file(&rng);
        size_t at = find_marker(&file, 0xc4), end = at + 2 + (size_t)(file.bytes[at + 2] << 8 | file.bytes[at + 3]);
        while ((file.bytes[at + 4] & 0x10) == 0) { // to a table for AC: each has a segment of its own
            at = end;
            assert_int_equal(file.bytes[at + 1], 0xc4);
            end = at + 2 + (size_t)(file.bytes[at + 2] << 8 | file.bytes[at + 3]);
        }
        for (uint32_t n = 1 + below(&rng, 3); n != 0; n--)
            file.bytes[at + 21 + below(&rng, (uint32_t)(end - at - 21))] = (uint8_t)mr__rng_u32(&rng);
        int result = check_file(&file);
        read += result == 0;
        strange += result == MR_EUNSUPPORTED;
        free(file.bytes);
    }
    assert_true(read > 20 && strange > 20);
}

/* The same file with quantisers of two bytes. */
static picture_file requantise(const picture_file *file, mr__rng *rng, uint32_t most)
{
    picture_file out = {malloc(file->nbytes + 1024), 0};
    assert_non_null(out.bytes);
    for (size_t at = 0; at < file->nbytes;) {
        bool is_marker = at >= 2 && at < find_marker(file, 0xda);
        size_t nbytes = at == 0     ? 2
                        : is_marker ? 2 + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3])
                                    : file->nbytes - at;
        if (is_marker && file->bytes[at + 1] == 0xdb) {
            assert_int_equal(nbytes, 69); // one table a segment
            const uint8_t head[] = {0xff, 0xdb, 0, 131, (uint8_t)(0x10 | file->bytes[at + 4])};
            memcpy(out.bytes + out.nbytes, head, sizeof head);
            out.nbytes += sizeof head;
            for (int k = 0; k < 64; k++) {
                uint32_t q = 1 + below(rng, most);
                out.bytes[out.nbytes++] = (uint8_t)(q >> 8);
                out.bytes[out.nbytes++] = (uint8_t)q;
            }
        } else {
            memcpy(out.bytes + out.nbytes, file->bytes + at, nbytes);
            out.nbytes += nbytes;
        }
        at += nbytes;
    }
    return out;
}

/* Products that fit 16 bits and those that do not, about the border between the two ways to look for them. */
static void products(void **state)
{
    (void)state;
    static const uint32_t most[] = {40, 255, 258, 259, 300, 2000, 65535};
    mr__rng rng;
    size_t read = 0, strange = 0;
    mr__rng_init(&rng, 4, 0, 0, 0);
    for (int i = 0; i < 280; i++) {
        picture_file file = make_file(&rng), other = requantise(&file, &rng, most[i % 7]);
        int result = check_file(&other);
        read += result == 0;
        strange += result == MR_EUNSUPPORTED;
        free(other.bytes);
        free(file.bytes);
    }
    assert_true(read > 50 && strange > 50);
}

/* Many ff, of which many have a zero behind them. */
static void stuffing(void **state)
{
    (void)state;
    enum { MOST = 300 };
    mr__rng rng;
    mr__jpeg_scans table;
    mr__rng_init(&rng, 5, 0, 0, 0);
    mr__jpeg_scans_init(&table, tool.handle->cpu);
    for (int i = 0; i < 20000; i++) {
        uint8_t from[MOST], a[MOST + 32], b[MOST + 32], c[MOST];
        uint32_t n = below(&rng, MOST), rare = 1 + below(&rng, 60), read = 0, wrote = 0;
        for (uint32_t k = 0; k < n; k++)
            from[k] = k != 0 && from[k - 1] == 0xff && below(&rng, 40) != 0 ? 0
                      : below(&rng, rare) == 0                              ? 0xff
                                                                            : (uint8_t)mr__rng_u32(&rng);
        while (read < n && (from[read] != 0xff || (read + 1 < n && from[read + 1] == 0))) {
            c[wrote++] = from[read];
            read += from[read] == 0xff ? 2 : 1;
        }
        picture_file exact = picture_copy(from, n);
        size_t a_nbytes, b_nbytes;
        assert_int_equal(mr__jpeg_unstuff_c(exact.bytes, n, a, &a_nbytes), read);
        assert_int_equal(table.unstuff(exact.bytes, n, b, &b_nbytes), read);
        assert_int_equal(a_nbytes, wrote);
        assert_int_equal(b_nbytes, wrote);
        assert_memory_equal(a, c, wrote);
        assert_memory_equal(b, c, wrote);
        free(exact.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),     cmocka_unit_test(damaged),  cmocka_unit_test(other_symbols),
        cmocka_unit_test(products), cmocka_unit_test(stuffing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
