// SPDX-License-Identifier: Apache-2.0
/* What convert says about L3: one line on how it was made and what it takes. */
#ifndef CLI_RECODING_H
#define CLI_RECODING_H

#include <millrace/millrace.h>

typedef struct recoding {
    const char *name; /* of OUT */
    mr_form from, to;
    size_t from_nbytes, to_nbytes;
} recoding;

/* Through pixels; `why`, where it might have been otherwise, else "". */
void tell_pixels(const recoding *r, const char *why);

/* Without. */
void tell_direct(const recoding *r, const mr_recode_report *report);

/* Either, as one JSON object on standard output. */
void put_recoding(const recoding *r, const mr_recode_report *report);

#endif
