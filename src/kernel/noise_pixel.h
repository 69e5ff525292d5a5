// SPDX-License-Identifier: Apache-2.0
/* Random numbers by place (noise.h), sample by sample, in what C, OpenCL C and CUDA C have in common. */
#ifndef MR_KERNEL_NOISE_PIXEL_H
#define MR_KERNEL_NOISE_PIXEL_H

#include "base/philox.h"
#include "kernel/language.h"

enum { MR__NOISE_GROUP = 32, MR__NOISE_BLOCKS = 8, MR__NOISE_SLOTS = 512, MR__NOISE_SLOT_BITS = 23 };

/* Block i of group g of a row: the words of samples 32 g + i, 32 g + 8 + i, 32 g + 16 + i and 32 g + 24 + i. */
MR_INLINE void mr__noise_block(const uint32_t key[2], uint32_t row, uint32_t g, uint32_t i, uint32_t words[4])
{
    const uint32_t counter[4] = {MR__NOISE_BLOCKS * g + i, row, 0, 0};
    mr__philox_block(counter, key, words);
}

/* The slot that a word looks at. */
MR_INLINE uint32_t mr__noise_slot(uint32_t word)
{
    return word >> MR__NOISE_SLOT_BITS;
}

/* A sample with the noise that a word and its slot are. */
MR_INLINE uint8_t mr__noised(uint8_t sample, uint32_t word, uint32_t slot, bool wrap)
{
    uint32_t number = mr__noise_slot(word);
    if ((word & ((1u << MR__NOISE_SLOT_BITS) - 1)) >= slot >> 9)
        number = slot & (MR__NOISE_SLOTS - 1);
    int32_t sum = (int32_t)sample + (int32_t)number - 255;
    return (uint8_t)(wrap ? sum & 255 : sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#endif
