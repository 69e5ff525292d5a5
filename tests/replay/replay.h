// SPDX-License-Identifier: Apache-2.0
/* Files that were trouble once, or are odd on purpose, run through the fuzz targets' checks without a fuzzer. */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include "check/check.h"

/* How our decode and the plain library's compare over all files. */
typedef struct tally {
    size_t files;
    size_t decoded;   /* strictly, by us */
    size_t compared;  /* of these: held against the plain library */
    size_t different; /* of these: other pixels. Each was named on stderr */
    size_t refused;   /* the library decodes it without a word, we do not */
} tally;

/* Decodes strictly with default hints and, if the plain library does too, holds the pixels against each other. */
void compare_with_peer(tally *tally, const char *path, const uint8_t *bytes, size_t nbytes);

/* From now on, whatever ends or delays this process names the file. */
void watch_start(unsigned seconds);
void watch_file(const char *path);
void watch_stop(void);

#endif
