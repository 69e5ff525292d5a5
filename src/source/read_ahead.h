// SPDX-License-Identifier: Apache-2.0
/*
 * Reads of many files or places in flight at once: by io_uring where the kernel allows it, by threads with pread where
 * not. Whoever needs bytes soon submits a read, and takes finished ones as they come.
 */
#ifndef MR_SOURCE_READ_AHEAD_H
#define MR_SOURCE_READ_AHEAD_H

#include "source/file.h"

/* One read. It stays where it is from submit until it is taken; the memory is kept for the next. */
typedef struct mr__read {
    const char *path; /* to be opened, read whole and closed; NULL: `file` is read */
    const mr__file *file;
    uint64_t offset;   /* with `file` */
    size_t nbytes;     /* with `file`: how many; with `path`: the most that is taken, EFBIG beyond */
    mr__buffer buffer; /* grown as needed; buffer.bytes[0..got) */
    size_t got;
    uint64_t file_nbytes; /* of `path`, as it was when opened */
    int64_t file_mtime_ns;
    int error; /* 0 or an errno */
    void *user;
} mr__read;

typedef enum mr__read_ahead_kind {
    MR__READ_AHEAD_AUTO,
    MR__READ_AHEAD_URING, /* MR_EUNSUPPORTED where there is none */
    MR__READ_AHEAD_THREADS
} mr__read_ahead_kind;

/*
 * Threads: submit and take by one thread, or submit by one and take by others.
 * Ownership: mr__read_ahead_free waits for what is in flight; reads and their buffers stay the submitter's, allocated
 * by the given hooks. Limits: at most `depth` reads in flight; submit waits for a place until another thread takes one,
 * so whoever does both counts.
 */
typedef struct mr__read_ahead mr__read_ahead;

int mr__read_ahead_new(const mr_hooks *hooks, mr__read_ahead_kind kind, size_t depth, mr__read_ahead **out);
void mr__read_ahead_free(mr__read_ahead *ahead); /* NULL is accepted */

/* "io_uring" or "threads". */
const char *mr__read_ahead_name(const mr__read_ahead *ahead);

int mr__read_ahead_submit(mr__read_ahead *ahead, mr__read *read);

/* Waits for one that is finished. MR_ECLOSED when none is in flight (and, with takers beside, none will be). */
int mr__read_ahead_take(mr__read_ahead *ahead, mr__read **out);

#endif
