// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // strtod_l
#include "dataset/tar_label.h"

#include "base/bytes.h"
#include "base/error.h"
#include "dataset/records.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 63 }; /* characters of a number with a fraction */

static bool is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_separator(uint8_t byte)
{
    return is_space(byte) || byte == ',';
}

/* A whole number that fits, with an optional sign; zeros before it do not matter. */
static bool read_integer(const uint8_t *text, size_t nbytes, int64_t *value)
{
    size_t sign = text[0] == '-' || text[0] == '+';
    uint64_t v = 0, most = (uint64_t)INT64_MAX + (text[0] == '-');
    if (nbytes == sign)
        return false;
    for (size_t i = sign; i < nbytes; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || v > (most - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = text[0] == '-' ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* As JSON writes it: -1.5e+3. No infinity, no NaN, no hexadecimal, all of which strtod would take. */
static bool is_number(const char *text)
{
    text += *text == '-';
    size_t digits = count_digits(text);
    if (digits == 0)
        return false;
    text += digits;
    if (*text == '.') {
        digits = count_digits(text + 1);
        if (digits == 0)
            return false;
        text += 1 + digits;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        digits = count_digits(text);
        if (digits == 0)
            return false;
        text += digits;
    }
    return *text == '\0';
}

/* The point is a point, whatever the program's locale writes. */
static bool read_real(const uint8_t *text, size_t nbytes, double *value)
{
    char copy[NUMBER_MAX + 1];
    if (nbytes > NUMBER_MAX)
        return false;
    memcpy(copy, text, nbytes);
    copy[nbytes] = '\0';
    if (strlen(copy) != nbytes || !is_number(copy))
        return false;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    *value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return isfinite(*value);
}

/* The next number from *at on, and *at behind it and what separates it. False: it is none. */
static bool next_number(const uint8_t *text, size_t nbytes, size_t *at, bool *whole, int64_t *integer, double *real)
{
    size_t end = *at, commas = 0;
    while (end < nbytes && !is_separator(text[end]))
        end++;
    if (end == *at)
        return false;
    *whole = read_integer(text + *at, end - *at, integer);
    if (!*whole && mr__text_is_whole((const char *)text + *at, end - *at))
        return false;
    if (!read_real(text + *at, end - *at, real)) {
        if (!*whole)
            return false;
        *real = (double)*integer; /* "+1", "007" */
    }
    for (; end < nbytes && is_separator(text[end]); end++)
        commas += text[end] == ',';
    *at = end;
    return commas <= 1 && (commas == 0 || end < nbytes);
}

/* Whether the text is numbers alone; how many, and whether all are whole. With `to`: their values. */
static bool read_numbers(const uint8_t *text, size_t nbytes, uint8_t *to, bool *whole, size_t *count)
{
    bool all_whole = true, this_whole;
    size_t n = 0;
    for (size_t at = 0; at < nbytes; n++) {
        int64_t integer = 0;
        double real;
        uint64_t bits;
        if (!next_number(text, nbytes, &at, &this_whole, &integer, &real))
            return false;
        all_whole = all_whole && this_whole;
        if (to == NULL)
            continue;
        memcpy(&bits, &real, sizeof bits);
        mr__store_le64(to + 8 * n, *whole ? (uint64_t)integer : bits);
    }
    *whole = to != NULL ? *whole : all_whole;
    *count = n;
    return n != 0;
}

static void set_single(const uint8_t *value, bool whole, mr_label *label)
{
    uint64_t bits = mr__load_le64(value);
    label->kind = whole ? MR_LABEL_INT : MR_LABEL_FLOAT;
    if (whole)
        memcpy(&label->integer, &bits, sizeof bits);
    else
        memcpy(&label->real, &bits, sizeof bits);
}

int mr__tar_label_read(const uint8_t *bytes, size_t nbytes, mr__buffer *values, const mr_hooks *hooks, mr_label *label)
{
    bool whole = false;
    size_t count = 0;
    while (nbytes != 0 && is_space(bytes[nbytes - 1]))
        nbytes--;
    while (nbytes != 0 && is_space(*bytes))
        bytes++, nbytes--;
    if (!read_numbers(bytes, nbytes, NULL, &whole, &count)) {
        bool text = nbytes == 0 || memchr(bytes, '\0', nbytes) == NULL;
        *label = (mr_label){.kind = text ? MR_LABEL_TEXT : MR_LABEL_BYTES, .values = bytes, .count = nbytes};
        return 0;
    }
    if (mr__buffer_reserve(values, hooks, 8 * count) != 0)
        return MR_ENOMEM;
    read_numbers(bytes, nbytes, values->bytes, &whole, &count);
    *label = (mr_label){.kind = whole ? MR_LABEL_INTS : MR_LABEL_FLOATS, .values = values->bytes, .count = count};
    if (count == 1) {
        *label = (mr_label){.kind = MR_LABEL_NONE};
        set_single(values->bytes, whole, label);
    }
    return 0;
}
