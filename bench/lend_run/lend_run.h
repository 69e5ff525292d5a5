// SPDX-License-Identifier: Apache-2.0
/* Two ranks, each a process with a core of its own, that take steps together. */
#ifndef BENCH_LEND_RUN_H
#define BENCH_LEND_RUN_H

#include "common.h"
#include <millrace/loader.h>

enum { RANKS = 2, STEPS_MAX = 4096 };

typedef struct lend_options {
    const char *dataset, *dear, *cheap, *events;
    unsigned long long rounds, steps, warm, batch, kills;
    bool json;
} lend_options;

/* What came of one run of a pair. */
typedef struct pair_result {
    double step_ms;            /* mean */
    double spread_ms;          /* between the ranks' ready times, mean */
    double core_ms[RANKS];     /* of a sample */
    double lent_s, borrowed_s; /* of both */
} pair_result;

/* Ranks 0 and 1 with these recipes; `share` NULL: without lending. */
pair_result pair_run(const lend_options *o, const char *const recipes[RANKS], const char *share);

/* What came of a rank that was killed while the other went on. */
typedef struct kill_result {
    double usual_ms, gap_ms; /* between two batches of the survivor: before, and the longest within a second after */
    bool left;               /* something is left in shared memory */
} kill_result;

kill_result pair_kill(const lend_options *o, const char *const recipes[RANKS], unsigned victim, unsigned turn);

/* The processors that may be used: false when there are less than two. */
bool find_processors(int processors[RANKS]);

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
