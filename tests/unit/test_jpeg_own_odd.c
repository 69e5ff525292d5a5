// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder on files that are odd and yet right, or that libjpeg takes for right: fill bytes and comments
 * between markers, tables that change from scan to scan, the longest codes, quantisers no encoder chooses, the longest
 * rows. Ours gives libjpeg's bytes, or says that it is not for them; it calls nothing damaged.
 */
#include "test.h"

#include "jpeg_make.h"
#include "jpeg_own.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static make_recipe any_recipe(uint32_t most)
{
    static const uint8_t factors[] = {0x11, 0x22, 0x21, 0x12};
    make_recipe r = {.width = 1 + below(most), .height = 1 + below(most), .seed = picture_random(&seed)};
    r.space = below(5) == 0 ? PLAIN_GRAY : PLAIN_YCC;
    r.factors[0] = factors[below(sizeof factors)];
    r.look = (make_look)below(MAKE_LOOKS);
    r.script = (make_script)below(MAKE_SCRIPTS);
    r.restart = below(3) == 0 ? 1 + (int)below(9) : 0;
    return r;
}

static own_case any_case(void)
{
    return (own_case){.reduce = below(2) == 0 ? 1 : 1u << below(4),
                      .channels = below(4) == 0 ? 1 : 3,
                      .regions = 6,
                      .every_kernel = true,
                      .random = &seed};
}

/* A file that is written anew, marker by marker. */
typedef struct spelling {
    const picture_file *from;
    picture_file to;
    size_t at;     /* in `from` */
    uint32_t scan; /* how many have begun */
} spelling;

static void put(spelling *s, const void *bytes, size_t nbytes)
{
    memcpy(s->to.bytes + s->to.nbytes, bytes, nbytes);
    s->to.nbytes += nbytes;
}

/* What to put before a marker. */
typedef void before_marker(spelling *s, uint8_t marker);

static bool is_restart(uint8_t marker)
{
    return marker >= 0xd0 && marker <= 0xd7;
}

/* Copies image data up to a marker. */
static void put_data(spelling *s)
{
    const uint8_t *bytes = s->from->bytes;
    size_t start = s->at;
    while (bytes[s->at] != 0xff || bytes[s->at + 1] == 0)
        s->at++;
    put(s, bytes + start, s->at - start);
}

static picture_file spell(const picture_file *file, before_marker *before)
{
    spelling s = {.from = file, .to = {.bytes = malloc(file->nbytes * 9 + 100000)}, .at = 2};
    assert_non_null(s.to.bytes);
    put(&s, file->bytes, 2);
    for (uint8_t marker = 0; marker != 0xd9;) {
        marker = file->bytes[s.at + 1];
        before(&s, marker);
        size_t nbytes = 2;
        if (!is_restart(marker) && marker != 0xd9)
            nbytes += (size_t)(file->bytes[s.at + 2] << 8 | file->bytes[s.at + 3]);
        put(&s, file->bytes + s.at, nbytes);
        s.at += nbytes;
        s.scan += marker == 0xda;
        if (marker == 0xda || is_restart(marker))
            put_data(&s);
    }
    return s.to;
}

static void fill(spelling *s, uint8_t marker)
{
    (void)marker;
    put(s, "\xff\xff\xff", 1 + below(3));
}

static void comment(spelling *s, uint8_t marker)
{
    if (is_restart(marker))
        return;
    put(s, "\xff\xfe\x00\x07hello\xff\xe7\x00\x02\xff\xef\x00\x04\xff\xd9", 19);
}

/* The same interval said again, which is no change, but only after the first scan. */
static void state_interval(spelling *s, uint8_t marker)
{
    if (marker == 0xda && s->scan > 0)
        put(s, "\xff\xdd\x00\x04\x00\x03", 6);
}

/* Another quantiser table: for components whose first scan is still to come it counts, for others it does not. */
static void change_quantisers(spelling *s, uint8_t marker)
{
    if (marker != 0xda || s->scan == 0)
        return;
    for (uint8_t table = 0; table < 2; table++) {
        uint8_t segment[69] = {0xff, 0xdb, 0, 67, table};
        for (size_t i = 5; i < sizeof segment; i++)
            segment[i] = (uint8_t)(1 + below(4));
        put(s, segment, sizeof segment);
    }
}

/* Whole again, by ours or handed over; returns whether by ours. */
static bool check(const picture_file *file, const make_recipe *r, own_case c)
{
    char text[200];
    bool plain_takes;
    c.what = make_text(r, text, sizeof text);
    int result = own_check(file, &c, &plain_takes);
    if (!plain_takes)
        fail_msg("%s: libjpeg does not take it", text);
    return result == 0;
}

static uint32_t check_spelling(before_marker *before, make_script from, make_script to, uint32_t count)
{
    uint32_t ours = 0;
    for (uint32_t n = 0; n < count; n++) {
        make_recipe r = any_recipe(60);
        r.script = (make_script)(from + below(to - from + 1u));
        if (before == state_interval)
            r.restart = 3;
        picture_file file = make_jpeg(&r), again = spell(&file, before);
        ours += check(&again, &r, any_case());
        free(file.bytes);
        free(again.bytes);
    }
    return ours;
}

