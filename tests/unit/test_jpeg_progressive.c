// SPDX-License-Identifier: Apache-2.0
/* Progressive scans that no encoder here writes, made bit by bit, and read as libjpeg reads them. */
#include "test.h"

#include "base/rng.h"
#include "handles.h"
#include "jpeg_coefs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 400, BYTES_MAX = 1 << 21 };

static coefs_tool tool;

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

/* A file in the making: gray, its blocks being known by what is not zero. */
typedef struct maker {
    mr__rng rng;
    uint8_t *bytes;
    size_t nbytes;
    uint32_t bits, bit_count;
    uint32_t width, height, blocks, restart;
    int32_t dc[BLOCKS_MAX];
    bool nonzero[BLOCKS_MAX][64];
    uint16_t code[256];
    uint8_t length[256];
    uint32_t first, last, high, low; /* of the scan */
    uint32_t end_run;
} maker;

static uint32_t draw(maker *m, uint32_t below)
{
    return mr__rng_u32(&m->rng) % below;
}

static void put_bytes(maker *m, const void *bytes, size_t nbytes)
{
    assert_true(m->nbytes + nbytes <= BYTES_MAX);
    memcpy(m->bytes + m->nbytes, bytes, nbytes);
    m->nbytes += nbytes;
}

static void put_segment(maker *m, uint8_t marker, const uint8_t *bytes, size_t nbytes)
{
    uint8_t head[4] = {0xff, marker, (uint8_t)((nbytes + 2) >> 8), (uint8_t)(nbytes + 2)};
    put_bytes(m, head, 4);
    put_bytes(m, bytes, nbytes);
}

static void put_bits(maker *m, uint32_t value, uint32_t count)
{
    while (count-- > 0) {
        m->bits = m->bits << 1 | (value >> count & 1);
        if (++m->bit_count == 8) {
            uint8_t pair[2] = {(uint8_t)m->bits, 0};
            put_bytes(m, pair, pair[0] == 0xff ? 2 : 1);
            m->bit_count = 0;
        }
    }
}

static void put_symbol(maker *m, uint32_t symbol)
{
    assert_int_not_equal(m->length[symbol], 0);
    put_bits(m, m->code[symbol], m->length[symbol]);
}

static void flush(maker *m)
{
    while (m->bit_count != 0)
        put_bits(m, 1, 1);
}

/* A table of the symbols up to `count`, in any order, so that each has a short code now and a long one then. */
static void put_table(maker *m, uint32_t table_class, uint32_t count)
{
    static const uint8_t usual[17] = {0, 0, 1, 1, 2, 2, 3, 4, 8, 8};
    uint8_t bytes[17 + 256] = {(uint8_t)(table_class << 4)}, *symbols = bytes + 17;
    uint32_t code = 0, place = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = draw(m, i + 1);
        symbols[i] = symbols[k];
        symbols[k] = (uint8_t)i;
    }
    memset(m->length, 0, sizeof m->length);
    for (uint32_t length = 1; length <= 16; length++) {
        uint32_t left = count - place, n = length == 14 ? left / 2 : length == 16 ? left : usual[length];
        bytes[length] = (uint8_t)(n < left ? n : left);
        for (uint32_t i = 0; i < bytes[length]; i++, place++) {
            m->code[symbols[place]] = (uint16_t)code++;
            m->length[symbols[place]] = (uint8_t)length;
        }
        code <<= 1;
    }
    put_segment(m, 0xc4, bytes, 17 + count);
}

static void begin(maker *m, uint32_t width, uint32_t height, uint32_t restart, uint64_t seed)
{
    uint8_t *bytes = m->bytes != NULL ? m->bytes : malloc(BYTES_MAX);
    *m = (maker){.bytes = bytes, .width = width, .height = height, .restart = restart};
    mr__rng_init(&m->rng, seed, 0, 0, 0);
    m->blocks = (width + 7) / 8 * ((height + 7) / 8);
    assert_true(m->blocks <= BLOCKS_MAX);
    uint8_t quant[65] = {0},
            frame[] = {8, (uint8_t)(height >> 8), (uint8_t)height, (uint8_t)(width >> 8), (uint8_t)width, 1, 1, 0x11,
                       0};
    uint8_t interval[2] = {(uint8_t)(restart >> 8), (uint8_t)restart};
    memset(quant + 1, 1, 64);
    put_bytes(m, "\xff\xd8", 2);
    put_segment(m, 0xdb, quant, sizeof quant);
    put_segment(m, 0xc2, frame, sizeof frame);
    put_segment(m, 0xdd, interval, 2);
}

