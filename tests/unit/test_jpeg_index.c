// SPDX-License-Identifier: Apache-2.0
/* The row index of a JPEG: small, the same pixels with it as without, and refused when it is not right. */
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "check.h"
#include "codec/jpeg/index.h"
#include "jpeg_plain.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* Offsets in the head: doc/format-jpeg-index.md. */
enum { AT_VERSION = 4, AT_COMPONENTS = 5, AT_STEP = 6, AT_COUNT = 8, AT_BITS = 10, AT_RESERVED = 14 };
enum { AT_JPEG_NBYTES = 16, AT_JPEG_HASH = 24, HEAD = 32, HASH = 8, MOST = 512 };

typedef struct kept_index {
    uint8_t bytes[MOST];
    size_t nbytes;
} kept_index;

static kept_index index_of(const picture_file *file)
{
    const void *bytes;
    kept_index k = {.nbytes = 0};
    assert_int_equal(mr_decoder_index(decoder, file->bytes, file->nbytes, &bytes, &k.nbytes), 0);
    assert_string_equal(mr_decoder_detail(decoder), "");
    assert_true(k.nbytes <= MOST);
    assert_true((k.nbytes == 0) == (bytes == NULL));
    if (k.nbytes != 0)
        memcpy(k.bytes, bytes, k.nbytes);
    return k;
}

static uint32_t step_of(const kept_index *k)
{
    return mr__load_le16(k->bytes + AT_STEP);
}

static uint32_t count_of(const kept_index *k)
{
    return mr__load_le16(k->bytes + AT_COUNT);
}

/* Hashes its bytes anew, as a forger would. */
static void seal(kept_index *k)
{
    mr__store_le64(k->bytes + k->nbytes - HASH, mr__hash(k->bytes, k->nbytes - HASH));
}

static mr_decode_hints hints_with(const kept_index *k)
{
    return (mr_decode_hints){.struct_size = sizeof(mr_decode_hints), .index = k->bytes, .index_nbytes = k->nbytes};
}

/* Some rectangles of each size, from edge to edge. */
static void check_regions(const picture_file *file, const kept_index *k, const mr_image *whole, uint32_t reduce,
                          const char *what)
{
    mr_decode_hints h = hints_with(k);
    uint64_t random = file->nbytes;
    uint32_t w = whole->width, t = whole->height;
    const mr_rect edges[] = {{0, 0, w, t}, {w - 1, t - 1, 1, 1}, {0, t - 1, w, 1}, {w / 2, t / 2, 1, t - t / 2}};
    h.reduce = reduce;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        check_region(file, h, edges[i], whole, what);
    for (int i = 0; i < 12; i++)
        check_region(file, h, picture_random_rect(&random, w, t), whole, what);
    for (uint32_t y = 0; y < t; y += 1 + t / 40)
        check_region(file, h, (mr_rect){w / 3, y, 1, 1 + picture_random_below(&random, t - y)}, whole, what);
}

static void check_file(const picture_file *file, uint32_t rows, const char *what)
{
    kept_index k = index_of(file);
    if (rows < 2) {
        assert_int_equal(k.nbytes, 0);
        return;
    }
    assert_true(k.nbytes != 0);
    assert_int_equal(count_of(&k), (rows - 1) / step_of(&k));
    for (uint32_t reduce = 1; reduce <= 8; reduce *= 2) {
        mr_decode_hints plain = {.struct_size = sizeof plain, .reduce = reduce};
        mr_image whole = picture_decode(file->bytes, file->nbytes, &plain);
        check_regions(file, &k, &whole, reduce, what);
        mr_image_fini(&whole, NULL);
    }
}

static const struct {
    plain_space space;
    uint8_t factors[3];
} samplings[] = {
    {PLAIN_YCC, {0x11, 0x11, 0x11}},
    {PLAIN_YCC, {0x21, 0x11, 0x11}},
    {PLAIN_YCC, {0x22, 0x11, 0x11}},
    {PLAIN_YCC, {0x12, 0x11, 0x11}},
    {PLAIN_YCC, {0x41, 0x11, 0x11}},
    {PLAIN_YCC, {0x14, 0x11, 0x11}},
    {PLAIN_YCC, {0x22, 0x21, 0x12}},
    {PLAIN_YCC, {0x11, 0x22, 0x22}},
    {PLAIN_RGB, {0x11, 0x11, 0x11}},
    {PLAIN_GRAY, {0x11}},
    {PLAIN_GRAY, {0x22}},
};

