// SPDX-License-Identifier: Apache-2.0
/* What a `.cls` member says. */
#ifndef MR_DATASET_TAR_LABEL_H
#define MR_DATASET_TAR_LABEL_H

#include "base/memory.h"
#include <millrace/dataset.h>

enum { MR__TAR_LABEL_MAX = 1 << 16 };

/*
 * Space around it does not count. A whole number: INT; a number as JSON writes it, of at most 63 characters: FLOAT;
 * several, with spaces or a comma between: INTS, or FLOATS when one of them is none; anything else, and whole numbers
 * that do not fit: TEXT, or BYTES when it has a zero. Values are in `values`, or among `bytes`. At most
 * MR__TAR_LABEL_MAX bytes. 0, MR_ENOMEM.
 */
int mr__tar_label_read(const uint8_t *bytes, size_t nbytes, mr__buffer *values, const mr_hooks *hooks, mr_label *label);

#endif
