// SPDX-License-Identifier: Apache-2.0
/* Writes JSON. A key of NULL is for the elements of an array. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *stream;
    bool comma; /* something stands before the next value */
} json;

/* `bracket` is '{' or '[', '}' or ']'. */
void json_open(json *j, const char *key, char bracket);
void json_close(json *j, char bracket);

/* Begins a new line before the next value: an array of objects is read, and searched, by lines. */
void json_line(json *j);

void json_number(json *j, const char *key, uint64_t value);
void json_real(json *j, const char *key, double value);
void json_integer(json *j, const char *key, int64_t value);

/* With all its figures; null for what JSON has no number for. */
void json_double(json *j, const char *key, double value);
void json_null(json *j, const char *key);
void json_bool(json *j, const char *key, bool value);

/* Bytes that are not UTF-8 become U+FFFD. */
void json_text(json *j, const char *key, const char *text);

/* "name", and where the name is not UTF-8 also "name_hex", its bytes in hexadecimal. */
void json_name(json *j, const char *name);

/* The same under another key: "key", "key_hex". */
void json_named(json *j, const char *key, const char *name);

/* A hash: 16 hexadecimal digits in quotes. */
void json_hash(json *j, const char *key, uint64_t hash);

/* "error": {"code": ..., "text": ...}; the code of an errno is MR_EIO. */
void json_error(json *j, int code, const char *text);

#endif
