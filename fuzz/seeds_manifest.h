// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_SEEDS_MANIFEST_H
#define FUZZ_SEEDS_MANIFEST_H

#include <stddef.h>

/* Files like dataset.json, for the check in check/manifest.c. */
void fuzz_seeds_manifest(void (*save)(const char *name, const void *bytes, size_t nbytes));

#endif
