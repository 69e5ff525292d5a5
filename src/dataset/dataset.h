// SPDX-License-Identifier: Apache-2.0
/*
 * The dataset as its own files see it.
 *
 *     dataset.c        the handle, and what it tells of samples
 *     open.c           which layout the paths are, and the way to each
 *     open_packed.c    by dataset.json
 *     open_scanned.c   by an index that is found, or made by the layout's scanner
 *     shard.c          one shard of one form: its index, mapped when first needed, and its file
 *     cache.c          where indexes of what is not ours are kept
 *     find.c           from keys to ordinals
 *     reader.c         stored bytes
 *
 * Invariants
 * 1. After open nothing changes but what shards load when first needed, under the lock; so all calls are for any
 * thread.
 * 2. shards[form * shard_count + n] has the samples first[n] to first[n + 1] - 1, in every form.
 */
#ifndef MR_DATASET_DATASET_H
#define MR_DATASET_DATASET_H

#include "base/thread.h"
#include "cpu/cpu.h"
#include "dataset/index.h"
#include "dataset/scan.h"
#include "source/file.h"
#include <stdatomic.h>

enum { MR__SHARD_MAX = 65536, MR__FORM_MAX = 16, MR__PATH_MAX = 4096, MR__FORM_NAME_NBYTES = 32 };

/* One shard of one form; a folder is one shard without a file. */
typedef struct mr__shard {
    char *path;       /* of the data; NULL: a folder, whose keys are paths */
    char *index_path; /* NULL: the index is in `memory` */
    uint8_t *memory;
    mr__index index;         /* once `loaded` */
    mr__index_head expected; /* packed: what dataset.json says of it; its samples, too */
    atomic_bool loaded;
    atomic_int failed; /* what loading it failed of, if it did: it is not tried again */
    atomic_int fd;     /* -1: not open, or not kept open */
} mr__shard;

/* A form that the dataset has. */
typedef struct mr__dataset_form {
    char name[MR__FORM_NAME_NBYTES];
    mr_form form; /* MR_FORM_NONE: it differs */
    uint32_t max_side, short_side;
    uint64_t samples, nbytes;
} mr__dataset_form;

struct mr_dataset {
    atomic_uint references; /* its owner's, and those of loaders */
    mr_hooks hooks;
    mr__cpu_flags cpu;          /* for hashes and planes */
    mr_dataset_options options; /* texts are copies */
    mr__detail detail;
    bool opened;
    mr_layout layout;
    char *root;    /* of a folder or packed dataset */
    mr__file list; /* of a folder: what it was when it was opened; closed */
    uint64_t samples;
    uint64_t *first; /* shard_count + 1 */
    size_t shard_count;
    mr__shard *shards;
    mr__dataset_form forms[MR__FORM_MAX];
    uint32_t form_count;
    char **classes; /* of a packed dataset; else those of the first index */
    uint64_t class_count;
    uint64_t nbytes, fingerprint, problems;
    bool indexed_now;
    mr__mutex lock;
    bool lock_ready;
    int fd_end;                  /* files with a number below it are kept open */
    atomic_bool warned;          /* that an index cannot be written */
    _Atomic(uint64_t *) key_map; /* of all shards, once it was asked for */
};

/*
 * One more, to be given back by mr_dataset_free: a loader's, whose threads may be held up by a disk for longer than its
 * owner waits for them.
 */
void mr__dataset_ref(mr_dataset *d);

/* Makes room for `shards` shards of `forms` forms. */
int mr__dataset_reserve(mr_dataset *d, size_t shards, uint32_t forms);

/* Back to before that, and before there was a root: what a failed open leaves. */
void mr__dataset_unreserve(mr_dataset *d);

int mr__dataset_open_packed(mr_dataset *d, const char *folder);

/* By an index that still holds, if there is one: then not even the names in the folder are read. */
int mr__dataset_find_folder(mr_dataset *d, const char *folder, bool *found);

/* By scanning it. */
int mr__dataset_scan_folder(mr_dataset *d, const char *folder);
int mr__dataset_open_scanned(mr_dataset *d, const mr__scanner *scanner, char *const *paths, size_t count);

/* The index, loaded if it is not; `detail` may be NULL. */
int mr__shard_load(mr_dataset *d, mr__shard *shard, mr__detail *detail);

/* Keeps a new index where the options say, or in memory where that cannot be written. */
int mr__shard_keep(mr_dataset *d, mr__shard *shard, const uint8_t *bytes, size_t nbytes, mr__detail *detail);

/* Counts and fingerprint from the indexes of a dataset that is not packed. */
void mr__dataset_sum_up(mr_dataset *d);

/* Fits an index that was just opened or made; first[] is not touched. */
void mr__shard_take(mr__shard *shard, const mr__index *index);

void mr__shard_fini(mr__shard *shard, const mr_hooks *hooks);

/* The file, opened and seen to be the one the index is of. Its closer is mr__shard_release. */
int mr__shard_file(mr_dataset *d, mr__shard *shard, mr__file *file, mr__detail *detail);
void mr__shard_release(mr__shard *shard, mr__file *file);

/* Which shard an ordinal is in, and where. False beyond the last. */
bool mr__dataset_place(const mr_dataset *d, uint64_t ordinal, size_t *shard, uint64_t *position);

/* The shard of a form with its index loaded, and the position in it. */
int mr__dataset_at(const mr_dataset *d, uint64_t ordinal, uint32_t form, mr__shard **shard, uint64_t *position);

/* The first form whose index is whole: keys and labels are in all. */
int mr__dataset_any(const mr_dataset *d, uint64_t ordinal, mr__shard **shard, uint64_t *position);

/* What mr_dataset_sample says of the label, and nothing else. */
int mr__dataset_label(const mr_dataset *d, uint64_t ordinal, mr_label *label);

/* How many members a sample has, and in which form's index they are; `form` may be NULL. */
uint32_t mr__dataset_members(const mr_dataset *d, uint64_t ordinal, uint32_t *form);

/* The path where the index of `path` is kept, by the options; NULL with *error 0: nowhere. */
char *mr__cache_path(mr_dataset *d, const char *path, bool folder, int *error);

/*
 * A folder of this name in the user's cache. $XDG_CACHE_HOME must be absolute, says its specification; others are
 * passed over. Who has no home has no cache either (NULL, *error 0): a folder under /tmp would take files from anybody.
 */
char *mr__cache_folder(const mr_hooks *hooks, const char *name, int *error);

/* Of the files there that `is_ours` knows by name, those that were written longest ago are removed: `most` stay. */
void mr__cache_trim(const mr_hooks *hooks, const char *folder, bool (*is_ours)(const char *name), size_t most);

/* Copies of texts; NULL: no memory. */
char *mr__text_copy(const mr_hooks *hooks, const char *text);
__attribute__((format(printf, 2, 3))) char *mr__text_format(const mr_hooks *hooks, const char *format, ...);

#endif
