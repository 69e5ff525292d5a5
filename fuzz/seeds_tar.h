// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_SEEDS_TAR_H
#define FUZZ_SEEDS_TAR_H

#include <stddef.h>
#include <stdint.h>

void fuzz_seeds_tar(void (*save)(const char *name, const void *bytes, size_t nbytes));

#endif
