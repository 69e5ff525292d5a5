// SPDX-License-Identifier: Apache-2.0
/* From coefficients back to a JPEG: the very same file with an origin, another of the same coefficients without. */
#include "test.h"

#include "base/bytes.h"
#include "codec/jpeg/header.h"
#include "jpeg_coefs.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

static coefs_tool tool, other;

static int setup(void **state)
{
    (void)state;
    return coefs_open(&tool, NULL, NULL) | coefs_open(&other, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    coefs_close(&tool);
    coefs_close(&other);
    return 0;
}

/* As L3 gives them back: the padding is anything. */
static void spoil_padding(mr__jpeg_coefficients *c)
{
    for (uint32_t i = 0; i < c->components; i++)
        for (uint32_t y = 0; y < c->plane[i].padded_h; y++)
            for (uint32_t x = 0; x < c->plane[i].padded_w; x++)
                if (x >= c->plane[i].blocks_w || y >= c->plane[i].blocks_h)
                    memset(c->plane[i].blocks + ((size_t)y * c->plane[i].padded_w + x) * 64, 0x5a, 128);
}

/* With an origin the same file comes back, with every kernel there is. Returns how large the origin is. */
static size_t check_same(const picture_file *file, const picture_file *icc, const char *what)
{
    mr__jpeg_coefficients c;
    picture_file origin, again;
    mr__cpu_flags all = tool.handle->cpu;
    assert_int_equal(coefs_read(&tool, file, &c), 0);
    for (int i = 0; i < 2; i++) {
        tool.handle->cpu = i == 0 ? all : 0;
        int result = coefs_origin(&tool, file, &c, icc, &origin);
        if (result == 0 && i == 1)
            spoil_padding(&c);
        if (result == 0)
            result = coefs_restore(&tool, &c, icc, &origin, &again);
        if (result != 0)
            print_error("%s: %s\n", what, coefs_detail(&tool));
        assert_int_equal(result, 0);
        assert_int_equal(again.nbytes, file->nbytes);
        assert_memory_equal(again.bytes, file->bytes, file->nbytes);
    }
    tool.handle->cpu = all;
    return origin.nbytes;
}

/* Without one, another file has the same coefficients, for us and for libjpeg. */
static void check_written(const picture_file *file, const picture_file *icc, const char *what)
{
    mr__jpeg_coefficients c, back;
    picture_file made;
    assert_int_equal(coefs_read(&tool, file, &c), 0);
    spoil_padding(&c);
    int result = coefs_write(&tool, &c, icc, &made);
    if (result == 0)
        result = coefs_read(&other, &made, &back);
    if (result != 0)
        print_error("%s: %s, %s\n", what, coefs_detail(&tool), coefs_detail(&other));
    assert_int_equal(result, 0);
    assert_true(coefs_same(&c, &back));
    assert_false(back.progressive);
    assert_int_equal(coefs_compare(&made, &back), 0);
}

static void check_both(const picture_file *file, const char *what)
{
    check_same(file, NULL, what);
    check_written(file, NULL, what);
}

static void samplings(void **state)
{
    (void)state;
    static const uint8_t factors[][3] = {
        {0x11}, {0x21}, {0x22}, {0x12}, {0x41}, {0x14}, {0x42}, {0x24}, {0x22, 0x12, 0x21}};
    static const uint32_t sizes[][2] = {{1, 1}, {9, 17}, {33, 31}, {64, 40}, {70, 9}};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int kind = 0; kind < 6; kind++) {
                plain_recipe r = {.width = sizes[s][0], .height = sizes[s][1], .space = PLAIN_YCC, .seed = i * 7 + s};
                memcpy(r.factors, factors[i], 3);
                r.progressive = kind >= 3;
                r.separate = kind == 2;
                r.unrefined = kind == 5;
                r.restart = kind == 1 ? 1 : kind == 4 ? 3 : 0;
                picture_file file = plain_encode(&r);
                check_both(&file, "samplings");
                free(file.bytes);
            }
}

