// SPDX-License-Identifier: Apache-2.0
/* What every unit test includes: cmocka with the headers it wants before it. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails the test, and shows both, unless `part` stands in `text`. */
#define assert_contains(text, part) test_contains(text, part, __FILE__, __LINE__)
void test_contains(const char *text, const char *part, const char *file, int line);

/*
 * Whether MILLRACE_TEST_QUICK asks for a sample of the cases of long tests, always the same one, with every kind of
 * case still in it: where the whole runs elsewhere already (see tools/run-tests).
 */
bool test_quick(void);

/* Whether MILLRACE_LONG asks for all cases of tests that otherwise take a sample: minutes, not seconds. */
bool test_long(void);

/*
 * Runs this program again, with one argument: for what ends a process, or must not keep it. What it writes to stderr is
 * in `said`. Whether it ended with 0. Where it cannot be started (an emulated processor), the test is skipped. A
 * program with an argument that it does not know has to end: it must not come here again.
 */
bool test_again(const char *argument, char *said, size_t most);

#endif
