// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.h"

#include <stdbool.h>

/* 0 to 7 have a part each; then each octave has 8, by the three bits behind the first: 8 + 61 x 8 parts. */
enum { PART_BITS = 3, PARTS = 1 << PART_BITS };

static size_t part_of(uint64_t value)
{
    if (value < PARTS)
        return (size_t)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - PART_BITS;
    return (size_t)shift * PARTS + (size_t)(value >> shift);
}

/* The middle of a part. Of one value, that value. */
static double middle_of(size_t part)
{
    if (part < 2 * PARTS)
        return (double)part;
    unsigned shift = (unsigned)(part / PARTS) - 1;
    uint64_t first = (uint64_t)(part % PARTS + PARTS) << shift, last = first + ((UINT64_C(1) << shift) - 1);
    return ((double)first + (double)last) / 2;
}

static uint64_t count_of(const mr__histogram *histogram, size_t part)
{
    return atomic_load_explicit(&histogram->count[part], memory_order_relaxed);
}

/* Nobody else writes: a load and a store are enough, and cost a tenth of an atomic addition. */
static void grow(mr__histogram *histogram, size_t part, uint64_t times)
{
    atomic_store_explicit(&histogram->count[part], count_of(histogram, part) + times, memory_order_relaxed);
}

void mr__histogram_add(mr__histogram *histogram, uint64_t value, uint64_t times)
{
    grow(histogram, part_of(value), times);
}

void mr__histogram_merge(mr__histogram *to, const mr__histogram *from)
{
    for (size_t i = 0; i < MR__HISTOGRAM_PARTS; i++)
        grow(to, i, count_of(from, i));
}

uint64_t mr__histogram_total(const mr__histogram *histogram)
{
    uint64_t total = 0;
    for (size_t i = 0; i < MR__HISTOGRAM_PARTS; i++)
        total += count_of(histogram, i);
    return total;
}

double mr__histogram_quantile(const mr__histogram *histogram, double share)
{
    // Counts may grow meanwhile: then the walk ends a little early, and never runs out.
    double wanted = share * (double)mr__histogram_total(histogram), below = 0;
    size_t last = 0;
    bool any = false;
    for (size_t i = 0; i < MR__HISTOGRAM_PARTS; i++) {
        uint64_t count = count_of(histogram, i);
        if (count == 0)
            continue;
        last = i;
        any = true;
        below += (double)count;
        if (below >= wanted)
            break;
    }
    return any ? middle_of(last) : 0;
}
