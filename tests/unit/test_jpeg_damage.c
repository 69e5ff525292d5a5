// SPDX-License-Identifier: Apache-2.0
/* Damaged and truncated JPEGs: an error with a detail by default; with accept_damaged, what libjpeg gives. */
#include "test.h"

#include "check.h"
#include "jpeg_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mr_decode_hints strict = {.struct_size = sizeof strict, .channels = 3};
static const mr_decode_hints tolerant = {.struct_size = sizeof tolerant, .channels = 3, .accept_damaged = true};

static int decode(const picture_file *file, const mr_decode_hints *hints, mr_image *out)
{
    return mr_decoder_decode(decoder, file->bytes, file->nbytes, hints, out);
}

/* Where the data of the first scan begins. */
static size_t scan_start(const picture_file *file)
{
    for (size_t i = 2; i + 3 < file->nbytes;) {
        size_t length = (size_t)file->bytes[i + 2] << 8 | file->bytes[i + 3];
        i += 2 + length;
        if (file->bytes[i - 2 - length + 1] == 0xda)
            return i;
    }
    fail();
    return 0;
}

static const plain_recipe small[] = {
    {.width = 33, .height = 25, .space = PLAIN_YCC, .factors = {0x22}, .quality = 40},
    {.width = 33, .height = 25, .space = PLAIN_YCC, .factors = {0x21}, .quality = 30, .restart = 2},
    {.width = 21, .height = 17, .space = PLAIN_YCC, .factors = {0x22}, .quality = 30, .progressive = true},
    {.width = 21, .height = 17, .space = PLAIN_YCC, .quality = 30, .separate = true},
    {.width = 21, .height = 17, .space = PLAIN_GRAY, .quality = 30},
    {.width = 21, .height = 17, .space = PLAIN_YCC, .quality = 30, .arithmetic = true},
    {.width = 21, .height = 17, .space = PLAIN_YCC, .quality = 30, .arithmetic = true, .progressive = true},
};

enum { SMALL_COUNT = sizeof small / sizeof *small };

/* Where a segment begins behind the first scan that the end of the data cuts, or where the data ends. */
static size_t usable_nbytes(const picture_file *file)
{
    for (size_t i = scan_start(file); i + 1 < file->nbytes; i++) {
        uint8_t marker = file->bytes[i + 1];
        if (file->bytes[i] != 0xff || marker == 0 || marker == 0xff)
            continue;
        if (marker == 0xd9 || (marker > 1 && marker < 0xc0))
            break;
        if (marker == 1 || (marker >= 0xd0 && marker <= 0xd8))
            continue;
        size_t length = i + 3 < file->nbytes ? (size_t)file->bytes[i + 2] << 8 | file->bytes[i + 3] : SIZE_MAX / 2;
        if (length < 2)
            break;
        if (length > file->nbytes - i - 2)
            return i;
        i += 1 + length;
    }
    return file->nbytes;
}

/*
 * Whether pixels can be compared: damage makes coefficients that no image has, and what libjpeg-turbo's transform makes
 * of those it makes with its x86 kernels alone. Our own decoder does so everywhere; it had a part where a strict decode
 * succeeds.
 */
static bool can_be_compared(const picture_file *file)
{
#if defined(__x86_64__)
    (void)file;
    return true;
#else
    mr_image out;
    return decode(file, &strict, &out) != 0;
#endif
}

/*
 * Holds a tolerant decode against plain libjpeg's; where that refuses, against its decode of the data before a segment
 * that is cut. What is wrong in the header is an error in any case.
 */
static void check_tolerant(const picture_file *file, bool header_is_good)
{
    mr_image plain, ours;
    int warnings = plain_decode(file->bytes, file->nbytes, 1, 3, &plain);
    if (warnings < 0 && header_is_good)
        warnings = plain_decode(file->bytes, usable_nbytes(file), 1, 3, &plain);
    bool compares = can_be_compared(file);
    int result = decode(file, &tolerant, &ours);
    if (header_is_good)
        assert_int_equal(result == 0, warnings >= 0);
    if (result == 0 && warnings >= 0) {
        assert_true(!compares || picture_same(&plain, &ours));
        assert_true(mr_decoder_warnings(decoder) != 0 || warnings == 0);
    }
    if (result != 0)
        assert_string_not_equal(mr_decoder_detail(decoder), "");
    mr_image_fini(&plain, NULL);
}