/* Every way to sample, restarts within rows, at their ends and beyond, qualities, sizes. */
static void same_pixels(void **state)
{
    (void)state;
    static const int restarts[] = {0, 1, 3, 7, 40, 1000};
    static const struct {
        uint32_t width, height;
    } sizes[] = {{75, 66}, {17, 150}, {1, 33}, {130, 17}, {8, 8}};
    for (size_t i = 0; i < sizeof samplings / sizeof *samplings; i++)
        for (size_t z = 0; z < 5; z++)
            for (size_t n = 0; n < 6; n++) {
                plain_recipe r = {.width = sizes[z].width, .height = sizes[z].height, .space = samplings[i].space};
                if (test_quick() && (i + z + n) % 3 != 0)
                    continue;
                memcpy(r.factors, samplings[i].factors, 3);
                r.restart = restarts[n];
                r.quality = n % 2 == 0 ? 100 : 60;
                r.seed = i * 100 + n;
                picture_file file = plain_encode(&r);
                bool gray = r.space == PLAIN_GRAY;
                uint32_t v = gray ? 1 : r.factors[0] % 16 > r.factors[1] % 16 ? r.factors[0] % 16 : r.factors[1] % 16;
                check_file(&file, (r.height + 8 * v - 1) / (8 * v), "a generated JPEG with its index");
                free(file.bytes);
            }
}

/* Tables made for the image, and the standard's: L3 writes the one, our encoder the other. */
static void optimised_tables(void **state)
{
    (void)state;
    mr_image image = picture_make(100, 90, 3, 8, 5);
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_L3, .without_origin = true};
    plain_recipe r = {.width = 100, .height = 90, .space = PLAIN_YCC, .factors = {0x21}};
    picture_file plain = plain_encode(&r), jpeg;
    const void *out;
    size_t nbytes;
    assert_int_equal(mr_encoder_recode(encoder, plain.bytes, plain.nbytes, &o, &out, &nbytes, NULL), 0);
    picture_file l3 = picture_copy(out, nbytes);
    o = (mr_encode_options){.struct_size = sizeof o, .form = MR_FORM_JPEG};
    assert_int_equal(mr_encoder_recode(encoder, l3.bytes, l3.nbytes, &o, &out, &nbytes, NULL), 0);
    jpeg = picture_copy(out, nbytes);
    assert_true(jpeg.nbytes != plain.nbytes || memcmp(jpeg.bytes, plain.bytes, nbytes) != 0);
    check_file(&jpeg, 12, "a JPEG with tables of its own");
    free(plain.bytes);
    free(l3.bytes);
    free(jpeg.bytes);
    mr_image_fini(&image, NULL);
}

/* At most 512 bytes whatever the size, and every row of an image such as ImageNet's. */
static void small_for_every_size(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, step; /* 0: no matter which */
        plain_space space;
    } cases[] = {{500, 375, 1, PLAIN_YCC},  {1, 65500, 0, PLAIN_GRAY}, {1, 65500, 0, PLAIN_YCC},
                 {65500, 1, 0, PLAIN_GRAY}, {65500, 16, 1, PLAIN_YCC}, {2000, 2000, 0, PLAIN_YCC}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plain_recipe r = {.width = cases[i].width, .height = cases[i].height, .space = cases[i].space, .quality = 95};
        picture_file file = plain_encode(&r);
        kept_index k = index_of(&file);
        if (cases[i].step != 0)
            assert_int_equal(step_of(&k), cases[i].step);
        uint32_t rows = (cases[i].height + 7) / 8;
        assert_int_equal(k.nbytes == 0, rows == 1);
        if (rows > 1) { // no step would do that is smaller
            assert_int_equal(count_of(&k), (rows - 1) / step_of(&k));
            assert_true(step_of(&k) == 1 || k.nbytes > MOST / 2);
            mr_decode_hints h = hints_with(&k);
            mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
            check_region(&file, h, (mr_rect){0, cases[i].height * 2 / 3, 1, 5}, &whole, "a large one");
            check_region(&file, h, (mr_rect){0, cases[i].height - 1, 1, 1}, &whole, "a large one");
            mr_image_fini(&whole, NULL);
        }
        free(file.bytes);
    }
}

