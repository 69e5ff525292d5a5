// SPDX-License-Identifier: Apache-2.0
/* The decode benchmark: images in memory, racers that decode them in turn, a table of what came out. */
#ifndef BENCH_DECODE_H
#define BENCH_DECODE_H

#include "common.h"
#include "peer.h"

typedef struct options {
    unsigned rounds;
    size_t images; /* of a form, at most */
    uint64_t seed;
    bool regions; /* parts drawn as RandomResizedCrop draws them */
    bool json;
} options;

/* Who takes part in a race over one form: Millrace first, then the peers, memcpy last. */
#define RACERS_MAX 6
typedef enum racer_kind { RACER_MILLRACE, RACER_WHOLE, RACER_CROP, RACER_OWN_REGION, RACER_MEMCPY } racer_kind;
typedef struct bench_racer {
    racer_kind kind;
    const bench_peer *peer;
    char name[48];
    double *ns; /* a sum for each round */
} bench_racer;

typedef struct bench_race {
    mr_form form;
    bench_racer racer[RACERS_MAX];
    size_t racer_count;
    size_t images;
    size_t left_out;      /* CMYK and the like, which a peer does not decode to the same shape */
    size_t different;     /* images whose pixels are not the peer's */
    double *pixel_nbytes; /* given out, for each round */
    unsigned rounds;
} bench_race;

/* Checks all images of `form`, then times them. False when there is none. Free with race_free in any case. */
bool race_run(bench_race *race, item_set *set, mr_decoder *decoder, mr_form form, const options *o);
void race_free(bench_race *race);

/* Medians over the rounds. */
double race_mb_per_s(const bench_race *race, size_t racer);
double race_images_per_s(const bench_race *race, size_t racer);
double race_ratio(const bench_race *race, size_t racer); /* how many times as fast Millrace is */

void report_text(FILE *file, const bench_race *races, size_t count, const options *o);
void report_json(FILE *file, const bench_race *races, size_t count, const options *o);

#endif