static void begin_scan(maker *m, uint32_t first, uint32_t last, uint32_t high, uint32_t low)
{
    m->first = first;
    m->last = last;
    m->high = high;
    m->low = low;
    m->end_run = 0;
    if (first != 0 || high == 0)
        put_table(m, first != 0, first != 0 ? 250 : 12);
    uint8_t head[] = {1, 1, 0, (uint8_t)first, (uint8_t)last, (uint8_t)(high << 4 | low)};
    put_segment(m, 0xda, head, sizeof head);
}

/* A value as JPEG writes it. */
static void put_value(maker *m, int32_t value, uint32_t size)
{
    put_bits(m, (uint32_t)(value < 0 ? value - 1 : value) & ((UINT32_C(1) << size) - 1), size);
}

static void put_dc(maker *m, uint32_t block, int32_t *before)
{
    int32_t most = 32767 >> m->low < 500 ? 32767 >> m->low : 500;
    if (m->high != 0) {
        put_bits(m, draw(m, 2), 1);
        return;
    }
    m->dc[block] = (int32_t)draw(m, 2 * (uint32_t)most + 1) - most;
    int32_t value = m->dc[block] - *before;
    uint32_t size = 0;
    while (abs(value) >> size != 0)
        size++;
    put_symbol(m, size);
    put_value(m, value, size);
    *before = m->dc[block];
}

/* The end of the band of this block, and of some that follow in the interval. */
static void put_end(maker *m, uint32_t ahead)
{
    uint32_t n = 0;
    m->end_run = draw(m, 3) == 0 ? 1 + draw(m, ahead) : 1;
    while (m->end_run >> (n + 1) != 0)
        n++;
    put_symbol(m, n << 4);
    put_bits(m, m->end_run - (UINT32_C(1) << n), n);
}

static void put_first(maker *m, uint32_t block, uint32_t ahead)
{
    for (uint32_t k = m->first; m->end_run == 0 && k <= m->last; k++) {
        uint32_t left = m->last - k + 1, run = draw(m, left < 16 ? left : 16);
        uint32_t room = 15 - m->low, size = 1 + draw(m, room < 9 ? room : 9);
        if (draw(m, 5) == 0) {
            put_end(m, ahead);
            break;
        }
        run = draw(m, 3) == 0 ? run : 0;
        k += run;
        if (run == 15 && draw(m, 2) == 0) {
            put_symbol(m, 0xf0);
            continue;
        }
        put_symbol(m, run << 4 | size);
        put_bits(m, draw(m, UINT32_C(1) << size), size);
        m->nonzero[block][k] = true;
    }
    m->end_run -= m->end_run != 0;
}

/* Bits for what is not zero, from k on, up to the zero behind `run` others; returns where that is. */
static uint32_t put_more(maker *m, uint32_t block, uint32_t k, uint32_t run)
{
    for (; k <= m->last; k++) {
        if (m->nonzero[block][k])
            put_bits(m, draw(m, 2), 1);
        else if (run-- == 0)
            break;
    }
    return k;
}

static void put_refined(maker *m, uint32_t block, uint32_t ahead)
{
    bool added[64] = {false};
    uint32_t k = m->first;
    while (m->end_run == 0 && k <= m->last) {
        uint32_t zeros = 0;
        for (uint32_t i = k; i <= m->last; i++)
            zeros += !m->nonzero[block][i];
        if (zeros == 0 || draw(m, 6) == 0) {
            put_end(m, ahead);
            break;
        }
        uint32_t run = draw(m, 3) == 0 ? draw(m, zeros < 16 ? zeros : 16) : 0;
        bool is_new = run != 15 || draw(m, 2) == 0;
        put_symbol(m, run << 4 | is_new);
        if (is_new)
            put_bits(m, draw(m, 2), 1);
        k = put_more(m, block, k, run);
        added[k++] = is_new;
    }
    if (m->end_run != 0) {
        put_more(m, block, k, 64);
        m->end_run--;
    }
    for (k = 0; k < 64; k++)
        m->nonzero[block][k] |= added[k];
}

