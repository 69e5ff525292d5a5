// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_SEEDS_RECORDS_H
#define FUZZ_SEEDS_RECORDS_H

#include <stddef.h>

/* Small record files of others, for the checks in check/records.c. */
void fuzz_seeds_records(void (*save)(const char *name, const void *bytes, size_t nbytes));

#endif
