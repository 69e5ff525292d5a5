// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_SEEDS_RECIPE_H
#define FUZZ_SEEDS_RECIPE_H

#include <stddef.h>

/* Recipes, as text: good ones of every step, and some that are not. */
void fuzz_seeds_recipe(void (*save)(const char *name, const void *bytes, size_t nbytes));

/* Tables of policies, likewise. */
void fuzz_seeds_policy(void (*save)(const char *name, const void *bytes, size_t nbytes));

#endif
