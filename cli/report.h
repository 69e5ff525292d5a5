// SPDX-License-Identifier: Apache-2.0
/* What `decode` did, for people and as JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <millrace/millrace.h>
#include <stdbool.h>
#include <stddef.h>

enum { FORM_COUNT = 16 };

/* Sums over images of one form. */
typedef struct tally {
    uint64_t images;
    uint64_t warned_images; /* of them, those with a warning */
    uint64_t stored_nbytes;
    uint64_t pixels;
    uint64_t pixel_nbytes;
    uint64_t warnings;
    uint64_t read_ns;   /* waiting for and copying the bytes */
    uint64_t decode_ns; /* the clock on the wall */
    uint64_t core_ns;   /* of the processor, while decoding */
} tally;

void tally_add(tally *to, const tally *from);

typedef struct bad_file {
    const char *path;
    int code;
    char *text; /* NULL when there was no memory for it */
} bad_file;

const char *bad_file_text(const bad_file *bad);

typedef struct report {
    tally forms[FORM_COUNT]; /* by mr_form */
    tally total;
    tally failed; /* the times of what gave no image: bad files, and others */
    unsigned threads;
    uint64_t wall_ns;
    uint64_t files;       /* bad ones and others too */
    uint64_t other_files; /* in folders, and no images */
    uint64_t repeat;
    bool accept_damaged; /* warnings may be damage */
    const bad_file *bad;
    size_t bad_count;
} report;

void report_put(const report *r);
void report_put_json(const report *r);

#endif
