// SPDX-License-Identifier: Apache-2.0
/* The block coder with PEXT and POPCNT. */
#include "codec/l3/pixel_blocks.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define BLOCKS_TARGET  __attribute__((target("bmi,bmi2,popcnt")))
#define BLOCKS_NAME(x) x##_blocks_bmi2

BLOCKS_TARGET static inline unsigned count_ones(uint64_t word)
{
    return (unsigned)_mm_popcnt_u64(word);
}

BLOCKS_TARGET static inline uint64_t gather_bits(uint64_t word, uint64_t mask)
{
    return _pext_u64(word, mask);
}

#include "codec/l3/pixel_blocks_template.h"

void mr__l3_block_kernels_init_x86(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_FAST_PDEP) != 0)
        *table = (mr__l3_block_kernels){choose_blocks_bmi2, cost_blocks_bmi2, write_blocks_bmi2};
}
#else
void mr__l3_block_kernels_init_x86(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
