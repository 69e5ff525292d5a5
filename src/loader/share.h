// SPDX-License-Identifier: Apache-2.0
/* A loader that shares cores with others: what it foretells, and when it has that judged. */
#ifndef MR_LOADER_SHARE_H
#define MR_LOADER_SHARE_H

#include "device/cpu/cores.h"
#include "route/lending.h"
#include <millrace/loader.h>

typedef struct mr__share {
    mr__board *board;
    double sample_ns;                        /* of a core, a mean that forgets; 0: not known */
    uint64_t counted, counted_ns;            /* samples, and their time, that are in it; under the loader's lock */
    mr__lending_job jobs[MR__BOARD_MEMBERS]; /* these are for who decides */
    mr__lending_core cores[MR__BOARD_CORES], spare[MR__BOARD_CORES];
} mr__share;

/*
 * Joins the group of options->share with `threads` cores; *lanes is how many threads the device is to have. Without a
 * group loader->share stays NULL, and *lanes is `threads`.
 */
int mr__share_init(mr_loader *loader, const mr_loader_options *options, uint32_t threads, uint32_t *lanes,
                   mr__detail *detail);
void mr__share_fini(mr_loader *loader);

/* A batch was taken or given back. Without the mutex; so are those that follow. Nothing, without a group. */
void mr__share_post(mr_loader *loader);

/* Tasks are settled, the slot's. */
void mr__share_progress(mr_loader *loader, const void *slot);

/* The board's part of what can be asked. */
void mr__share_stats(mr_loader *loader, mr_loader_stats *stats);

#endif