/* Of an index of `count` rows, all 1000 bits long, with predictors of 7 and 0 bits. */
static size_t nbytes_with(uint32_t count, uint32_t step)
{
    uint32_t bits = 7;
    for (uint32_t delta = 1000 * step; delta != 0; delta /= 2)
        bits++;
    return HEAD + HASH + ((count - 1) / step * bits + 7) / 8;
}

/* The least step that fits, for any number of rows. */
static void no_step_too_many(void **state)
{
    (void)state;
    static mr__jpeg_row rows[9000];
    for (uint32_t i = 0; i < 9000; i++)
        rows[i] = (mr__jpeg_row){800 + UINT64_C(1000) * i, {-64, 0, 0}};
    for (uint32_t count = 2; count < 9000; count += 1 + count / 50) {
        kept_index k;
        k.nbytes = mr__jpeg_index_write(rows, count, 2, (mr__jpeg_index_key){1 << 20, 1}, k.bytes);
        assert_int_equal(k.nbytes, nbytes_with(count, step_of(&k)));
        assert_true(k.nbytes <= MOST);
        assert_true(step_of(&k) == 1 || nbytes_with(count, step_of(&k) - 1) > MOST);
    }
}

static picture_file small_jpeg(uint64_t seed)
{
    plain_recipe r = {.width = 60, .height = 77, .space = PLAIN_YCC, .factors = {0x11}, .restart = 5, .seed = seed};
    return plain_encode(&r);
}

static const mr_rect low = {20, 40, 12, 16}; /* a region behind rows that an index spares */

/* Refused, also where it would not be needed; where damage is accepted, warned of, and the pixels are right. */
static void check_bad(const picture_file *file, const kept_index *k, const char *part, const mr_image *whole)
{
    mr_decode_hints h = hints_with(k);
    mr_image image;
    check_refused(file, &h, MR_ECORRUPT, part);
    h.region = low;
    check_refused(file, &h, MR_ECORRUPT, part);
    h.accept_damaged = true;
    assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, &h, &image), 0);
    assert_true(picture_is_part(whole, low, &image));
    assert_int_equal(mr_decoder_warnings(decoder), 1);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    picture_file file = small_jpeg(1), other = small_jpeg(2);
    mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
    kept_index good = index_of(&file), k = index_of(&other);
    check_bad(&file, &k, "is of another JPEG, or this one has changed since", &whole);
    for (size_t i = 0; i < good.nbytes * 8; i++) {
        k = good;
        k.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        check_bad(&file, &k, "row index", &whole);
    }
    for (size_t n = 1; n < good.nbytes; n++) {
        picture_file cut = picture_copy(good.bytes, n);
        mr_decode_hints h = {.struct_size = sizeof h, .region = low, .index = cut.bytes, .index_nbytes = n};
        check_refused(&file, &h, MR_ECORRUPT, "row index");
        free(cut.bytes);
    }
    // One byte of the JPEG, behind the region or in a comment: all the same.
    file.bytes[file.nbytes - 3] ^= 1;
    mr_decode_hints h = hints_with(&good);
    h.region = low;
    check_refused(&file, &h, MR_ECORRUPT, "has changed since");
    mr_image_fini(&whole, NULL);
    free(file.bytes);
    free(other.bytes);
}

static void random_bytes_are_refused(void **state)
{
    (void)state;
    picture_file file = small_jpeg(1);
    for (uint32_t i = 0; i < 600; i++) {
        picture_file noise = {malloc(i + 1), i + 1};
        picture_noise(noise.bytes, noise.nbytes, i);
        if (i % 2 == 0 && i > 4)
            memcpy(noise.bytes, "\x8aMRI\x01", 5);
        mr_decode_hints h = {.struct_size = sizeof h, .index = noise.bytes, .index_nbytes = noise.nbytes};
        check_refused(&file, &h, MR_ECORRUPT, "row index of a JPEG: it ");
        free(noise.bytes);
    }
    free(file.bytes);
}