/* A strict decode of less than the whole file: an error, or all the pixels with a warning. */
static void check_strict_cut(const picture_file *part, const mr_image *whole)
{
    mr_image out;
    int result = decode(part, &strict, &out);
    const char *detail = mr_decoder_detail(decoder);
    if (result == 0) {
        assert_true(picture_same(whole, &out));
        assert_int_equal(mr_decoder_warnings(decoder), 1);
    } else if (part->nbytes < 3) {
        assert_int_equal(result, MR_EFORMAT);
    } else {
        assert_int_equal(result, MR_ETRUNCATED);
        assert_contains(detail, "truncated JPEG: ");
        assert_contains(detail, " byte ");
    }
}

static void every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMALL_COUNT; i++) {
        if (small[i].arithmetic && !plain_has_arithmetic())
            continue;
        picture_file file = plain_encode(&small[i]);
        mr_image whole;
        assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &whole), 0);
        size_t data = scan_start(&file);
        for (size_t cut = 0; cut < file.nbytes; cut++) {
            picture_file part = picture_copy(file.bytes, cut);
            check_strict_cut(&part, &whole);
            check_tolerant(&part, cut >= data);
            free(part.bytes);
        }
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

static void every_byte_mutated(void **state)
{
    (void)state;
    static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x10};
    for (size_t i = 0; i < SMALL_COUNT; i++) {
        if (small[i].arithmetic && !plain_has_arithmetic())
            continue;
        picture_file file = plain_encode(&small[i]);
        size_t data = scan_start(&file);
        for (size_t at = 0; at < file.nbytes; at++)
            for (size_t m = 0; m < sizeof masks; m++) {
                if (test_quick() && (at + m) % sizeof masks != 0)
                    continue; // each byte by one mask
                file.bytes[at] ^= masks[m];
                mr_image out;
                if (decode(&file, &strict, &out) != 0)
                    assert_string_not_equal(mr_decoder_detail(decoder), "");
                check_tolerant(&file, at >= data);
                file.bytes[at] ^= masks[m];
            }
        free(file.bytes);
    }
}

/* Large enough for libjpeg-turbo's fast Huffman decoder, in the reference at least. */
static void random_damage_in_larger_files(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x22, 0x21};
    uint64_t random = 5;
    for (size_t i = 0; i < 6; i++) {
        plain_recipe r = {.width = 301, .height = 203, .space = PLAIN_YCC, .factors = {factors[i % 3]}, .seed = i};
        r.restart = i >= 3 ? 7 : 0;
        picture_file file = plain_encode(&r);
        size_t data = scan_start(&file);
        for (int round = 0; round < (test_quick() ? 10 : 40); round++) {
            picture_file bad = picture_copy(file.bytes, file.nbytes);
            for (uint32_t k = picture_random_below(&random, 3); k < 3; k++)
                bad.bytes[data + picture_random_below(&random, (uint32_t)(file.nbytes - data))] =
                    (uint8_t)picture_random(&random);
            check_tolerant(&bad, true);
            free(bad.bytes);
        }
        free(file.bytes);
    }
}

