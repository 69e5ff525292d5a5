// SPDX-License-Identifier: Apache-2.0
/*
 * What packing will do, decided before it begins: a pure function of the source's index and the options, so that
 * every run, part and thread agrees. Its text is pack.json; its hash goes into every index.
 */
#ifndef MR_DATASET_PACK_PLAN_H
#define MR_DATASET_PACK_PLAN_H

#include "base/text.h"
#include "cpu/cpu.h"
#include "dataset/manifest.h"
#include <millrace/pack.h>

#define MR__SHARE_ALL UINT64_C(1000000)

typedef struct mr__pack_plan_form {
    mr__manifest_form is; /* name, form, sides, filter, alignment */
    uint64_t share;       /* in millionths */
    uint32_t quality, effort;
    uint64_t quota_nbytes; /* of the whole form under a budget; 0: none */
} mr__pack_plan_form;

/*
 * Threads: one at a time while it is made; then any.
 * Ownership: mr__pack_plan_fini frees it.
 * Limits: MR__SHARD_MAX shards: where the shard size asked for would give more, shards are larger.
 */
typedef struct mr__pack_plan {
    const mr_hooks *hooks;
    mr__cpu_flags cpu;       /* for hashes */
    mr_pack_options options; /* forms are not to be looked at: see below */
    mr_layout source_layout;
    uint64_t source_fingerprint, source_nbytes;
    mr__pack_plan_form forms[MR__FORM_MAX];
    uint32_t form_count;
    uint64_t samples;
    uint64_t *first;  /* shard_count + 1 ordinals */
    uint64_t *nbytes; /* of each shard in the source */
    size_t shard_count;
    uint64_t hash;
} mr__pack_plan;

/* `options` are complete. The forms' shares and quotas may be set after, before mr__pack_plan_text. */
int mr__pack_plan_init(mr__pack_plan *plan, mr_dataset *source, const mr_pack_options *options, const mr_hooks *hooks,
                       mr__detail *detail);
void mr__pack_plan_fini(mr__pack_plan *plan);

/* The text, and sets the hash. */
int mr__pack_plan_text(mr__pack_plan *plan, mr__text *text);

/*
 * Whether a form is for the sample: the share that it is for is spread evenly over all ordinals, by the golden ratio,
 * so that every run of neighbours (a class, a shard) has its part of it.
 */
bool mr__pack_plan_chooses(const mr__pack_plan *plan, uint32_t form, uint64_t ordinal);

/* The length of a sample's record in the source, of the form it will be packed from. */
uint64_t mr__source_nbytes(mr_dataset *source, uint64_t ordinal, uint32_t *form);

/* Shards [*begin, *end) of the part that the options ask for. */
void mr__pack_plan_part(const mr__pack_plan *plan, size_t *begin, size_t *end);

#endif
