// SPDX-License-Identifier: Apache-2.0
/* What feed does with a batch: nothing, a sum of hashes, files of NumPy's, or the bytes one behind the other. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "command.h"
#include "tree.h"

/* Of the batches of one epoch. */
typedef struct epoch_sum {
    uint64_t epoch;
    uint64_t hash;
    uint64_t samples;
} epoch_sum;

enum { SINK_FAULT_NBYTES = 4608 };

typedef struct sink {
    enum { SINK_NULL, SINK_HASH, SINK_NPY, SINK_RAW } kind;
    const char *out;
    bool replace;
    bool many; /* ranks: each names its files by its own */
    uint32_t rank;
    int signals;       /* a descriptor that is readable when Ctrl-C waits; -1: none */
    int fd;            /* RAW: the file; NPY: the folder */
    bool regular;      /* RAW: it never makes us wait */
    tree files;        /* NPY */
    epoch_sum *epochs; /* HASH */
    size_t count, capacity;
    uint64_t written_files, written_nbytes;
    char fault[SINK_FAULT_NBYTES]; /* what went wrong, with the name in it; "": nothing, or nothing to speak of */
} sink;

/* EXIT_USAGE, after a word on it, where --sink and --out do not go together. */
int sink_check(const settings *s);

/*
 * Each returns whether it went well; k->fault says what did not. Nothing is to be said of who closed the pipe, nor of
 * Ctrl-C while nobody read. A sink is closed also when it did not open.
 */
bool sink_open(sink *k, const settings *s, const mr_loader_stats *stats, int signals);
bool sink_take(sink *k, const mr_batch *batch);
bool sink_close(sink *k);

#endif