/* Each field of the head out of its range, with the right hash: found by the field itself. */
static void heads_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } cases[] = {{AT_COMPONENTS, 0}, {AT_COMPONENTS, 4}, {AT_COMPONENTS, 1},   {AT_STEP, 0},     {AT_STEP, 2},
                 {AT_COUNT, 0},      {AT_COUNT, 1},      {AT_COUNT + 1, 255},  {AT_BITS, 0},     {AT_BITS, 41},
                 {AT_BITS, 255},     {AT_BITS + 1, 17},  {AT_BITS + 3, 200},   {AT_BITS + 2, 0}, {AT_RESERVED, 1},
                 {AT_VERSION, 2},    {AT_VERSION, 0},    {AT_JPEG_NBYTES, 99}, {AT_JPEG_HASH, 0}};
    picture_file file = small_jpeg(1);
    mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
    kept_index good = index_of(&file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kept_index k = good;
        k.bytes[cases[i].at] = cases[i].value;
        seal(&k);
        check_bad(&file, &k, "row index", &whole);
    }
    mr_image_fini(&whole, NULL);
    free(file.bytes);
}

/*
 * Entries of a forger's, with the right hashes: memory stays safe, and what comes is an error or pixels. Where the
 * forgery is of a row that is passed, and not of where reading begins, it is an error.
 */
static void forged_entries(void **state)
{
    (void)state;
    for (int restart = 0; restart < 12; restart += 4) {
        plain_recipe r = {.width = 60, .height = 120, .space = PLAIN_YCC, .factors = {0x21}, .restart = restart};
        picture_file file = plain_encode(&r);
        kept_index good = index_of(&file);
        uint64_t random = 1;
        for (uint32_t i = 0; i < (test_quick() ? 1000u : 20000u); i++) {
            kept_index k = good;
            for (uint32_t n = 0; n <= i % 3; n++)
                k.bytes[HEAD + picture_random_below(&random, (uint32_t)(k.nbytes - HEAD - HASH))] =
                    (uint8_t)picture_random(&random);
            seal(&k);
            mr_decode_hints h = hints_with(&k);
            h.region = picture_random_rect(&random, 60, 120);
            h.reduce = 1;
            int result = picture_try(decoder, file.bytes, file.nbytes, &h);
            assert_true(result == 0 || result == MR_ECORRUPT);
            h.accept_damaged = true;
            assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &h), 0);
        }
        // From the top to the end every row is passed: what is not as the decoder has it is found.
        for (size_t i = HEAD * 8; i < (good.nbytes - HASH) * 8; i++) {
            kept_index k = good;
            k.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
            seal(&k);
            mr_decode_hints h = hints_with(&k);
            check_refused(&file, &h, MR_ECORRUPT, "row index of a JPEG");
        }
        free(file.bytes);
    }
}

/* A gray JPEG of 4 rows, two restarts in each, with fill bytes before one of the markers; *fill is where they are. */
static picture_file filled_jpeg(uint32_t number, uint32_t count, size_t *fill)
{
    plain_recipe r = {.width = 64, .height = 32, .space = PLAIN_GRAY, .factors = {0x11}, .restart = 4};
    picture_file file = plain_encode(&r);
    size_t at = 0;
    while (at + 1 < file.nbytes && (file.bytes[at] != 0xff || file.bytes[at + 1] != MR__JPEG_RST0 + number))
        at++;
    assert_true(at + 1 < file.nbytes);
    file.bytes = realloc(file.bytes, file.nbytes + count);
    assert_non_null(file.bytes);
    memmove(file.bytes + at + count, file.bytes + at, file.nbytes - at);
    memset(file.bytes + at, 0xff, count);
    file.nbytes += count;
    *fill = at;
    return file;
}

/* Row 0 and all that have an entry. */
static mr__jpeg_index rows_of(const picture_file *file, const kept_index *good, mr__jpeg_row rows[8])
{
    mr__jpeg_index index;
    rows[0] = (mr__jpeg_row){.at = 0};
    assert_null(mr__jpeg_index_read(&index, good->bytes, good->nbytes));
    assert_true(index.count < 8);
    // Where row 0 begins is behind the scan's header: 10 bytes with its marker.
    for (size_t i = 0; rows[0].at == 0; i++)
        if (file->bytes[i] == 0xff && file->bytes[i + 1] == 0xda)
            rows[0].at = (i + 10) * 8;
    for (uint32_t i = 1; i <= index.count; i++) {
        rows[i].at = rows[i - 1].at;
        mr__jpeg_index_next(&index, i, &rows[i]);
    }
    return index;
}

