// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants
 * 1. Every token lies inside the text, and `at` never goes back.
 * 2. What a token holds was checked when it was read: escapes are whole, text is UTF-8, numbers follow the grammar. The
 *    calls on a token rely on it.
 */
#include "base/json.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATE_VALUE,       /* a value, no other way */
    STATE_FIRST_VALUE, /* a value, or the end of an array without any */
    STATE_FIRST_NAME,  /* a name, or the end of an object without any */
    STATE_COLON,       /* behind a name */
    STATE_AFTER,       /* behind a value: a comma or an end */
    STATE_END,
    STATE_BAD
};

mr__json mr__json_init(const char *text, size_t nbytes)
{
    return (mr__json){.text = nbytes != 0 ? text : "", .nbytes = nbytes, .state = STATE_VALUE};
}

static mr__json_token fail(mr__json *json, size_t at, const char *problem)
{
    json->state = STATE_BAD;
    json->at = at;
    json->problem = problem;
    return (mr__json_token){.kind = MR__JSON_BAD, .text = json->text, .at = at};
}

/* The byte at a place, or -1 behind the end: no byte of a text is that. */
static int peek(const mr__json *json, size_t at)
{
    return at < json->nbytes ? (unsigned char)json->text[at] : -1;
}

static void skip_space(mr__json *json)
{
    for (;; json->at++) {
        int c = peek(json, json->at);
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
    }
}

