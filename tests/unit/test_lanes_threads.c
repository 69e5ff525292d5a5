// SPDX-License-Identifier: Apache-2.0
/* The same with lanes that are threads: what fibers are where the C library has no contexts. */
#define MR__FIBER_THREADS
#include "kernel/lane/fiber.c"

#include "test_lanes.c"
