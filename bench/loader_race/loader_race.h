// SPDX-License-Identifier: Apache-2.0
/*
 * loader [OPTION...] DATA: the loader beside a plain C loop with perfect threading, and beside its own stages alone.
 * Everyone takes a turn in each round, each time in a process of its own, in an order that turns from round to round.
 */
#ifndef BENCH_LOADER_RACE_H
#define BENCH_LOADER_RACE_H

#include "common.h"

#define PATH_NBYTES 4096
#define RACERS_MAX  7
#define CONTESTS    6

typedef struct options {
    const char *data;   /* what bench/loader prepared */
    const char *tables; /* names with commas between; NULL: all */
    unsigned rounds, threads, batch, cifar_epochs;
    uint64_t seed, cifar_records;
    bool json;
} options;

typedef enum racer_kind {
    RACER_LOOP,     /* libjpeg-turbo and our resizer, and nothing shared */
    RACER_LOADER,   /* mr_loader */
    RACER_PREPARERS /* an mr_preparer a thread, and nothing shared: the loader's stages without the loader */
} racer_kind;

/* What one turn took. The first batch, with all that comes before it, is kept apart from the rest. */
typedef struct figures {
    double open_s;      /* until the dataset is open */
    double first_s;     /* from there to the first batch */
    double wall_s;      /* from the first batch to the last */
    double core_s;      /* of all threads in that time */
    uint64_t samples;   /* in that time */
    uint64_t from_disk; /* reads of the loader that did not find everything in the page cache */
} figures;

typedef struct racer {
    const char *name;
    racer_kind kind;
    const char *path; /* in `data` */
    unsigned threads;
    double aim; /* times the first of the contest; 0: none */
    bool absent;
    figures round[ROUNDS_MAX];
} racer;

typedef struct contest {
    const char *table; /* what --tables calls it */
    const char *title;
    const char *recipe;
    bool bytes;      /* u8 instead of f32 */
    bool validation; /* whole images in their order */
    bool overhead;   /* the racers are, in this order: LOADER, PREPARERS, and both with one thread */
    double us_aim;   /* of bookkeeping a sample, overhead only */
    unsigned epochs;
    racer racers[RACERS_MAX];
    size_t count;
} contest;

/* Ends the program with a word. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* "DATA/name". */
void path_in(const options *o, const char *name, char path[PATH_NBYTES]);

/*
 * Threads that share nothing: of T, the thread t takes the samples t, t + T, t + 2 T, ... Each sample has its place in
 * a ring of three batches, as the loader has it, which is touched before.
 */
typedef struct crew {
    unsigned threads;
    void **workers; /* one for each thread */
    bool (*work)(void *worker, uint64_t number, void *to);
    uint8_t *ring;
    uint64_t ring_samples;
    size_t sample_nbytes;
} crew;

void crew_init(crew *c, const options *o, unsigned threads, size_t sample_nbytes);

/* The first batch and, timed apart from it, the rest; `since` is when everything was open. */
void crew_measure(crew *c, const options *o, uint64_t samples, double since, figures *f);

/* The numbers from 0, in an order that the seed says, or as they are. */
uint64_t *order_new(uint64_t count, bool shuffled, uint64_t seed);

/* Whole batches of `count` samples; fails when there are less than two. */
uint64_t whole_batches(const options *o, uint64_t count);

/* A turn, to its end; called in a process of its own. */
void turn_loop(const options *o, const contest *c, const racer *r, figures *f);
void turn_loader(const options *o, const contest *c, const racer *r, figures *f);
void turn_preparers(const options *o, const contest *c, const racer *r, figures *f);

/* Makes the file if it is not there: records of CIFAR-10, noise. */
void make_cifar(const char *path, uint64_t records);

/* All rounds of a contest. */
void contest_run(const options *o, contest *c);

void print_text(const options *o, const contest *contests, size_t count);
void print_json(const options *o, const contest *contests, size_t count);

#endif
