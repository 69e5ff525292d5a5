// SPDX-License-Identifier: Apache-2.0
/* Scans of folders in tests, and what they found as text. */
#ifndef TESTS_SUPPORT_FOLDER_INDEX_H
#define TESTS_SUPPORT_FOLDER_INDEX_H

#include "dataset/folder_scan.h"

typedef struct folder_index {
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    const uint8_t *bytes; /* of the index */
    size_t nbytes;
} folder_index;

/* `options` without hooks. After a success there is an index; folder_index_fini either way. */
int folder_index_init(folder_index *made, mr__folder_scan_options options);
void folder_index_fini(folder_index *made);

/* "KEY<TAB>LABEL\n" for each sample, as a string that the caller frees. */
char *folder_index_text(const folder_index *made);

/* The text of a problem, "" beyond the last. */
const char *folder_index_problem(const folder_index *made, uint64_t number);

#endif
