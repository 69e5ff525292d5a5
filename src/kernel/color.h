// SPDX-License-Identifier: Apache-2.0
/*
 * Colors of rows of 8-bit samples: what color_pixel.h says of one pixel, of many. Pixels are of three channels, RGB,
 * where nothing else is said. `to` may be `from`, and else does not overlap it; nothing but the `n` pixels or samples
 * is read or written.
 */
#ifndef MR_KERNEL_COLOR_H
#define MR_KERNEL_COLOR_H

#include "cpu/cpu.h"

/* How the tables of some channels are applied. */
typedef enum mr__tables_kind {
    MR__TABLES_NOTHING, /* every value stays */
    MR__TABLES_BITS,    /* (v & keep) ^ turn: invert, posterize, and both */
    MR__TABLES_ABOVE,   /* from `first` on, 255 - v: solarize */
    MR__TABLES_ONE,     /* the same for all channels */
    MR__TABLES_THREE    /* one for each of three channels */
} mr__tables_kind;

/* Tables of 256, and what kernels want to know of them. */
typedef struct mr__color_tables {
    mr__tables_kind kind;
    uint8_t keep, turn, first;
    uint8_t table[3][256];
    uint8_t change[3][256]; /* each 16 of a table beside the 16 before, but of the 9th 16, which stand by themselves */
} mr__color_tables;

/* Of one channel or three. */
void mr__color_tables_init(mr__color_tables *tables, uint8_t (*table)[256], uint32_t channels);

typedef struct mr__color_kernels {
    /* n samples, tables that are one: (v & keep) ^ turn; v or 255 - v; any. Three: n pixels. */
    void (*bits)(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to);
    void (*above)(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to);
    void (*one)(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to);
    void (*three)(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to);

    /* n pixels. Factors, and alpha below, are from -1e6 to 1e6. */
    void (*grayscale)(const uint8_t *from, size_t n, uint8_t *to);                /* L in every channel */
    void (*saturation)(const uint8_t *from, size_t n, float factor, uint8_t *to); /* blended from L */
    void (*hue)(const uint8_t *from, size_t n, uint32_t turn, uint8_t *to);       /* H + turn modulo 256 */
    void (*permute)(const uint8_t *from, size_t n, uint32_t order, uint8_t *to);  /* c from (order >> 2 c) & 3 */

    /* n samples: `from` at alpha 0, `other` at 1. `to` may be either. */
    void (*blend)(const uint8_t *from, const uint8_t *other, size_t n, float alpha, uint8_t *to);

    /* Sums of n samples, and of L of n pixels. */
    uint64_t (*sum)(const uint8_t *from, size_t n);
    uint64_t (*sum_gray)(const uint8_t *from, size_t n);

    /* Widens `range` to the least and the largest of n samples; of each channel of n pixels. */
    void (*range_1)(const uint8_t *from, size_t n, uint8_t range[1][2]);
    void (*range_3)(const uint8_t *from, size_t n, uint8_t range[3][2]);
} mr__color_kernels;

void mr__color_kernels_init(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_kernels_init_avx2(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_tables_kernels_init_avx2(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_kernels_init_avx512(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_hue_kernels_init_avx512(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_kernels_init_neon(mr__color_kernels *kernels, mr__cpu_flags cpu);
void mr__color_hue_kernels_init_neon(mr__color_kernels *kernels, mr__cpu_flags cpu);

/* Applies tables to n pixels of so many channels, by the kernel for their kind. */
void mr__color_apply(const mr__color_kernels *kernels, const mr__color_tables *tables, const uint8_t *from, size_t n,
                     uint32_t channels, uint8_t *to);

/*
 * How often each value stands in a channel is counted in several places by turns: one that has just been written to is
 * slow to be read again. Begin with all zero, add rows, and take the sum.
 */
enum { MR__COUNTERS = 4 };

typedef struct mr__color_counts {
    uint32_t of[MR__COUNTERS][3][256];
} mr__color_counts;

/* One channel counts as the first. */
void mr__color_count_1(mr__color_counts *counts, const uint8_t *from, size_t n);
void mr__color_count_3(mr__color_counts *counts, const uint8_t *from, size_t n);
void mr__color_count_sum(const mr__color_counts *counts, uint32_t channels, uint32_t (*histogram)[256]);

#endif