/* A token from json->at to `end` is read; *json stands behind it. */
static mr__json_token give(mr__json *json, mr__json_kind kind, size_t end)
{
    mr__json_token token = {.kind = kind, .text = json->text + json->at, .nbytes = end - json->at, .at = json->at};
    json->at = end;
    return token;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* How long the escape at `at` is, its backslash counted; 0: it is none. */
static size_t escape_nbytes(const mr__json *json, size_t at)
{
    int c = peek(json, at + 1);
    if (c != 'u')
        return c > 0 && strchr("\"\\/bfnrt", c) != NULL ? 2 : 0;
    for (size_t i = 2; i < 6; i++)
        if (hex_value(peek(json, at + i)) < 0)
            return 0;
    return 6;
}

/* A name or a text; json->at is at its first quote. */
static mr__json_token read_text(mr__json *json, mr__json_kind kind)
{
    size_t start = json->at, at = start + 1;
    bool escaped = false;
    for (;;) {
        int c = peek(json, at);
        size_t nbytes = 1;
        if (c == '"')
            break;
        if (c < 0)
            return fail(json, at, "a text has no end");
        if (c < 0x20)
            return fail(json, at, "a control character in a text");
        if (c == '\\') {
            escaped = true;
            nbytes = escape_nbytes(json, at);
            if (nbytes == 0)
                return fail(json, at, "an escape that is none");
        } else if (c >= 0x80) {
            nbytes = mr__utf8_nbytes((const uint8_t *)json->text + at, json->nbytes - at);
            if (nbytes == 0)
                return fail(json, at, "a text that is not UTF-8");
        }
        at += nbytes;
    }
    json->at = at + 1;
    json->state = kind == MR__JSON_NAME ? STATE_COLON : STATE_AFTER;
    return (mr__json_token){kind, json->text + start + 1, at - start - 1, escaped, start};
}

static size_t skip_digits(const mr__json *json, size_t at)
{
    while (is_digit(peek(json, at)))
        at++;
    return at;
}

static mr__json_token read_number(mr__json *json)
{
    size_t at = json->at, digits;
    at += peek(json, at) == '-';
    digits = at;
    at = skip_digits(json, at);
    if (at == digits)
        return fail(json, at, "a number without digits");
    if (json->text[digits] == '0' && at - digits > 1)
        return fail(json, digits, "a number that begins with 0");
    if (peek(json, at) == '.') {
        digits = ++at;
        at = skip_digits(json, at);
        if (at == digits)
            return fail(json, at, "a fraction without digits");
    }
    if (peek(json, at) == 'e' || peek(json, at) == 'E') {
        at++;
        at += peek(json, at) == '+' || peek(json, at) == '-';
        digits = at;
        at = skip_digits(json, at);
        if (at == digits)
            return fail(json, at, "an exponent without digits");
    }
    json->state = STATE_AFTER;
    return give(json, MR__JSON_NUMBER, at);
}

static mr__json_token read_word(mr__json *json, const char *word, mr__json_kind kind)
{
    size_t nbytes = strlen(word);
    if (json->nbytes - json->at < nbytes || memcmp(json->text + json->at, word, nbytes) != 0)
        return fail(json, json->at, "a word that is not true, false or null");
    json->state = STATE_AFTER;
    return give(json, kind, json->at + nbytes);
}

static mr__json_token enter(mr__json *json, bool object)
{
    if (json->depth == MR__JSON_DEPTH)
        return fail(json, json->at, "more levels than are allowed");
    uint64_t bit = UINT64_C(1) << json->depth++;
    json->objects = object ? json->objects | bit : json->objects & ~bit;
    json->state = object ? STATE_FIRST_NAME : STATE_FIRST_VALUE;
    return give(json, object ? MR__JSON_OBJECT : MR__JSON_ARRAY, json->at + 1);
}

static bool in_object(const mr__json *json)
{
    return json->depth != 0 && (json->objects >> (json->depth - 1) & 1) != 0;
}

static mr__json_token leave(mr__json *json)
{
    mr__json_kind kind = in_object(json) ? MR__JSON_OBJECT_END : MR__JSON_ARRAY_END;
    json->depth--;
    json->state = STATE_AFTER;
    return give(json, kind, json->at + 1);
}

static mr__json_token read_value(mr__json *json)
{
    int c = peek(json, json->at);
    switch (c) {
    case '{':
    case '[':
        return enter(json, c == '{');
    case '"':
        return read_text(json, MR__JSON_TEXT);
    case 't':
        return read_word(json, "true", MR__JSON_TRUE);
    case 'f':
        return read_word(json, "false", MR__JSON_FALSE);
    case 'n':
        return read_word(json, "null", MR__JSON_NULL);
    case -1:
        return fail(json, json->at, "it ends where a value is wanted");
    default:
        if (c == '-' || is_digit(c))
            return read_number(json);
        return fail(json, json->at, "no value begins with this");
    }
}

static mr__json_token read_name(mr__json *json)
{
    if (peek(json, json->at) != '"')
        return fail(json, json->at, json->at < json->nbytes ? "a name is missing" : "an object has no end");
    return read_text(json, MR__JSON_NAME);
}

static mr__json_token read_after(mr__json *json)
{
    int c = peek(json, json->at);
    bool object = in_object(json);
    if (json->depth == 0) {
        if (c >= 0)
            return fail(json, json->at, "something behind the value");
        json->state = STATE_END;
        return give(json, MR__JSON_END, json->at);
    }
    if (c == (object ? '}' : ']'))
        return leave(json);
    if (c != ',')
        return fail(json, json->at,
                    c >= 0   ? "a comma is missing"
                    : object ? "an object has no end"
                             : "an array has no end");
    json->at++;
    skip_space(json);
    return object ? read_name(json) : read_value(json);
}

mr__json_token mr__json_next(mr__json *json)
{
    if (json->state == STATE_BAD)
        return (mr__json_token){.kind = MR__JSON_BAD, .text = json->text, .at = json->at};
    skip_space(json);
    switch (json->state) {
    case STATE_FIRST_VALUE:
        return peek(json, json->at) == ']' ? leave(json) : read_value(json);
    case STATE_FIRST_NAME:
        return peek(json, json->at) == '}' ? leave(json) : read_name(json);
    case STATE_COLON:
        if (peek(json, json->at) != ':')
            return fail(json, json->at, "a colon is missing");
        json->at++;
        skip_space(json);
        return read_value(json);
    case STATE_AFTER:
        return read_after(json);
    case STATE_END:
        return give(json, MR__JSON_END, json->at);
    default:
        return read_value(json);
    }
}

bool mr__json_skip(mr__json *json, mr__json_token token)
{
    if (token.kind == MR__JSON_NAME)
        token = mr__json_next(json);
    if (token.kind == MR__JSON_OBJECT || token.kind == MR__JSON_ARRAY) {
        unsigned depth = json->depth;
        while (json->depth >= depth)
            if (mr__json_next(json).kind == MR__JSON_BAD)
                return false;
        return true;
    }
    return token.kind >= MR__JSON_TEXT;
}

/* The four digits of an escape \uXXXX. */
static uint32_t unit_at(const char *escape)
{
    uint32_t value = 0;
    for (int i = 2; i < 6; i++)
        value = value << 4 | (uint32_t)hex_value((unsigned char)escape[i]);
    return value;
}

static size_t put_utf8(uint32_t point, char out[4])
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t nbytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = nbytes - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(marks[nbytes] | point);
    return nbytes;
}

/* One character of what stands between quotes, as UTF-8. False for half a surrogate pair; *taken is set all the same.
 */
static bool decode_one(const char *text, size_t nbytes, size_t *taken, char out[4], size_t *made)
{
    *taken = *made = 1;
    out[0] = text[0];
    if (text[0] != '\\')
        return true;
    *taken = text[1] == 'u' ? 6 : 2;
    if (text[1] != 'u') {
        static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        out[0] = meant[strchr(plain, text[1]) - plain];
        return true;
    }
    uint32_t point = unit_at(text);
    if (point >= 0xd800 && point < 0xdc00 && nbytes >= 12 && text[6] == '\\' && text[7] == 'u') {
        uint32_t low = unit_at(text + 6);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        *taken = 12;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xd800 && point < 0xe000) {
        return false;
    }
    *made = put_utf8(point, out);
    return true;
}

