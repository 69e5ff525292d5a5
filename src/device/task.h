// SPDX-License-Identifier: Apache-2.0
/*
 * The one structure to know: a sample to prepare, with every random number drawn, and the place it goes to. A task is
 * a plain value that any device can run, here or elsewhere, now or again: running it twice gives the same bytes.
 */
#ifndef MR_DEVICE_TASK_H
#define MR_DEVICE_TASK_H

#include "base/error.h"
#include "step/recipe.h"
#include <millrace/loader.h>

/* Memory of a device in which a batch stays: device/device.h. */
typedef struct mr__keep mr__keep;

/* What a sample has beside its image: device/targets.h. */
typedef struct mr__task_targets mr__task_targets;

typedef struct mr__task {
    uint64_t position; /* in the epoch's global order */
    uint64_t ordinal;  /* of the sample in the dataset */
    uint32_t form;     /* number of the stored form: with the device, its route */
    uint32_t attempt;  /* 0: the sample of this position; from 1 on: what takes the place of a bad one */
    const uint32_t *draws;
    void *slot;                /* output.sample_nbytes, its own */
    mr__task_targets *targets; /* likewise; NULL: none are read */
    mr__keep *keep;        /* the batch stays on the device whose this is: it puts the sample there; NULL: it does */
    uint64_t keep_at;      /* not. And where in that */
    void *batch;           /* whose it is; for the submitter */
    void *job;             /* what the scheduler placed it with; NULL: nobody did */
    struct mr__task *next; /* of one submission, or of what is done together; NULL: the last */
    int code;              /* when it is done: 0, or why the slot is not filled */
    uint32_t lane;         /* when it is done: who did it, of its device; */
    uint64_t begun_ns;     /* since when, by the device's clock (of a submission: when its first task began); */
    uint64_t busy_ns;      /* and how long a lane was busy with it: its share, where tasks are done together */
    bool has_sum;          /* when it is done: the device says what it made, */
    uint64_t sum;          /* XXH3 of the slot's bytes: what came over a link can be checked by it */
    bool wrong;            /* and it does not fit: for the submitter */
    bool again;            /* likewise: it was bad, and is aimed at another sample, which is to be done */
    uint32_t lacked;       /* likewise: devices that cannot do it, a bit each; */
    uint64_t need_nbytes;  /* and what it takes of the memory of others, at most */
    mr__detail detail;
} mr__task;

/* What the tasks of a loader have in common. It stays as it is while there are any. */
typedef struct mr__work {
    mr_hooks hooks; /* through the loader's meter */
    mr_dataset *dataset;
    const mr_recipe *recipe;
    mr__decode_needs needs;
    mr__finish finish;
    mr_limits limits; /* of one image in one thread */
    /*
     * Under a cap on the loader's memory: the most stored bytes of an image (0: any), and that limits.memory_nbytes is
     * what the cap leaves. An image that does not fit is no bad sample: with fewer threads it would.
     */
    uint64_t cap_nbytes;
    bool capped;
    bool check_all; /* read whole records, so that hashes are checked */
    mr_reading reading;
    uint32_t read_depth;
    size_t record_nbytes; /* of a stored image, about; 0: not known */
    uint32_t targets;     /* MR_TARGET_... that are read; 0: none */
    uint32_t asked;       /* those of them that the program asked for: a step may need others (ioucrop) */
    char mask_member[64]; /* "": the first that is a PNG */
    bool reduced;         /* the form is smaller than what objects and masks were made for */
} mr__work;

#endif
