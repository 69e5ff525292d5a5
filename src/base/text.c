// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include "base/size.h"
#include "base/utf8.h"

#include <math.h>
#include <millrace/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mr__text_init(mr__text *text, const mr_hooks *hooks)
{
    *text = (mr__text){.hooks = hooks};
}

void mr__text_fini(mr__text *text)
{
    if (text->hooks != NULL)
        mr__buffer_fini(&text->buffer, text->hooks);
    text->nbytes = 0;
}

void mr__text_clear(mr__text *text)
{
    text->nbytes = 0;
    text->code = 0;
}

/* Room for so many and a zero behind them. */
static char *room(mr__text *text, size_t nbytes)
{
    size_t wanted;
    if (text->code != 0)
        return NULL;
    if (!mr__size_add(text->nbytes, nbytes, &wanted) || !mr__size_add(wanted, 1, &wanted))
        text->code = MR_ENOMEM;
    else
        text->code = mr__buffer_grow(&text->buffer, text->hooks, text->nbytes, wanted);
    return text->code == 0 ? (char *)text->buffer.bytes + text->nbytes : NULL;
}

void mr__text_add(mr__text *text, const void *bytes, size_t nbytes)
{
    char *to = room(text, nbytes);
    if (to == NULL || nbytes == 0)
        return;
    memcpy(to, bytes, nbytes);
    text->nbytes += nbytes;
}

void mr__text_add_z(mr__text *text, const char *string)
{
    mr__text_add(text, string, strlen(string));
}

void mr__text_addf(mr__text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int nbytes = vsnprintf(NULL, 0, format, args);
    char *to = nbytes > 0 ? room(text, (size_t)nbytes) : NULL;
    if (to != NULL) {
        vsnprintf(to, (size_t)nbytes + 1, format, again);
        text->nbytes += (size_t)nbytes;
    }
    va_end(again);
    va_end(args);
}

static void add_escaped(mr__text *text, uint8_t c)
{
    static const char plain[] = "\b\f\n\r\t", letters[] = "bfnrt";
    const char *found = c != 0 ? strchr(plain, c) : NULL;
    if (c == '"' || c == '\\')
        mr__text_add(text, (char[]){'\\', (char)c}, 2);
    else if (found != NULL)
        mr__text_add(text, (char[]){'\\', letters[found - plain]}, 2);
    else
        mr__text_addf(text, "\\u%04x", c);
}

void mr__text_add_json(mr__text *text, const void *bytes, size_t nbytes)
{
    const uint8_t *from = bytes;
    size_t at = 0;
    mr__text_add(text, "\"", 1);
    while (at < nbytes && text->code == 0) {
        size_t run = at, length = 0;
        while (run < nbytes && from[run] >= 0x20 && from[run] != '"' && from[run] != '\\' &&
               (length = mr__utf8_nbytes(from + run, nbytes - run)) != 0)
            run += length;
        if (run != at)
            mr__text_add(text, from + at, run - at);
        at = run;
        if (at == nbytes)
            break;
        if (from[at] >= 0x80)
            mr__text_add(text, "\xef\xbf\xbd", 3);
        else
            add_escaped(text, from[at]);
        at++;
    }
    mr__text_add(text, "\"", 1);
}

/* What printf wrote, with a point whatever the locale's is; at most 24 characters. */
static mr__digits with_point(const char *written)
{
    mr__digits digits = {{0}};
    size_t at = 0;
    for (const char *c = written; *c != '\0' && at + 1 < sizeof digits.text; c++) {
        size_t other = strcspn(c, "0123456789+-e");
        digits.text[at++] = other != 0 ? '.' : *c; /* whatever stands there is the locale's point */
        c += other > 1 ? other - 1 : 0;
    }
    return digits;
}

mr__digits mr__digits_f64(double value)
{
    char written[48];
    if (!isfinite(value))
        return (mr__digits){"null"};
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(written, sizeof written, "%.*g", precision, value);
        if (strtod(written, NULL) == value)
            break;
    }
    return with_point(written);
}

mr__digits mr__digits_f32(float value)
{
    char written[48];
    if (!isfinite(value))
        return (mr__digits){"null"};
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(written, sizeof written, "%.*g", precision, (double)value);
        if ((float)strtod(written, NULL) == value) /* as readers here do it: a double, made a float */
            break;
    }
    return with_point(written);
}

void mr__text_add_f64(mr__text *text, double value)
{
    mr__text_add_z(text, mr__digits_f64(value).text);
}

int mr__text_finish(mr__text *text, const char **string, size_t *nbytes)
{
    char *end = room(text, 0);
    if (end == NULL)
        return text->code;
    *end = '\0';
    if (string != NULL)
        *string = (const char *)text->buffer.bytes;
    if (nbytes != NULL)
        *nbytes = text->nbytes;
    return 0;
}
