// SPDX-License-Identifier: Apache-2.0
/* Which part of each global batch is this process's. */
#ifndef MR_LOADER_RANKS_H
#define MR_LOADER_RANKS_H

#include "base/error.h"
#include <millrace/loader.h>

/* Who answers for a variable: getenv, or a test. */
typedef const char *mr__environment(const char *name);

typedef struct mr__ranks {
    uint32_t rank, world;
    const char *found_in; /* "the arguments", "torchrun (RANK, WORLD_SIZE)", "nowhere: one rank"; static text */
} mr__ranks;

/*
 * The first of: arguments; RANK and WORLD_SIZE (torchrun); OMPI_COMM_WORLD_RANK and _SIZE; PMI_RANK and PMI_SIZE;
 * SLURM_PROCID and SLURM_NTASKS, behind the others since an mpirun inside of a Slurm job leaves those of its own start
 * standing; JOB_COMPLETION_INDEX and WORLD_SIZE (Kubernetes). MR_EARGUMENT with detail, never a silent rank 0: half a
 * pair (a world of 1 needs no rank), what is no number, a rank that is not below its world, and a script of sbatch that
 * nobody started as a step (no SLURM_STEP_ID), which has the variables of rank 0 in a world of many.
 */
int mr__ranks_init(mr__ranks *ranks, const mr_loader_options *options, mr__environment *get, mr__detail *detail);

/*
 * An epoch cut into global batches of batch x world positions, from `start` on. Place i of rank r in global batch b is
 * position start + b x batch x world + i x world + r, so that the order is dealt out like cards and pads come last.
 */
typedef struct mr__deal {
    uint64_t positions, start;
    uint32_t batch, rank, world;
    bool drop_last;
} mr__deal;

uint64_t mr__deal_batches(const mr__deal *deal);                                  /* the same for all ranks */
uint64_t mr__deal_position(const mr__deal *deal, uint64_t batch, uint32_t place); /* UINT64_MAX: a pad, or no batch */

#endif