/* As a forger has it: entry `number` is at bit `at`, the others are where they were. */
static kept_index aim(const picture_file *file, const kept_index *good, uint32_t number, uint64_t at)
{
    mr__jpeg_row rows[8];
    mr__jpeg_index index = rows_of(file, good, rows);
    kept_index k;
    rows[number].at = at;
    k.nbytes = mr__jpeg_index_write(rows, index.count + 1, index.components, index.key, k.bytes);
    return k;
}

/*
 * An entry at fill bytes, or in the marker behind them. It is where reading begins, or, as the first that is not
 * needed, where it ends: then a marker in the middle of the row before it may stand behind the end.
 */
static void forged_at_fill_bytes(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 6; number++)
        for (uint32_t count = 1; count < 40; count += 1 + count / 4) {
            size_t fill;
            uint32_t entry = number / 2 + 1;
            picture_file file = filled_jpeg(number, count, &fill);
            kept_index good = index_of(&file);
            mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
            check_regions(&file, &good, &whole, 1, "fill bytes before a restart marker");
            for (uint64_t at = fill * 8; at < (fill + count + 2) * 8; at++)
                for (uint32_t y = 0; y < 32; y += 8) {
                    kept_index k = aim(&file, &good, entry, at);
                    mr_decode_hints h = hints_with(&k);
                    h.region = (mr_rect){0, y, 64, 8};
                    int result = picture_try(decoder, file.bytes, file.nbytes, &h);
                    bool is_cut = number % 2 == 0 && y / 8 == entry - 1;
                    assert_int_equal(result, is_cut || y / 8 == entry ? MR_ECORRUPT : 0);
                    h.accept_damaged = true;
                    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &h), 0);
                }
            mr_image_fini(&whole, NULL);
            free(file.bytes);
        }
}

/* A row that begins with a restart is entered behind its marker and nowhere else. */
static void forged_off_the_marker(void **state)
{
    (void)state;
    size_t fill;
    picture_file file = filled_jpeg(2, 1, &fill);
    kept_index good = index_of(&file);
    mr_decode_hints h = hints_with(&good);
    h.region = (mr_rect){0, 16, 64, 8};
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &h), 0);
    for (uint32_t off = 1; off < 6; off++) {
        kept_index k = aim(&file, &good, 2, (fill + 3 + off) * 8);
        h.index = k.bytes;
        h.index_nbytes = k.nbytes;
        check_refused(&file, &h, MR_ECORRUPT, "behind a restart marker that is not there");
    }
    free(file.bytes);
}

/* Positions that do not grow, or are not inside the file, are refused before anybody goes there. */
static void forged_out_of_order(void **state)
{
    (void)state;
    size_t fill;
    picture_file file = filled_jpeg(2, 1, &fill);
    kept_index good = index_of(&file);
    mr__jpeg_row rows[8];
    uint32_t last = rows_of(&file, &good, rows).count;
    const struct {
        uint32_t number;
        uint64_t at;
    } cases[] = {{last, file.nbytes * 8}, {last, file.nbytes * 8 + 7}, {last, (uint64_t)1 << 38}, {2, rows[1].at},
                 {1, rows[0].at},         {last, rows[last - 1].at}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t y = 0; y < 32; y += 8) {
            kept_index k = aim(&file, &good, cases[i].number, cases[i].at);
            mr_decode_hints h = hints_with(&k);
            h.region = (mr_rect){0, y, 64, 8};
            check_refused(&file, &h, MR_ECORRUPT, "has rows that this JPEG cannot have");
        }
    free(file.bytes);
}

