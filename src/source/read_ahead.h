// SPDX-License-Identifier: Apache-2.0
/*
 * Reads of many files or places in flight at once: by io_uring where the kernel allows it, by threads with pread where
 * not. Whoever needs bytes soon submits a read, and takes finished ones as they come.
 */
#ifndef MR_SOURCE_READ_AHEAD_H
#define MR_SOURCE_READ_AHEAD_H

#include "source/file.h"
#include <stdbool.h>

typedef struct mr__read_ahead mr__read_ahead;

/*
 * One read. It stays where it is from submit until it is taken; the memory is kept for the next.
 *
 * A file that grows after it was opened is read as long as it was then; one that was cut gives what there is (got is
 * less than nbytes, or file_nbytes). Files of /proc and others that say they are empty are read to their end.
 */
typedef struct mr__read {
    const char *path; /* to be opened, read whole and closed; NULL: `file` is read */
    const mr__file *file;
    uint64_t offset;      /* with `file` */
    size_t nbytes;        /* with `file`: how many; with `path`: the most that is taken, EFBIG beyond */
    mr__buffer buffer;    /* grown as needed; buffer.bytes[0..got) */
    size_t got;           /* 0 after an error */
    uint64_t file_nbytes; /* of `path`, as it was when opened */
    int64_t file_mtime_ns;
    int error; /* 0 or an errno */
    void *user;
    /* For who reads it. */
    mr__read_ahead *ahead;
    mr__file opened;
    size_t wanted;
    bool to_end; /* of a length that nobody knows */
} mr__read;

typedef enum mr__read_ahead_kind {
    MR__READ_AHEAD_AUTO,  /* io_uring where there is one, threads where not */
    MR__READ_AHEAD_URING, /* MR_EUNSUPPORTED where there is none */
    MR__READ_AHEAD_THREADS
} mr__read_ahead_kind;

/*
 * mr__read_ahead.
 *
 * Threads: submit and take by one thread, or submit by one and take by others; new and free alone.
 * Ownership: mr__read_ahead_free waits for what is in flight; reads and their buffers stay the submitter's, allocated
 * by the given hooks.
 * Limits: at most `depth` reads in flight, which is from submit to take; submit waits for a place until another thread
 * takes one, so whoever does both counts.
 *
 * MR_EARGUMENT for no depth.
 */
int mr__read_ahead_new(const mr_hooks *hooks, mr__read_ahead_kind kind, size_t depth, mr__read_ahead **out);
void mr__read_ahead_free(mr__read_ahead *ahead); /* NULL is accepted */

/* "io_uring" or "threads". */
const char *mr__read_ahead_name(const mr__read_ahead *ahead);

/* What fails of the read itself is in the read, when it is taken. MR_ECLOSED after mr__read_ahead_close. */
int mr__read_ahead_submit(mr__read_ahead *ahead, mr__read *read);

/* Nothing more is submitted; whoever waits for a place or a read comes back. */
void mr__read_ahead_close(mr__read_ahead *ahead);

/* Waits for one that is finished. MR_ECLOSED when none is in flight, also once others have taken the last. */
int mr__read_ahead_take(mr__read_ahead *ahead, mr__read **out);

/* The same for takers beside the submitter: waits while none is in flight, too, until mr__read_ahead_close. */
int mr__read_ahead_take_until_closed(mr__read_ahead *ahead, mr__read **out);

#endif
