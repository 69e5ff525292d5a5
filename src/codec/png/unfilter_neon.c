// SPDX-License-Identifier: Apache-2.0
#include "codec/png/unfilter.h"
#if defined(__aarch64__)
void mr__unfilter_init_neon(mr__unfilter *table, mr__cpu_flags cpu)
{
    (void)table, (void)cpu;
}
#endif
