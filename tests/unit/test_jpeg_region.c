// SPDX-License-Identifier: Apache-2.0
/*
 * A whole decode is libjpeg's default decode, and a region is exactly that part of the whole: for every way to sample,
 * store and reduce.
 */
#include "test.h"

#include "check.h"
#include "jpeg_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sampling {
    plain_space space;
    uint8_t factors[4];
    bool separate_only; /* more blocks in an MCU than JPEG allows */
} sampling;

static const sampling samplings[] = {
    {PLAIN_YCC, {0x11, 0x11, 0x11}, false}, // 4:4:4
    {PLAIN_YCC, {0x21, 0x11, 0x11}, false}, // 4:2:2
    {PLAIN_YCC, {0x22, 0x11, 0x11}, false}, // 4:2:0
    {PLAIN_YCC, {0x12, 0x11, 0x11}, false}, // 4:4:0
    {PLAIN_YCC, {0x41, 0x11, 0x11}, false}, // 4:1:1
    {PLAIN_YCC, {0x42, 0x11, 0x11}, false}, // 4:1:0
    {PLAIN_YCC, {0x14, 0x11, 0x11}, false}, // 4:4:1
    {PLAIN_YCC, {0x31, 0x11, 0x11}, false}, // thirds
    {PLAIN_YCC, {0x13, 0x11, 0x11}, false},
    {PLAIN_YCC, {0x32, 0x11, 0x11}, false},
    {PLAIN_YCC, {0x23, 0x11, 0x11}, false},
    {PLAIN_YCC, {0x24, 0x11, 0x11}, false},
    {PLAIN_YCC, {0x33, 0x11, 0x11}, true},
    {PLAIN_YCC, {0x44, 0x11, 0x11}, true},
    {PLAIN_YCC, {0x44, 0x22, 0x11}, true},
    {PLAIN_YCC, {0x22, 0x22, 0x22}, true}, // 4:4:4 in another guise
    {PLAIN_YCC, {0x22, 0x21, 0x21}, false},
    {PLAIN_YCC, {0x22, 0x12, 0x12}, false},
    {PLAIN_YCC, {0x22, 0x21, 0x12}, false}, // Cb and Cr unlike
    {PLAIN_YCC, {0x22, 0x12, 0x11}, false},
    {PLAIN_YCC, {0x21, 0x11, 0x21}, false},
    {PLAIN_YCC, {0x22, 0x11, 0x22}, false},
    {PLAIN_YCC, {0x41, 0x21, 0x11}, false},
    {PLAIN_YCC, {0x14, 0x12, 0x11}, false},
    {PLAIN_YCC, {0x42, 0x21, 0x12}, true},
    {PLAIN_YCC, {0x41, 0x22, 0x11}, false},
    {PLAIN_YCC, {0x11, 0x22, 0x22}, false}, // less luma than chroma
    {PLAIN_YCC, {0x11, 0x21, 0x12}, false},
    {PLAIN_GRAY, {0x11}, false},
    {PLAIN_GRAY, {0x22}, false},
    {PLAIN_GRAY, {0x12}, false},
    {PLAIN_GRAY, {0x31}, false},
    {PLAIN_RGB, {0x11, 0x11, 0x11}, false},
    {PLAIN_RGB, {0x22, 0x11, 0x22}, false},
    {PLAIN_CMYK, {0x11, 0x11, 0x11, 0x11}, false},
    {PLAIN_CMYK, {0x21, 0x11, 0x11, 0x21}, false},
    {PLAIN_YCCK, {0x22, 0x11, 0x11, 0x22}, false},
    {PLAIN_YCCK, {0x21, 0x11, 0x11, 0x21}, false},
};

enum { SAMPLING_COUNT = sizeof samplings / sizeof *samplings };

typedef enum kind { BASELINE, RESTART, SEPARATE, PROGRESSIVE, UNREFINED, ARITHMETIC, KIND_COUNT } kind;

static const uint32_t reductions[] = {1, 2, 4, 8};

static bool make(picture_file *file, const sampling *s, kind k, uint32_t width, uint32_t height)
{
    plain_recipe r = {.width = width, .height = height, .space = s->space, .seed = width * 1000 + height};
    memcpy(r.factors, s->factors, sizeof r.factors);
    r.restart = k == RESTART ? 3 : 0;
    r.separate = k == SEPARATE;
    r.progressive = k == PROGRESSIVE || k == UNREFINED;
    r.unrefined = k == UNREFINED;
    r.arithmetic = k == ARITHMETIC;
    if ((k == ARITHMETIC && !plain_has_arithmetic()) || (s->separate_only && k != SEPARATE))
        return false;
    *file = plain_encode(&r);
    return true;
}

typedef char case_text[80];

static const char *describe(case_text text, const sampling *s, kind k)
{
    snprintf(text, sizeof(case_text), "space %d factors %02x %02x %02x %02x kind %d", s->space, s->factors[0],
             s->factors[1], s->factors[2], s->factors[3], k);
    return text;
}

/* The whole against plain libjpeg; its pixels are the caller's to free. */
static mr_image check_whole(const picture_file *file, const sampling *s, kind k, const mr_decode_hints *h)
{
    case_text text;
    mr_image ours = picture_decode(file->bytes, file->nbytes, h), plain;
    bool is_cmyk = s->space == PLAIN_CMYK || s->space == PLAIN_YCCK;
    if ((is_cmyk || s->space == PLAIN_RGB) && h->channels == 1)
        return ours; // their way to gray is tested elsewhere
    int warnings = is_cmyk ? plain_decode_cmyk(file->bytes, file->nbytes, h->reduce, &plain)
                           : plain_decode(file->bytes, file->nbytes, h->reduce, ours.channels, &plain);
    assert_true(warnings >= 0);
    if (!picture_same(&plain, &ours))
        fail_msg("%s, reduce %u, %u channels: not libjpeg's", describe(text, s, k), h->reduce, h->channels);
    mr_image_fini(&plain, NULL);
    return ours;
}

