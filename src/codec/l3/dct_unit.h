// SPDX-License-Identifier: Apache-2.0
/*
 * One unit of DCT mode: up to 8 x 8 blocks of one component, coded frequency by frequency across its blocks, a lane
 * being a block. doc/format-l3.md, "Units".
 */
#ifndef MR_CODEC_L3_DCT_UNIT_H
#define MR_CODEC_L3_DCT_UNIT_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes behind a unit that a decoder may read (not use): the caller sees to it that they are there. */
#define MR__L3_UNIT_SLACK 64

/*
 * More bytes than any unit takes: 36 of head, 64 of lanes, and 40 bits for each of 4,096 coefficients (9 of planes, a
 * sign, 14 of levels, 16 of escape) are 20,580. Fits the 16 bits of a unit's length.
 */
#define MR__L3_UNIT_NBYTES_MAX 32768

/* Coefficients by frequency and lane: lane = 8 * block row + block column, also where the unit has fewer columns. */
typedef struct mr__l3_unit {
    _Alignas(64) int16_t coef[64][64]; /* natural order of frequencies */
    uint64_t bands;                    /* frequencies that are there (natural order); others hold anything, and are 0 */
} mr__l3_unit;

typedef struct mr__l3_unit_kernels {
    /*
     * Decodes a unit of columns x rows blocks (1 to 8 each) from exactly nbytes bytes. Each coefficient is multiplied
     * by quant[zigzag index] modulo 2^16. Only the first `bands` frequencies in zigzag order are wanted (1 to 64):
     * others may be left out. NULL on success, else why the bytes are no unit, as static text. Lanes outside the grid
     * are 0 or anything a block could be: nobody looks at them.
     */
    const char *(*decode)(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows,
                          const uint16_t quant[64], unsigned bands);
} mr__l3_unit_kernels;

void mr__l3_unit_kernels_init(mr__l3_unit_kernels *table, mr__cpu_flags cpu);

/*
 * Encodes columns x rows blocks: block (x, y) is the 64 coefficients in zigzag order at blocks + (y * pitch + x) * 64.
 * Any 16 bits are a coefficient. `to` has room for MR__L3_UNIT_NBYTES_MAX bytes; returns how many the unit takes, never
 * 0. The bytes do not depend on the flags.
 */
size_t mr__l3_unit_encode(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to,
                          mr__cpu_flags cpu);

#endif
