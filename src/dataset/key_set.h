// SPDX-License-Identifier: Apache-2.0
/*
 * The keys that a scanner has seen. All zero is the empty set.
 *
 * Threads: one at a time.
 * Ownership: mr__key_set_fini frees it.
 * Limits: 2^32 - 1 keys. Keys that were made to collide end in MR_ELIMIT, not in time that grows with their square.
 */
#ifndef MR_DATASET_KEY_SET_H
#define MR_DATASET_KEY_SET_H

#include "base/memory.h"

typedef struct mr__key_set {
    mr__buffer texts; /* length, key; length, key; ... */
    size_t nbytes;
    mr__buffer slots; /* a power of two of them */
    size_t slot_count, count;
} mr__key_set;

/* Adds a key; *there says whether it was in there already. MR_ENOMEM, MR_ELIMIT: it is not. */
int mr__key_set_add(mr__key_set *set, const mr_hooks *hooks, const char *key, size_t nbytes, bool *there);

void mr__key_set_fini(mr__key_set *set, const mr_hooks *hooks);

#endif
