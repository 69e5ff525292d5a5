// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of it as one letter a token: { } [ ] n(ame) t(ext) 0 (number) T F N, E(nd), and - where it is no JSON. */
static mr__json read_all(const char *text, size_t nbytes, char *letters, size_t room)
{
    static const char by_kind[] = "-E{}[]nt0TFN";
    mr__json json = mr__json_init(text, nbytes);
    size_t at = 0;
    for (;;) {
        mr__json_token token = mr__json_next(&json);
        assert_true(at + 1 < room);
        letters[at++] = by_kind[token.kind];
        assert_true(token.text >= json.text && token.text + token.nbytes <= json.text + nbytes);
        assert_true(token.at <= nbytes);
        if (token.kind == MR__JSON_BAD || token.kind == MR__JSON_END)
            break;
    }
    letters[at] = '\0';
    return json;
}

/* In memory of its own, so that a sanitizer sees a read behind its end. */
static void check_tokens(const char *text, size_t nbytes, const char *wanted)
{
    char letters[1024], *copy = malloc(nbytes != 0 ? nbytes : 1);
    assert_non_null(copy);
    memcpy(copy, text, nbytes);
    mr__json json = read_all(copy, nbytes, letters, sizeof letters);
    if (strcmp(letters, wanted) != 0)
        fail_msg("%.*s: %s (%s), wanted %s", (int)nbytes, text, letters, json.problem, wanted);
    assert_int_equal(json.problem == NULL, strchr(wanted, '-') == NULL);
    free(copy);
}

static void check_bad(const char *text, size_t nbytes, size_t at, const char *problem)
{
    char letters[1024];
    mr__json json = read_all(text, nbytes, letters, sizeof letters);
    if (json.problem == NULL || strcmp(json.problem, problem) != 0 || json.at != at)
        fail_msg("%.*s: %s at %zu; wanted %s at %zu", (int)nbytes, text, json.problem, json.at, problem, at);
    mr__json_token token = mr__json_next(&json);
    assert_int_equal(token.kind, MR__JSON_BAD); /* and it stays so */
    assert_int_equal(token.at, at);
}

#define TOKENS(text, wanted)     check_tokens(text, sizeof(text) - 1, wanted)
#define BAD(text, where, reason) check_bad(text, sizeof(text) - 1, where, reason)

static void values_of_all_kinds_are_read(void **state)
{
    (void)state;
    TOKENS("0", "0E");
    TOKENS(" \t\r\n-1 \t\r\n", "0E");
    TOKENS("\"\"", "tE");
    TOKENS("true", "TE");
    TOKENS("false", "FE");
    TOKENS("null", "NE");
    TOKENS("[]", "[]E");
    TOKENS("{}", "{}E");
    TOKENS("[ ]", "[]E");
    TOKENS("{ }", "{}E");
    TOKENS("[1]", "[0]E");
    TOKENS("[1,2]", "[00]E");
    TOKENS("[[],{},[{}]]", "[[]{}[{}]]E");
    TOKENS("{\"a\":1}", "{n0}E");
    TOKENS("{\"a\" : [true,null] , \"\":{\"b\":\"c\"}}", "{n[TN]n{nt}}E");
    TOKENS("[\"a\",{\"b\":[]},3]", "[t{n[]}0]E");
    TOKENS("{\"a\":1,\"a\":2}", "{n0n0}E"); /* twice the same name is the caller's business */
}

static void what_is_no_json_says_why_and_where(void **state)
{
    (void)state;
    BAD("", 0, "it ends where a value is wanted");
    BAD("  ", 2, "it ends where a value is wanted");
    BAD("[", 1, "it ends where a value is wanted");
    BAD("[1,", 3, "it ends where a value is wanted");
    BAD("[1", 2, "an array has no end");
    BAD("{", 1, "an object has no end");
    BAD("{\"a\":1", 6, "an object has no end");
    BAD("{\"a\":1,", 7, "an object has no end");
    BAD("{\"a\"", 4, "a colon is missing");
    BAD("{\"a\" 1}", 5, "a colon is missing");
    BAD("{\"a\":}", 5, "no value begins with this");
    BAD("{1:2}", 1, "a name is missing");
    BAD("{\"a\":1,}", 7, "a name is missing");
    BAD("{,}", 1, "a name is missing");
    BAD("[,]", 1, "no value begins with this");
    BAD("[1,]", 3, "no value begins with this");
    BAD("[1 2]", 3, "a comma is missing");
    BAD("[1}", 2, "a comma is missing");
    BAD("{\"a\":1]", 6, "a comma is missing");
    BAD("{\"a\":1 \"b\":2}", 7, "a comma is missing");
    BAD("]", 0, "no value begins with this");
    BAD("1 2", 2, "something behind the value");
    BAD("{} x", 3, "something behind the value");
    BAD("null\0", 4, "something behind the value");
    BAD("nul", 0, "a word that is not true, false or null");
    BAD("True", 0, "no value begins with this");
    BAD("NaN", 0, "no value begins with this");
    BAD("nan", 0, "a word that is not true, false or null");
    BAD("'a'", 0, "no value begins with this");
    BAD("// a\n1", 0, "no value begins with this");
    BAD("\xef\xbb\xbf{}", 0, "no value begins with this");
    BAD("\v1", 0, "no value begins with this");
    BAD("\f1", 0, "no value begins with this");
    BAD("truefalse", 4, "something behind the value");
}

