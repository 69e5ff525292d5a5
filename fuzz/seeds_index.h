// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_SEEDS_INDEX_H
#define FUZZ_SEEDS_INDEX_H

#include <stddef.h>

void fuzz_seeds_index(void (*save)(const char *name, const void *bytes, size_t nbytes));

#endif
