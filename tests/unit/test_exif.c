// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "codec/exif.h"

#include <stdlib.h>
#include <string.h>

/* Pillow's own bytes for orientation 6, after "Exif\0\0". */
static const uint8_t big[] = {'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0};
static const uint8_t little[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};

/* On the heap at its exact size, so that a read past the end shows under a sanitizer. */
static uint32_t orientation_of(const uint8_t *bytes, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes != 0 ? nbytes : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, nbytes);
    uint32_t found = mr__exif_orientation(copy, nbytes);
    free(copy);
    return found;
}

static void both_byte_orders(void **state)
{
    (void)state;
    for (uint8_t o = 1; o <= 8; o++) {
        uint8_t b[sizeof big], l[sizeof little], prefixed[6 + sizeof big] = "Exif\0";
        memcpy(b, big, sizeof big);
        memcpy(l, little, sizeof little);
        b[19] = l[18] = o;
        assert_int_equal(orientation_of(b, sizeof b), o);
        assert_int_equal(orientation_of(l, sizeof l), o);
        memcpy(prefixed + 6, b, sizeof b);
        assert_int_equal(orientation_of(prefixed, sizeof prefixed), o);
    }
}

/* As a LONG, which some writers use: all four bytes count. */
static void a_long_is_taken_too(void **state)
{
    (void)state;
    for (uint8_t o = 0; o <= 9; o++) {
        uint8_t b[sizeof big], l[sizeof little];
        uint32_t wanted = o >= 1 && o <= 8 ? o : 1;
        memcpy(b, big, sizeof big);
        memcpy(l, little, sizeof little);
        b[13] = l[12] = 4;
        b[19] = 0;
        b[21] = l[18] = o;
        assert_int_equal(orientation_of(b, sizeof b), wanted);
        assert_int_equal(orientation_of(l, sizeof l), wanted);
        b[18] = l[20] = 1;
        assert_int_equal(orientation_of(b, sizeof b), 1);
        assert_int_equal(orientation_of(l, sizeof l), 1);
    }
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (uint32_t o = 1; o <= 8; o++) {
        uint8_t bytes[MR__EXIF_NBYTES];
        memset(bytes, 0xff, sizeof bytes);
        mr__exif_write(bytes, o);
        assert_int_equal(orientation_of(bytes, sizeof bytes), o);
    }
    uint8_t bytes[MR__EXIF_NBYTES];
    mr__exif_write(bytes, 6);
    assert_memory_equal(bytes, little, sizeof little);
}

/* The entry ends at byte 22; the next directory's offset after it is not needed. */
static void every_truncation(void **state)
{
    (void)state;
    for (size_t nbytes = 0; nbytes <= sizeof big; nbytes++) {
        assert_int_equal(orientation_of(big, nbytes), nbytes >= 22 ? 6 : 1);
        assert_int_equal(orientation_of(little, nbytes), nbytes >= 22 ? 6 : 1);
        uint8_t prefixed[6 + sizeof big] = "Exif\0";
        memcpy(prefixed + 6, big, sizeof big);
        assert_int_equal(orientation_of(prefixed, 6 + nbytes), nbytes >= 22 ? 6 : 1);
    }
    for (size_t nbytes = 0; nbytes < 6; nbytes++)
        assert_int_equal(orientation_of((const uint8_t *)"Exif\0", nbytes), 1);
    assert_int_equal(mr__exif_orientation(NULL, 0), 1);
}

static void broken_ones(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t at, value;
    } breaks[] = {
        {"another order", 0, 'X'},   {"a mixed order", 1, 'I'},    {"not TIFF", 3, 43},
        {"offset too far", 4, 0x7f}, {"offset at the end", 7, 25}, {"offset past the end", 7, 26},
        {"no entries", 9, 0},        {"another tag", 11, 0x13},    {"a long, of 393,216", 13, 4},
        {"a byte", 13, 1},           {"two values", 17, 2},        {"no value", 17, 0},
        {"orientation 0", 19, 0},    {"orientation 9", 19, 9},     {"orientation 262", 18, 1},
    };
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        uint8_t bytes[sizeof big];
        memcpy(bytes, big, sizeof big);
        bytes[breaks[i].at] = breaks[i].value;
        if (orientation_of(bytes, sizeof bytes) != 1)
            fail_msg("%s: was believed", breaks[i].what);
    }
}

static void entries_before_it_and_counts_that_lie(void **state)
{
    (void)state;
    uint8_t bytes[8 + 2 + 3 * 12] = {'M', 'M', 0, '*', 0, 0, 0, 8, 0, 3};
    memcpy(bytes + 10, "\x01\x0f\0\2\0\0\0\5\0\0\0\0", 12); // the maker's name
    memcpy(bytes + 22, "\x01\x12\0\3\0\0\0\1\0\5\0\0", 12); // the orientation
    memcpy(bytes + 34, "\x01\x12\0\3\0\0\0\1\0\7\0\0", 12); // once more: the first counts
    assert_int_equal(orientation_of(bytes, sizeof bytes), 5);
    bytes[8] = 0xff; // 65,283 entries, of which three are there
    assert_int_equal(orientation_of(bytes, sizeof bytes), 5);
    assert_int_equal(orientation_of(bytes, 34), 5);
    assert_int_equal(orientation_of(bytes, 33), 1);
    bytes[22] = 2; // now the last is the first
    assert_int_equal(orientation_of(bytes, sizeof bytes), 7);
}

/* Any single byte changed: an answer in range, and no read outside. */
static void every_byte_changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof big; i++)
        for (int value = 0; value < 256; value++) {
            uint8_t b[sizeof big], l[sizeof little];
            memcpy(b, big, sizeof big);
            memcpy(l, little, sizeof little);
            b[i] = l[i] = (uint8_t)value;
            assert_in_range(orientation_of(b, sizeof b), 1, 8);
            assert_in_range(orientation_of(l, sizeof l), 1, 8);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders),
        cmocka_unit_test(a_long_is_taken_too),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(broken_ones),
        cmocka_unit_test(entries_before_it_and_counts_that_lie),
        cmocka_unit_test(every_byte_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