static void put_scan(maker *m, uint32_t first, uint32_t last, uint32_t high, uint32_t low)
{
    int32_t before = 0;
    begin_scan(m, first, last, high, low);
    for (uint32_t i = 0; i < m->blocks; i++) {
        uint32_t ahead = m->blocks - i;
        if (m->restart != 0) {
            uint32_t to_marker = m->restart - i % m->restart;
            ahead = to_marker < ahead ? to_marker : ahead;
            if (i != 0 && i % m->restart == 0) {
                uint8_t marker[2] = {0xff, (uint8_t)(0xd0 + (i / m->restart - 1) % 8)};
                flush(m);
                put_bytes(m, marker, 2);
                before = 0;
            }
        }
        if (first == 0)
            put_dc(m, i, &before);
        else if (high == 0)
            put_first(m, i, ahead);
        else
            put_refined(m, i, ahead);
    }
    flush(m);
}

static void check(maker *m, const char *what)
{
    put_bytes(m, "\xff\xd9", 2);
    picture_file file = picture_copy(m->bytes, m->nbytes);
    mr__cpu_flags all = tool.handle->cpu, masks[] = {0, all & ~(mr__cpu_flags)MR__CPU_FAST_PDEP, all};
    for (size_t i = 0; i < 3; i++) {
        mr__jpeg_coefficients c;
        tool.handle->cpu = masks[i];
        int result = coefs_read(&tool, &file, &c), same = result == 0 ? coefs_compare(&file, &c) : -1;
        if (result != 0 || same != 0)
            print_error("%s, kernels %x: %d, %s\n", what, masks[i], same, coefs_detail(&tool));
        assert_int_equal(result, 0);
        assert_int_equal(same, 0);
    }
    tool.handle->cpu = all;
    free(file.bytes);
}

/* Bands of any width, from any bit down to any, in sizes and intervals of all kinds. */
static void any_scans(void **state)
{
    (void)state;
    maker *m = calloc(1, sizeof *m);
    for (uint32_t seed = 0; seed < (test_quick() ? 60u : 300u); seed++) {
        char what[40];
        snprintf(what, sizeof what, "seed %u", seed);
        static const uint32_t restarts[] = {0, 1, 3, 7, 50};
        begin(m, 1 + seed * 7 % 140, 1 + seed * 11 % 130, restarts[seed % 5], seed);
        uint32_t dc = draw(m, 14);
        put_scan(m, 0, 0, 0, dc);
        for (uint32_t first = 1, last; first < 64; first = last + 1) {
            uint32_t widths[] = {1, 2, 5, 16, 63}, low = draw(m, 14), to = draw(m, low + 1);
            last = first + widths[draw(m, 5)] - 1;
            last = last < 63 ? last : 63;
            put_scan(m, first, last, 0, low);
            for (; low > to && draw(m, 8) != 0; low--)
                put_scan(m, first, last, low, low - 1);
            if (dc > 0 && draw(m, 2) == 0) {
                put_scan(m, 0, 0, dc, dc - 1);
                dc--;
            }
            if (m->nbytes > 100000)
                break;
        }
        check(m, what);
    }
    free(m->bytes);
    free(m);
}

/* From the highest bit to the lowest: every block becomes full. */
static void all_bits(void **state)
{
    (void)state;
    maker *m = calloc(1, sizeof *m);
    for (uint32_t kind = 0; kind < 3; kind++) {
        begin(m, 100, 60, kind == 1 ? 5 : 0, kind);
        put_scan(m, 0, 0, 0, 13);
        put_scan(m, kind == 2 ? 63 : 1, 63, 0, 13);
        for (uint32_t low = 13; low > 0; low--) {
            put_scan(m, kind == 2 ? 63 : 1, 63, low, low - 1);
            put_scan(m, 0, 0, low, low - 1);
        }
        check(m, "all bits");
    }
    free(m->bytes);
    free(m);
}

