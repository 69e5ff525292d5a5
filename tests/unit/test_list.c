// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "failing.h"
#include "scanned.h"

#include <string.h>

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    static made_bytes data;
    data.nbytes = 0;
    bytes_add_jpeg(&data, 100);
    bytes_add_text(&data, "\x89PNG\r\n\x1a\n");
    bytes_add_jpeg(&data, 92);
    test_folder_write(&folder, "data", data.data, data.nbytes); // 200 bytes
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static void scan_list(scanned *s, const char *text, size_t nbytes, mr_broken_policy broken)
{
    test_folder_write(&folder, "list", text, nbytes);
    scanned_init_by(
        s, &(scanned_how){
               .scanner = &mr__scanner_list, .folder = &folder, .name = "data", .list = "list", .broken = broken});
}

static void every_kind_of_line(void **state)
{
    (void)state;
    static const char text[] = "# offset length label\r\n"
                               "0 100 7\r\n"
                               "\n"
                               "  \t 100\t100   -3  \n"
                               "0 1\n"
                               "1 2 0.5\n"
                               "1 2 -1.25e2\n"
                               "1 2 a cat, two  dogs \n"
                               "   # not this one\n"
                               "199 1 9223372036854775808\n"
                               "0 200 1e\n"
                               "0 200 # five\n"
                               "0 200 +12\n"
                               "0 200 +99999999999999999999";
    scanned s;
    scan_list(&s, text, strlen(text), MR_BROKEN_FAIL);
    scanned_expect(&s, 11, 0);
    scanned_expect_key(&s, 0, "000000000");
    scanned_expect_key(&s, 8, "000000008");
    scanned_expect_int(&s, 0, 7);
    scanned_expect_int(&s, 1, -3);
    assert_int_equal(scanned_label(&s, 2).kind, MR_LABEL_NONE);
    assert_true(scanned_label(&s, 3).kind == MR_LABEL_FLOAT && scanned_label(&s, 3).real == 0.5);
    assert_true(scanned_label(&s, 4).kind == MR_LABEL_FLOAT && scanned_label(&s, 4).real == -125);
    mr_label label = scanned_label(&s, 5);
    assert_int_equal(label.kind, MR_LABEL_TEXT);
    assert_int_equal(label.count, 16);
    assert_memory_equal(label.values, "a cat, two  dogs", 16);
    assert_int_equal(scanned_label(&s, 6).kind, MR_LABEL_TEXT);
    assert_memory_equal(scanned_label(&s, 6).values, "9223372036854775808", 19);
    assert_int_equal(scanned_label(&s, 7).kind, MR_LABEL_TEXT);
    assert_memory_equal(scanned_label(&s, 8).values, "# five", 6);
    scanned_expect_int(&s, 9, 12);
    assert_int_equal(scanned_label(&s, 10).kind, MR_LABEL_TEXT);
    mr__record first = scanned_record(&s, 0), second = scanned_record(&s, 1), last = scanned_record(&s, 6);
    assert_true(first.offset == 0 && first.nbytes == 100 && first.form == MR_FORM_JPEG && first.channels == 0);
    assert_true(second.offset == 100 && second.nbytes == 100 && second.form == MR_FORM_PNG);
    assert_true(last.offset == 199 && last.nbytes == 1 && last.form == MR_FORM_NONE);
    assert_int_equal(s.seen_nbytes, 200);
    scanned_fini(&s);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *part;
    } cases[] = {
        {"0", MR_EFORMAT, "line 2: it does not begin with an offset and a length"},
        {"x 5", MR_EFORMAT, "does not begin"},
        {"-1 5", MR_EFORMAT, "does not begin"},
        {"+1 5", MR_EFORMAT, "does not begin"},
        {"1 0x5", MR_EFORMAT, "does not begin"},
        {"18446744073709551616 5", MR_EFORMAT, "does not begin"},
        {"5 0 7", MR_EFORMAT, "an image of 0 bytes"},
        {"0 201", MR_ETRUNCATED, "201 bytes from byte 0 on are not in the data, which has 200"},
        {"200 1", MR_ETRUNCATED, "1 bytes from byte 200"},
        {"18446744073709551615 18446744073709551615", MR_ETRUNCATED, "are not in the data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static made_bytes text;
        scanned s;
        text.nbytes = 0;
        bytes_add_text(&text, "0 10 1\n");
        bytes_add_text(&text, cases[i].line);
        bytes_add_text(&text, "\n10 10 2\n");
        scan_list(&s, (const char *)text.data, text.nbytes, MR_BROKEN_FAIL);
        assert_int_equal(s.result, cases[i].code);
        assert_contains(s.detail.text, cases[i].part);
        scanned_fini(&s);
        scan_list(&s, (const char *)text.data, text.nbytes, MR_BROKEN_SKIP);
        scanned_expect(&s, 2, 1);
        scanned_expect_problem(&s, 0, cases[i].code, cases[i].part);
        scanned_expect_key(&s, 1, "000000002"); // the wrong line keeps its number
        scanned_fini(&s);
    }
}

