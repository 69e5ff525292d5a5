// SPDX-License-Identifier: Apache-2.0
/* What a loader and a preparer have in common: from a dataset, a recipe and options to work that can be done. */
#ifndef MR_LOADER_SETUP_H
#define MR_LOADER_SETUP_H

#include "device/task.h"

/*
 * Checks the options and copies the recipe; *recipe is the caller's to free. `work` has no hooks yet that count.
 * MR_EARGUMENT, MR_ENOMEM with detail.
 */
int mr__work_init(mr__work *work, const mr_hooks *hooks, mr_dataset *dataset, const mr_recipe *recipe,
                  const mr_loader_options *options, mr_recipe **copy, uint32_t *form, mr__detail *detail);

/* The detail, to whom it was to be told. Returns the code. */
int mr__tell_detail(const mr__detail *detail, int code, char *text, size_t nbytes);

#endif
