// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that fails on purpose. Every allocation through the hooks given here is counted, and the nth one refused, once
 * or from there for ever.
 *
 * A test called tests/unit/test_failing_NAME.c is linked with static third-party libraries and with malloc, calloc,
 * realloc and free wrapped (see tests/CMakeLists.txt), so that what libjpeg, libwebp and libdeflate allocate is counted
 * and refused in the same sequence. In other tests the hooks alone fail.
 *
 * There is one harness a process: it is not for tests that run side by side in threads of one process. The memory
 * functions themselves may be called from any thread.
 */
#ifndef TESTS_SUPPORT_FAILING_H
#define TESTS_SUPPORT_FAILING_H

#include <millrace/error.h>
#include <millrace/hooks.h>
#include <stdbool.h>

/* Uses the hooks for everything it allocates, frees it all, and returns what the calls under test returned. */
typedef int failing_scenario(const mr_hooks *hooks, void *arg);

/*
 * Runs the scenario with no failure, which must return 0; then with the 1st, 2nd, ... allocation refused once, and then
 * for ever. Each run must return 0 or MR_ENOMEM, leave no block alive and free nothing wrongly, or the test fails and
 * says which allocation it was. A quick run (test_quick) refuses all of the first ones, then one in several. Whether a
 * call that returned 0 all the same did its work is for the scenario to check.
 */
enum { FAILING_QUICK_ALL = 64, FAILING_QUICK_STEP = 7 };
void failing_run(failing_scenario *scenario, void *arg);

/* The parts, for a test that drives itself. */
typedef struct failing_counts {
    size_t attempts; /* allocations asked for, refused ones too, of hooks and libraries together */
    size_t refused;
    size_t live_blocks; /* not freed yet */
    size_t live_nbytes;
    size_t peak_nbytes; /* the most that was alive at once */
    const char *fault;  /* the first wrong use (double free, foreign free, bad alignment asked for), or NULL */
} failing_counts;

/* Starts to count, from zero. The nth allocation (from 1; 0: none) is refused, and if `for_ever` all after it too. */
void failing_begin(size_t nth, bool for_ever);

/* Stops to count and refuse, and says what happened since failing_begin. Blocks still alive are no longer watched. */
failing_counts failing_end(void);

/* What happened so far. */
failing_counts failing_now(void);

/* Hooks that take part; without failing_begin they are a plain heap. */
mr_hooks failing_hooks(void);

/* Refuses the nth thread from now on, once; 0: none. Only where the linker wraps: test_failing_NAME.c. */
void failing_threads(size_t nth);

/* Used by failing_wrap.c alone. */
typedef enum failing_owner { FAILING_NOBODY, FAILING_HOOKS, FAILING_LIBRARY } failing_owner;
bool failing_refuses(void);
bool failing_refuses_thread(void);
void failing_add(void *block, size_t nbytes, failing_owner owner);
bool failing_remove(void *block, failing_owner owner, size_t *nbytes);

#endif
