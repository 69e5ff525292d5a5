// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

void mr__l3_pixel_kernels_init_avx2(mr__l3_pixel_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0)
        return;
    mr__l3_groups_init_avx2(table, cpu);
    mr__l3_lift_init_avx2(table);
    mr__l3_pack_init_avx2(table);
    mr__l3_prefix_init_avx2(table);
    mr__l3_remap_init_avx2(table);
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
