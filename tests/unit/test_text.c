// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/json.h"
#include "base/text.h"
#include "failing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_hooks hooks;
static mr__text text;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__text_init(&text, &hooks);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr__text_fini(&text);
    mr__text_fini(&text); /* twice is accepted */
    return 0;
}

static void check(const char *wanted)
{
    const char *string;
    size_t nbytes;
    assert_int_equal(mr__text_finish(&text, &string, &nbytes), 0);
    assert_string_equal(string, wanted);
    assert_int_equal(nbytes, strlen(wanted));
    mr__text_clear(&text);
}

static void text_grows(void **state)
{
    (void)state;
    check("");
    mr__text_add(&text, "abc", 2);
    mr__text_add(&text, NULL, 0);
    mr__text_add_z(&text, "cd");
    mr__text_addf(&text, "-%d-%s", 42, "x");
    mr__text_addf(&text, "%s", "");
    check("abcd-42-x");
    char wanted[3001];
    for (int i = 0; i < 1000; i++)
        mr__text_addf(&text, "%03d", i);
    for (int i = 0; i < 1000; i++)
        snprintf(wanted + 3 * i, 4, "%03d", i);
    check(wanted);
}

static void add_json(const char *bytes)
{
    mr__text_add_json(&text, bytes, strlen(bytes));
}

static void any_bytes_become_a_json_text(void **state)
{
    (void)state;
    add_json("");
    check("\"\"");
    add_json("a \"b\" \\ /\b\f\n\r\t\x01\x1f\x7f");
    check("\"a \\\"b\\\" \\\\ /\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    mr__text_add_json(&text, "a\0b", 3);
    check("\"a\\u0000b\"");
    add_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    check("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    add_json("\xff"
             "a\xe2\x82\xc3\xa9\xed\xa0\x80");
    check("\"\xef\xbf\xbd"
          "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    mr__text_add_json(&text, "\xe2\x82\xac", 2); /* cut inside a character */
    check("\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void every_byte_comes_back(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 0x80; c++) {
        const char *string;
        size_t nbytes, got;
        char byte = (char)c, out[8];
        mr__text_add_json(&text, &byte, 1);
        assert_int_equal(mr__text_finish(&text, &string, &nbytes), 0);
        mr__json json = mr__json_init(string, nbytes);
        assert_true(mr__json_unescape(mr__json_next(&json), out, &got));
        assert_true(got == 1 && out[0] == byte);
        mr__text_clear(&text);
    }
}

static void numbers_come_back(void **state)
{
    (void)state;
    static const double numbers[] = {0,     -0.0,    1,   0.1,     1.0 / 3, 1e300,      5e-324,
                                     1e-10, 123.456, 1e9, 1234567, -2.5,    0x1p53 + 1, 1.7976931348623157e308};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *string;
        size_t nbytes;
        double value;
        mr__text_add_f64(&text, numbers[i]);
        assert_int_equal(mr__text_finish(&text, &string, &nbytes), 0);
        mr__json json = mr__json_init(string, nbytes);
        assert_true(mr__json_f64(mr__json_next(&json), &value));
        assert_int_equal(mr__json_next(&json).kind, MR__JSON_END);
        assert_memory_equal(&value, &numbers[i], sizeof value);
        mr__text_clear(&text);
    }
    mr__text_add_f64(&text, 0.1);
    check("0.1");
    mr__text_add_f64(&text, (double)INFINITY);
    mr__text_add_f64(&text, (double)NAN);
    check("nullnull");
}

static void floats_come_back_in_fewer_digits(void **state)
{
    (void)state;
    assert_string_equal(mr__digits_f32(0.485F).text, "0.485");
    assert_string_equal(mr__digits_f32(0.26130258F).text, "0.2613026");
    assert_string_equal(mr__digits_f32(16777216.0F).text, "16777216");
    assert_string_equal(mr__digits_f32(-2.5F).text, "-2.5");
    assert_string_equal(mr__digits_f32((float)INFINITY).text, "null");
    assert_string_equal(mr__digits_f64(-1.7976931348623157e308).text, "-1.7976931348623157e+308");
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t bits = i * UINT32_C(2654435761);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && (float)strtod(mr__digits_f32(value).text, NULL) != value)
            fail_msg("%s is another float than %.9g", mr__digits_f32(value).text, (double)value);
    }
}

static int scenario(const mr_hooks *with, void *arg)
{
    (void)arg;
    mr__text one;
    const char *string = "untouched";
    mr__text_init(&one, with);
    mr__text_add_z(&one, "a");
    mr__text_addf(&one, "%0200d", 1);
    mr__text_add_json(&one, "\n\xff", 2);
    mr__text_add_f64(&one, 0.5);
    int result = mr__text_finish(&one, &string, NULL);
    if (result == 0)
        assert_int_equal(strlen(string), 1 + 200 + 7 + 3);
    else
        assert_string_equal(string, "untouched");
    mr__text_fini(&one);
    return result;
}

static void a_failure_stays(void **state)
{
    (void)state;
    failing_run(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_grows, setup, teardown),
        cmocka_unit_test_setup_teardown(any_bytes_become_a_json_text, setup, teardown),
        cmocka_unit_test_setup_teardown(every_byte_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_come_back, setup, teardown),
        cmocka_unit_test(floats_come_back_in_fewer_digits),
        cmocka_unit_test(a_failure_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