/* More blocks than an MCU may have: each component has its scan. */
static void large_mcu(void **state)
{
    (void)state;
    plain_recipe r = {.width = 70, .height = 50, .space = PLAIN_YCC, .factors = {0x24, 0x12, 0x12}, .separate = true};
    picture_file file = plain_encode(&r);
    check_both(&file, "12 blocks");
    free(file.bytes);
}

static void kinds(void **state)
{
    (void)state;
    for (int i = 0; i < 48; i++) {
        plain_recipe r = {.width = 45,
                          .height = 37,
                          .space = i % 3 == 0   ? PLAIN_GRAY
                                   : i % 3 == 1 ? PLAIN_YCC
                                                : PLAIN_RGB};
        r.no_jfif = (i / 3 & 1) != 0;
        r.no_adobe = (i / 3 & 2) != 0;
        r.progressive = (i / 3 & 4) != 0;
        r.flat = (i / 3 & 8) != 0;
        picture_file file = plain_encode(&r);
        check_both(&file, "kinds");
        free(file.bytes);
    }
}

static void qualities(void **state)
{
    (void)state;
    for (int q = 1; q <= 100; q++) {
        plain_recipe r = {
            .width = 61, .height = 47, .space = PLAIN_YCC, .factors = {0x22}, .quality = q, .seed = (uint64_t)q};
        picture_file file = plain_encode(&r), best = coefs_transcode(&file, &(coefs_coding){.optimal = true});
        picture_file steps = coefs_transcode(&file, &(coefs_coding){.progressive = true});
        check_both(&file, "quality");
        check_same(&best, NULL, "quality, optimal");
        check_both(&steps, "quality, progressive");
        free(file.bytes);
        free(best.bytes);
        free(steps.bytes);
    }
}

static void codings(void **state)
{
    (void)state;
    static const coefs_scan apart[] = {{1, {2}, 0, 63, 0, 0}, {2, {0, 1}, 0, 63, 0, 0}};
    static const coefs_scan deep[] = {{1, {0}, 0, 0, 0, 3},       {2, {1, 2}, 0, 0, 0, 2},    {1, {0}, 1, 63, 0, 3},
                                      {1, {0}, 1, 63, 3, 2},      {1, {0}, 0, 0, 3, 2},       {1, {1}, 1, 63, 0, 1},
                                      {3, {0, 1, 2}, 0, 0, 2, 1}, {1, {0}, 1, 10, 2, 1},      {1, {0}, 11, 63, 2, 1},
                                      {1, {0}, 1, 63, 1, 0},      {3, {0, 1, 2}, 0, 0, 1, 0}, {1, {1}, 1, 63, 1, 0},
                                      {1, {2}, 1, 63, 0, 0}};
    static const coefs_coding all[] = {
        {.optimal = true, .restart = 5},
        {.scans = apart, .scan_count = 2},
        {.scans = apart, .scan_count = 2, .optimal = true, .restart = 2},
        {.progressive = true, .restart = 7},
        {.scans = deep, .scan_count = 13},
        {.scans = deep, .scan_count = 7, .restart = 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int k = 0; k < 6; k++) {
            plain_recipe r = {.width = 250, .height = 190, .space = PLAIN_YCC, .quality = 30 + 14 * k, .seed = i};
            r.factors[0] = k % 3 == 0 ? 0x22 : k % 3 == 1 ? 0x21 : 0x11;
            picture_file plain = plain_encode(&r), file = coefs_transcode(&plain, &all[i]);
            check_both(&file, "codings");
            free(plain.bytes);
            free(file.bytes);
        }
}

/* Runs as long as they get, and so many bits kept with them that they are written early. */
static void long_runs(void **state)
{
    (void)state;
    plain_recipe r = {.width = 2200, .height = 1000, .space = PLAIN_GRAY, .flat = true, .progressive = true};
    picture_file file = plain_encode(&r);
    check_both(&file, "flat");
    free(file.bytes);
    static const coefs_scan scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 1}, {1, {0}, 1, 63, 1, 0}};
    r = (plain_recipe){.width = 400, .height = 400, .space = PLAIN_GRAY, .quality = 60};
    file = plain_encode(&r);
    mr__jpeg_coefficients c;
    picture_file made;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    for (size_t i = 0; i < (size_t)c.plane[0].padded_w * c.plane[0].padded_h * 64; i++)
        if (c.plane[0].blocks[i] == 1 || c.plane[0].blocks[i] == -1)
            c.plane[0].blocks[i] *= 2; // nothing becomes one in the last scan: it only refines
    assert_int_equal(coefs_write(&tool, &c, NULL, &made), 0);
    picture_file steps = coefs_transcode(&made, &(coefs_coding){.scans = scans, .scan_count = 3});
    check_both(&steps, "refined");
    free(file.bytes);
    free(steps.bytes);
}

