// SPDX-License-Identifier: Apache-2.0
/*
 * Text that grows. A failure stays: add what there is to add, and look at the end (mr__text_finish).
 *
 * Threads: one at a time.
 * Ownership: mr__text_fini frees it; what mr__text_finish gives stays until more is added.
 * Limits: memory.
 */
#ifndef MR_BASE_TEXT_H
#define MR_BASE_TEXT_H

#include "base/memory.h"

typedef struct mr__text {
    const mr_hooks *hooks;
    mr__buffer buffer;
    size_t nbytes;
    int code; /* of the first failure */
} mr__text;

void mr__text_init(mr__text *text, const mr_hooks *hooks);
void mr__text_fini(mr__text *text);
void mr__text_clear(mr__text *text); /* empty again, the memory kept, a failure forgotten */

void mr__text_add(mr__text *text, const void *bytes, size_t nbytes);
void mr__text_add_z(mr__text *text, const char *string);

/* Not for numbers with a fraction: the locale writes their point. */
__attribute__((format(printf, 2, 3))) void mr__text_addf(mr__text *text, const char *format, ...);

/* In quotes, as JSON; any bytes: those that are not UTF-8 become U+FFFD, one for each. */
void mr__text_add_json(mr__text *text, const void *bytes, size_t nbytes);

/* The shortest number that reads back as this one, in any locale; what JSON cannot say (infinite, NaN) is null. */
void mr__text_add_f64(mr__text *text, double value);

/* The same without memory: the shortest digits that read back as this number, a float as a float. "null" likewise. */
typedef struct mr__digits {
    char text[32];
} mr__digits;

mr__digits mr__digits_f64(double value);
mr__digits mr__digits_f32(float value);

/* 0 or MR_ENOMEM. *string ends with a zero that *nbytes does not count; either may be NULL. */
int mr__text_finish(mr__text *text, const char **string, size_t *nbytes);

#endif
