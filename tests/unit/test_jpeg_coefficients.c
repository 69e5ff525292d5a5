// SPDX-License-Identifier: Apache-2.0
/* Our reader of coefficients against libjpeg's, over files of every kind that libjpeg writes. */
#include "test.h"

#include "jpeg_coefs.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads it, with every kernel there is, and compares. */
static void check_file(const picture_file *file, const char *what)
{
    mr__cpu_flags all = tool.handle->cpu, masks[] = {0, MR__CPU_BMI2, all};
    for (size_t i = 0; i < 3; i++) {
        mr__jpeg_coefficients c;
        tool.handle->cpu = all & masks[i];
        int result = coefs_read(&tool, file, &c);
        if (result != 0)
            print_error("%s: %s\n", what, coefs_detail(&tool));
        assert_int_equal(result, 0);
        int same = coefs_compare(file, &c);
        if (same != 0)
            print_error("%s, kernels %x: %d\n", what, masks[i], same);
        assert_int_equal(same, 0);
    }
    tool.handle->cpu = all;
}

static void check_recipe(const plain_recipe *r)
{
    char what[160];
    picture_file file = plain_encode(r);
    snprintf(what, sizeof what, "%ux%u space %d factors %02x %02x %02x q %d restart %d%s%s%s", r->width, r->height,
             r->space, r->factors[0], r->factors[1], r->factors[2], r->quality, r->restart,
             r->progressive ? " progressive" : "", r->separate ? " separate" : "", r->unrefined ? " unrefined" : "");
    check_file(&file, what);
    free(file.bytes);
}

/* All that can be written, in all sizes about an MCU. */
static void samplings(void **state)
{
    (void)state;
    static const uint8_t factors[][3] = {{0x11},
                                         {0x21},
                                         {0x22},
                                         {0x12},
                                         {0x41},
                                         {0x14},
                                         {0x42},
                                         {0x24},
                                         {0x22, 0x21, 0x11},
                                         {0x22, 0x12, 0x21},
                                         {0x11, 0x22, 0x11},
                                         {0x21, 0x21, 0x21},
                                         {0x42, 0x11, 0x11},
                                         {0x12, 0x12, 0x11}};
    static const uint32_t sizes[][2] = {{1, 1}, {8, 8}, {9, 17}, {33, 31}, {64, 40}, {70, 9}};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int kind = 0; kind < 6; kind++) {
                plain_recipe r = {.width = sizes[s][0], .height = sizes[s][1], .space = PLAIN_YCC, .seed = i * 7 + s};
                memcpy(r.factors, factors[i], 3);
                r.progressive = kind >= 3;
                r.separate = kind == 2;
                r.unrefined = kind == 5;
                r.restart = kind == 1 ? 1 : kind == 4 ? 3 : 0;
                check_recipe(&r);
            }
}

static void gray(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        plain_recipe r = {
            .width = 1 + 13 * (uint32_t)(i % 4), .height = 1 + 11 * (uint32_t)(i % 3), .seed = (uint64_t)i};
        r.space = PLAIN_GRAY;
        r.factors[0] = i % 2 == 0 ? 0x11 : 0x22;
        r.progressive = i >= 12;
        r.restart = i % 5;
        check_recipe(&r);
    }
}

static void rgb(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        plain_recipe r = {.width = 40, .height = 30, .space = PLAIN_RGB, .no_adobe = (i & 1) != 0};
        r.no_jfif = (i & 2) != 0;
        r.progressive = (i & 4) != 0;
        check_recipe(&r);
    }
}

static void qualities(void **state)
{
    (void)state;
    for (int q = 1; q <= 100; q++)
        for (int k = 0; k < 2; k++) {
            plain_recipe r = {.width = 61, .height = 47, .space = PLAIN_YCC, .factors = {0x22}, .quality = q};
            r.progressive = k == 1;
            r.seed = (uint64_t)q;
            check_recipe(&r);
        }
}