static size_t find_marker(const picture_file *file, uint8_t marker)
{
    size_t at = 0;
    while (file->bytes[at] != 0xff || file->bytes[at + 1] != marker)
        at++;
    return at;
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

/*
 * An image that says it is smaller than it was: what was image is padding, and not of the usual kind. Where each scan
 * has one component, there would be blocks too many: the progressive one has luma in the first scan alone.
 */
static void padding_blocks(void **state)
{
    (void)state;
    static const coefs_scan scans[] = {{3, {0, 1, 2}, 0, 0, 0, 0}, {1, {1}, 1, 63, 0, 0}, {1, {2}, 1, 63, 0, 0}};
    static const coefs_coding steps = {.scans = scans, .scan_count = 3};
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t size = 17; size <= 32; size++) {
            plain_recipe r = {.width = 48, .height = 32, .space = PLAIN_YCC, .factors = {0x22}};
            picture_file plain = plain_encode(&r),
                         file = coefs_transcode(&plain, kind == 0 ? &(coefs_coding){0} : &steps);
            size_t frame = find_marker(&file, kind == 0 ? 0xc0 : 0xc2), usual = check_same(&file, NULL, "no padding");
            mr__store_be16(file.bytes + frame + 5, (uint16_t)size);
            mr__store_be16(file.bytes + frame + 7, (uint16_t)(size + 16));
            check_written(&file, NULL, "padding");
            assert_true(check_same(&file, NULL, "padding") > usual || size > 24);
            free(plain.bytes);
            free(file.bytes);
        }
}

/* What else can stand in a file: fill bytes, comments, garbage, other padding bits, tables twice, bytes at the end. */
static void oddities(void **state)
{
    (void)state;
    plain_recipe r = {.width = 50, .height = 40, .space = PLAIN_YCC, .factors = {0x22}, .restart = 3};
    picture_file plain = plain_encode(&r);
    size_t scan = find_marker(&plain, 0xda), frame = find_marker(&plain, 0xc0), end = plain.nbytes - 2;
    static const struct {
        const char *bytes;
        size_t nbytes;
    } put[] = {{"\xff\xfe\0\7hello", 9}, {"\xff\xff\xff", 3}, {"garbage", 7}, {"\xff\1", 2}, {"\xff\xd1", 2}};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        const size_t places[] = {2, frame, scan, end};
        for (size_t k = 0; k < 4; k++) {
            if (k == 3 && i == 4)
                continue; // a restart marker more than there should be
            picture_file file = insert(&plain, places[k], put[i].bytes, put[i].nbytes);
            check_both(&file, put[i].bytes);
            free(file.bytes);
        }
    }
    picture_file tail = insert(&plain, plain.nbytes, plain.bytes, plain.nbytes);
    check_both(&tail, "two in one");
    free(tail.bytes);
    size_t table = find_marker(&plain, 0xc4);
    picture_file twice = insert(&plain, scan, plain.bytes + table, scan - table);
    check_both(&twice, "tables twice");
    free(twice.bytes);
    free(plain.bytes);
}

