// SPDX-License-Identifier: Apache-2.0
/*
 * Choosing the headers of blocks, for one instruction set, out of what the file that includes this has: BLOCKS_TARGET
 * (an attribute, or nothing), BLOCKS_NAME(x), a type `magnitudes` (with `written`, the bits of a block without layers),
 * measure(block), least_layered(m, layers), cost_layered(m, k, layers) and ones_of_first_layer(m, header).
 */
#include "codec/l3/pixel_blocks.h"

#if defined(BLOCKS_TARGET) /* there is nothing in it otherwise */

/* The header of a block, with k at least `least` if it has layers. */
BLOCKS_TARGET static inline unsigned choose_block(const magnitudes *m, unsigned layers, unsigned least, unsigned *bits)
{
    unsigned header = m->written;
    *bits = 32 * m->written;
    if (layers == 0 || m->written < 2)
        return header;
    unsigned k = least_layered(m, layers);
    for (k = k > least ? k : least; k < m->written; k++) {
        unsigned cost = cost_layered(m, k, layers);
        if (cost < *bits) {
            *bits = cost;
            header = 8 + k;
        }
    }
    return header;
}

enum { PAIR_ONES_MAX = 57 };

/* The header byte of a pair; where its first layer would have too many ones, the fuller block takes a larger k. */
BLOCKS_TARGET static inline unsigned choose_pair(const uint64_t *blocks, unsigned layers, uint64_t *bits)
{
    const magnitudes m[2] = {measure(blocks), measure(blocks + 4)};
    unsigned cost[2];
    unsigned header[2] = {choose_block(&m[0], layers, 1, &cost[0]), choose_block(&m[1], layers, 1, &cost[1])};
    while (layers != 0) {
        unsigned ones[2] = {ones_of_first_layer(&m[0], header[0]), ones_of_first_layer(&m[1], header[1])};
        if (ones[0] + ones[1] <= PAIR_ONES_MAX)
            break;
        unsigned fuller = ones[1] > ones[0];
        header[fuller] = choose_block(&m[fuller], layers, header[fuller] - 8 + 1, &cost[fuller]);
    }
    *bits += cost[0] + cost[1];
    return header[0] | header[1] << 4;
}

BLOCKS_TARGET static uint64_t BLOCKS_NAME(choose)(const uint64_t *blocks, size_t groups, unsigned layers,
                                                  uint8_t *headers)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 2 * groups; i++)
        headers[i] = (uint8_t)choose_pair(blocks + 8 * i, layers, &bits);
    return bits;
}

BLOCKS_TARGET static unsigned BLOCKS_NAME(cost)(const uint64_t block[4], unsigned layers)
{
    const magnitudes m = measure(block);
    unsigned bits;
    choose_block(&m, layers, 1, &bits);
    return bits;
}

#endif
