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
 *
 * What is read is put at `at` of the buffer, and what stands before stays: so a head and later a range of one stored
 * image come to stand as in the whole. Who does so gives the whole length as `room` from the first, or it is moved.
 *
 * A direct read takes the blocks around what is wanted, and puts them where blocks are in memory: the buffer begins
 * somewhere before `whole`, and before `at` there is, for up to a block, what the file has there. All reads into one
 * buffer that is kept have the same `direct` and the same offset - at, and leave `whole` as it was. Where the file
 * system does not do it, it is an ordinary read into the same place.
 */
typedef struct mr__read {
    const char *path; /* to be opened, read and closed; NULL: `file` is read */
    const mr__file *file;
    bool part;             /* of `path`, only nbytes from `offset` on; without, the whole */
    uint64_t offset;       /* with `file` or `part` */
    size_t nbytes;         /* with `file` or `part`: how many; else the most that is taken, EFBIG beyond */
    size_t at, room;       /* where in the buffer; how long that is at least */
    bool direct;           /* past the page cache */
    const char *file_path; /* of `file`, to open it for that; NULL: `file` is read as ever */
    mr__buffer buffer;     /* grown as needed */
    uint8_t *whole;        /* what `at` is counted from; buffer.bytes but for direct reads */
    uint8_t *bytes;        /* what was read, `got` of them: whole + at */
    size_t got;            /* 0 after an error */
    uint64_t file_nbytes;  /* of `path`, as it was when opened */
    int64_t file_mtime_ns;
    int error;               /* 0 or an errno */
    bool direct_refused;     /* it went through the page cache */
    bool nowait_unsupported; /* mr__read_now need not be asked again about this file system; stays until cleared */
    bool in_memory;          /* it is on a file system that is in memory: reading is at once; stays likewise */
    void *user;
    /* For who reads it. */
    mr__read_ahead *ahead;
    mr__file opened;
    size_t wanted; /* of `bytes`, behind `lead` */
    size_t lead;   /* bytes of the first block before what is wanted; `got` counts them until the end */
    bool to_end;   /* of a length that nobody knows */
    bool begun;    /* by mr__read_now */
    bool in_blocks;
} mr__read;

/*
 * Reads what can be had without waiting for a disk, in the calling thread. True: it is finished, as if taken. False: it
 * has to be waited for (a direct read always); mr__read_ahead_submit goes on from what is there, or mr__read_end gives
 * it up. (Opening a file may wait for a disk, too.)
 */
bool mr__read_now(mr__read *read, const mr_hooks *hooks);

/* Reads it, or what mr__read_now has left of it, in the calling thread, waiting. */
void mr__read_wait(mr__read *read, const mr_hooks *hooks);

/* Gives up a read that mr__read_now has left, and that is not submitted. One that is not begun is accepted. */
void mr__read_end(mr__read *read);

typedef enum mr__read_ahead_kind {
    MR__READ_AHEAD_AUTO,  /* io_uring where there is one, threads where not */
    MR__READ_AHEAD_URING, /* MR_EUNSUPPORTED where there is none */
    MR__READ_AHEAD_THREADS
} mr__read_ahead_kind;

/*
 * mr__read_ahead.
 *
 * Threads: submit, take and close by any number at once; new and free alone. When a thread has ended, what it had
 * submitted is finished by who takes.
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

/*
 * Nothing more is submitted; whoever waits for a place or in mr__read_ahead_take_until_closed comes back at once, also
 * while a read is stuck in the kernel.
 */
void mr__read_ahead_close(mr__read_ahead *ahead);

/* Waits for one that is finished. MR_ECLOSED when none is in flight, also once others have taken the last. */
int mr__read_ahead_take(mr__read_ahead *ahead, mr__read **out);

/*
 * The same for takers beside the submitters: waits while none is in flight, too, until mr__read_ahead_close; then what
 * is finished is still given out, and what is not is not waited for: mr__read_ahead_take gives the rest.
 */
int mr__read_ahead_take_until_closed(mr__read_ahead *ahead, mr__read **out);

/* The same; MR_ETIMEOUT when there was none by then. A deadline that has passed asks whether there is one. */
int mr__read_ahead_take_by(mr__read_ahead *ahead, uint64_t deadline_ns, mr__read **out);

/* How many are submitted and not taken. */
size_t mr__read_ahead_in_flight(mr__read_ahead *ahead);

/*
 * Takes all there are, whoever's they are, until the deadline. True: nothing is in flight, and mr__read_ahead_free does
 * not wait. False: something is stuck, and may write into its memory any time: whoever cannot wait leaves all of it be
 * for good.
 */
bool mr__read_ahead_quiet(mr__read_ahead *ahead, uint64_t deadline_ns);

#endif
