// SPDX-License-Identifier: Apache-2.0
/* The decode benchmark: each form's images raced by Millrace and the plain libraries, a table of what came out. */
#ifndef BENCH_DECODE_H
#define BENCH_DECODE_H

#include "peer.h"
#include "race.h"

typedef struct options {
    unsigned rounds;
    size_t images; /* of a form, at most */
    uint64_t seed;
    bool regions; /* parts drawn as RandomResizedCrop draws them */
    bool json;
} options;

/* Millrace first, then the peers, memcpy last. */
typedef struct form_race {
    mr_form form;
    bench_race race;
} form_race;

/* Races the images of `form`. False when there is none. Free with race_free in any case. */
bool form_race_run(form_race *race, item_set *set, mr_form form, const options *o);

void report_text(FILE *file, const form_race *races, size_t count, const options *o);
void report_json(FILE *file, const form_race *races, size_t count, const options *o);

#endif
