// SPDX-License-Identifier: Apache-2.0
/*
 * One sample on its way through packing: read ahead, made into all its forms by a worker, written in its turn.
 *
 *     pack.c          the handle; what is to be done, and whether it is done already
 *     pack_run.c      the pipeline: slots, workers, the order of writing
 *     pack_sample.c   one sample: checked, and made into its forms
 *     pack_shard.c    the shards that are being written, one of each form
 *     pack_name.c     names in a tar, labels as text
 *     pack_budget.c   which share of the samples a budget allows
 *     pack_finish.c   dataset.json, from the finished indexes; pack_quarantine.c: quarantine.jsonl
 *     merge.c         parts into one
 */
#ifndef MR_DATASET_PACK_SAMPLE_H
#define MR_DATASET_PACK_SAMPLE_H

#include "dataset/fetch.h"
#include "dataset/pack_plan.h"
#include "source/read_ahead.h"

/* What became of one form. */
typedef struct mr__packed_form {
    mr__record record;    /* without its place */
    const uint8_t *bytes; /* the source's, or `own` */
    size_t nbytes;
    mr__buffer own;
    size_t row_index_nbytes; /* in mr__pack_slot.row_index: of those that are kept as they came */
} mr__packed_form;

/* Memory is kept from one sample to the next. */
typedef struct mr__pack_slot {
    uint64_t ordinal;
    size_t shard; /* that it will be in */
    mr__fetch fetch;
    mr__read read;
    bool reading; /* mr__fetch_begin succeeded */
    const void *bytes;
    size_t nbytes;
    mr__packed_form forms[MR__FORM_MAX];
    mr__buffer row_index;
    size_t row_index_nbytes;
    mr__buffer members; /* bytes of the others that are stored with it */
    mr__buffer places;  /* an mr__member for each; offset is in `members` */
    size_t member_count, members_nbytes;
    int code; /* not 0: refused, and why */
    mr__detail detail;
    bool done;
} mr__pack_slot;

void mr__pack_slot_fini(mr__pack_slot *slot, const mr_hooks *hooks);

/* What one thread works with. All zero is a fresh one. */
typedef struct mr__pack_worker {
    const mr__pack_plan *plan;
    mr_dataset *source;
    mr_decoder *decoder;
    mr_encoder *encoder;
    mr_resizer *resizer;
    mr_reader *reader; /* of members */
    mr__buffer icc, pixels;
} mr__pack_worker;

int mr__pack_worker_init(mr__pack_worker *w, const mr__pack_plan *plan, mr_dataset *source);
void mr__pack_worker_fini(mr__pack_worker *w);

/*
 * Everything between reading and writing. What is wrong with the sample is in slot->code; what comes back is 0, or what
 * ends the run: MR_ENOMEM.
 */
int mr__pack_sample(mr__pack_worker *w, mr__pack_slot *slot);

/* The name of a sample in a shard, from its key in the source; doc/format-dataset.md. `with_ending` keeps that. */
void mr__pack_name(mr__text *to, mr_layout layout, const char *key, bool with_ending);

/* "jpg", ... */
const char *mr__pack_ending(mr_form form);

/* What stands in a .cls; nothing for MR_LABEL_NONE. */
void mr__pack_label(mr__text *to, const mr_label *label);

/* At most so many bytes stand there. */
uint64_t mr__pack_label_nbytes(const mr_label *label);

#endif