static void check_refused(maker *m, int code, const char *part)
{
    flush(m);
    put_bytes(m, "\xff\xd9", 2);
    picture_file file = picture_copy(m->bytes, m->nbytes);
    mr__cpu_flags all = tool.handle->cpu;
    for (size_t i = 0; i < 2; i++) {
        mr__jpeg_coefficients c;
        tool.handle->cpu = i == 0 ? 0 : all;
        assert_int_equal(coefs_read(&tool, &file, &c), code);
        assert_contains(coefs_detail(&tool), part);
    }
    free(file.bytes);
}

/* What is wrong within a band: what libjpeg warns of is damage, what it takes without a word is not supported. */
static void wrong_codes(void **state)
{
    (void)state;
    maker *m = calloc(1, sizeof *m);
    for (int kind = 0; kind < 6; kind++) {
        begin(m, 8, 8, 0, 5);
        put_scan(m, 0, 0, 0, 0);
        begin_scan(m, 1, 10, 0, kind == 2 ? 13 : 1);
        put_symbol(m, kind == 0 ? 0xa1 : kind == 1 ? 0xf0 : kind == 2 ? 3 : 0x11);
        put_bits(m, 7, kind == 2 ? 3 : kind == 1 ? 0 : 1);
        if (kind <= 2) { // beyond the last place; a value of more than 16 bits
            check_refused(m, MR_EUNSUPPORTED, "not supported");
            continue;
        }
        put_symbol(m, 0);
        flush(m);
        m->nonzero[0][2] = true;
        begin_scan(m, 1, 10, 1, 0);
        put_symbol(m, kind == 3 ? 0x02 : kind == 4 ? 0x91 : 0x81); // two bits; beyond the last; the last
        put_bits(m, 3, 2);                                         // a sign, and a bit for the coefficient
        if (kind == 5)
            check(m, "the last place");
        else
            check_refused(m, kind == 3 ? MR_ECORRUPT : MR_EUNSUPPORTED, kind == 3 ? "Huffman code" : "not supported");
    }
    free(m->bytes);
    free(m);
}

