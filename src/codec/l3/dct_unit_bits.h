// SPDX-License-Identifier: Apache-2.0
/* What encoder and decoders of a unit share: the words of its bits. doc/format-l3.md, "Units". */
#ifndef MR_CODEC_L3_DCT_UNIT_BITS_H
#define MR_CODEC_L3_DCT_UNIT_BITS_H

#include "base/bytes.h"
#include "codec/l3/dct_unit.h"
#include "kernel/l3_unit.h"

/* Where each segment begins, in zigzag order; the first is DC. */
static const uint8_t unit_segment_start[MR__UNIT_SEGMENTS + 1] = {0, 1, 3, 6, 10, 15, 21, 28, 36, 64};

/* From zigzag to natural order. */
static const uint8_t unit_natural[MR__UNIT_BANDS] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* What is known of a band before its mode is chosen. */
typedef struct unit_band {
    _Alignas(64) uint16_t size[64]; /* magnitudes */
    uint64_t nonzero, negative;
    unsigned all_bits;                   /* of its magnitudes, or'ed */
    unsigned nonzeros;                   /* how many */
    unsigned raws;                       /* numbers of raw bits worth trying, from 0 */
    uint32_t cost[MR__UNIT_RAW_MAX + 1]; /* of levels and escapes, with so many raw bits */
} unit_band;

/* Bits of a position among `lanes` lanes: those of lanes - 1. */
static inline unsigned unit_position_nbits(unsigned lanes)
{
    return lanes <= 1 ? 0 : 32 - (unsigned)__builtin_clz(lanes - 1);
}

/* 64 bits from bit `at`; reads 9 bytes. */
static inline uint64_t unit_bits_at(const uint8_t *bytes, size_t at)
{
    const uint8_t *p = bytes + at / 8;
    unsigned shift = at % 8;
    return mr__load_le64(p) >> shift | (uint64_t)p[8] << 1 << (63 - shift);
}

/* Lowest set bit of a set of bands, which is not empty. */
static inline unsigned unit_first(uint64_t set)
{
    return (unsigned)__builtin_ctzll(set);
}

#endif
