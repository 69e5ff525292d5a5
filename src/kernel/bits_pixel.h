// SPDX-License-Identifier: Apache-2.0
/* Bits of words, in what C, OpenCL C and CUDA C have in common. */
#ifndef MR_KERNEL_BITS_PIXEL_H
#define MR_KERNEL_BITS_PIXEL_H

#include "kernel/language.h"

/* Where a word has its highest bit; 0 has none, and gives 0. */
MR_INLINE uint32_t mr__highest_bit(uint32_t word)
{
    uint32_t at = 0;
    for (uint32_t span = 16; span != 0; span /= 2)
        if (word >> (at + span) != 0)
            at += span;
    return at;
}

#endif
