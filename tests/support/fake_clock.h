// SPDX-License-Identifier: Apache-2.0
/* A clock that stands still until it is told otherwise, to be given as hooks. */
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H
#define TESTS_SUPPORT_FAKE_CLOCK_H

#include <millrace/hooks.h>
#include <stdatomic.h>

typedef struct fake_clock {
    _Atomic uint64_t now_ns;
    uint64_t step_ns; /* added every time it is asked, after the answer */
} fake_clock;

/* Hooks with this clock, and defaults for the rest; their `user` is the clock. */
mr_hooks fake_clock_hooks(fake_clock *clock);

void fake_clock_advance(fake_clock *clock, uint64_t by_ns);

#endif