static bool is_text(mr__json_token token)
{
    return token.kind == MR__JSON_TEXT || token.kind == MR__JSON_NAME;
}

bool mr__json_is(mr__json_token token, const char *name)
{
    size_t length = strlen(name), at = 0, taken, made;
    if (!is_text(token))
        return false;
    if (!token.escaped)
        return token.nbytes == length && memcmp(token.text, name, length) == 0;
    for (size_t i = 0; i < token.nbytes; i += taken, at += made) {
        char one[4];
        if (!decode_one(token.text + i, token.nbytes - i, &taken, one, &made))
            return false;
        if (length - at < made || memcmp(name + at, one, made) != 0)
            return false;
    }
    return at == length;
}

bool mr__json_unescape(mr__json_token token, char *out, size_t *nbytes)
{
    size_t at = 0, taken, made;
    if (!is_text(token))
        return false;
    for (size_t i = 0; i < token.nbytes; i += taken, at += made) {
        char one[4];
        if (!decode_one(token.text + i, token.nbytes - i, &taken, one, &made))
            return false;
        memcpy(out + at, one, made);
    }
    *nbytes = at;
    return true;
}

/* What a whole number is without its sign. */
static bool whole(mr__json_token token, bool *negative, uint64_t *value)
{
    uint64_t sum = 0;
    if (token.kind != MR__JSON_NUMBER)
        return false;
    *negative = token.text[0] == '-';
    for (size_t i = *negative; i < token.nbytes; i++) {
        if (!is_digit((unsigned char)token.text[i]))
            return false;
        uint64_t digit = (uint64_t)(token.text[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

bool mr__json_i64(mr__json_token token, int64_t *value)
{
    uint64_t size;
    bool negative;
    if (!whole(token, &negative, &size) || size > (uint64_t)INT64_MAX + negative)
        return false;
    *value = !negative ? (int64_t)size : size > INT64_MAX ? INT64_MIN : -(int64_t)size;
    return true;
}

bool mr__json_u64(mr__json_token token, uint64_t *value)
{
    uint64_t size;
    bool negative;
    if (!whole(token, &negative, &size) || (negative && size != 0))
        return false;
    *value = size;
    return true;
}

/*
 * Where two doubles meet, the number halfway between them has at most 767 digits, so a number is told from it by its
 * first DIGITS digits and whether anything but zeros comes behind: one more digit, a 1, says that.
 */
enum { DIGITS = 800 };

/* Beyond any double, and far from overflow when the length of a text is added. */
#define EXPONENT_MAX INT64_C(100000000000000000)

static int64_t read_exponent(const char *text, size_t nbytes)
{
    bool negative = nbytes != 0 && text[0] == '-';
    int64_t value = 0;
    for (size_t i = 0; i < nbytes; i++)
        if (is_digit((unsigned char)text[i]) && value < EXPONENT_MAX)
            value = value * 10 + (text[i] - '0');
    return negative ? -value : value;
}

static size_t put_exponent(int64_t exponent, char *out)
{
    /* A double is 0 or infinite long before, whatever its 801 digits are. */
    int value = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : (int)exponent;
    out[0] = 'e';
    out[1] = value < 0 ? '-' : '+';
    value = value < 0 ? -value : value;
    for (int i = 5; i > 1; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
    out[6] = '\0';
    return 6;
}

/*
 * The C library converts, but looks for a decimal point that depends on the locale: so it is given a whole number of a
 * bounded length with an exponent, which every locale writes the same.
 */
bool mr__json_f64(mr__json_token token, double *value)
{
    char digits[1 + DIGITS + 1 + 8];
    size_t used = 0, i = 0, kept = 0;
    int64_t exponent = 0;
    bool behind_point = false, more = false;
    if (token.kind != MR__JSON_NUMBER)
        return false;
    if (token.text[0] == '-')
        digits[used++] = token.text[i++];
    for (; i < token.nbytes && token.text[i] != 'e' && token.text[i] != 'E'; i++) {
        char c = token.text[i];
        if (c == '.') {
            behind_point = true;
            continue;
        }
        exponent -= behind_point;
        if (kept == 0 && c == '0')
            continue; /* leading zeros say nothing */
        if (kept < DIGITS) {
            digits[used++] = c;
            kept++;
        } else {
            exponent++;
            more = more || c != '0';
        }
    }
    if (kept == 0)
        digits[used++] = '0';
    if (more) {
        digits[used++] = '1';
        exponent--;
    }
    if (i < token.nbytes)
        exponent += read_exponent(token.text + i + 1, token.nbytes - i - 1);
    put_exponent(exponent, digits + used);
    int before = errno;
    *value = strtod(digits, NULL);
    errno = before;
    return true;
}
