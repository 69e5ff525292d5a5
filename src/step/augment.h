// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a chain: from the decoded part of an image to finished numbers in a batch's slot. The last pass goes straight
 * there, row band by row band: crop, resize, flip, normalise and lay out are one pass, and what lies between them stays
 * in the cache. Every u8 is Pillow's, every float torch's (doc/recipe.md).
 *
 * Threads: one at a time; any number side by side.
 * Ownership: mr__augment_fini frees what it keeps between images: tables of weights by size, scratch.
 * Limits: memory through the hooks it is given.
 */
#ifndef MR_STEP_AUGMENT_H
#define MR_STEP_AUGMENT_H

#include "cpu/cpu.h"
#include "step/recipe.h"

typedef struct mr__augment mr__augment;

/* For outputs of one kind. `hooks` are those of mr__hooks_init and stay. */
int mr__augment_new(const mr_hooks *hooks, mr__cpu_flags cpu, const mr__finish *finish, mr__augment **out);
void mr__augment_free(mr__augment *augment); /* NULL is accepted */

/*
 * `part` has the pixels of mr__pass_region(&chain->pass[0]), with the channels and depth of the recipe's needs; the
 * last canvas has the output's size. Fills all of `slot` (output.sample_nbytes), which may have any alignment that its
 * dtype allows. MR_ENOMEM, MR_ELIMIT, or what a user's step gave, with detail.
 */
int mr__augment_run(mr__augment *augment, const mr__chain *chain, const mr_image *part, void *slot, mr__detail *detail);

/* Gives back the memory that is kept between images. */
void mr__augment_trim(mr__augment *augment);

/* What `replace` puts in the place of a bad sample: pixels of 0, finished like any others. */
void mr__augment_blank(mr__augment *augment, void *slot);

#endif
