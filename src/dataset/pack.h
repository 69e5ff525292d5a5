// SPDX-License-Identifier: Apache-2.0
/* The packer as its own files see it. */
#ifndef MR_DATASET_PACK_H
#define MR_DATASET_PACK_H

#include "dataset/pack_shard.h"

struct mr_packer {
    mr_hooks hooks;
    mr_pack_options options; /* forms and limits are copies */
    mr_pack_form forms[MR__FORM_MAX];
    mr_limits limits;
    mr__detail detail;
    const mr__disk *disk;
    mr_pack_report report;
};

/* Another disk than the real one: for tests. */
void mr__packer_set_disk(mr_packer *packer, const mr__disk *disk);

/* What a run works on. */
typedef struct mr__pack_job {
    mr_packer *packer;
    mr_dataset *source;
    const char *folder;
    mr__pack_plan plan;
    size_t begin, end;  /* shards of this part */
    const size_t *todo; /* those of them that are not there yet */
    size_t todo_count;
    bool begun;            /* the folder has a dataset.json of this plan */
    uint64_t bad, bad_max; /* samples refused so far, and how many may be */
    mr__text quarantine;   /* lines of those that are refused, in the order they are met */
} mr__pack_job;

/* The end of a run or merge: words for a failure that has none, and the report. */
int mr__pack_end(mr_packer *packer, int result, mr_pack_report *report);

/* Packs the shards that are to do. */
int mr__pack_run(mr__pack_job *job);

/* Shares and quotas of the plan's forms, by packer->options.budget_nbytes. */
int mr__pack_budget(mr__pack_job *job);

/*
 * dataset.json (or that of a part) and quarantine.jsonl, from the indexes of the shards [begin, end) in the folder.
 * `m` has everything but what the indexes say: plan, source, forms, classes, part.
 */
int mr__pack_finish(mr_packer *packer, mr__manifest *m, const char *folder, size_t begin, size_t end);

/* A line of quarantine.jsonl; ordinal UINT64_MAX: something in the source that became no sample. */
void mr__pack_quarantine_add(mr__text *to, uint64_t ordinal, const char *key, size_t key_nbytes, int code,
                             const char *error);

/* Those that an index has; how many of them are samples. */
uint64_t mr__pack_quarantine_add_index(mr__text *to, mr_layout layout, const mr__index *index, uint64_t first_ordinal);

/* Writes it; nothing when it is empty. */
int mr__pack_quarantine_publish(mr_packer *packer, const char *folder, mr__text *text);

/* The index of one shard of one form: opened, and seen to be whole and of this plan. */
int mr__pack_open_index(mr__index *index, const char *folder, const char *form, size_t shard, uint64_t plan,
                        mr__detail *detail);

/* "dataset.json", "part-2-of-8.json". */
void mr__manifest_file_name(char *name, size_t nbytes, uint32_t part, uint32_t parts);

/* Publishes a file of the dataset's own. */
int mr__pack_publish(mr_packer *packer, const char *folder, const char *name, const void *bytes, size_t nbytes);

/* Removes what was there for packing alone, once there is a dataset.json. What stays does no harm. */
void mr__pack_tidy(mr_packer *packer, const char *folder);

/* "FOLDER/NAME"; MR_EARGUMENT when it is too long. */
int mr__pack_path(mr_packer *packer, char path[MR__PATH_MAX], const char *folder, const char *name);

#endif
