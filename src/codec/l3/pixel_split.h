// SPDX-License-Identifier: Apache-2.0
/* The channels of a row of pixels apart. */
#ifndef MR_CODEC_L3_PIXEL_SPLIT_H
#define MR_CODEC_L3_PIXEL_SPLIT_H

#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* n pixels of a constant number of channels; the rows of samples may be written up to 32 samples beyond the nth. */
typedef void mr__l3_split_row(const void *pixels, size_t n, void *const channel[4]);

typedef struct mr__l3_split {
    mr__l3_split_row *row[2][5]; /* by bytes of a sample less one, and channels */
} mr__l3_split;

void mr__l3_split_init(mr__l3_split *table, mr__cpu_flags cpu);
void mr__l3_split_init_avx2(mr__l3_split *table, mr__cpu_flags cpu);

#endif