/* What has no index, and whom one is given all the same. */
static void where_there_is_none(void **state)
{
    (void)state;
    picture_file baseline = small_jpeg(1);
    kept_index k = index_of(&baseline);
    for (int i = 0; i < 4; i++) {
        plain_recipe r = {.width = 60, .height = 77, .space = i == 3 ? PLAIN_CMYK : PLAIN_YCC, .factors = {0x11}};
        r.progressive = i == 0;
        r.separate = i == 1;
        r.arithmetic = i == 2 && plain_has_arithmetic();
        picture_file file = plain_encode(&r);
        if (i != 2 || r.arithmetic)
            assert_int_equal(index_of(&file).nbytes, 0);
        mr_decode_hints h = hints_with(&k);
        check_refused(&file, &h, MR_ECORRUPT, "is of another JPEG");
        // With the right hashes it can only be a forgery; nobody needs it, and the pixels are right.
        kept_index forged = k;
        mr__store_le64(forged.bytes + AT_JPEG_NBYTES, file.nbytes);
        mr__store_le64(forged.bytes + AT_JPEG_HASH, mr__hash(file.bytes, file.nbytes));
        seal(&forged);
        mr_image whole = picture_decode(file.bytes, file.nbytes, NULL);
        if (i != 2 || r.arithmetic)
            check_region(&file, hints_with(&forged), low, &whole, "no JPEG for an index");
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
    mr_image image = picture_make(30, 30, 3, 8, 1), out;
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_PNG};
    picture_file png = picture_encode(&image, &o);
    assert_int_equal(index_of(&png).nbytes, 0);
    mr_decode_hints h = hints_with(&k);
    check_refused(&png, &h, MR_ECORRUPT, "only JPEGs have one");
    h.accept_damaged = true;
    assert_int_equal(mr_decoder_decode(decoder, png.bytes, png.nbytes, &h, &out), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 1);
    h = (mr_decode_hints){.struct_size = sizeof h, .index = k.bytes}; // 0 bytes are none
    assert_int_equal(mr_decoder_decode(decoder, png.bytes, png.nbytes, &h, &out), 0);
    assert_int_equal(mr_decoder_decode(decoder, baseline.bytes, baseline.nbytes, &h, &out), 0);
    h = (mr_decode_hints){.struct_size = sizeof h, .index_nbytes = 7};
    assert_int_equal(mr_decoder_decode(decoder, baseline.bytes, baseline.nbytes, &h, &out), 0);
    mr_image_fini(&image, NULL);
    free(png.bytes);
    free(baseline.bytes);
}

/* libjpeg-turbo has no use for it, but a wrong one is wrong for all. */
static void the_other_decoder(void **state)
{
    (void)state;
    picture_file file = small_jpeg(1), other = small_jpeg(2);
    kept_index good = index_of(&file), bad = index_of(&other);
    mr_decoder_options o = {.struct_size = sizeof o, .jpeg = MR_JPEG_LIBJPEG};
    mr_image whole = picture_decode(file.bytes, file.nbytes, NULL), out;
    mr_decode_hints h = hints_with(&good);
    mr_decoder *theirs;
    h.region = low;
    assert_int_equal(mr_decoder_new(&o, &theirs), 0);
    assert_int_equal(mr_decoder_decode(theirs, file.bytes, file.nbytes, &h, &out), 0);
    assert_true(picture_is_part(&whole, low, &out));
    h.index = bad.bytes;
    assert_int_equal(mr_decoder_decode(theirs, file.bytes, file.nbytes, &h, &out), MR_ECORRUPT);
    mr_decoder_free(theirs);
    mr_image_fini(&whole, NULL);
    free(file.bytes);
    free(other.bytes);
}

/* Damage anywhere is an error when an index is made, with a word on it. */
static void none_of_damage(void **state)
{
    (void)state;
    picture_file file = small_jpeg(3);
    const void *out = &file;
    size_t nbytes = 99;
    int result = mr_decoder_index(decoder, file.bytes, file.nbytes * 2 / 3, &out, &nbytes);
    assert_true(result == MR_ETRUNCATED || result == MR_ECORRUPT);
    assert_true(mr_decoder_detail(decoder)[0] != '\0');
    assert_true(out == &file && nbytes == 99);
    free(file.bytes);
}

/* Adds bits to a scan's data, with stuffing. */
static void add_bits(picture_file *file, uint32_t *pending, uint32_t *count, uint32_t value, uint32_t bits)
{
    for (uint32_t i = bits; i-- != 0;) {
        *pending = *pending << 1 | (value >> i & 1);
        if (++*count % 8 != 0)
            continue;
        file->bytes[file->nbytes++] = (uint8_t)*pending;
        if ((*pending & 255) == 255)
            file->bytes[file->nbytes++] = 0;
    }
}

