// SPDX-License-Identifier: Apache-2.0
/*
 * Samples for a rig: what they cost, how far off that is predicted, and how many bytes they are stored in, drawn from a
 * few distributions. A sample is a pure function of the seed and its number.
 */
#ifndef MR_STUDY_LOAD_H
#define MR_STUDY_LOAD_H

#include "study/rig.h"

typedef enum mr__load_kind {
    MR__LOAD_LIGHT,   /* decode and resize: lognormal, median 2 ms, sigma 0.3 [ours] */
    MR__LOAD_RANDAUG, /* decode (median 1.5 ms, sigma 0.3 [ours]) and RandAugment (median 1.1 ms, p99 6.8 ms [proto]) */
    MR__LOAD_HEAVY,   /* heavy-tailed: lognormal, median 5 ms, sigma 1, so mean 8.2 ms and p99 51 ms [ours] */
    MR__LOADS
} mr__load_kind;

typedef struct mr__load {
    mr__load_kind kind;
    uint64_t seed;
    double off;       /* predictions: sigma of a lognormal factor */
    uint64_t dear;    /* one sample in so many is `times` as dear, as its header says; 0: none */
    uint64_t dear_at; /* which of them */
    double times;
    uint64_t need_nbytes; /* of a device's memory, each */
} mr__load;

const char *mr__load_name(mr__load_kind kind);

/* For mr__rig_options.sample, with a mr__load as `user`. */
void mr__load_sample(const mr__load *load, uint64_t number, mr__rig_sample *sample);

/* A host of W lanes of speed 1, and an accelerator of one lane of speed S that takes up to 64 tasks in a submission,
 * which costs it so much (0: no accelerator). */
void mr__load_pair(mr__hardware *hardware, uint32_t w, double s, uint64_t launch_ns);

#endif
