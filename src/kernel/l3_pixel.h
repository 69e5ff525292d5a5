// SPDX-License-Identifier: Apache-2.0
/*
 * Residuals of L3's pixel mode, a row of a block at a time: 8 numbers in a word of 64 bits, the leftmost lowest.
 * doc/format-l3.md, "Residuals", has what they are. In the subset that C, OpenCL C and CUDA C share.
 */
#ifndef MR_KERNEL_L3_PIXEL_H
#define MR_KERNEL_L3_PIXEL_H

#include "kernel/language.h"

#define MR__L3_EACH(byte) ((uint64_t)(byte)*0x0101010101010101ul)
#define MR__L3_LOW(bits)  (((uint64_t)1 << (bits)) - 1)

/* What it takes to unpack numbers of k bits. */
typedef struct mr__l3_width {
    uint64_t fours, twos, ones; /* masks: 4 numbers in the lower half, 2 in lower quarters, 1 in even bytes */
    uint64_t sign;              /* bit k - 1 of each byte */
    uint32_t fill;              /* times that bit is the bits above it; with no bits at all it is never used */
    uint32_t k;
} mr__l3_width;

#define MR__L3_WIDTH(k_)                                                                                               \
    {                                                                                                                  \
        MR__L3_LOW(4 * (k_)), MR__L3_LOW(2 * (k_)) * 0x0000000100000001ul, MR__L3_LOW(k_) * 0x0001000100010001ul,      \
            MR__L3_EACH((1u << (k_)) >> 1), (1u << (9 - (k_))) - 2, (k_)                                               \
    }

/* A row of 8 signed numbers of k bits to 8 bytes. Of x, the lowest 8 * k bits count. */
MR_INLINE uint64_t mr__l3_unpack(uint64_t x, mr__l3_width w)
{
    x = (x & w.fours) | (x << (32 - 4 * w.k) & w.fours << 32);
    x = (x & w.twos) | (x << (16 - 2 * w.k) & w.twos << 16);
    x = (x & w.ones) | (x << (8 - w.k) & w.ones << 8);
    return x | (x & w.sign) * w.fill;
}

/* Quotients of a row, 4 bits each, to 8 bytes. */
MR_INLINE uint64_t mr__l3_spread_quotients(uint64_t q)
{
    q = (q | q << 16) & 0x0000ffff0000fffful;
    q = (q | q << 8) & 0x00ff00ff00ff00fful;
    return (q | q << 4) & 0x0f0f0f0f0f0f0f0ful;
}

/*
 * v + (q << (k - 1)) if v is not negative, else v - (q << (k - 1)). v has copies of its sign from bit k - 1 on, and
 * v - x is ~(~v + x): either way the bits of the quotient change those copies, and nothing is carried.
 */
MR_INLINE uint64_t mr__l3_add_quotients(uint64_t v, uint64_t q, uint32_t k)
{
    return v ^ (q & MR__L3_EACH(0xffu >> (k - 1))) << (k - 1);
}

#endif