static void numbers_follow_the_grammar(void **state)
{
    (void)state;
    static const char *const good[] = {"0",    "-0",   "10",      "-10",        "0.0",    "0.5",
                                       "1e5",  "1E5",  "1e+5",    "1e-5",       "0e0",    "-0.0e-0",
                                       "1e00", "1.0e", "0.1e007", "9007199.25", "1e9999", "123456789012345678901234"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_tokens(good[i], strlen(good[i]), strcmp(good[i], "1.0e") == 0 ? "-" : "0E");
    BAD("01", 0, "a number that begins with 0");
    BAD("-01", 1, "a number that begins with 0");
    BAD("00", 0, "a number that begins with 0");
    BAD("-", 1, "a number without digits");
    BAD("-a", 1, "a number without digits");
    BAD("+1", 0, "no value begins with this");
    BAD(".5", 0, "no value begins with this");
    BAD("1.", 2, "a fraction without digits");
    BAD("1.e5", 2, "a fraction without digits");
    BAD("1e", 2, "an exponent without digits");
    BAD("1e+", 3, "an exponent without digits");
    BAD("1e5.5", 3, "something behind the value");
    BAD("0x10", 1, "something behind the value");
    BAD("-Infinity", 1, "a number without digits");
    BAD("1_0", 1, "something behind the value");
}

static void texts_are_checked(void **state)
{
    (void)state;
    TOKENS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"", "tE");
    TOKENS("\"\x7f\"", "tE");
    BAD("\"", 1, "a text has no end");
    BAD("\"a", 2, "a text has no end");
    BAD("\"\\\"", 3, "a text has no end");
    BAD("\"\\", 1, "an escape that is none");
    BAD("\"\\a\"", 1, "an escape that is none");
    BAD("\"\\'\"", 1, "an escape that is none");
    BAD("\"\\\0\"", 1, "an escape that is none");
    BAD("\"\\u12\"", 1, "an escape that is none");
    BAD("\"\\u123g\"", 1, "an escape that is none");
    BAD("\"\\U1234\"", 1, "an escape that is none");
    BAD("\"\\u123", 1, "an escape that is none");
    BAD("\"a\nb\"", 2, "a control character in a text");
    BAD("\"\0\"", 1, "a control character in a text");
    BAD("\"\x1f\"", 1, "a control character in a text");
}

static void texts_are_utf8(void **state)
{
    (void)state;
    static const char *const good[] = {"\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xe2\x82\xac"};
    static const char *const bad[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xc2",         "\xc2\x20",
        "\xe0\x9f\xbf", "\xe1\x80",     "\xe1\x80\x20",     "\xed\xa0\x80",     "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf1\x80\x80", "\xf1\x80\xc0", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",         "\xfe"};
    char text[16];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int nbytes = snprintf(text, sizeof text, "\"%s\"", good[i]);
        check_tokens(text, (size_t)nbytes, "tE");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int nbytes = snprintf(text, sizeof text, "\"%s\"", bad[i]);
        check_tokens(text, (size_t)nbytes, "-");
        check_bad(text, (size_t)nbytes, 1, "a text that is not UTF-8");
        check_bad(text, (size_t)nbytes - 1, 1, "a text that is not UTF-8"); /* and the text ends in it */
    }
}

