// SPDX-License-Identifier: Apache-2.0
/* The decode benchmark: images in memory, racers that decode them in turn, a table of what came out. */
#ifndef BENCH_DECODE_H
#define BENCH_DECODE_H

#include "peer.h"

#include <stdio.h>

typedef struct options {
    unsigned rounds;
    size_t images; /* of a form, at most */
    uint64_t seed;
    bool regions; /* parts drawn as RandomResizedCrop draws them */
    bool json;
} options;

/* One stored image, with the shape of its whole decode. */
typedef struct item {
    char *path;
    uint8_t *bytes;
    size_t nbytes;
    mr_form form;
    mr_image shape;
    bool left_out;
} item;

typedef struct item_set {
    item *items;
    size_t count;
    size_t unreadable; /* files that are no image, or a broken one */
} item_set;

/* Reads every image of a file or folder, in the order of names. Exits when there is no memory. */
void set_add(item_set *set, mr_decoder *decoder, const char *path);
void set_free(item_set *set);

/* The part of a width x height image for this image and round: a pure function. */
mr_rect region_draw(uint64_t seed, uint64_t image, uint64_t round, uint32_t width, uint32_t height);

/* Who takes part in a race over one form: Millrace first, then the peers, memcpy last. */
#define ROUNDS_MAX 99
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
