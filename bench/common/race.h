// SPDX-License-Identifier: Apache-2.0
/*
 * A race: racers decode the same images in turn, and their times are kept for each round.
 *
 * A batch of images goes to one racer, then to the next, in an order that turns from batch to batch and round to round,
 * so that nobody always finds the bytes in the cache and what else the machine does meets all alike. Everyone writes
 * into the same memory, which was touched before. Time is that of this thread's processor, which it stays on.
 */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "common.h"

#define RACERS_MAX 16

/* What a racer is given: the part of an image, where it goes, and room for those who must decode all of it first. */
typedef struct race_turn {
    const item *it;
    mr_rect part;
    mr_image to;
    mr_image whole;
} race_turn;

typedef struct race_racer {
    char name[64];
    bool (*decode)(const struct race_racer *racer, const race_turn *turn);
    const void *with;    /* what `decode` needs */
    mr_decoder *decoder; /* of Millrace's own; its detail says why it failed */
    uint32_t reduce;     /* the size divided by this; 0: full */
    bool inexact;        /* does not claim the pixels that the others give */
    bool untimed;        /* is there for its pixels alone */
    double ns[KINDS][ROUNDS_MAX];
} race_racer;

typedef struct bench_race {
    const char *program; /* whose name messages begin with */
    unsigned rounds;
    size_t batch; /* images in a row for one racer; 0: one */
    size_t most;  /* images */
    bool regions; /* parts drawn as RandomResizedCrop draws them, others in each round */
    uint64_t seed;
    race_racer *racer[RACERS_MAX];
    size_t racer_count;
    /* What came out. */
    size_t images, images_of[KINDS];
    size_t left_out;  /* images that not all decode to one shape */
    size_t different; /* images whose pixels are not those of the first racer that claims them */
    double pixel_nbytes[KINDS][ROUNDS_MAX];
} bench_race;

race_racer *race_add(bench_race *race, bool (*decode)(const race_racer *racer, const race_turn *turn), const void *with,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The turn's part out of its whole. */
bool race_cut(const race_turn *turn);

/*
 * Checks all images of the set that are not left out, leaves out those that are not decoded alike, and times the rest;
 * images of one kind should stand together. False when there is none. Free with race_free in any case.
 */
bool race_run(bench_race *race, item_set *set);
void race_free(bench_race *race); /* the racers and their decoders */

/* Medians over the rounds, of one kind or, with KINDS, of all. */
double race_ms(const bench_race *race, const race_racer *racer, unsigned kind); /* an image */
double race_mb_per_s(const bench_race *race, const race_racer *racer, unsigned kind);

/* How many times as fast as the other, and the lowest and highest of the rounds where they are wanted. */
double race_times(const bench_race *race, const race_racer *racer, const race_racer *than, unsigned kind,
                  double range[2]);

#endif
