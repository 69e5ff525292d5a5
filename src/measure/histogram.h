// SPDX-License-Identifier: Apache-2.0
/*
 * How long things took, in 64 octaves of 8 parts: a percentile is right to 6 %. Adding is a shift and an increment.
 *
 * Threads: one adds, any number read meanwhile: counts are relaxed atomics, each right, together a moment's blur.
 * Ownership: a value.
 * Limits: 2^64 - 1 counts in all.
 */
#ifndef MR_MEASURE_HISTOGRAM_H
#define MR_MEASURE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { MR__HISTOGRAM_PARTS = 496 };

typedef struct mr__histogram {
    atomic_uint_least64_t count[MR__HISTOGRAM_PARTS];
} mr__histogram;

/* `times` of the same. */
void mr__histogram_add(mr__histogram *histogram, uint64_t value, uint64_t times);

/* Adds all of `from` to *to, which nobody else uses. */
void mr__histogram_merge(mr__histogram *to, const mr__histogram *from);

uint64_t mr__histogram_total(const mr__histogram *histogram);

/* The value that a share (0.5, 0.99) of the counts is not above: the middle of its part. 0 when it is empty. */
double mr__histogram_quantile(const mr__histogram *histogram, double share);

#endif
