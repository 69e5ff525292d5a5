// SPDX-License-Identifier: Apache-2.0
/* Forward prediction, the portable text compiled for AVX2. */
#include "codec/l3/pixel_forward.h"

#include "base/bytes.h"
#include "codec/l3/pixel_kernels.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#define FORWARD_TARGET __attribute__((target("avx2")))

#define FORWARD_NAME(x) x##_u8_avx2
#define SAMPLE          uint8_t
#define SIGNED          int8_t
#include "codec/l3/pixel_forward_template.h"

#define FORWARD_NAME(x) x##_u16_avx2
#define SAMPLE          uint16_t
#define SIGNED          int16_t
#include "codec/l3/pixel_forward_template.h"

void mr__l3_forward_init_avx2(mr__l3_forward *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        *table = (mr__l3_forward){{lift_u8_avx2, lift_u16_avx2}, {prefix_u8_avx2, prefix_u16_avx2}};
}
#else
void mr__l3_forward_init_avx2(mr__l3_forward *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