/* Each byte that padding bits are in, changed: the origin has them. */
static void padding_bits(void **state)
{
    (void)state;
    plain_recipe r = {.width = 90, .height = 40, .space = PLAIN_YCC, .restart = 1};
    picture_file file = plain_encode(&r);
    size_t changed = 0, first = check_same(&file, NULL, "as it was");
    for (size_t i = find_marker(&file, 0xda) + 14; i + 1 < file.nbytes; i++) {
        uint8_t *p = file.bytes + i;
        if (p[0] != 0xff || p[1] < 0xd0 || p[1] > 0xd9 || p[-1] == 0 || (p[-1] & 1) == 0)
            continue;
        p[-1] ^= 1;
        mr__jpeg_coefficients c;
        bool is_padding = coefs_read(&tool, &file, &c) == 0 && p[-1] != 0xff;
        if (!is_padding)
            p[-1] ^= 1;
        changed += is_padding;
    }
    assert_true(changed > 10);
    assert_true(check_same(&file, NULL, "padding bits") > first);
    // One bit more or less than the file takes: their number stands behind the flags and the bytes of text.
    mr__jpeg_coefficients c;
    picture_file origin, made;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    assert_int_equal(coefs_origin(&tool, &file, &c, NULL, &origin), 0);
    uint8_t *count = origin.bytes + 1;
    while (*count++ >= 128)
        ;
    bool is_whole = *count % 8 == 0;
    *count += is_whole ? -1 : 1; // in as many bytes
    assert_int_equal(coefs_restore(&tool, &c, NULL, &origin, &made), MR_ECORRUPT);
    assert_contains(coefs_detail(&tool), is_whole ? "too few" : "too many");
    free(file.bytes);
}

/* Huffman tables made for an image, standard ones, a profile kept elsewhere: next to nothing. */
static void sizes(void **state)
{
    (void)state;
    uint8_t profile[3000];
    picture_noise(profile, sizeof profile, 3);
    plain_recipe r = {.width = 200, .height = 100, .space = PLAIN_YCC, .factors = {0x22}};
    picture_file file = plain_encode(&r), best = coefs_transcode(&file, &(coefs_coding){.optimal = true});
    picture_file steps = coefs_transcode(&file, &(coefs_coding){.progressive = true});
    size_t plain = check_same(&file, NULL, "standard"), optimal = check_same(&best, NULL, "optimal");
    size_t progressive = check_same(&steps, NULL, "progressive");
    print_message("origins of %zu, %zu and %zu bytes\n", plain, optimal, progressive);
    assert_true(plain < 40 && optimal < 20 && progressive < 30);
    picture_file icc = {profile, sizeof profile}, made;
    mr__jpeg_coefficients c;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    assert_int_equal(coefs_write(&tool, &c, &icc, &made), 0);
    picture_file with = picture_copy(made.bytes, made.nbytes);
    assert_true(check_same(&with, &icc, "profile") < 150);
    assert_true(check_same(&with, NULL, "profile, not kept elsewhere") > 3000);
    free(with.bytes);
    free(file.bytes);
    free(best.bytes);
    free(steps.bytes);
}

/* Metadata of a file without an origin. */
static void metadata(void **state)
{
    (void)state;
    size_t nbytes = 150000; // three segments
    uint8_t *profile = malloc(nbytes);
    picture_noise(profile, nbytes, 9);
    plain_recipe r = {.width = 20, .height = 10, .space = PLAIN_RGB};
    picture_file file = plain_encode(&r), made, icc = {profile, nbytes};
    mr__jpeg_coefficients c, back;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    c.orientation = 6;
    assert_int_equal(coefs_write(&tool, &c, &icc, &made), 0);
    assert_int_equal(coefs_read(&other, &made, &back), 0);
    assert_int_equal(back.orientation, 6);
    assert_int_equal(back.color, MR__JPEG_RGB);
    mr_decoder *own;
    const void *got;
    size_t got_nbytes;
    assert_int_equal(mr_decoder_new(NULL, &own), 0);
    assert_int_equal(mr_decoder_icc(own, made.bytes, made.nbytes, &got, &got_nbytes), 0);
    assert_int_equal(got_nbytes, nbytes);
    assert_memory_equal(got, profile, nbytes);
    mr_decoder_free(own);
    free(profile);
    free(file.bytes);
}

