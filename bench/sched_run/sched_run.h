// SPDX-License-Identifier: Apache-2.0
/*
 * bench/sched: what the policies make of batches on simulated hardware, and what the scheduler itself costs.
 *
 *     main.c        options, and the list of tables
 *     play.c        one run of a rig, watched
 *     ratios.c      batches apart over their bound; streams over the machine's speed
 *     trouble.c     useless devices, a frozen lane, a device that changes, a dear sample
 *     table_cut.c   where the pipeline is cut
 *     overhead.c    the scheduler's own time, by the clock
 */
#ifndef BENCH_SCHED_RUN_H
#define BENCH_SCHED_RUN_H

#include "study/load.h"
#include <stdio.h>

enum { POLICIES = 8, BATCHES_MAX = 1024 };

typedef struct options {
    const char *table; /* NULL: all */
    bool json, quick;
    uint64_t batches; /* of a cell; 0: as the table says */
    uint64_t tasks;   /* of overhead */
    uint64_t row;     /* of overhead, from 1 on; 0: all */
    uint64_t seed;
} options;

/* A run, and what was seen of it. */
typedef struct play {
    mr__hardware hardware;
    mr__load load;
    mr__rig_options rig;
    uint64_t offset; /* of the first sample */
    mr__rig_result result;
    uint64_t opened_ns[BATCHES_MAX], ready_ns[BATCHES_MAX];
    double work_ns[BATCHES_MAX]; /* of each batch, in all */
} play;

/* W lanes of speed 1, an accelerator of speed S with a launch of 0.3 ms, estimates off by 0.3, batches apart. */
void play_init(play *p, const options *o, uint32_t w, double s, mr__load_kind kind, uint32_t batch, uint64_t batches);
void play_run(play *p, uint32_t policy);
double play_span(const play *p, uint64_t batch);

/* The bound of its batches on average, with one launch of the accelerator in it, if it is used at all. */
double play_bound_with_launch(const play *p);

extern const double speeds[];
enum { SPEEDS = 7 };

/* "table", what it is of, and a value for each policy: a line of text, or of JSON. `head` is printed before the first.
 */
void print_head(const options *o, const char *first, const char *more);
void print_row(const options *o, const char *table, const char *where, const double *values, const char *unit);

/* What is expected, before it is measured; and whether `auto` kept a limit. */
void predict(const options *o, const char *table, const char *text);
void judge(const options *o, const char *table, const char *what, bool kept);

/* 0; 1: something failed, or the scheduler was more than 5 % behind the best of a grid of mixes. */
int sched_table_cut(FILE *out, uint32_t batch, uint32_t grid);

void run_bounds(const options *o);
void run_streams(const options *o);
void run_useless(const options *o);
void run_freeze(const options *o);
void run_change(const options *o);
void run_dear(const options *o);
void run_overhead(const options *o);

void must(int result, const char *what, const char *detail);

#endif
