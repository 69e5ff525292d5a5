// SPDX-License-Identifier: Apache-2.0
/* Units of L3's DCT mode to test decoders with: good ones of every kind, damaged ones, and noise that much of is one.
 */
#ifndef TESTS_SUPPORT_L3_UNITS_H
#define TESTS_SUPPORT_L3_UNITS_H

#include "codec/l3/dct_unit.h"

#include <stdbool.h>

uint64_t units_random(uint64_t *seed);

/* Kinds of content, from nothing to noise. */
enum {
    KIND_ZERO,
    KIND_DC,
    KIND_SPARSE,
    KIND_ONES,
    KIND_PHOTO,
    KIND_DENSE,
    KIND_LANES,
    KIND_EXTREME,
    KIND_NOISE,
    KINDS
};

typedef struct units_sample {
    unsigned columns, rows;
    int16_t coef[64][64]; /* by zigzag index and lane; 0 outside the grid */
    int16_t blocks[8 * 11 * 64];
    size_t pitch; /* of the blocks */
    uint8_t bytes[MR__L3_UNIT_NBYTES_MAX + MR__L3_UNIT_SLACK];
    size_t nbytes;
} units_sample;

/* Coefficients, and their bytes by the portable encoder. */
void units_make(units_sample *sample, unsigned kind, unsigned columns, unsigned rows, uint64_t *seed);

/* Bits flipped, bytes changed, the end cut: some of it is still a unit. */
void units_damage(units_sample *sample, uint64_t *seed);

/* Bytes that no encoder wrote, cut to the length that their head asks for; `number` is which of them. False: none. */
bool units_noise(units_sample *sample, unsigned number, uint64_t *seed);

#endif