/* The format, for ever: an origin written down once, with its dictionary, still makes the same file. */
static void golden(void **state)
{
    (void)state;
    static const uint8_t origin[] = {0x00, 0xe3, 0x02, 0xc3, 0x1a, 0x28, 0x0f, 0x19, 0x94, 0x50, 0xf3, 0x10, 0x23, 0x83,
                                     0x10, 0x23, 0x33, 0x48, 0x0a, 0x96, 0xc9, 0x80, 0xb9, 0x8a, 0x41, 0x03, 0x35, 0x5f,
                                     0x25, 0xe2, 0x28, 0x75, 0x87, 0x51, 0x10, 0x1f, 0x24, 0x2b, 0x88, 0x01};
    static const char icc[] = "a profile of a few words";
    int16_t luma[6 * 4 * 64] = {0}, chroma[2][6 * 64] = {{0}};
    mr__jpeg_coefficients c = {
        .width = 40, .height = 30, .components = 3, .color = MR__JPEG_YCBCR, .hmax = 2, .vmax = 2};
    c.orientation = 8;
    c.plane[0] = (mr__jpeg_plane){1, 2, 2, 0, 5, 4, 6, 4, luma};
    for (uint8_t i = 1; i < 3; i++)
        c.plane[i] = (mr__jpeg_plane){(uint8_t)(i + 1), 1, 1, 1, 3, 2, 3, 2, chroma[i - 1]};
    for (int i = 0; i < 64; i++) {
        c.quant[0][i] = (uint16_t)(3 + i);
        c.quant[1][i] = (uint16_t)(7 + 5 * i);
    }
    for (int i = 0; i < 6 * 4 * 64; i += 7)
        luma[i] = (int16_t)(i % 23 - 11);
    for (int i = 0; i < 6 * 64; i += 13)
        chroma[i % 2][i] = (int16_t)(i % 5 - 2);
    picture_file profile = {(uint8_t *)(uintptr_t)icc, sizeof icc - 1}, file, kept, made;
    assert_int_equal(coefs_write(&other, &c, &profile, &file), 0);
    assert_int_equal(coefs_origin(&tool, &file, &c, &profile, &made), 0);
    for (size_t i = 0; i < made.nbytes && made.nbytes != sizeof origin; i++)
        print_message("0x%02x, ", made.bytes[i]); // another zlib may find another way to say the same
    kept = (picture_file){(uint8_t *)(uintptr_t)origin, sizeof origin};
    assert_int_equal(coefs_restore(&tool, &c, &profile, &kept, &made), 0);
    assert_int_equal(made.nbytes, file.nbytes);
    assert_memory_equal(made.bytes, file.bytes, made.nbytes);
}

/* What libjpeg would not write: zeros before the end, a coefficient that is another. */
static void refusals(void **state)
{
    (void)state;
    plain_recipe r = {.width = 30, .height = 30, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r), origin = {0};
    mr__jpeg_coefficients c;
    size_t untouched = origin.nbytes;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    c.plane[1].blocks[70] ^= 1;
    assert_int_equal(coefs_origin(&tool, &file, &c, NULL, &origin), MR_EUNSUPPORTED);
    assert_contains(coefs_detail(&tool), "at byte");
    assert_int_equal(origin.nbytes, untouched);
    c.plane[1].blocks[70] ^= 1;
    c.plane[1].blocks[70] = INT16_MIN;
    assert_int_not_equal(coefs_origin(&tool, &file, &c, NULL, &origin), 0);
    picture_file made;
    assert_int_equal(coefs_write(&tool, &c, NULL, &made), MR_ECORRUPT);
    assert_contains(coefs_detail(&tool), "code");
    free(file.bytes);
}