/* Edges, corners, single pixels, and some at random. */
static void check_regions(const picture_file *file, const sampling *s, kind k, mr_decode_hints h, uint32_t random_count)
{
    case_text text;
    mr_image whole = check_whole(file, s, k, &h);
    describe(text, s, k);
    uint32_t w = whole.width, t = whole.height;
    uint64_t random = w * 7919 + t;
    const mr_rect edges[] = {
        {0, 0, w, t},
        {0, 0, 1, 1},
        {w - 1, t - 1, 1, 1},
        {w - 1, 0, 1, t},
        {0, t - 1, w, 1},
        {0, 0, w, (t + 1) / 2},
        {0, t / 2, w, t - t / 2},
        {w / 2, 0, w - w / 2, t},
        {0, 0, (w + 1) / 2, t},
        {w / 3, t / 3, w - w / 3, t - t / 3},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        check_region(file, h, edges[i], &whole, text);
    for (uint32_t i = 0; i < random_count; i++) {
        mr_rect r = {picture_random_below(&random, w), picture_random_below(&random, t), 0, 0};
        r.width = 1 + picture_random_below(&random, i % 2 == 0 ? w - r.x : (w - r.x + 7) / 8);
        r.height = 1 + picture_random_below(&random, i % 3 != 0 ? t - r.y : (t - r.y + 7) / 8);
        check_region(file, h, r, &whole, text);
    }
    mr_image_fini(&whole, NULL);
}

/*
 * All sizes for the two kinds that are common, the first ones for the others. A quick run takes a quarter of the hints
 * with each file, others with each size and sampling.
 */
static void check_kind(kind k)
{
    static const struct {
        uint32_t width, height;
    } sizes[] = {{1, 1}, {67, 45}, {19, 171}, {5, 3}, {130, 97}, {201, 18}};
    size_t size_count = k == BASELINE || k == PROGRESSIVE ? 6 : 3;
    for (size_t i = 0; i < SAMPLING_COUNT; i++)
        for (size_t z = 0; z < size_count; z++) {
            picture_file file;
            if (!make(&file, &samplings[i], k, sizes[z].width, sizes[z].height))
                continue;
            for (size_t n = 0; n < 8; n++) {
                if (test_quick() && (i + z + n) % 4 != 0)
                    continue;
                mr_decode_hints h = {
                    .struct_size = sizeof h, .reduce = reductions[n / 2], .channels = n % 2 == 0 ? 3 : 1};
                check_regions(&file, &samplings[i], k, h, sizes[z].width > 50 ? 12 : 4);
            }
            free(file.bytes);
        }
}

static void baseline(void **state)
{
    (void)state;
    check_kind(BASELINE);
}

static void restart_intervals(void **state)
{
    (void)state;
    check_kind(RESTART);
}

static void separate_scans(void **state)
{
    (void)state;
    check_kind(SEPARATE);
}

static void progressive(void **state)
{
    (void)state;
    check_kind(PROGRESSIVE);
}

static void progressive_that_is_smoothed(void **state)
{
    (void)state;
    check_kind(UNREFINED);
}

static void arithmetic(void **state)
{
    (void)state;
    check_kind(ARITHMETIC);
}

/*
 * Every first and last column, then every first and last row, of images a few MCUs wide or high. A quick run takes a
 * fifth of the pairs of first and last.
 */
static void every_column_and_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLING_COUNT; i++) {
        const sampling *s = &samplings[i];
        kind k = s->separate_only ? SEPARATE : BASELINE;
        picture_file wide, high;
        case_text text;
        describe(text, s, k);
        assert_true(make(&wide, s, k, 75, 9) && make(&high, s, k, 9, 75));
        for (size_t n = 0; n < 4; n++) {
            mr_decode_hints h = {.struct_size = sizeof h, .reduce = reductions[n], .channels = 3};
            mr_image a = check_whole(&wide, s, k, &h), b = check_whole(&high, s, k, &h);
            for (uint32_t from = 0; from < a.width; from++)
                for (uint32_t end = from + 1; end <= a.width; end += end - from < 18 ? 1 : 9) {
                    if (test_quick() && (from + 2 * end + i + n) % 5 != 0)
                        continue;
                    check_region(&wide, h, (mr_rect){from, a.height / 2, end - from, 1}, &a, text);
                    check_region(&high, h, (mr_rect){b.width / 2, from, 1, end - from}, &b, text);
                }
            mr_image_fini(&a, NULL);
            mr_image_fini(&b, NULL);
        }
        free(wide.bytes);
        free(high.bytes);
    }
}

/* Into rows with gaps, and bottom row first. */
static void any_stride(void **state)
{
    (void)state;
    picture_file file;
    assert_true(make(&file, &samplings[2], BASELINE, 67, 45));
    mr_decode_hints h = {.struct_size = sizeof h, .region = {13, 7, 30, 20}};
    mr_image part = picture_decode(file.bytes, file.nbytes, &h);
    check_target(&file, &h, &part);
    mr_image_fini(&part, NULL);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline),
        cmocka_unit_test(restart_intervals),
        cmocka_unit_test(separate_scans),
        cmocka_unit_test(progressive),
        cmocka_unit_test(progressive_that_is_smoothed),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(every_column_and_row),
        cmocka_unit_test(any_stride),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
