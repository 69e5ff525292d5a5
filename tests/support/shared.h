// SPDX-License-Identifier: Apache-2.0
/* The folder of real images and odd files beside the project, which need not be there. */
#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

#include "picture.h"

/* $MILLRACE_SHARED, or ../shared beside the source root. */
const char *shared_root(void);

/* Visits one file; its bytes, on the heap and not one more than that, are freed after it. */
typedef void shared_visit(const char *path, const picture_file *file, void *user);

/*
 * Visits every file under a path, or the path itself, whose name ends in `ending` ("": any), in the order of their
 * names. A file that cannot be read ends the program. Returns how many there were.
 */
size_t shared_walk(const char *path, const char *ending, shared_visit *visit, void *user);

/* The same under `folder` of the shared folder; says a word if there is nothing. */
size_t shared_each(const char *folder, const char *ending, shared_visit *visit, void *user);

/*
 * For the main of a program with no other tests than these: what it returns when `failed` of them failed. 77, which
 * ctest counts as skipped, when shared_each has found no file at all.
 */
int shared_status(int failed);

#endif