/* Blocks of any numbers, as libjpeg writes them: three components, padding, runs over rows and restarts. */
static void as_libjpeg_writes(void **state)
{
    (void)state;
    static const coefs_scan ones[] = {{3, {0, 1, 2}, 0, 0, 0, 4}, {1, {0}, 1, 1, 0, 9},   {1, {0}, 1, 1, 9, 8},
                                      {1, {0}, 1, 1, 8, 7},       {1, {0}, 2, 2, 0, 1},   {1, {0}, 2, 2, 1, 0},
                                      {1, {1}, 63, 63, 0, 2},     {1, {1}, 63, 63, 2, 1}, {1, {1}, 63, 63, 1, 0},
                                      {1, {1}, 1, 62, 0, 5},      {1, {1}, 1, 62, 5, 4}};
    static const coefs_scan halves[] = {{1, {0}, 0, 0, 0, 1},  {2, {1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 3},
                                        {1, {0}, 1, 63, 3, 2}, {1, {0}, 1, 63, 2, 1},   {1, {0}, 1, 63, 1, 0},
                                        {1, {2}, 1, 31, 0, 1}, {1, {2}, 32, 63, 0, 0},  {1, {2}, 1, 31, 1, 0},
                                        {1, {0}, 0, 0, 1, 0},  {1, {1}, 1, 63, 0, 0}};
    mr__rng rng;
    mr__rng_init(&rng, 77, 0, 0, 0);
    for (uint32_t i = 0; i < 48; i++) {
        plain_recipe r = {.width = 1 + i * 13 % 150, .height = 1 + i * 29 % 90, .space = PLAIN_YCC};
        static const uint8_t factors[] = {0x11, 0x21, 0x22, 0x12};
        r.factors[0] = factors[i % 4];
        picture_file plain = plain_encode(&r), dense;
        mr__jpeg_coefficients c;
        assert_int_equal(coefs_read(&tool, &plain, &c), 0);
        for (uint32_t p = 0; p < 3; p++)
            for (size_t k = 0; k < (size_t)c.plane[p].padded_w * c.plane[p].padded_h * 64; k++)
                if (k % 64 != 0)
                    c.plane[p].blocks[k] =
                        mr__rng_u32(&rng) % 64 < i ? (int16_t)(mr__rng_u32(&rng) % 2047 - 1023) >> i % 9 : 0;
        assert_int_equal(coefs_write(&tool, &c, NULL, &dense), 0);
        coefs_coding coding = {.scans = i % 3 == 0 ? ones : halves, .scan_count = 11};
        if (i % 3 == 2)
            coding = (coefs_coding){.progressive = true};
        coding.restart = (int)(i % 5 == 0 ? 4 : 0);
        picture_file file = coefs_transcode(&dense, &coding);
        mr__cpu_flags all = tool.handle->cpu;
        for (int k = 0; k < 2; k++) {
            tool.handle->cpu = k == 0 ? 0 : all;
            assert_int_equal(coefs_read(&tool, &file, &c), 0);
            assert_int_equal(coefs_compare(&file, &c), 0);
        }
        free(plain.bytes);
        free(file.bytes);
    }
}

/* 4096 x 4096 pixels of nothing: the first coefficient in a bit a block, each other one in a few bytes. */
static picture_file make_bomb(maker *m)
{
    enum { SIDE = 4096, BLOCKS = SIDE / 8 * SIDE / 8, RUN = 16384 };
    static const uint8_t tables[2][18] = {{0x00, 1}, {0x10, 1, [17] = 0xe0}};
    static const uint8_t zeros[BLOCKS / 8];
    begin(m, 8, 8, 0, 0);
    memcpy(m->bytes + 2 + 69 + 5, "\x10\x00\x10\x00", 4);
    put_segment(m, 0xc4, tables[0], 18);
    put_segment(m, 0xc4, tables[1], 18);
    put_segment(m, 0xda, (const uint8_t[]){1, 1, 0, 0, 0, 0}, 6);
    put_bytes(m, zeros, sizeof zeros);
    for (uint8_t k = 1; k < 64; k++) {
        put_segment(m, 0xda, (const uint8_t[]){1, 1, 0, k, k, 0}, 6);
        for (int i = 0; i < BLOCKS / RUN; i++) // a code of one bit, and 14 of the run
            put_bits(m, 0, 15);
        flush(m);
    }
    put_bytes(m, "\xff\xd9", 2);
    return picture_copy(m->bytes, m->nbytes);
}

/* Scans whose work is out of proportion are refused, whoever decodes, and taken when asked for. */
static void work(void **state)
{
    (void)state;
    maker *m = calloc(1, sizeof *m);
    picture_file file = make_bomb(m);
    char detail[2][400];
    for (int i = 0; i < 4; i++) {
        mr_limits limits = {.struct_size = sizeof limits, .scans = i < 2 ? 0 : 600};
        mr_decoder_options options = {.struct_size = sizeof options, .limits = &limits};
        options.jpeg = i % 2 == 0 ? MR_JPEG_OWN : MR_JPEG_LIBJPEG;
        mr_decoder *d = NULL;
        mr_image image;
        assert_int_equal(mr_decoder_new(&options, &d), 0);
        assert_int_equal(mr_decoder_decode(d, file.bytes, file.nbytes, NULL, &image), i < 2 ? MR_ELIMIT : 0);
        if (i < 2)
            snprintf(detail[i], sizeof detail[i], "%s", mr_decoder_detail(d));
        else
            assert_int_equal(((const uint8_t *)image.pixels)[0], 128);
        mr_decoder_free(d);
    }
    for (int i = 0; i < 2; i++) {
        assert_contains(detail[i], "JPEG of 37 scans, near byte 3");
        assert_contains(detail[i], "limits.scans");
    }
    free(file.bytes);
    free(m->bytes);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_scans),         cmocka_unit_test(all_bits), cmocka_unit_test(wrong_codes),
        cmocka_unit_test(as_libjpeg_writes), cmocka_unit_test(work),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