/* Cut in the tables and headers between the scans of a progressive image: the scans before are all taken. */
static void cuts_between_scans(void **state)
{
    (void)state;
    picture_file file = plain_encode(
        &(plain_recipe){.width = 64, .height = 48, .space = PLAIN_YCC, .factors = {0x22}, .progressive = true});
    size_t seen = 0;
    for (size_t i = scan_start(&file); i + 3 < file.nbytes; i++) {
        bool is_table = file.bytes[i] == 0xff && (file.bytes[i + 1] == 0xc4 || file.bytes[i + 1] == 0xda);
        size_t length = is_table ? (size_t)file.bytes[i + 2] << 8 | file.bytes[i + 3] : 0;
        for (size_t n = 2; n < length + 2 && is_table; n++, seen++) {
            picture_file part = picture_copy(file.bytes, i + n);
            mr_image before, ours;
            char text[80];
            assert_int_equal(decode(&part, &strict, &ours), MR_ETRUNCATED);
            assert_true(plain_decode(part.bytes, i, 1, 3, &before) >= 0);
            check_decode(&part, &tolerant, &before, "before the segment");
            assert_true(mr_decoder_warnings(decoder) >= 1);
            snprintf(text, sizeof text, "%zu", i);
            check_region(&part, tolerant, (mr_rect){9, 3, 20, 11}, &before, text);
            assert_true(mr_decoder_warnings(decoder) >= 1);
            mr_image_fini(&before, NULL);
            free(part.bytes);
        }
    }
    assert_true(seen > 200);
    free(file.bytes);
}

/* libjpeg-turbo's fast decoder would pass over it. */
static void bad_huffman_code(void **state)
{
    (void)state;
    plain_recipe r = {.width = 300, .height = 300, .space = PLAIN_YCC, .quality = 90};
    picture_file file = plain_encode(&r);
    size_t middle = file.nbytes / 2;
    for (size_t i = 0; i < 12; i += 2)
        memcpy(file.bytes + middle + i, "\xff", 2); // ones, more than a code can have
    mr_image out;
    check_refused(&file, &strict, MR_ECORRUPT, "damaged JPEG: a bad Huffman code at byte ");
    size_t at = strtoul(strstr(mr_decoder_detail(decoder), "byte ") + 5, NULL, 10);
    assert_in_range(at, middle - 8, middle + 12);
    check_tolerant(&file, true);
    assert_int_equal(decode(&file, &tolerant, &out), 0);
    assert_true(mr_decoder_warnings(decoder) >= 1);
    // A region above the damage is not touched by it.
    mr_decode_hints above = strict;
    above.region = (mr_rect){0, 0, 300, 40};
    assert_int_equal(decode(&file, &above, &out), 0);
    free(file.bytes);
}

static void wrong_restart_marker(void **state)
{
    (void)state;
    picture_file file = plain_encode(&small[1]);
    size_t at = scan_start(&file);
    while (file.bytes[at] != 0xff || file.bytes[at + 1] != 0xd0)
        at++;
    file.bytes[at + 1] = 0xd3;
    char text[100];
    snprintf(text, sizeof text, "damaged JPEG: marker ffd3 at byte %zu, where restart marker ffd0 should be", at);
    check_refused(&file, &strict, MR_ECORRUPT, text);
    check_tolerant(&file, true);
    free(file.bytes);
}

/* Regions of damaged data are parts of the whole, too. */
static void regions_of_damaged_data(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 12; i++) {
        plain_recipe r = {.width = 120, .height = 90, .space = PLAIN_YCC, .factors = {i % 2 ? 0x22 : 0x21}, .seed = 3};
        r.progressive = i % 3 == 0;
        r.restart = i % 4 == 0 ? 5 : 0;
        picture_file file = plain_encode(&r);
        size_t data = scan_start(&file);
        file.bytes[data + picture_random_below(&random, (uint32_t)(file.nbytes - data))] ^= 0x55;
        if (i % 2 == 0)
            file.nbytes -= file.nbytes / 3;
        mr_image plain;
        if (plain_decode(file.bytes, file.nbytes, 1, 3, &plain) >= 0)
            for (int k = 0; k < 30; k++)
                check_region(&file, tolerant, picture_random_rect(&random, 120, 90), &plain, "damaged");
        mr_image_fini(&plain, NULL);
        free(file.bytes);
    }
}

static picture_file insert(const picture_file *file, size_t at, const void *bytes, size_t nbytes)
{
    picture_file longer = picture_copy(file->bytes, file->nbytes);
    longer.bytes = realloc(longer.bytes, file->nbytes + nbytes);
    memmove(longer.bytes + at + nbytes, file->bytes + at, file->nbytes - at);
    memcpy(longer.bytes + at, bytes, nbytes);
    longer.nbytes += nbytes;
    return longer;
}

