// SPDX-License-Identifier: Apache-2.0
/* What io_uring and threads have in common: the places, the finished reads, and one read step by step. */
#ifndef MR_SOURCE_READ_AHEAD_KIND_H
#define MR_SOURCE_READ_AHEAD_KIND_H

#include "base/thread.h"
#include "source/read_ahead.h"

typedef struct mr__read_ahead_way {
    const char *name;
    int (*init)(mr__read_ahead *ahead);
    void (*fini)(mr__read_ahead *ahead); /* nothing is in flight; one that is not initialised is accepted */
    /* Sets about a read, that is mr__read_ahead_finish'ed some time, here already or later. */
    void (*start)(mr__read_ahead *ahead, mr__read *read);
    /*
     * Where finished reads have to be fetched (NULL: others bring them): `wait` waits until there is one, or the
     * deadline, by one thread at a time, and only while ahead->outside is not 0; `fetch`, with the mutex held, which it
     * may give up for a while, finishes what is there; `wake` has `wait` return, with the mutex held.
     */
    int (*wait)(mr__read_ahead *ahead, uint64_t deadline_ns);
    void (*fetch)(mr__read_ahead *ahead);
    void (*wake)(mr__read_ahead *ahead);
} mr__read_ahead_way;

extern const mr__read_ahead_way mr__read_ahead_uring;
extern const mr__read_ahead_way mr__read_ahead_threads;

struct mr__read_ahead {
    mr_hooks hooks;
    const mr__read_ahead_way *way;
    void *state; /* the way's */
    bool ready;  /* mutex and conditions are made */
    size_t depth;
    mr__mutex mutex;
    mr__condition has_place, has_news; /* a read is taken; one is finished, or who waits should look again */
    mr__read **finished;               /* a ring of `depth` */
    size_t first, finished_count;
    size_t in_flight; /* submitted and not taken */
    size_t outside;   /* of these, those that `wait` waits for */
    bool fetching;    /* a thread is in `wait` or `fetch` */
    bool closed;
};

/* Gives a read to the takers. The mutex is held. */
void mr__read_ahead_finish(mr__read_ahead *ahead, mr__read *read);

/*
 * One read: begin; while it says so, read what `next` asks for and tell `more` what came; mr__read_end. Without the
 * mutex, or with it.
 */
typedef struct mr__read_piece {
    int fd;
    uint8_t *bytes;
    size_t nbytes; /* at most MR__READ_PIECE_MAX */
    uint64_t offset;
} mr__read_piece;

#define MR__READ_PIECE_MAX ((size_t)1 << 30) /* the kernel takes less than 2^31 at once */

/* Opens, looks, takes memory; goes on where mr__read_now has stopped. False: there is nothing to read, or read->error.
 */
bool mr__read_begin(mr__read *read, const mr_hooks *hooks);
mr__read_piece mr__read_next(const mr__read *read);

/* `result` is a number of bytes or -errno. True: go on with the next piece. */
bool mr__read_more(mr__read *read, const mr_hooks *hooks, int64_t result);

/* The pieces from here on one after the other, with pread; end included. */
void mr__read_rest(mr__read *read, const mr_hooks *hooks);

#endif
