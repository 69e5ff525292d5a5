// SPDX-License-Identifier: Apache-2.0
#include "quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FRACTION_DIGITS = 9, FRACTION_ONE = 1000000000 };

bool number_read(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || digit > max || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* The digits before a point and behind it, in billionths; *rest is what follows. */
static bool read_decimal(const char *text, uint64_t *whole, uint32_t *fraction, const char **rest)
{
    uint32_t weight = FRACTION_ONE;
    const char *start = text;
    *whole = 0;
    *fraction = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (*whole > (UINT64_MAX - digit) / 10)
            return false;
        *whole = *whole * 10 + digit;
    }
    if (text == start)
        return false;
    if (*text == '.' && text[1] >= '0' && text[1] <= '9')
        for (text++; *text >= '0' && *text <= '9'; text++) {
            weight /= 10; /* what is less than a billionth does not count */
            *fraction += weight * (uint32_t)(*text - '0');
        }
    *rest = text;
    return true;
}

typedef struct measure {
    const char *name;
    uint64_t size;
} measure;

/* A number and one of the units, which end with one of no size. */
static bool read_in(const measure *units, const char *text, uint64_t *out)
{
    uint64_t whole;
    uint32_t fraction;
    const char *rest;
    if (!read_decimal(text, &whole, &fraction, &rest))
        return false;
    rest += *rest == ' ';
    while (units->name != NULL && strcasecmp(rest, units->name) != 0)
        units++;
    uint64_t size = units->size;
    if (size == 0 || (size == 1 && fraction != 0) || whole > (UINT64_MAX >> 1) / size)
        return false;
    /* of 2^40 * 10^9 there is no overflow in two steps */
    *out = whole * size + size / 1000 * fraction / (FRACTION_ONE / 1000) + size % 1000 * fraction / FRACTION_ONE;
    return true;
}

bool bytes_read(const char *text, uint64_t *out)
{
    static const measure units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1000},
        {"MB", 1000 * 1000},
        {"GB", 1000 * 1000 * 1000},
        {"TB", UINT64_C(1000) * 1000 * 1000 * 1000},
        {"KiB", 1 << 10},
        {"MiB", 1 << 20},
        {"GiB", 1 << 30},
        {"TiB", UINT64_C(1) << 40},
        {NULL, 0},
    };
    return read_in(units, text, out);
}

bool duration_read(const char *text, uint64_t *out)
{
    static const measure units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000 * 1000},
        {"s", 1000 * 1000 * 1000},
        {"min", UINT64_C(60) * 1000 * 1000 * 1000},
        {"h", UINT64_C(3600) * 1000 * 1000 * 1000},
        {NULL, 0},
    };
    if (strcmp(text, "0") != 0)
        return read_in(units, text, out);
    *out = 0; // of any unit
    return true;
}

bool share_read(const char *text, uint32_t *out)
{
    uint64_t whole;
    uint32_t fraction;
    const char *rest;
    if (!read_decimal(text, &whole, &fraction, &rest))
        return false;
    bool percent = strcmp(rest, "%") == 0;
    if (whole > 100 || (!percent && *rest != '\0'))
        return false;
    uint64_t billionths = whole * FRACTION_ONE + fraction;
    uint64_t share = percent ? (billionths + 50000) / 100000 : (billionths + 500) / 1000;
    if (share > 1000000)
        return false;
    *out = share == 0 && billionths != 0 ? 1 : (uint32_t)share;
    return true;
}

bool part_read(const char *text, uint32_t out[2])
{
    char first[16];
    uint64_t part, parts;
    size_t length = strcspn(text, "/");
    if (text[length] != '/' || length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!number_read(first, UINT32_MAX, &part) || !number_read(text + length + 1, UINT32_MAX, &parts) || part >= parts)
        return false;
    out[0] = (uint32_t)part;
    out[1] = (uint32_t)parts;
    return true;
}

short_text bytes_text(uint64_t nbytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    short_text t;
    double value = (double)nbytes;
    size_t unit = 0;
    if (nbytes < 1000) {
        snprintf(t.text, sizeof t.text, "%" PRIu64 " B", nbytes);
        return t;
    }
    for (value /= 1000; value >= 999.5 && unit < 5; unit++) /* what would be printed as 1000 */
        value /= 1000;
    snprintf(t.text, sizeof t.text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
    return t;
}

short_text duration_text(double seconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    short_text t;
    double value = seconds > 0 ? seconds * 1e9 : 0;
    size_t unit = 0;
    for (; value >= 999.5 && unit < 3; unit++)
        value /= 1000;
    snprintf(t.text, sizeof t.text, "%.*f %s",
             unit == 0 || value >= 99.95 ? 0
             : value < 9.995             ? 2
                                         : 1,
             value, units[unit]);
    return t;
}

short_text time_text(double seconds)
{
    short_text t;
    uint64_t s = seconds > 0 ? (uint64_t)(seconds + 0.5) : 0;
    if (s < 3600)
        snprintf(t.text, sizeof t.text, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(t.text, sizeof t.text, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
    return t;
}

short_text count_text(uint64_t count)
{
    short_text t;
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            t.text[used++] = ',';
        t.text[used++] = digits[i];
    }
    t.text[used] = '\0';
    return t;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