/* Accepting damage where there is none changes nothing. */
static void check_harmless(const picture_file *file, const mr_image *whole, uint32_t warnings)
{
    check_decode(file, &strict, whole, "harmless");
    assert_int_equal(mr_decoder_warnings(decoder), warnings);
    check_decode(file, &tolerant, whole, "harmless, tolerant");
    assert_int_equal(mr_decoder_warnings(decoder), warnings);
}

/* Oddities that leave every pixel as it is. */
static void harmless_oddities(void **state)
{
    (void)state;
    picture_file file = plain_encode(&small[0]);
    mr_image whole;
    assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &whole), 0);
    picture_file odd[] = {
        insert(&file, 20, "junk", 4),                                        // before a marker
        insert(&file, file.nbytes - 2, "more than libjpeg reads ahead", 29), // before the end marker
        insert(&file, file.nbytes, "\0\0\0\0\0", 5),                         // after it
        insert(&file, file.nbytes, file.bytes, file.nbytes),                 // another image after it
        insert(&file, 20, "\xff\xff\xff", 3),                                // fill bytes
        insert(&file, file.nbytes - 2, "\xff\xc4\x00\x03\x00", 5),           // a broken table after the last pixel
        insert(&file, file.nbytes - 2, "\xff\xda\x00\x03\x00", 5),           // a broken scan after the last pixel
        insert(&file, file.nbytes - 2, "\xff\xe5\x7f\xff", 4),               // a segment that the end cuts
        insert(&file, file.nbytes - 2, "\xff\xc4\x7f\xff", 4),
    };
    const uint32_t warnings[] = {1, 1, 0, 0, 0, 1, 1, 1, 1};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        check_harmless(&odd[i], &whole, warnings[i]);
        free(odd[i].bytes);
    }
    file.nbytes -= 2; // no end marker
    check_harmless(&file, &whole, 1);
    mr_image_fini(&whole, NULL);
    free(file.bytes);
}

/* The scans that are there might not be all: no end marker, no image. */
static void no_end_marker_after_many_scans(void **state)
{
    (void)state;
    picture_file file = plain_encode(&small[2]);
    mr_image out;
    file.nbytes -= 2;
    assert_int_equal(decode(&file, &strict, &out), MR_ETRUNCATED);
    char text[80];
    snprintf(text, sizeof text, "truncated JPEG: expected a marker at byte %zu", file.nbytes);
    assert_string_equal(mr_decoder_detail(decoder), text);
    check_tolerant(&file, true);
    free(file.bytes);
}

/* A decoder that has seen the worst decodes the next image as a new one does. */
static void damage_does_not_linger(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 60; i++) {
        picture_file bad = plain_encode(&small[picture_random_below(&random, SMALL_COUNT - 2)]);
        picture_file good = plain_encode(&small[picture_random_below(&random, SMALL_COUNT - 2)]);
        mr_image whole, out;
        bad.bytes[picture_random_below(&random, (uint32_t)bad.nbytes)] ^= 0xff;
        (void)decode(&bad, i % 2 == 0 ? &strict : &tolerant, &out);
        assert_int_equal(plain_decode(good.bytes, good.nbytes, 1, 3, &whole), 0);
        check_harmless(&good, &whole, 0);
        mr_image_fini(&whole, NULL);
        free(bad.bytes);
        free(good.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_byte_mutated),
        cmocka_unit_test(random_damage_in_larger_files),
        cmocka_unit_test(cuts_between_scans),
        cmocka_unit_test(bad_huffman_code),
        cmocka_unit_test(wrong_restart_marker),
        cmocka_unit_test(regions_of_damaged_data),
        cmocka_unit_test(harmless_oddities),
        cmocka_unit_test(no_end_marker_after_many_scans),
        cmocka_unit_test(damage_does_not_linger),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