static void a_zero_is_no_text(void **state)
{
    (void)state;
    scanned s;
    scan_list(&s, "0 1 a\0b\n0 1\n", 12, MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 1);
    scanned_expect_problem(&s, 0, MR_EFORMAT, "a zero in it");
    scanned_fini(&s);
}

/* A line is found wherever the pieces that are read end; one that is too long is no list. */
static void long_lines_and_long_lists(void **state)
{
    (void)state;
    static made_bytes text;
    scanned s;
    for (size_t length = 240; length < 9000; length = length < 270 ? length + 1 : length * 2) {
        text.nbytes = 0;
        for (int i = 0; i < 3; i++) {
            bytes_add_text(&text, "1 2 ");
            for (size_t k = 0; k < length; k++)
                bytes_add_text(&text, "x");
            bytes_add_text(&text, "\n");
        }
        scan_list(&s, (const char *)text.data, text.nbytes, MR_BROKEN_FAIL);
        scanned_expect(&s, 3, 0);
        assert_int_equal(scanned_label(&s, 2).count, length);
        scanned_fini(&s);
    }
    text.nbytes = 0;
    while (text.nbytes + 6 < sizeof text.data)
        bytes_add_text(&text, "3 4 5\n");
    scan_list(&s, (const char *)text.data, text.nbytes, MR_BROKEN_FAIL);
    scanned_expect(&s, text.nbytes / 6, 0);
    scanned_fini(&s);
    memset(text.data, '7', 65536);
    scan_list(&s, (const char *)text.data, 65536, MR_BROKEN_SKIP);
    assert_int_equal(s.result, MR_ELIMIT);
    assert_contains(s.detail.text, "line 1 is longer than 64 KiB");
    scanned_fini(&s);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    scanned s;
    scanned_init(&s, &mr__scanner_list, &folder, "data", MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_EARGUMENT);
    scanned_fini(&s);
    scanned_init_by(&s,
                    &(scanned_how){.scanner = &mr__scanner_list, .folder = &folder, .name = "data", .list = "none"});
    assert_int_equal(s.result, MR_EIO);
    assert_contains(s.detail.text, "none");
    scanned_fini(&s);
    test_folder_write(&folder, "list", "0 1\n", 4);
    scanned_init_by(
        &s,
        &(scanned_how){.scanner = &mr__scanner_list, .folder = &folder, .name = "data", .list = "list", .stop = true});
    assert_int_equal(s.result, MR_ECLOSED);
    scanned_fini(&s);
}

static int scan_with(const mr_hooks *hooks, void *arg)
{
    scanned s;
    (void)arg;
    scanned_init_by(&s, &(scanned_how){.scanner = &mr__scanner_list,
                                       .folder = &folder,
                                       .name = "data",
                                       .list = "list",
                                       .broken = MR_BROKEN_SKIP,
                                       .hooks = hooks});
    int result = s.result;
    scanned_fini(&s);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_folder_write(&folder, "list", "0 10 1\n0 10 x\nbad\n10 10 2.5\n", 27);
    failing_run(scan_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_line),      cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(a_zero_is_no_text),       cmocka_unit_test(long_lines_and_long_lists),
        cmocka_unit_test(what_is_missing_is_said), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
