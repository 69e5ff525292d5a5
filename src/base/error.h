// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_ERROR_H
#define MR_BASE_ERROR_H

#include <millrace/error.h>

/* The detail text of a handle: what exactly went wrong in its last call. */
typedef struct mr__detail {
    char text[240];
} mr__detail;

/* Writes the detail (a sentence for a person, without a full stop) and returns `code`, so that a check is one line. */
__attribute__((format(printf, 3, 4))) int mr__fail(mr__detail *detail, int code, const char *format, ...);

void mr__detail_clear(mr__detail *detail);

/* The system's words for an errno, to be put into a sentence: mr__errno_text(error).text. */
typedef struct mr__errno_words {
    char text[96];
} mr__errno_words;

mr__errno_words mr__errno_text(int error);

#endif
