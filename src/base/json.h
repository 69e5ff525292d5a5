// SPDX-License-Identifier: Apache-2.0
/*
 * Reads JSON (RFC 8259, strict), one token after the other, without allocating. Any bytes: what is no JSON gives
 * MR__JSON_BAD with a word on why and where.
 *
 * Threads: one at a time.
 * Ownership: points into the text, which must stay.
 * Limits: MR__JSON_DEPTH levels; duplicate names are the caller's business.
 */
#ifndef MR_BASE_JSON_H
#define MR_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR__JSON_DEPTH = 64 };

typedef enum mr__json_kind {
    MR__JSON_BAD,    /* not JSON: reader->problem at reader->at; stays so */
    MR__JSON_END,    /* of the text: one value, and nothing but space behind it */
    MR__JSON_OBJECT, /* { */
    MR__JSON_OBJECT_END,
    MR__JSON_ARRAY, /* [ */
    MR__JSON_ARRAY_END,
    MR__JSON_NAME, /* of a member; its value is the next token */
    MR__JSON_TEXT,
    MR__JSON_NUMBER,
    MR__JSON_TRUE,
    MR__JSON_FALSE,
    MR__JSON_NULL
} mr__json_kind;

typedef struct mr__json_token {
    mr__json_kind kind;
    const char *text; /* names and texts: between the quotes, escapes as they stand; numbers: as they stand */
    size_t nbytes;
    bool escaped; /* there is a backslash in it */
    size_t at;    /* where it begins */
} mr__json_token;

typedef struct mr__json {
    const char *text;
    size_t nbytes;
    size_t at;
    const char *problem; /* "a comma is missing"; NULL */
    unsigned depth;
    uint64_t objects; /* bit n: level n is an object */
    uint8_t state;
} mr__json;

mr__json mr__json_init(const char *text, size_t nbytes);
mr__json_token mr__json_next(mr__json *json);

/*
 * Passes over the value that begins with this token: nothing for a text or number, all of it for { and [, the value of
 * a name. False: it is no JSON, or no value begins here.
 */
bool mr__json_skip(mr__json *json, mr__json_token token);

bool mr__json_is(mr__json_token token, const char *name); /* a name or text, equal to `name` once unescaped */

/* Whole numbers that fit, without a fraction or exponent; others give false. */
bool mr__json_i64(mr__json_token token, int64_t *value);
bool mr__json_u64(mr__json_token token, uint64_t *value);

/* Any number, rounded as strtod in the C locale does it, whatever the locale: one that is too large is infinite. */
bool mr__json_f64(mr__json_token token, double *value);

/*
 * Unescapes into `out` (token.nbytes are always enough), as UTF-8; *nbytes is what it took. False for half a surrogate
 * pair. There may be a zero in it.
 */
bool mr__json_unescape(mr__json_token token, char *out, size_t *nbytes);

#endif