/* Gray, 9 blocks a row, each with a DC that is 32767 more than the last one's: it leaves 16 bits, then 32. */
static picture_file growing_jpeg(uint32_t rows)
{
    static const uint8_t head[] = {0xff, 0xd8, 0xff, 0xc0, 0,  11,   8,    0, 0, 0, 72, 1, 1, 0x11, 0, 0xff, 0xc4, 0,
                                   20,   0x00, 1,    0,    0,  0,    0,    0, 0, 0, 0,  0, 0, 0,    0, 0,    0,    0,
                                   15,   0xff, 0xc4, 0,    20, 0x10, 1,    0, 0, 0, 0,  0, 0, 0,    0, 0,    0,    0,
                                   0,    0,    0,    0,    0,  0xff, 0xda, 0, 8, 1, 1,  0, 0, 63,   0};
    picture_file file = {calloc(1, 200 + (size_t)rows * 9 * 5), 0};
    uint32_t pending = 0, count = 0;
    memcpy(file.bytes, "\xff\xd8\xff\xdb\0\x43\0", 7);
    memset(file.bytes + 7, 1, 64);
    memcpy(file.bytes + 71, head + 2, sizeof head - 2);
    mr__store_be16(file.bytes + 71 + 5, (uint16_t)(rows * 8));
    file.nbytes = 71 + sizeof head - 2;
    for (uint32_t i = 0; i < rows * 9; i++)
        add_bits(&file, &pending, &count, 0x7fff << 1, 17);
    while (count % 8 != 0)
        add_bits(&file, &pending, &count, 1, 1);
    memcpy(file.bytes + file.nbytes, "\xff\xd9", 2);
    file.nbytes += 2;
    return file;
}

/* No predictor that an index can say: none is made, and nothing overflows. */
static void numbers_that_no_image_has(void **state)
{
    (void)state;
    picture_file few = growing_jpeg(2), many = growing_jpeg(8000);
    assert_int_equal(index_of(&few).nbytes, 0);
    assert_int_equal(index_of(&many).nbytes, 0);
    free(few.bytes);
    free(many.bytes);
}

/*
 * Sums that leave 32 bits in rows that are read over, with a region behind or across that: nothing overflows (as UBSan
 * sees it), and ours leaves them to libjpeg-turbo.
 */
static void sums_that_wrap(void **state)
{
    (void)state;
    picture_file file = growing_jpeg(8000);
    mr_decoder_options o = {.struct_size = sizeof o, .jpeg = MR_JPEG_OWN};
    mr_decoder *own;
    assert_int_equal(mr_decoder_new(&o, &own), 0);
    for (uint32_t y = 7275; y < 7290; y++) // 65538 blocks are too many: the row 7282
        for (uint32_t x = 0; x < 9; x++) {
            mr_decode_hints h = {.struct_size = sizeof h, .region = {x * 8, y * 8, 8, 8}};
            assert_int_equal(picture_try(own, file.bytes, file.nbytes, &h), MR_EUNSUPPORTED);
            assert_true(strstr(mr_decoder_detail(own), "coefficients that no image has") != NULL);
        }
    mr_decoder_free(own);
    free(file.bytes);
}

static void oriented_and_gray(void **state)
{
    (void)state;
    mr_image image = picture_make(50, 90, 3, 8, 5);
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_JPEG, .orientation = 6};
    picture_file file = picture_encode(&image, &o);
    kept_index k = index_of(&file);
    for (uint32_t channels = 1; channels <= 4; channels++) {
        mr_decode_hints h = {.struct_size = sizeof h, .orient = true, .channels = channels};
        mr_image whole = picture_decode(file.bytes, file.nbytes, &h);
        h.index = k.bytes;
        h.index_nbytes = k.nbytes;
        h.index_nbytes = k.nbytes;
        for (uint32_t x = 0; x + 9 < 90; x += 5)
            check_region(&file, h, (mr_rect){x, 11, 9, 13}, &whole, "turned");
        mr_image_fini(&whole, NULL);
    }
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