/* Scans in every order that is allowed, and tables made for them. */
static void codings(void **state)
{
    (void)state;
    static const coefs_scan apart[] = {{1, {2}, 0, 63, 0, 0}, {2, {0, 1}, 0, 63, 0, 0}};
    static const coefs_scan spectral[] = {{3, {0, 1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 1, 0, 0},  {1, {0}, 2, 63, 0, 0},
                                          {1, {2}, 1, 63, 0, 0},      {1, {1}, 1, 30, 0, 0}, {1, {1}, 31, 63, 0, 0}};
    static const coefs_scan deep[] = {{1, {0}, 0, 0, 0, 3},       {2, {1, 2}, 0, 0, 0, 2},    {1, {0}, 1, 63, 0, 3},
                                      {1, {0}, 1, 63, 3, 2},      {1, {0}, 0, 0, 3, 2},       {1, {1}, 1, 63, 0, 1},
                                      {3, {0, 1, 2}, 0, 0, 2, 1}, {1, {0}, 1, 10, 2, 1},      {1, {0}, 11, 63, 2, 1},
                                      {1, {0}, 1, 63, 1, 0},      {3, {0, 1, 2}, 0, 0, 1, 0}, {1, {1}, 1, 63, 1, 0},
                                      {1, {2}, 1, 63, 0, 0}};
    static const coefs_scan early[] = {{3, {0, 1, 2}, 0, 0, 0, 1}, {1, {0}, 1, 20, 0, 2}};
    static const coefs_coding all[] = {
        {.optimal = true},
        {.optimal = true, .restart = 5},
        {.scans = apart, .scan_count = 2},
        {.scans = apart, .scan_count = 2, .optimal = true, .restart = 2},
        {.progressive = true},
        {.progressive = true, .restart = 7},
        {.scans = spectral, .scan_count = 6},
        {.scans = deep, .scan_count = 13},
        {.scans = deep, .scan_count = 13, .restart = 1},
        {.scans = early, .scan_count = 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int k = 0; k < 6; k++) {
            plain_recipe r = {.width = 150, .height = 90, .space = PLAIN_YCC, .quality = 30 + 14 * k, .seed = i};
            r.factors[0] = k % 3 == 0 ? 0x22 : k % 3 == 1 ? 0x21 : 0x11;
            r.flat = k == 5; // long runs of blocks that have ended
            picture_file plain = plain_encode(&r), file = coefs_transcode(&plain, &all[i]);
            char what[64];
            snprintf(what, sizeof what, "coding %zu of image %d", i, k);
            check_file(&file, what);
            free(plain.bytes);
            free(file.bytes);
        }
}

/* More than 32,767 blocks that have ended: a run has its longest length. */
static void long_runs(void **state)
{
    (void)state;
    plain_recipe r = {.width = 2200, .height = 1000, .space = PLAIN_GRAY, .flat = true, .progressive = true};
    check_recipe(&r);
}

/* Damage in every byte of a file: an error that says where, or what libjpeg reads without a word. */
static void check_damaged(picture_file *file, size_t *read, size_t *refused)
{
    mr__jpeg_coefficients c;
    int result = coefs_read(&tool, file, &c);
    if (result != 0) {
        assert_string_not_equal(coefs_detail(&tool), "");
        (*refused)++;
        return;
    }
    int same = coefs_compare(file, &c);
    if (same != 0 && same != 1)
        print_error("%d\n", same);
    assert_true(same == 0 || same == 1);
    (*read)++;
}

static void damage(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        plain_recipe r = {
            .width = 41, .height = 33, .space = PLAIN_YCC, .factors = {0x22}, .restart = kind == 1 ? 2 : 0};
        r.progressive = kind >= 2;
        picture_file file = plain_encode(&r);
        size_t read = 0, refused = 0, cut = 0;
        for (size_t i = 2; i < file.nbytes; i++) {
            uint8_t old = file.bytes[i];
            for (int bit = (int)(i % 3); bit < 8; bit += 3) {
                file.bytes[i] = (uint8_t)(old ^ 1 << bit);
                check_damaged(&file, &read, &refused);
            }
            file.bytes[i] = old;
        }
        for (size_t n = 0; n < file.nbytes; n++) {
            picture_file part = picture_copy(file.bytes, n);
            mr__jpeg_coefficients c;
            cut += coefs_read(&tool, &part, &c) == 0;
            free(part.bytes);
        }
        print_message("kind %d: of %zu damaged files %zu read, as libjpeg does\n", kind, read + refused, read);
        assert_int_equal(cut, 0);
        assert_true(refused > 100);
        free(file.bytes);
    }
}

static void check_refused(picture_file *file, int code, const char *part)
{
    mr__jpeg_coefficients c = {.width = 77};
    int result = coefs_read(&tool, file, &c);
    if (result != code)
        print_error("%s\n", coefs_detail(&tool));
    assert_int_equal(result, code);
    assert_contains(coefs_detail(&tool), part);
    assert_int_equal(c.width, 77);
}

/* The offset of a marker from `from` on. */
static size_t find_marker(const picture_file *file, uint8_t marker, size_t from)
{
    while (file->bytes[from] != 0xff || file->bytes[from + 1] != marker)
        from++;
    return from;
}

static void refusals(void **state)
{
    (void)state;
    plain_recipe r = {.width = 64, .height = 64, .space = PLAIN_YCC, .restart = 4};
    picture_file file = plain_encode(&r);
    size_t restart = find_marker(&file, 0xd2, 0);
    file.bytes[restart + 1] = 0xd3;
    char text[80];
    snprintf(text, sizeof text, "marker ffd3 at byte %zu, where restart marker ffd2 should be", restart);
    check_refused(&file, MR_ECORRUPT, text);
    file.bytes[restart + 1] = 0xd9;
    snprintf(text, sizeof text, "marker ffd9 at byte %zu, where restart marker ffd2 should be", restart);
    check_refused(&file, MR_ECORRUPT, text);
    picture_file cut = picture_copy(file.bytes, restart);
    check_refused(&cut, MR_ETRUNCATED, "truncated JPEG: expected restart marker ffd2 at byte ");
    free(cut.bytes);
    file.bytes[restart + 1] = 0xd2;
    file.bytes[find_marker(&file, 0xdd, 0) + 5] = 9;
    check_refused(&file, MR_ECORRUPT, "byte");
    free(file.bytes);
    r.space = PLAIN_CMYK;
    file = plain_encode(&r);
    check_refused(&file, MR_EUNSUPPORTED, "CMYK");
    free(file.bytes);
    r.space = PLAIN_YCC;
    if (plain_has_arithmetic()) {
        r.arithmetic = true;
        file = plain_encode(&r);
        check_refused(&file, MR_EUNSUPPORTED, "arithmetic");
        free(file.bytes);
    }
    file = picture_copy("P5", 2);
    check_refused(&file, MR_ECORRUPT, "ffd8");
    free(file.bytes);
}

/* A file with bytes put into it. */
static picture_file insert(const picture_file *file, size_t at, const void *bytes, size_t nbytes)
{
    picture_file made = {malloc(file->nbytes + nbytes), file->nbytes + nbytes};
    memcpy(made.bytes, file->bytes, at);
    memcpy(made.bytes + at, bytes, nbytes);
    memcpy(made.bytes + at + nbytes, file->bytes + at, file->nbytes - at);
    return made;
}

/* Conditioning of arithmetic coding, which the image does not have, must still be possible, as it must for libjpeg. */
static void conditioning(void **state)
{
    (void)state;
    static const struct {
        const char *word; /* NULL: it is read */
        uint8_t nbytes, bytes[6];
    } cases[] = {
        {NULL, 0, {0}},
        {NULL, 6, {0x0f, 0xf0, 0x00, 0x55, 0x1f, 0xff}},
        {"table 00 (of ffcc) with value 45 at byte 6", 2, {0x00, 0x45}},
        {"table 0f (of ffcc) with value 01 at byte 8", 4, {0x10, 0x05, 0x0f, 0x01}},
        {"table 20 (of ffcc) with value 10 at byte 6", 2, {0x20, 0x10}},
        {"at byte 2 have the wrong length", 3, {0x00, 0x10, 0x01}},
    };
    plain_recipe r = {.width = 20, .height = 20, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t segment[10] = {0xff, 0xcc, 0, (uint8_t)(2 + cases[i].nbytes)};
        memcpy(segment + 4, cases[i].bytes, cases[i].nbytes);
        picture_file longer = insert(&file, 2, segment, 4u + cases[i].nbytes);
        if (cases[i].word == NULL)
            check_file(&longer, "conditioning");
        else
            check_refused(&longer, MR_ECORRUPT, cases[i].word);
        free(longer.bytes);
    }
    free(file.bytes);
}

/* What libjpeg lets pass without a word, or with one. */
static void stricter(void **state)
{
    (void)state;
    plain_recipe r = {.width = 64, .height = 64, .space = PLAIN_GRAY, .restart = 4};
    picture_file file = plain_encode(&r), longer = insert(&file, find_marker(&file, 0xd0, 0), "x", 1);
    mr__jpeg_coefficients c;
    assert_int_equal(coefs_read(&tool, &longer, &c), 0); // libjpeg has a word for it, and the same coefficients
    assert_int_equal(coefs_compare(&longer, &c), 1);
    free(longer.bytes);
    free(file.bytes);
    // A run of ended blocks that is longer than the image, which became lower.
    r = (plain_recipe){.width = 64, .height = 64, .space = PLAIN_GRAY, .flat = true, .progressive = true};
    file = plain_encode(&r);
    file.bytes[find_marker(&file, 0xc2, 0) + 6] = 56;
    check_refused(&file, MR_EUNSUPPORTED, "blocks more than there are");
    free(file.bytes);
    // Components in another order than the frame's.
    r = (plain_recipe){.width = 64, .height = 64, .space = PLAIN_YCC};
    file = plain_encode(&r);
    size_t scan = find_marker(&file, 0xda, 0);
    file.bytes[scan + 7] = 3;
    file.bytes[scan + 9] = 2;
    check_refused(&file, MR_ECORRUPT, "no component 2 for the scan");
    free(file.bytes);
    // AC before DC.
    static const coefs_scan scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
    r = (plain_recipe){.width = 64, .height = 64, .space = PLAIN_GRAY};
    picture_file plain = plain_encode(&r);
    file = coefs_transcode(&plain, &(coefs_coding){.scans = scans, .scan_count = 2});
    size_t first = find_marker(&file, 0xc4, 0), second = find_marker(&file, 0xc4, first + 2), end = file.nbytes - 2;
    picture_file swapped = picture_copy(file.bytes, file.nbytes);
    memcpy(swapped.bytes + first, file.bytes + second, end - second);
    memcpy(swapped.bytes + first + (end - second), file.bytes + first, second - first);
    check_file(&file, "DC before AC");
    check_refused(&swapped, MR_ECORRUPT, "does not fit those before it");
    free(swapped.bytes);
    free(file.bytes);
    free(plain.bytes);
}

/* Padding that no scan has is as usual. */
static void padding(void **state)
{
    (void)state;
    plain_recipe r = {.width = 17, .height = 9, .space = PLAIN_YCC, .factors = {0x22}, .separate = true};
    picture_file file = plain_encode(&r);
    mr__jpeg_coefficients c;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    const mr__jpeg_plane *p = &c.plane[0];
    assert_int_equal(p->blocks_w, 3);
    assert_int_equal(p->padded_w, 4);
    for (uint32_t y = 0; y < 2; y++) {
        const int16_t *block = p->blocks + (y * 4 + 3) * 64;
        assert_int_equal(block[0], block[-64]);
        for (int k = 1; k < 64; k++)
            assert_int_equal(block[k], 0);
    }
    free(file.bytes);
}

/* A DC coefficient that grows beyond what a number holds. */
static void out_of_range(void **state)
{
    (void)state;
    static const uint8_t head[] = {0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
    static const uint8_t frame[] = {0xff, 0xc0, 0, 11, 8, 0, 8, 0, 64, 1, 1, 0x11, 0};
    static const uint8_t tables[] = {0xff, 0xc4, 0, 20, 0,    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15,
                                     0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0};
    uint8_t bytes[512], data[17] = {0};
    size_t n = 0;
    memcpy(bytes, head, sizeof head);
    memset(bytes + sizeof head, 1, 64);
    n = sizeof head + 64;
    memcpy(bytes + n, frame, sizeof frame);
    n += sizeof frame;
    memcpy(bytes + n, tables, sizeof tables);
    n += sizeof tables;
    memcpy(bytes + n, scan, sizeof scan);
    n += sizeof scan;
    // Eight blocks: a code of one bit, 15 ones, which are 32,767 more, and the end of the block.
    for (int i = 0; i < 8 * 17; i++)
        if (i % 17 != 0 && i % 17 != 16)
            data[i / 8] |= (uint8_t)(0x80 >> i % 8);
    for (size_t i = 0; i < sizeof data; i++) {
        bytes[n++] = data[i];
        if (data[i] == 0xff)
            bytes[n++] = 0;
    }
    bytes[n++] = 0xff;
    bytes[n++] = 0xd9;
    picture_file file = picture_copy(bytes, n);
    check_refused(&file, MR_EUNSUPPORTED, "out of range");
    free(file.bytes);
}

static void limits(void **state)
{
    (void)state;
    plain_recipe r = {.width = 200, .height = 100, .space = PLAIN_YCC, .progressive = true};
    picture_file file = plain_encode(&r);
    mr_limits few[] = {{.scans = 9}, {.pixels = 19999}, {.memory_nbytes = 100000}};
    const char *words[] = {"limits.scans", "limits.pixels", "limits.memory_nbytes"};
    for (int i = 0; i < 3; i++) {
        coefs_tool own;
        mr__jpeg_coefficients c;
        few[i].struct_size = sizeof few[i];
        assert_int_equal(coefs_open(&own, NULL, &few[i]), 0);
        assert_int_equal(coefs_read(&own, &file, &c), MR_ELIMIT);
        assert_contains(coefs_detail(&own), words[i]);
        coefs_close(&own);
    }
    free(file.bytes);
}

typedef struct tally {
    size_t read, warned, refused;
} tally;

static void visit_good(const char *path, const picture_file *file, void *user)
{
    tally *t = user;
    if (mr_form_probe(file->bytes, file->nbytes) != MR_FORM_JPEG || (t->read++ % 4 != 0 && test_quick()))
        return; // a quick run takes a quarter of them
    check_file(file, path);
}

static void shared_data(void **state)
{
    (void)state;
    tally t = {0};
    shared_each("data/imagenet", "", visit_good, &t);
    shared_each("data/large", "", visit_good, &t);
    shared_each("corpus/exif", "", visit_good, &t);
    print_message("%zu JPEGs are read as libjpeg reads them\n", t.read);
}

static void visit_any(const char *path, const picture_file *file, void *user)
{
    tally *t = user;
    mr__jpeg_coefficients c;
    if (coefs_read(&tool, file, &c) != 0) {
        assert_string_not_equal(coefs_detail(&tool), "");
        t->refused++;
        return;
    }
    int same = coefs_compare(file, &c);
    if (same != 0 && same != 1)
        print_error("%s: %d\n", path, same);
    assert_true(same == 0 || same == 1);
    t->read++;
    t->warned += same == 1;
}

static void shared_corpus(void **state)
{
    (void)state;
    tally t = {0};
    shared_each("corpus/jpeg", "", visit_any, &t);
    print_message("corpus/jpeg: %zu read as libjpeg reads them, %zu of these with a warning; %zu refused\n", t.read,
                  t.warned, t.refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplings),   cmocka_unit_test(gray),          cmocka_unit_test(rgb),
        cmocka_unit_test(qualities),   cmocka_unit_test(codings),       cmocka_unit_test(long_runs),
        cmocka_unit_test(damage),      cmocka_unit_test(refusals),      cmocka_unit_test(out_of_range),
        cmocka_unit_test(limits),      cmocka_unit_test(stricter),      cmocka_unit_test(padding),
        cmocka_unit_test(shared_data), cmocka_unit_test(shared_corpus), cmocka_unit_test(conditioning),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
