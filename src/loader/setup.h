// SPDX-License-Identifier: Apache-2.0
/* What a loader and a preparer have in common: from a dataset, a recipe and options to work that can be done. */
#ifndef MR_LOADER_SETUP_H
#define MR_LOADER_SETUP_H

#include "device/task.h"

enum { MR__FORMS_MAX = 8 };

/* The stored forms that samples are read from. Where there are several, they are all of the same pixels. */
typedef struct mr__forms {
    uint32_t count;
    uint32_t numbers[MR__FORMS_MAX];
} mr__forms;

/* The one that this sample is read from: each its share, by ordinals, of those that the sample has. */
uint32_t mr__forms_pick(const mr__forms *forms, const mr_dataset *dataset, uint64_t ordinal);

/*
 * Checks the options and copies the recipe; *recipe is the caller's to free. `work` has no hooks yet that count.
 * MR_EARGUMENT, MR_ENOMEM with detail.
 */
int mr__work_init(mr__work *work, const mr_hooks *hooks, mr_dataset *dataset, const mr_recipe *recipe,
                  const mr_loader_options *options, mr_recipe **copy, mr__forms *forms, mr__detail *detail);

/* The detail, to whom it was to be told. Returns the code. */
int mr__tell_detail(const mr__detail *detail, int code, char *text, size_t nbytes);

#endif
