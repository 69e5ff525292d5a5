// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)
#include "step/resample.h"
void mr__resample_init_neon(mr__resample *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
