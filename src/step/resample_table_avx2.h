// SPDX-License-Identifier: Apache-2.0
/*
 * Weights as PMADDWD wants them. It multiplies 16-bit numbers and adds two products, so a weight w is split into
 * w = 256 high + low, with 0 <= low < 256 and `high` signed, and weights come in pairs. Sums of both parts fit 32 bits.
 *
 * Down, the table is {high, high}, {low, low} of each pair of rows, int16 each, for output after output.
 *
 * Across, samples have to be brought to their weights first. Four ways, from fast to slow, by how far the sources of
 * neighbours are apart:
 *
 *   window    4 outputs (samples, not pixels) find all they need in 16 bytes; a vector is two such groups
 *   windows   they find each pair in 16 bytes; from pair to pair the window moves, its mask stays
 *   pixel     a vector is one pixel of two rows; 4 taps at a time
 *   gray      the same for one channel: 8 taps at a time
 *
 * A record of the first two is a mask for PSHUFB (32 bytes) and, for each pair, 32 bytes of high and 32 of low; of
 * pixel {high, high}, {low, low} of each pair, two pairs being one step; of gray 8 high and 8 low for each step.
 *
 * Reads are wider than what is used. Units of which a read would leave the row are the last ones, the tail: they read
 * from a copy of the row's end, with zeros behind.
 */
#if defined(__x86_64__) && !defined(MR_STEP_RESAMPLE_TABLE_AVX2_H)
#define MR_STEP_RESAMPLE_TABLE_AVX2_H

#include "step/resample.h"

/* The bits of `low`. */
#define MR__RESAMPLE_LOW_BITS 8

typedef enum mr__resample_way {
    MR__WAY_C,
    MR__WAY_WINDOW,
    MR__WAY_WINDOWS,
    MR__WAY_PIXEL,
    MR__WAY_GRAY
} mr__resample_way;

typedef struct mr__resample_table {
    mr__resample_way way;
    uint32_t pairs;     /* of taps, of a window */
    uint32_t units;     /* vectors of 8 outputs, or pixels */
    uint32_t safe;      /* units before the tail */
    size_t tail_first;  /* the byte of the row at which the copy begins */
    size_t tail_nbytes; /* from there to the row's end */
    size_t tail_pitch;  /* with the zeros */
    size_t record;      /* bytes of a unit's record */
    uint32_t *offsets;  /* of windows: two for each unit */
    uint8_t *records;
} mr__resample_table;

size_t mr__resample_table_nbytes_avx2(mr__resample_axis *axis, uint32_t channels);
void mr__resample_table_init_avx2(mr__resample_axis *axis, uint32_t channels, void *memory);

#endif