static void fill_bytes(void **state)
{
    (void)state;
    assert_int_equal(check_spelling(fill, 0, MAKE_SCRIPTS - 1, 60), 60);
}

static void comments(void **state)
{
    (void)state;
    assert_int_equal(check_spelling(comment, 0, MAKE_SCRIPTS - 1, 60), 60);
}

static void intervals_said_again(void **state)
{
    (void)state;
    assert_int_equal(check_spelling(state_interval, 0, MAKE_SCRIPTS - 1, 60), 60);
}

static void changing_quantisers(void **state)
{
    (void)state;
    uint32_t ours = check_spelling(change_quantisers, 0, MAKE_SCRIPTS - 1, 120);
    print_message("quantisers that change between scans: %u of 120 by ours\n", ours);
    assert_true(ours > 0); // where they change nothing
}

static void long_codes(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 60; n++) {
        make_recipe r = any_recipe(60);
        r.script = (make_script)below(MAKE_DEFAULT); // sequential: progressive ones have tables of their own
        r.long_codes = true;
        r.quality = 1 + (int)below(100);
        picture_file file = make_jpeg(&r);
        assert_true(check(&file, &r, any_case()));
        free(file.bytes);
    }
}

/* Some of the 64 values of each table become others, as far as its width allows. */
static void spoil_tables(picture_file *file)
{
    static const uint16_t values[] = {0, 1, 2, 127, 128, 255, 256, 1000, 8191, 8192, 32767, 32768, 40000, 65535};
    for (size_t at = 2; file->bytes[at + 1] != 0xda;) {
        size_t nbytes = (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
        bool is_wide = file->bytes[at + 4] >> 4 != 0;
        for (size_t i = at + 5; file->bytes[at + 1] == 0xdb && i < at + 2 + nbytes; i += is_wide ? 2 : 1) {
            if (below(3) != 0)
                continue;
            uint16_t value = values[below(is_wide ? sizeof values / sizeof *values : 6)];
            if (is_wide)
                file->bytes[i++] = (uint8_t)(value >> 8);
            file->bytes[i] = (uint8_t)value;
            i -= is_wide;
        }
        at += 2 + nbytes;
    }
}

/* Also such as make products of more than 16 bits, and 0. */
static void wild_quantisers(void **state)
{
    (void)state;
    own_skip_unless_x86();
    uint32_t ours = 0, count = test_long() ? 3000 : 300;
    for (uint32_t n = 0; n < count; n++) {
        make_recipe r = any_recipe(40);
        r.coarse = n % 2 == 0;
        r.quality = r.coarse ? 1 : 100;
        picture_file file = make_jpeg(&r);
        spoil_tables(&file);
        ours += check(&file, &r, any_case());
        free(file.bytes);
    }
    print_message("wild quantisers: %u of %u by ours\n", ours, count);
}

static void longest_rows(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x22, 0x21, 0x12, 0x41};
    for (uint32_t n = 0; n < 10; n++) {
        make_recipe r = {.width = 65500, .height = 3, .space = PLAIN_YCC, .factors = {factors[n / 2]}};
        if (n % 2 == 1) {
            r.width = 3;
            r.height = 65500;
        }
        picture_file file = make_jpeg(&r);
        own_case c = any_case();
        c.every_kernel = false;
        assert_true(check(&file, &r, c));
        free(file.bytes);
    }
}

/* Runs of blocks without coefficients that end only because their count does, at 32767. */
static void longest_runs(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        make_recipe r = {.width = 1610, .height = 1490, .script = n == 0 ? MAKE_DEFAULT : MAKE_APPROXIMATION};
        r.look = MAKE_BLACK;
        picture_file file = make_jpeg(&r);
        own_case c = {.reduce = 1, .channels = 1, .regions = 3, .random = &seed};
        assert_true(check(&file, &r, c));
        free(file.bytes);
    }
}

/* What stands behind the image is nobody's business. */
static void more_behind_the_end(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 30; n++) {
        make_recipe r = any_recipe(60);
        picture_file file = make_jpeg(&r), longer = {malloc(file.nbytes * 2), file.nbytes * 2};
        memcpy(longer.bytes, file.bytes, file.nbytes);
        memcpy(longer.bytes + file.nbytes, file.bytes, file.nbytes);
        if (n % 2 == 0)
            picture_noise(longer.bytes + file.nbytes, file.nbytes, n);
        assert_true(check(&longer, &r, any_case()));
        free(file.bytes);
        free(longer.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_bytes),          cmocka_unit_test(comments),     cmocka_unit_test(intervals_said_again),
        cmocka_unit_test(changing_quantisers), cmocka_unit_test(long_codes),   cmocka_unit_test(wild_quantisers),
        cmocka_unit_test(longest_rows),        cmocka_unit_test(longest_runs), cmocka_unit_test(more_behind_the_end),
    };
    return cmocka_run_group_tests(tests, own_setup, own_teardown);
}
