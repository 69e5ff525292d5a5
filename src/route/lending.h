// SPDX-License-Identifier: Apache-2.0
/*
 * Which cores move between the jobs (loaders) of one machine: arithmetic without a clock, a lock or memory of its own,
 * so that real jobs and those under a virtual clock are decided alike. (doc/lending.md)
 *
 * A job's ready time is when it has one more batch in reserve than the poorest job has now: at once for all that have
 * more. A loan has an end, at which the core is its owner's again without a word. So a job that will be ready early
 * lends first and works later, and both are ready together.
 *
 * What mr__lending_decide keeps:
 * 1. The latest ready time under its loans is never later than under those it found, nor than without any; nor, by more
 *    than the hysteresis, than the best that fixed loans without an end could do.
 * 2. It changes a loan only if that brings the latest ready time forward by more than MR__LENDING_SHARE of a batch and
 *    MR__LENDING_SAMPLES samples: but for a core whose borrower has nothing to do with it, or whose owner would be
 * ready last without it, which goes home.
 * 3. Jobs whose batches take about as long (MR__LENDING_ALIKE) lend only to one that is far behind, by
 *    MR__LENDING_ALIKE_SHARE of a batch: what is less is chance, which the next batch makes good, and a move costs
 * more.
 * 4. A job whose costs are not known yet neither lends nor borrows.
 * 5. Of cores that can be lent, those on the borrower's socket go first.
 */
#ifndef MR_ROUTE_LENDING_H
#define MR_ROUTE_LENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A move costs the wait for the sample under way, twice (there and back), and cold caches; and predictions from an
 * average are off by some percent.
 */
#define MR__LENDING_SHARE   0.05
#define MR__LENDING_SAMPLES 2.0

#define MR__LENDING_ALIKE       1.1
#define MR__LENDING_ALIKE_SHARE 1.0

/* A loan is for so long at most, so that its owner is never still for longer than half of what others may wait. */
#define MR__LENDING_LOAN_NS 5e9

#define MR__LENDING_IDLE UINT32_MAX

enum { MR__LENDING_JOBS_MAX = 64 };

typedef struct mr__lending_job {
    bool known;       /* that the next three are */
    double work_ns;   /* of a core: what is left of the batch under way */
    double batch_ns;  /* of a core: a whole batch */
    double sample_ns; /* of a core: one sample */
    uint32_t reserve; /* batches that lie ready, and the one its consumer has if he is not waiting; MR__LENDING_IDLE:
                         there is nothing to do */
} mr__lending_job;

typedef struct mr__lending_core {
    uint32_t home, to; /* jobs: whose it is, and who has it; equal: it is not lent */
    double until_ns;   /* lent: from now */
    uint32_t socket;
} mr__lending_core;

typedef struct mr__lending {
    const mr__lending_job *jobs;
    size_t job_count; /* at most MR__LENDING_JOBS_MAX: more lend nothing */
    mr__lending_core *cores;
    size_t core_count;
} mr__lending;

/* When a job is ready, from now, as the loans are; 0 for one that is richer than the poorest; INFINITY: never. */
double mr__lending_ready(const mr__lending *l, uint32_t job);

/* When the last of them is. */
double mr__lending_latest(const mr__lending *l);

/* Changes `to` and `until_ns` of cores; how many it changed. `spare` has room for core_count more, to think with. */
size_t mr__lending_decide(mr__lending *l, mr__lending_core *spare);

#endif