/* A restart marker behind fill bytes is read, but not written so. */
static void fill_bytes(void **state)
{
    (void)state;
    plain_recipe r = {.width = 50, .height = 40, .space = PLAIN_YCC, .restart = 3};
    picture_file plain = plain_encode(&r), file = insert(&plain, find_marker(&plain, 0xd1), "\xff", 1), origin;
    mr__jpeg_coefficients c;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    assert_int_equal(coefs_compare(&file, &c), 0);
    assert_int_equal(coefs_origin(&tool, &file, &c, NULL, &origin), MR_EUNSUPPORTED);
    free(plain.bytes);
    free(file.bytes);
}

/* An origin with this text, not compressed. */
static picture_file store_text(const picture_file *text)
{
    enum { HEAD = 8 };
    size_t n = text->nbytes;
    picture_file origin = {malloc(HEAD + n), HEAD + n};
    assert_in_range(n, 128, 16383); // a number of two bytes
    const uint8_t head[HEAD] = {0,          (uint8_t)(n | 0x80), (uint8_t)(n >> 7), 1,
                                (uint8_t)n, (uint8_t)(n >> 8),   (uint8_t)~n,       (uint8_t)(~n >> 8)};
    memcpy(origin.bytes, head, HEAD);
    memcpy(origin.bytes + HEAD, text->bytes, n);
    return origin;
}

static void check_other(mr__jpeg_coefficients *c, const picture_file *text)
{
    picture_file made, origin = store_text(text);
    assert_int_equal(coefs_restore(&tool, c, NULL, &origin, &made), MR_ECORRUPT);
    assert_contains(coefs_detail(&tool), "damaged origin of a JPEG: it is of another image");
    free(origin.bytes);
}

/* A text that would give the coefficients other quantisers or colours, and so other pixels. */
static void other_pixels(void **state)
{
    (void)state;
    plain_recipe r = {.width = 40, .height = 24, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r), made;
    mr__jpeg_coefficients c;
    assert_int_equal(coefs_read(&tool, &file, &c), 0);
    size_t scan_end = find_marker(&file, 0xda) + 14, tables = find_marker(&file, 0xdb);
    picture_file text = picture_copy(file.bytes, scan_end + 2);
    memcpy(text.bytes + scan_end, "\xff\xd9", 2);
    picture_file origin = store_text(&text);
    assert_int_equal(coefs_restore(&tool, &c, NULL, &origin, &made), 0);
    assert_int_equal(made.nbytes, file.nbytes);
    assert_memory_equal(made.bytes, file.bytes, made.nbytes);
    text.bytes[tables + 5 + 63]++; // luma's last
    check_other(&c, &text);
    text.bytes[tables + 5 + 63]--;
    text.bytes[tables + 69 + 5]++; // chroma's first
    check_other(&c, &text);
    text.bytes[tables + 69 + 5]--;
    memcpy(text.bytes + 6, "JUNK", 4); // no JFIF: the next segment tells
    picture_file rgb = insert(&text, 2,
                              "\xff\xee\0\x0e"
                              "Adobe\0d\0\0\0\0\0",
                              16);
    check_other(&c, &rgb);
    free(rgb.bytes);
    free(origin.bytes);
    free(text.bytes);
    free(file.bytes);
}

