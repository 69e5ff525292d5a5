// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_CLOCK_H
#define MR_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. Code that measures asks hooks->now_ns instead, which a test can replace. */
uint64_t mr__clock_monotonic_ns(void);

/* What the calling thread has had of a processor so far. */
uint64_t mr__clock_thread_ns(void);

/* The moment this long from now, for those who wait; UINT64_MAX (for ever) when it is too far to say. */
uint64_t mr__clock_deadline_ns(uint64_t timeout_ns);

#endif
