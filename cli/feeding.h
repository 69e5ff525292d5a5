// SPDX-License-Identifier: Apache-2.0
/* One run of feed: what it was asked for, what it works with, and what came of it. */
#ifndef CLI_FEEDING_H
#define CLI_FEEDING_H

#include "sink.h"
#include "source.h"

enum { STATE_NBYTES_MAX = 16 << 10, FAULT_NBYTES = 8 << 10 };

typedef struct feeding {
    const settings *s;
    source src;
    progress p;
    mr_recipe *recipe;
    mr_output output;
    double *weights;
    mr_loader *loader; /* NULL: it is being made */
    watcher watch;
    sink sink;
    uint64_t epoch_batches;             /* that each rank gets in an epoch */
    uint64_t batches;                   /* taken by this run */
    uint64_t epochs;                    /* that these are of */
    uint64_t epoch;                     /* of the last one */
    uint64_t objects, keypoints, masks; /* that its samples had */
    double told, saved;                 /* when the line was last drawn, and the state written */
    bool resumed;                       /* from a state */
    bool lost;                          /* a batch could not be taken */
    bool traced;                        /* the trace is written */
    int code;                           /* what it ended with, */
    char *fault;                        /* and in words */
    char *state;                        /* behind the last batch that the sink has; "": none yet */
    mr_loader_stats stats;
    uint64_t rss_nbytes, rss_peak_nbytes;
} feeding;

/* The options; EXIT_USAGE after a word on those that do not go together. */
int feed_check(const command *c, const settings *s);

/* What they are for the library; reads the weights. EXIT_GOOD, or the exit code after a complaint. */
int feed_options(const command *c, feeding *f, mr_loader_options *out);

/* The report, for a person or with --json as an object. */
void feed_report(const feeding *f, bool stopped);

#endif