/* Every byte of an origin is hostile. */
static void hostile(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        plain_recipe r = {.width = 40, .height = 24, .space = PLAIN_YCC, .factors = {0x22}, .restart = kind == 1};
        picture_file plain = plain_encode(&r), made, origin;
        coefs_coding coding = {.optimal = true, .progressive = kind == 2, .restart = kind == 1};
        picture_file file = coefs_transcode(&plain, &coding);
        mr__jpeg_coefficients c;
        assert_int_equal(coefs_read(&tool, &file, &c), 0);
        assert_int_equal(coefs_origin(&tool, &file, &c, NULL, &origin), 0);
        size_t accepted = 0, tried = 0;
        for (size_t n = 0; n < origin.nbytes; n++) {
            picture_file cut = picture_copy(origin.bytes, n);
            assert_int_not_equal(coefs_restore(&tool, &c, NULL, &cut, &made), 0);
            assert_contains(coefs_detail(&tool), "origin");
            free(cut.bytes);
        }
        picture_file bad = picture_copy(origin.bytes, origin.nbytes);
        for (size_t i = 0; i < bad.nbytes; i++)
            for (int value = 0; value < 256; value++, tried++) {
                uint8_t old = bad.bytes[i];
                bad.bytes[i] = (uint8_t)value;
                accepted += coefs_restore(&tool, &c, NULL, &bad, &made) == 0;
                bad.bytes[i] = old;
            }
        print_message("kind %d: of %zu changed origins %zu still make some file\n", kind, tried, accepted);
        free(bad.bytes);
        free(file.bytes);
        free(plain.bytes);
    }
}

typedef struct tally {
    size_t files, refused, unread;
    uint64_t nbytes, origin_nbytes;
} tally;

static void visit(const char *path, const picture_file *file, void *user)
{
    tally *t = user;
    mr__jpeg_coefficients c;
    picture_file origin;
    if (mr_form_probe(file->bytes, file->nbytes) != MR_FORM_JPEG || (t->files % 4 != 0 && test_quick() && ++t->files))
        return; // a quick run takes a quarter of them
    if (coefs_read(&tool, file, &c) != 0) {
        t->unread++;
        return;
    }
    mr__buffer buffer = {0};
    mr__call call = mr__handle_call(tool.handle, file->bytes, file->nbytes);
    picture_file icc = {NULL, 0};
    mr_info info = {0};
    if (mr__jpeg_info(&call, &info) == 0 && info.has_icc && mr__jpeg_icc(&call, &buffer, &icc.nbytes) == 0)
        icc.bytes = buffer.bytes;
    mr__handle_end(tool.handle, &call, 0);
    t->files++;
    if (coefs_origin(&tool, file, &c, &icc, &origin) != 0) {
        print_message("%s: %s\n", path, coefs_detail(&tool));
        t->refused++;
    } else {
        t->nbytes += file->nbytes;
        t->origin_nbytes += check_same(file, &icc, path);
    }
    check_written(file, &icc, path);
    mr__buffer_fini(&buffer, &tool.handle->hooks);
}

static void check_folder(const char *folder, bool all)
{
    tally t = {0};
    if (shared_each(folder, "", visit, &t) == 0)
        return;
    print_message("%s: %zu read, %zu refused; origins of %.0f bytes, %.3f %%\n", folder, t.files, t.refused,
                  (double)t.origin_nbytes / (double)(t.files - t.refused + 1e-9),
                  100.0 * (double)t.origin_nbytes / ((double)t.nbytes + 1e-9));
    if (all)
        assert_int_equal(t.refused + t.unread, 0);
}

static void shared_files(void **state)
{
    (void)state;
    check_folder("data/imagenet", true);
    check_folder("data/large", true);
    check_folder("corpus/exif", true);
    check_folder("corpus/jpeg", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplings),      cmocka_unit_test(large_mcu),    cmocka_unit_test(kinds),
        cmocka_unit_test(qualities),      cmocka_unit_test(codings),      cmocka_unit_test(long_runs),
        cmocka_unit_test(padding_blocks), cmocka_unit_test(oddities),     cmocka_unit_test(padding_bits),
        cmocka_unit_test(sizes),          cmocka_unit_test(metadata),     cmocka_unit_test(golden),
        cmocka_unit_test(refusals),       cmocka_unit_test(fill_bytes),   cmocka_unit_test(hostile),
        cmocka_unit_test(shared_files),   cmocka_unit_test(other_pixels),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
