// SPDX-License-Identifier: Apache-2.0
/*
 * dataset [OPTION...] [FOLDER]: packing, verifying, reading and opening of datasets, beside what the system itself
 * does. Everyone takes a turn in each round, in an order that turns from round to round.
 */
#ifndef BENCH_DATASET_RACE_H
#define BENCH_DATASET_RACE_H

#include "common.h"

#define PATH_NBYTES 4096
#define RUNNERS_MAX 3
#define CONTESTS    5
#define READINGS    6
#define OPENINGS    4

typedef struct options {
    const char *folder;   /* of images */
    const char *millrace; /* the command */
    const char *scratch;  /* where a folder of our own is made; then that folder */
    unsigned rounds, threads;
    uint64_t size_nbytes, l3_nbytes; /* of the sources that are packed */
    uint64_t records, reads, seed;
    bool json;
} options;

/* Who does one work, as often as there are rounds. */
typedef struct runner {
    const char *name;
    double wall_s[ROUNDS_MAX], core_s[ROUNDS_MAX];
} runner;

/* The first runner is the one that the others are measured by. */
typedef struct contest {
    const char *name;
    uint64_t samples, nbytes;
    runner runners[RUNNERS_MAX];
    size_t count;
    double aim; /* how many times as fast as the first the second should be */
} contest;

/* Nanoseconds, over the reads of one round. */
typedef struct reading {
    const char *name;
    bool aimed; /* half of the reads should take less than 30 us */
    double p50[ROUNDS_MAX], p90[ROUNDS_MAX], p99[ROUNDS_MAX];
} reading;

typedef struct opening {
    const char *name;
    uint64_t samples;
    double first_s; /* the index is made; 0: there is nothing to be made */
    double s[ROUNDS_MAX];
    double rss_before[ROUNDS_MAX], rss_after[ROUNDS_MAX];
} opening;

typedef struct results {
    contest contests[CONTESTS];
    size_t contest_count;
    reading readings[READINGS];
    size_t reading_count;
    opening openings[OPENINGS];
    size_t opening_count;
    double record_nbytes; /* the median of those that were read */
} results;

/* All of these end the program, with a word, when something fails; main.c then removes the scratch folder. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* "SCRATCH/name". */
void path_in(const options *o, const char *name, char path[PATH_NBYTES]);

/* Writes images into class folders of 600, over and over until there are `nbytes` (or `count` of them; 0: no matter).
 */
void write_source(const char *folder, const item_set *set, uint64_t nbytes, uint64_t count);

/* Files of a folder: brought into memory, dropped from it, removed, or counted by size and time. */
void warm_files(const char *folder);
void drop_files(const char *folder);
void remove_files(const char *folder);
uint64_t walk_files(const char *folder, uint64_t *nbytes);

/* Runs a command to its end, with all it prints in SCRATCH/log, and fails with that. */
void run_command(const options *o, const char *const *arguments);

/* Core seconds of this process and of the commands it ran. */
double core_s(void);

contest *contest_add(results *r, const char *name, double aim);
runner *runner_add(contest *c, const char *name);

/* Who begins differs from round to round. */
static inline size_t turn_of(size_t number, unsigned round, size_t count)
{
    return (number + round) % count;
}

void measure_pack(const options *o, const item_set *set, results *r);
void measure_verify(const options *o, results *r);
void measure_reading(const options *o, results *r);
void measure_opening(const options *o, results *r);

void print_text(const options *o, results *r);
void print_json(const options *o, const results *r);

#endif
