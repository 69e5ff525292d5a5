// SPDX-License-Identifier: Apache-2.0
/* The portable block coder. */
#include <stdint.h>

#define BLOCKS_TARGET
#define BLOCKS_NAME(x) x##_blocks_c

static inline unsigned count_ones(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

static inline uint64_t gather_bits(uint64_t word, uint64_t mask)
{
    uint64_t bits = 0;
    for (uint64_t place = 1; mask != 0; mask &= mask - 1, place += place)
        if ((word & mask & (0 - mask)) != 0)
            bits |= place;
    return bits;
}

#include "codec/l3/pixel_blocks_template.h"

void mr__l3_block_kernels_init(mr__l3_block_kernels *table, mr__cpu_flags cpu)
{
    *table = (mr__l3_block_kernels){choose_blocks_c, cost_blocks_c, write_blocks_c};
    mr__l3_block_kernels_init_x86(table, cpu);
    mr__l3_block_kernels_init_avx2(table, cpu);
}
