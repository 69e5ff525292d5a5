// SPDX-License-Identifier: Apache-2.0
/*
 * From residuals to the bytes of a plane: doc/format-l3.md, "Residuals: groups of blocks". A block is 32 residuals as
 * four words of 8 bytes, one a row, the leftmost column in the lowest byte; a group is 4 blocks.
 */
#ifndef MR_CODEC_L3_PIXEL_BLOCKS_H
#define MR_CODEC_L3_PIXEL_BLOCKS_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { MR__L3_GROUP_WORDS = 16 };

/* More than a plane of so many groups can take, selectors and lengths of layers included; and what write works in. */
#define MR__L3_PLANE_NBYTES_MAX(groups)  ((groups)*256 + 64)
#define MR__L3_PLANE_SCRATCH_MAX(groups) (((groups)*16 + 16) * 5)

typedef struct mr__l3_block_kernels {
    /*
     * Chooses the headers (2 bytes a group) that make the plane shortest with 0, 3 or 6 layers; returns how many bits
     * low bits and layers take.
     */
    uint64_t (*choose)(const uint64_t *blocks, size_t groups, unsigned layers, uint8_t *headers);

    /* What one block takes, in bits: for who has several to choose from. */
    unsigned (*cost)(const uint64_t block[4], unsigned layers);

    /* Writes the plane, with these selectors, and returns its length. */
    size_t (*write)(const uint64_t *blocks, size_t groups, unsigned layers, const uint8_t *headers,
                    const uint8_t *selectors, size_t selected, uint8_t *to, uint8_t *scratch);
} mr__l3_block_kernels;

void mr__l3_block_kernels_init(mr__l3_block_kernels *table, mr__cpu_flags cpu);
void mr__l3_block_kernels_init_avx2(mr__l3_block_kernels *table, mr__cpu_flags cpu);

#endif
