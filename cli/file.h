// SPDX-License-Identifier: Apache-2.0
/* Whole files in and out. Results are 0 or an errno. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that is being read; the memory is kept from one file to the next. All zero is a fresh one. */
typedef struct input {
    uint8_t *bytes;
    size_t nbytes; /* read so far */
    size_t capacity;
    bool ended;           /* that is all there is */
    bool regular;         /* a file that knows its size */
    uint64_t file_nbytes; /* what is to be read of a regular file; else what was read so far */
    int fd;
} input;

/* "-" is standard input. */
int input_open(input *in, const char *path);

/* Reads on until there are nbytes or the file ends. */
int input_fill(input *in, size_t nbytes);

void input_close(input *in);

void input_fini(input *in);

/*
 * Writes a file under a temporary name beside it and renames it, so that nobody ever sees half of it, and an interrupt
 * leaves nothing behind. What is there and
 * is no regular file (a device, a pipe) is written to directly; "-" is standard output.
 */
int file_write(const char *path, const void *bytes, size_t nbytes);

/* Whether two names are of one regular file. */
bool file_is_same(const char *a, const char *b);

#endif
