// SPDX-License-Identifier: Apache-2.0
/* Files for a test, in a temporary folder of its own. */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>

typedef struct test_folder {
    char path[256];
} test_folder;

/* Makes an empty folder under $TMPDIR or /tmp. */
void test_folder_init(test_folder *folder);

/* The same in memory where that is possible, for tests that would wait for syncs. */
void test_folder_init_in_memory(test_folder *folder);

/* Removes it with all that is in it. */
void test_folder_fini(test_folder *folder);

/* The path of a name in it; good until the next call with the same buffer. */
const char *test_folder_path(const test_folder *folder, const char *name, char buffer[512]);

/* Writes a file, and makes the folders its name goes through. */
void test_folder_write(const test_folder *folder, const char *name, const void *bytes, size_t nbytes);

#endif
