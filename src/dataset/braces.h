// SPDX-License-Identifier: Apache-2.0
/*
 * Names with braces, as bash expands them: "train-{000000..000146}.tar", "{a,b}.tar", nested, several. What bash leaves
 * alone ("{a}", "a{b") stays as it is, so that a name with a brace in it can be given. A backslash takes the meaning
 * from a brace, comma or backslash behind it; any other backslash is a part of the name.
 */
#ifndef MR_DATASET_BRACES_H
#define MR_DATASET_BRACES_H

#include "base/error.h"
#include "base/memory.h"

enum {
    MR__NAMES_MAX = 65536,
    MR__NAMES_NBYTES_MAX = 1 << 26,
    MR__BRACES_NBYTES_MAX = 4096, /* of a name with braces */
    MR__BRACES_DEPTH_MAX = 32,
};

/*
 * Names one after the other, each with a zero behind it. All zero is the empty list.
 *
 * Threads: one at a time.
 * Ownership: mr__names_fini frees it.
 * Limits: MR__NAMES_MAX names, MR__NAMES_NBYTES_MAX bytes.
 */
typedef struct mr__names {
    mr__buffer buffer;
    size_t nbytes, count;
} mr__names;

/* Appends what `text` stands for, in bash's order. MR_ELIMIT, MR_ENOMEM: then nothing was appended. */
int mr__names_expand(mr__names *names, const mr_hooks *hooks, const char *text, mr__detail *detail);

/* Appends a name as it is. MR_ELIMIT, MR_ENOMEM: then nothing was appended. */
int mr__names_add(mr__names *names, const mr_hooks *hooks, const char *name, mr__detail *detail);

/* Brings them into the order of their bytes. MR_ENOMEM: they are as they were. */
int mr__names_sort(mr__names *names, const mr_hooks *hooks);

/* The name behind this one; NULL gives the first. NULL behind the last. */
const char *mr__names_next(const mr__names *names, const char *name);

void mr__names_fini(mr__names *names, const mr_hooks *hooks);

#endif
