// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_COST_RACE_H
#define BENCH_COST_RACE_H

#include <millrace/millrace.h>
#include <stdbool.h>

typedef struct options {
    uint64_t images, learned, samples, seed;
    const char *scratch, *recipe;
    bool weights, keep;
} options;

/*
 * Writes so many JPEG files whose bytes do not tell their pixels into `folder`, from the photographs in `photos` (NULL:
 * painted ones), and prints how badly they do.
 */
void make_set(const char *photos, const char *folder, const options *o);

/* Prepares samples of every form by a recipe, one after the other, and prints how far off predictions were. */
void measure_recipe(mr_dataset *dataset, const char *text, const options *o);

/* What features_of and learn cost themselves. */
void measure_overhead(mr_dataset *dataset, const char *text);

/* Ends the program with these words where `result` is not 0. */
void must(int result, const char *what, const char *detail);

#endif
