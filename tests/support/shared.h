// SPDX-License-Identifier: Apache-2.0
/* The folder of real images and odd files beside the project, which need not be there. */
#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Visits one file; the bytes are freed after it. */
typedef void shared_visit(const char *path, const uint8_t *bytes, size_t nbytes, void *user);

/*
 * Visits every file under `folder` of the shared folder ($MILLRACE_SHARED, or ../shared beside the source root) whose
 * name ends in `ending`, subfolders too, in the order of their names. Returns how many; 0, with a word, if it is
 * missing.
 */
size_t shared_each(const char *folder, const char *ending, shared_visit *visit, void *user);

#endif
