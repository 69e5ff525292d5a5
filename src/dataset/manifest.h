// SPDX-License-Identifier: Apache-2.0
/* dataset.json (doc/format-dataset.md): written by one rule, read strictly. */
#ifndef MR_DATASET_MANIFEST_H
#define MR_DATASET_MANIFEST_H

#include "base/text.h"
#include "dataset/dataset.h"

#define MR__MANIFEST_NAME   "dataset.json"
#define MR__PLAN_NAME       "pack.json"
#define MR__QUARANTINE_NAME "quarantine.jsonl"

enum { MR__MANIFEST_VERSION = 1, MR__MANIFEST_NBYTES_MAX = 1 << 30, MR__CLASS_MAX = 1 << 24 };

/* A form, and how its images were made. */
typedef struct mr__manifest_form {
    mr__dataset_form of;
    char filter[16]; /* of a reduced one; "" */
    uint32_t pillow;
    uint32_t alignment; /* 512 or 4096 */
} mr__manifest_form;

/* One shard of one form. */
typedef struct mr__manifest_file {
    uint64_t nbytes, hash;
    uint64_t index_nbytes, index_hash;
} mr__manifest_file;

/*
 * Threads: one at a time.
 * Ownership: mr__manifest_fini frees what it holds.
 * Limits: MR__SHARD_MAX shards, MR__FORM_MAX forms, MR__CLASS_MAX classes.
 */
typedef struct mr__manifest {
    const mr_hooks *hooks;
    uint32_t part, parts; /* parts 0: the whole */
    uint64_t first_shard; /* of the part */
    uint64_t total_shards;
    uint64_t samples, refused;
    uint64_t plan, fingerprint;
    mr_layout source_layout;
    uint64_t source_fingerprint;
    mr__manifest_form forms[MR__FORM_MAX];
    uint32_t form_count;
    char **classes;
    uint64_t class_count;
    bool has_quarantine;
    uint64_t quarantine_nbytes, quarantine_hash;
    size_t shard_count;
    uint64_t *shard_samples;
    mr__manifest_file *files; /* shard * form_count + form */
    mr__buffer held[3];       /* the memory of the last three arrays */
} mr__manifest;

void mr__manifest_init(mr__manifest *m, const mr_hooks *hooks);
void mr__manifest_fini(mr__manifest *m);

/* Copies. MR_ENOMEM, MR_ELIMIT. */
int mr__manifest_add_class(mr__manifest *m, const char *name, size_t nbytes);

/* The next shard; `files` has one for each form. */
int mr__manifest_add_shard(mr__manifest *m, uint64_t samples, const mr__manifest_file *files);

/* `name` is for the detail. After a failure it is as after init. */
int mr__manifest_read(mr__manifest *m, const char *text, size_t nbytes, const char *name, mr__detail *detail);

/* Opens and reads the file. */
int mr__manifest_load(mr__manifest *m, const char *path, mr__detail *detail);

/* The same manifest gives the same bytes. Look at text->code. */
void mr__manifest_write(const mr__manifest *m, mr__text *text);

/* "FOLDER/FORM/000012.tar"; what it would have needed, as snprintf. */
int mr__shard_name(char *path, size_t nbytes, const char *folder, const char *form, uint64_t shard, const char *ending);

#endif
