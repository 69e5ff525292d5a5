// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of policies that were searched for, from a file: doc/steps.md, "Policy tables", says what is in it.
 *
 *     policy_table.c   from JSON
 *     policy_file.c    from a file
 *     policy_run.c     what a table does to an image
 *
 * Threads: any number once it is made.
 * Ownership: one block; mr__policy_table_free frees it.
 * Limits: MR__TABLE_NBYTES_MAX bytes of JSON, MR__TABLE_LISTS_MAX policies of MR__TABLE_OPS_MAX operations, or
 * MR__TABLE_OPS_MAX stages of MR__TABLE_LISTS_MAX choices.
 */
#ifndef MR_STEP_POLICY_TABLE_H
#define MR_STEP_POLICY_TABLE_H

#include "base/memory.h"
#include "step/dice.h"
#include "step/policy.h"

enum {
    MR__TABLE_NBYTES_MAX = 1 << 20,
    MR__TABLE_LISTS_MAX = 1024,
    MR__TABLE_OPS_MAX = 16,
    MR__TABLE_PATH_NBYTES_MAX = 4096
};

/* What an entry of a table does with its value. */
typedef enum mr__table_act {
    MR__TABLE_PLAIN, /* what mr__policy_add does */
    MR__TABLE_SHIFT, /* pixels against the direction of mr__policy_add */
    MR__TABLE_PART,  /* the same, the value being a part of the side */
    MR__TABLE_CUTOUT_PART,
    MR__TABLE_CUTOUT,
    MR__TABLE_FLIP,
    MR__TABLE_RAND_FLIP,
    MR__TABLE_RAND_CROP,
    MR__TABLE_RAND_CUTOUT,
    MR__TABLE_RAND_CUTOUT_60,
    MR__TABLE_RAND_RESIZED
} mr__table_act;

/* An operation of the tables: what its levels from 0 to 1 mean. */
typedef struct mr__table_op {
    const char *name;
    mr__table_act act;
    mr__policy_op op;
    double low, high; /* both 0: it has no level */
} mr__table_op;

typedef struct mr__table_entry {
    double chance; /* of a policy's operation; of a stage's choice: the sum of the weights up to it */
    double value;
    const mr__table_op *op;
} mr__table_entry;

typedef struct mr__policy_table {
    size_t nbytes; /* of this block */
    uint64_t hash; /* of what it does */
    bool stages;  /* the lists are stages, each of which does one of its entries; else policies, one of which is done */
    bool resizes; /* the size of what it gives may be another one */
    uint32_t longest; /* how many operations it may do one after the other */
    uint32_t lists;
    uint32_t end[MR__TABLE_LISTS_MAX]; /* of each list: behind its last entry */
    char path[MR__TABLE_PATH_NBYTES_MAX + 1];
    mr__table_entry entry[];
} mr__policy_table;

/*
 * The table of a file, or of a text as if it had been read from one. MR_EIO; MR_EARGUMENT for what is no table, with
 * the line; MR_ELIMIT; MR_ENOMEM.
 */
int mr__policy_table_load(const char *path, const mr_hooks *hooks, mr__policy_table **out, mr__detail *detail);
int mr__policy_table_read(const char *path, const char *text, size_t nbytes, const mr_hooks *hooks,
                          mr__policy_table **out, mr__detail *detail);

/* NULL: out of memory. */
mr__policy_table *mr__policy_table_copy(const mr__policy_table *table, const mr_hooks *hooks);
void mr__policy_table_free(mr__policy_table *table, const mr_hooks *hooks); /* NULL is accepted */

/* The table that a recipe's step has: the path of such a step is that of its table. */
const mr__policy_table *mr__policy_table_of(const mr_step *step);

/* Adds what chance makes of a table. */
int mr__policy_table_add(const mr__policy_table *table, mr__dice *dice, mr__chain *chain, mr__policy_look look,
                         mr__detail *detail);

/* A path for a detail: printable, and its end where it is long. */
typedef struct mr__path_words {
    char text[72];
} mr__path_words;

mr__path_words mr__path_text(const char *path);

#endif
