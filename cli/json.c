// SPDX-License-Identifier: Apache-2.0
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <millrace/error.h>
#include <string.h>

static void put_string(json *j, const char *text)
{
    size_t left = strlen(text);
    fputc('"', j->stream);
    while (left != 0) {
        unsigned code = 0;
        size_t length = utf8_next(text, left, &code);
        if (length == 0)
            fputs("\\ufffd", j->stream);
        else if (code == '"' || code == '\\')
            fprintf(j->stream, "\\%c", (int)code);
        else if (code == '\n')
            fputs("\\n", j->stream);
        else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            fprintf(j->stream, "\\u%04x", code);
        else
            fwrite(text, 1, length, j->stream);
        length = length == 0 ? 1 : length;
        text += length;
        left -= length;
    }
    fputc('"', j->stream);
}

static void begin(json *j, const char *key)
{
    if (j->comma)
        fputs(key != NULL ? ", " : ",", j->stream);
    if (key != NULL) {
        put_string(j, key);
        fputs(": ", j->stream);
    }
    j->comma = true;
}

void json_open(json *j, const char *key, char bracket)
{
    begin(j, key);
    fputc(bracket, j->stream);
    j->comma = false;
}

void json_close(json *j, char bracket)
{
    fputc(bracket, j->stream);
    j->comma = true;
}

void json_line(json *j)
{
    fputs(j->comma ? ",\n" : "\n", j->stream);
    j->comma = false;
}

void json_number(json *j, const char *key, uint64_t value)
{
    begin(j, key);
    fprintf(j->stream, "%" PRIu64, value);
}

void json_real(json *j, const char *key, double value)
{
    begin(j, key);
    fprintf(j->stream, "%.6g", isfinite(value) ? value : 0.0);
}

void json_integer(json *j, const char *key, int64_t value)
{
    begin(j, key);
    fprintf(j->stream, "%" PRId64, value);
}

void json_double(json *j, const char *key, double value)
{
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    begin(j, key);
    fprintf(j->stream, "%.17g", value);
}

void json_null(json *j, const char *key)
{
    begin(j, key);
    fputs("null", j->stream);
}

void json_bool(json *j, const char *key, bool value)
{
    begin(j, key);
    fputs(value ? "true" : "false", j->stream);
}

void json_text(json *j, const char *key, const char *text)
{
    begin(j, key);
    put_string(j, text);
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text), length = 1;
    unsigned code;
    while (left != 0 && (length = utf8_next(text, left, &code)) != 0) {
        text += length;
        left -= length;
    }
    return length != 0;
}

void json_named(json *j, const char *key, const char *name)
{
    char hex[32];
    json_text(j, key, name);
    if (is_utf8(name))
        return;
    snprintf(hex, sizeof hex, "%s_hex", key);
    begin(j, hex);
    fputc('"', j->stream);
    for (; *name != '\0'; name++)
        fprintf(j->stream, "%02x", (unsigned char)*name);
    fputc('"', j->stream);
}

void json_name(json *j, const char *name)
{
    json_named(j, "name", name);
}

void json_hash(json *j, const char *key, uint64_t hash)
{
    begin(j, key);
    fprintf(j->stream, "\"%016" PRIx64 "\"", hash);
}

void json_error(json *j, int code, const char *text)
{
    json_open(j, "error", '{');
    json_text(j, "code", mr_error_name(code));
    json_text(j, "text", text);
    json_close(j, '}');
}