static void levels_are_limited(void **state)
{
    (void)state;
    char text[2 * MR__JSON_DEPTH + 2], wanted[2 * MR__JSON_DEPTH + 2];
    for (size_t i = 0; i < MR__JSON_DEPTH; i++) {
        text[i] = wanted[i] = '[';
        text[2 * MR__JSON_DEPTH - 1 - i] = wanted[2 * MR__JSON_DEPTH - 1 - i] = ']';
    }
    memcpy(wanted + 2 * MR__JSON_DEPTH, "E", 2);
    check_tokens(text, 2 * MR__JSON_DEPTH, wanted);
    memmove(text + 1, text, 2 * MR__JSON_DEPTH);
    check_bad(text, 2 * MR__JSON_DEPTH, MR__JSON_DEPTH, "more levels than are allowed");
    /* Objects and arrays by turns: each end is the right one of its level. */
    char mixed[512] = "";
    for (size_t i = 0; i < MR__JSON_DEPTH / 2; i++)
        strcat(mixed, "[{\"a\":");
    strcat(mixed, "1");
    for (size_t i = 0; i < MR__JSON_DEPTH / 2; i++)
        strcat(mixed, "}]");
    char letters[512];
    mr__json json = read_all(mixed, strlen(mixed), letters, sizeof letters);
    assert_null(json.problem);
}

static mr__json_token one(const char *text)
{
    mr__json json = mr__json_init(text, strlen(text));
    return mr__json_next(&json);
}

static void tokens_are_where_they_stand(void **state)
{
    (void)state;
    const char text[] = " {\"a\\n\": [12.5 ]}";
    static const struct {
        mr__json_kind kind;
        size_t at, nbytes;
        const char *text;
    } wanted[] = {
        {MR__JSON_OBJECT, 1, 1, "{"},     {MR__JSON_NAME, 2, 3, "a\\n"},    {MR__JSON_ARRAY, 9, 1, "["},
        {MR__JSON_NUMBER, 10, 4, "12.5"}, {MR__JSON_ARRAY_END, 15, 1, "]"}, {MR__JSON_OBJECT_END, 16, 1, "}"},
        {MR__JSON_END, 17, 0, ""},        {MR__JSON_END, 17, 0, ""},
    };
    mr__json json = mr__json_init(text, sizeof text - 1);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        mr__json_token token = mr__json_next(&json);
        assert_int_equal(token.kind, wanted[i].kind);
        assert_int_equal(token.at, wanted[i].at);
        assert_int_equal(token.nbytes, wanted[i].nbytes);
        assert_memory_equal(token.text, wanted[i].text, token.nbytes);
        assert_int_equal(token.escaped, i == 1);
    }
}

static void values_are_passed_over(void **state)
{
    (void)state;
    const char text[] = "[{\"a\":[1,{\"b\":2}],\"c\":3},\"x\",7,{\"n\":[[]],\"m\":1}]";
    mr__json json = mr__json_init(text, sizeof text - 1);
    assert_int_equal(mr__json_next(&json).kind, MR__JSON_ARRAY);
    assert_true(mr__json_skip(&json, mr__json_next(&json)));
    mr__json_token token = mr__json_next(&json);
    assert_true(mr__json_is(token, "x"));
    assert_true(mr__json_skip(&json, token));
    assert_true(mr__json_skip(&json, mr__json_next(&json)));
    assert_int_equal(mr__json_next(&json).kind, MR__JSON_OBJECT);
    assert_true(mr__json_skip(&json, mr__json_next(&json))); /* a name, and its value */
    assert_true(mr__json_is(mr__json_next(&json), "m"));
    assert_true(mr__json_skip(&json, mr__json_next(&json)));
    assert_false(mr__json_skip(&json, mr__json_next(&json))); /* } is no value */
    assert_int_equal(mr__json_next(&json).kind, MR__JSON_ARRAY_END);
    assert_false(mr__json_skip(&json, mr__json_next(&json)));
    json = mr__json_init("[[1,2", 5);
    assert_false(mr__json_skip(&json, mr__json_next(&json)));
    json = mr__json_init("{\"a\":?}", 7);
    mr__json_next(&json);
    assert_false(mr__json_skip(&json, mr__json_next(&json)));
}

static void names_are_compared_unescaped(void **state)
{
    (void)state;
    assert_true(mr__json_is(one("\"label\""), "label"));
    assert_false(mr__json_is(one("\"label\""), "labe"));
    assert_false(mr__json_is(one("\"labe\""), "label"));
    assert_true(mr__json_is(one("\"l\\u0061bel\""), "label"));
    assert_false(mr__json_is(one("\"l\\u0061be\""), "label"));
    assert_false(mr__json_is(one("\"l\\u0061bell\""), "label"));
    assert_true(mr__json_is(one("\"\\u20ac\""), "\xe2\x82\xac"));
    assert_true(mr__json_is(one("\"\\uD83D\\uDE00\""), "\xf0\x9f\x98\x80"));
    assert_false(mr__json_is(one("\"a\\u0000\""), "a"));
    assert_false(mr__json_is(one("\"\\ud800\""), "\xed\xa0\x80"));
    assert_true(mr__json_is(one("\"\""), ""));
    assert_false(mr__json_is(one("12"), "12"));
}

