// SPDX-License-Identifier: Apache-2.0
/* A rig that watches itself: for tests of the scheduler, the crew and the rig. */
#ifndef TESTS_SUPPORT_RIGGING_H
#define TESTS_SUPPORT_RIGGING_H

#include "study/load.h"

enum { RIGGING_BATCHES = 512, RIGGING_PICKS = 1 << 15 };

/* A pick that was seen, by its first task. */
typedef struct rigging_pick {
    uint64_t batch, begun_ns;
    uint32_t device, count;
    double predicted_ns; /* without the launch */
    mr__reason reason;
} rigging_pick;

typedef struct rigging {
    mr__hardware hardware;
    mr__load load;
    mr__rig_options options; /* hardware, sample, delivered, seen and user are set when it is run */
    uint64_t offset;         /* of the first sample */
    uint64_t large;          /* one sample in so many needs large_nbytes of memory */
    uint64_t large_nbytes;
    /* What happened. */
    mr__rig_result result;
    uint64_t opened_ns[RIGGING_BATCHES], ready_ns[RIGGING_BATCHES];
    double work_ns[RIGGING_BATCHES][MR__SCHED_DEVICES_MAX]; /* that each device did of each batch */
    rigging_pick picks[RIGGING_PICKS];
    size_t pick_count;
    uint64_t hash; /* of who did what when */
} rigging;

/* W lanes and an accelerator of speed S (mr__load_pair), with estimates off by 0.3; batches of n, `auto`. */
rigging *rigging_new(uint32_t w, double s, mr__load_kind kind, uint32_t batch, uint64_t batches);

/* Runs it, and fails the test if not each task was settled once and well. */
void rigging_run(rigging *rig);

void rigging_fault(rigging *rig, uint32_t device, mr__fault fault);

/* How long a batch took. */
double rigging_span(const rigging *rig, uint64_t batch);

/* The share of a batch's work that a device did. */
double rigging_share(const rigging *rig, uint64_t batch, uint32_t device);

/* The seconds of the same run by another policy. */
double rigging_seconds_by(rigging *rig, const char *policy);

#endif
