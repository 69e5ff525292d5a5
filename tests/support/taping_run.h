// SPDX-License-Identifier: Apache-2.0
/* Tests of kernels are run twice: in the emulator, and on an OpenCL device where there is one. */
#ifndef TESTS_SUPPORT_TAPING_RUN_H
#define TESTS_SUPPORT_TAPING_RUN_H

#include "taping.h"
#include "test.h"

/*
 * By whom a test is to play: its `state` says so. In the emulator `number` chooses one of some orders of lanes.
 */
taping taping_by(void **state, uint64_t number);

/* How many failed. Under a sanitizer in the emulator alone: who builds kernels for a device is not clean. */
int taping_run(const struct CMUnitTest *tests, size_t count);

#endif