/* It was once made: any change of these bytes is a change of the format. */
static void its_bytes_are_fixed(void **state)
{
    (void)state;
    const mr__jpeg_row rows[] = {{800, {0}}, {923, {-3, 4, 0}}, {1000, {7, -4, 0}}, {1600, {0, 3, 0}}};
    const mr__jpeg_index_key key = {1000, UINT64_C(0x0123456789abcdef)};
    static const uint8_t wanted[] = {0x8a, 'M',  'R',  'I',  1,    3,    1,    0,    3,    0,    10,   4,
                                     4,    0,    0,    0,    0xe8, 3,    0,    0,    0,    0,    0,    0,
                                     0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x7b, 0x34, 0x35, 0x71,
                                     0x8c, 0x25, 0x0c, 0x60, 0x98, 0xd6, 0x71, 0x4f, 0x1e, 0xa3, 0x7c};
    uint8_t bytes[MOST];
    mr__jpeg_index index;
    mr__jpeg_row row = {800, {0}};
    size_t nbytes = mr__jpeg_index_write(rows, 4, 3, key, bytes);
    assert_int_equal(nbytes, HEAD + 7 + HASH); // 3 * (10 + 4 + 4) bits
    assert_int_equal(nbytes, sizeof wanted);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    // 123, -3, 4; 77, 7, -4; 600, 0, 3: from the lowest bit on.
    assert_int_equal(mr__load_le64(bytes + HEAD) & 0x3ffff, 123 | 13 << 10 | 4 << 14);
    assert_int_equal(mr__load_le64(bytes + HEAD) >> 18 & 0x3ffff, 77 | 7 << 10 | 12 << 14);
    assert_int_equal(mr__load_le64(bytes + HEAD) >> 36 & 0xfffff, 600 | 0 << 10 | 3 << 14);
    assert_null(mr__jpeg_index_read(&index, bytes, nbytes));
    for (uint32_t i = 1; i < 4; i++) {
        mr__jpeg_index_next(&index, i, &row);
        assert_memory_equal(&row, &rows[i], sizeof row.at + sizeof row.before);
    }
    bytes[HEAD + 6] |= 0x80; // behind the last entry
    mr__store_le64(bytes + nbytes - HASH, mr__hash(bytes, nbytes - HASH));
    assert_non_null(mr__jpeg_index_read(&index, bytes, nbytes));
}

typedef struct tally {
    size_t files, nbytes, most, rows;
} tally;

static void visit(const char *path, const picture_file *file, void *user)
{
    tally *t = user;
    mr_info info = info_of(file);
    kept_index k = index_of(file);
    if (k.nbytes == 0)
        return;
    uint64_t random = file->nbytes;
    mr_image whole = picture_decode(file->bytes, file->nbytes, NULL);
    for (int i = 0; i < 5; i++)
        check_region(file, hints_with(&k), picture_random_rect(&random, info.width, info.height), &whole, path);
    mr_image_fini(&whole, NULL);
    t->files++;
    t->nbytes += k.nbytes;
    t->most = k.nbytes > t->most ? k.nbytes : t->most;
    t->rows += step_of(&k) == 1;
}

static void shared_files(void **state)
{
    (void)state;
    tally t = {0};
    shared_each("data/imagenet", ".JPEG", visit, &t);
    if (t.files != 0)
        print_message("%zu files with an index, %.0f bytes on average, %zu at most, %zu with every row\n", t.files,
                      (double)t.nbytes / (double)t.files, t.most, t.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_bytes_are_fixed),
        cmocka_unit_test(same_pixels),
        cmocka_unit_test(optimised_tables),
        cmocka_unit_test(small_for_every_size),
        cmocka_unit_test(no_step_too_many),
        cmocka_unit_test(wrong_ones_are_refused),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(heads_that_cannot_be),
        cmocka_unit_test(forged_entries),
        cmocka_unit_test(forged_at_fill_bytes),
        cmocka_unit_test(forged_off_the_marker),
        cmocka_unit_test(forged_out_of_order),
        cmocka_unit_test(where_there_is_none),
        cmocka_unit_test(the_other_decoder),
        cmocka_unit_test(none_of_damage),
        cmocka_unit_test(numbers_that_no_image_has),
        cmocka_unit_test(sums_that_wrap),
        cmocka_unit_test(oriented_and_gray),
        cmocka_unit_test(shared_files),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