static void check_unescaped(const char *text, const char *wanted, size_t nbytes)
{
    char out[64];
    size_t got = 99;
    mr__json_token token = one(text);
    assert_int_equal(token.kind, MR__JSON_TEXT);
    bool fine = mr__json_unescape(token, out, &got);
    if (fine != (wanted != NULL))
        fail_msg("%s: %d", text, fine);
    if (wanted == NULL) {
        assert_int_equal(got, 99);
        return;
    }
    assert_int_equal(got, nbytes);
    assert_true(got <= token.nbytes);
    assert_memory_equal(out, wanted, nbytes);
}

static void texts_are_unescaped(void **state)
{
    (void)state;
    check_unescaped("\"plain\"", "plain", 5);
    check_unescaped("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    check_unescaped("\"\\u0041\\u00e9\\u07ff\\u0800\\uffff\"", "A\xc3\xa9\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 11);
    check_unescaped("\"\\u007f\\u0080\"", "\x7f\xc2\x80", 3);
    check_unescaped("\"a\\u0000b\"", "a\0b", 3);
    check_unescaped("\"\\ud800\\udc00\"", "\xf0\x90\x80\x80", 4);
    check_unescaped("\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4);
}

static void half_pairs_are_refused(void **state)
{
    (void)state;
    check_unescaped("\"\\ud800\"", NULL, 0);
    check_unescaped("\"\\udc00\"", NULL, 0);
    check_unescaped("\"\\udfff\\ud800\"", NULL, 0);
    check_unescaped("\"\\ud800\\ud800\"", NULL, 0);
    check_unescaped("\"\\ud800x\\udc00\"", NULL, 0);
    check_unescaped("\"\\ud800\\ue000\"", NULL, 0);
    check_unescaped("\"\\ud800\\n\"", NULL, 0);
    check_unescaped("\"\\ud800abcdef\"", NULL, 0);
    check_unescaped("\"\\ue000\"", "\xee\x80\x80", 3);
}

static void whole_numbers_are_whole(void **state)
{
    (void)state;
    int64_t i = 5;
    uint64_t u = 5;
    assert_true(mr__json_i64(one("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(mr__json_i64(one("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(mr__json_i64(one("-9223372036854775807"), &i) && i == -INT64_MAX);
    assert_true(mr__json_i64(one("-0"), &i) && i == 0);
    assert_true(mr__json_u64(one("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(mr__json_u64(one("-0"), &u) && u == 0);
    i = 5, u = 5;
    static const char *const no_i64[] = {"9223372036854775808", "-9223372036854775809", "1.0", "1e2", "\"1\"", "true",
                                         "18446744073709551616"};
    for (size_t k = 0; k < sizeof no_i64 / sizeof *no_i64; k++)
        assert_false(mr__json_i64(one(no_i64[k]), &i));
    assert_false(mr__json_u64(one("18446744073709551616"), &u));
    assert_false(mr__json_u64(one("184467440737095516150"), &u));
    assert_false(mr__json_u64(one("-1"), &u));
    assert_false(mr__json_u64(one("1.5"), &u));
    assert_true(i == 5 && u == 5);
}

/* Text of that many digits: `head`, then `fill` again and again, then `tail`. */
static char *long_number(const char *head, char fill, size_t count, const char *tail)
{
    size_t first = strlen(head), last = strlen(tail);
    char *text = malloc(first + count + last + 1);
    assert_non_null(text);
    memcpy(text, head, first);
    memset(text + first, fill, count);
    memcpy(text + first + count, tail, last + 1);
    return text;
}

static void check_double(const char *text, double wanted)
{
    double value;
    assert_true(mr__json_f64(one(text), &value));
    if (memcmp(&value, &wanted, sizeof value) != 0)
        fail_msg("%.60s: %.17g, wanted %.17g", text, value, wanted);
}

static void check_long(const char *head, char fill, size_t count, const char *tail, double wanted)
{
    char *text = long_number(head, fill, count, tail);
    check_double(text, wanted);
    free(text);
}

static void doubles_are_exact(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.1",
        "-0.1",
        "1e23",
        "8.5e22",
        "1e22",
        "123.456",
        "5e-324",
        "4.9e-324",
        "2e-324",
        "2.2250738585072011e-308",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "1e99999",
        "1e-99999",
        "0e99999",
        "1.5E+10",
        "100000e-05",
        "0.00001e05",
        "1.0",
        "1.7976931348623157e308",
        "1.7976931348623158079e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.99999999999999999999999",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000123456789e+70",
        "7.2057594037927933e16",
        "2.47032822920623272e-324"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_double(texts[i], strtod(texts[i], NULL));
    double value;
    assert_false(mr__json_f64(one("\"1\""), &value));
    assert_false(mr__json_f64(one("null"), &value));
}

static void long_numbers_are_exact(void **state)
{
    (void)state;
    check_long("0.", '0', 5000, "1e5001", 1);
    check_long("1", '0', 5000, "e-5000", 1);
    check_long("1", '0', 5000, ".0e-5000", 1);
    check_long("1e", '0', 5000, "2", 100);
    check_long("1e-", '9', 5000, "", 0);
    check_long("1e", '9', 5000, "", (double)INFINITY);
    check_long("0e", '9', 5000, "", 0);
    check_long("0.", '9', 5000, "", 1);
    /* Halfway between two doubles goes to the even one; anything behind, however far, lifts it. */
    check_long("9007199254740993", '0', 0, "", 9007199254740992.0);
    check_long("9007199254740993.", '0', 5000, "", 9007199254740992.0);
    check_long("9007199254740993.", '0', 5000, "1", 9007199254740994.0);
    check_long("9007199254740993", '0', 5000, "1e-5001", 9007199254740994.0);
    check_long("-9007199254740993.", '0', 779, "1", -9007199254740994.0);
    for (size_t zeros = 770; zeros < 800; zeros++) /* about where digits are no longer kept */
        check_long("9007199254740993.", '0', zeros, "1", 9007199254740994.0);
}

/* The number halfway between the smallest doubles has the most digits of all such numbers: 767 after the exponent. */
static void the_longest_halfway_number_is_told_apart(void **state)
{
    (void)state;
    char text[1200], above[1400];
    /* (2^53 - 1) * 2^-1074 and 2^-1022: halfway is (2^54 - 1) * 2^-1075, which printf writes out in full. */
    int nbytes = snprintf(text, sizeof text, "%.1074f", 0x1.fffffffffffffp-1022);
    assert_true(nbytes > 1000);
    check_double(text, 0x1.fffffffffffffp-1022);
    /* Half of the last place more: the digits of 2^-1075 are those of 2^-1074 / 2; let long double say it. */
    nbytes = snprintf(text, sizeof text, "%.1075Lf", 0x1.fffffffffffff8p-1022L);
    check_double(text, 0x1p-1021);
    snprintf(above, sizeof above, "%s", text);
    above[nbytes - 1] = '4'; /* it ended in 5: a little less */
    assert_int_equal(text[nbytes - 1], '5');
    check_double(above, 0x1.fffffffffffffp-1022);
    nbytes = snprintf(text, sizeof text, "%.1075Lf", 0x1.ffffffffffffe8p-1022L);
    check_double(text, 0x1.ffffffffffffep-1022); /* to the even one */
    snprintf(above, sizeof above, "%s0000000001", text);
    check_double(above, 0x1.fffffffffffffp-1022);
}

/* A locale with a comma, where there is one. */
static void doubles_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && set == NULL; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    double value;
    bool read = mr__json_f64(one("1234.5e-1"), &value);
    setlocale(LC_NUMERIC, "C");
    assert_true(read && value == 123.45);
    if (set == NULL)
        print_message("no locale with a decimal comma here\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_all_kinds_are_read),
        cmocka_unit_test(what_is_no_json_says_why_and_where),
        cmocka_unit_test(numbers_follow_the_grammar),
        cmocka_unit_test(texts_are_checked),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(levels_are_limited),
        cmocka_unit_test(tokens_are_where_they_stand),
        cmocka_unit_test(values_are_passed_over),
        cmocka_unit_test(names_are_compared_unescaped),
        cmocka_unit_test(texts_are_unescaped),
        cmocka_unit_test(half_pairs_are_refused),
        cmocka_unit_test(whole_numbers_are_whole),
        cmocka_unit_test(doubles_are_exact),
        cmocka_unit_test(long_numbers_are_exact),
        cmocka_unit_test(the_longest_halfway_number_is_told_apart),
        cmocka_unit_test(doubles_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
