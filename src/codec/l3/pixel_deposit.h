// SPDX-License-Identifier: Apache-2.0
/* PDEP without the instruction: the bits of a layer go to the ones of a mask, from the lowest on. */
#ifndef MR_CODEC_L3_PIXEL_DEPOSIT_H
#define MR_CODEC_L3_PIXEL_DEPOSIT_H

#include <stdint.h>

/* For a mask of four bits: where each value of so many bits as it has ones goes. */
#define MR__L3_DEAL1(m, v)                                                                                             \
    (((m)&1 ? (v)&1 : 0) | ((m)&2 ? ((v) >> ((m)&1) & 1) << 1 : 0) |                                                   \
     ((m)&4 ? ((v) >> (((m)&1) + ((m) >> 1 & 1)) & 1) << 2 : 0) |                                                      \
     ((m)&8 ? ((v) >> (((m)&1) + ((m) >> 1 & 1) + ((m) >> 2 & 1)) & 1) << 3 : 0))
#define MR__L3_DEAL4(m, v) MR__L3_DEAL1(m, v), MR__L3_DEAL1(m, v + 1), MR__L3_DEAL1(m, v + 2), MR__L3_DEAL1(m, v + 3)
#define MR__L3_DEAL(m)                                                                                                 \
    {                                                                                                                  \
        MR__L3_DEAL4(m, 0), MR__L3_DEAL4(m, 4), MR__L3_DEAL4(m, 8), MR__L3_DEAL4(m, 12)                                \
    }
static const uint8_t mr__l3_deal[16][16] = {MR__L3_DEAL(0),  MR__L3_DEAL(1),  MR__L3_DEAL(2),  MR__L3_DEAL(3),
                                            MR__L3_DEAL(4),  MR__L3_DEAL(5),  MR__L3_DEAL(6),  MR__L3_DEAL(7),
                                            MR__L3_DEAL(8),  MR__L3_DEAL(9),  MR__L3_DEAL(10), MR__L3_DEAL(11),
                                            MR__L3_DEAL(12), MR__L3_DEAL(13), MR__L3_DEAL(14), MR__L3_DEAL(15)};
static const uint8_t mr__l3_ones[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

static inline uint64_t mr__l3_deposit_dense(uint64_t bits, uint64_t mask)
{
    uint64_t to = 0;
    for (unsigned i = 0; i < 64; i += 4) {
        unsigned four = mask >> i & 15;
        to |= (uint64_t)mr__l3_deal[four][bits & 15] << i;
        bits >>= mr__l3_ones[four];
    }
    return to;
}

static inline uint64_t mr__l3_deposit_sparse(uint64_t bits, uint64_t mask)
{
    uint64_t to = 0;
    for (; mask != 0; mask &= mask - 1, bits >>= 1)
        to |= mask & (0 - mask) & (0 - (bits & 1));
    return to;
}

enum { MR__L3_DEPOSIT_FEW = 8 };

/* Four places at a time, or, where ones are few, one by one. `ones` is how many the mask has. */
static inline uint64_t mr__l3_deposit(uint64_t bits, uint64_t mask, unsigned ones)
{
    return ones > MR__L3_DEPOSIT_FEW ? mr__l3_deposit_dense(bits, mask) : mr__l3_deposit_sparse(bits, mask);
}

#endif
