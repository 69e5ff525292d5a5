// SPDX-License-Identifier: Apache-2.0
/* The shard that is being written: a tar and an index of each form, published together when it is full. */
#ifndef MR_DATASET_PACK_SHARD_H
#define MR_DATASET_PACK_SHARD_H

#include "base/hash.h"
#include "dataset/key_set.h"
#include "dataset/pack_sample.h"
#include "source/disk.h"

/* Of one form. */
typedef struct mr__shard_tar {
    mr__publication publication;
    mr__hasher hasher;
    mr__index_build index;
    uint64_t position;     /* in the tar */
    uint64_t quota_nbytes; /* 0: none */
    uint64_t rows_nbytes;  /* of row indexes so far */
    mr__buffer pending;    /* small pieces, to be written together */
    size_t pending_nbytes;
    mr__text path;
} mr__shard_tar;

/*
 * Threads: one at a time.
 * Ownership: mr__shard_write_fini frees it, and removes what is not published.
 * Limits: the memory of its indexes, and 1 MiB for each form.
 */
typedef struct mr__shard_write {
    const mr__pack_plan *plan;
    const mr__disk *disk;
    const char *folder;
    mr_dataset *source;
    size_t number;
    mr__shard_tar *tars; /* one for each form */
    mr__key_set names;
    mr__text name, label;
    mr__buffer others;                /* names of members */
    atomic_uint_least64_t out_nbytes; /* written, for progress */
    mr__detail detail;
} mr__shard_write;

/* All zero but these is a fresh one. */
int mr__shard_write_init(mr__shard_write *w, const mr__pack_plan *plan, const mr__disk *disk, const char *folder,
                         mr_dataset *source);
void mr__shard_write_fini(mr__shard_write *w);

/* Begins shard `number`. */
int mr__shard_write_begin(mr__shard_write *w, size_t number);

/* The next sample, in its order. */
int mr__shard_write_add(mr__shard_write *w, const mr__pack_slot *slot);

/* Publishes: tars first, then their indexes, so that a shard with an index is whole. */
int mr__shard_write_finish(mr__shard_write *w);

#endif
