// SPDX-License-Identifier: Apache-2.0
#ifndef FUZZ_WRAP_H
#define FUZZ_WRAP_H

#include "check/check.h"

void fuzz_wrap_arm(fuzz_heap *heap);

#endif
